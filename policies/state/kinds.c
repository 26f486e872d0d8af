/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kinds.c - what waits, by kind, so that a policy that tries one task after
 * the other need not try again what is alike.
 *
 * Tasks are of one kind if cs_forecast() and cs_start_want() answer them alike: they have the
 * same form, phase, law and GPUs, and are all woken or all not.  Tasks of whole jobs are of one
 * kind if cs_start_wants() answers them alike.  Tasks of known length may still differ in
 * their estimates.  Asks with something of their own (an idle
 * lease, a goodput) are all in one kind, SINGLE, of which none is like another.
 *
 * One sequence holds all kinds, one behind the other, each in the order of the
 * policy; a heap holds the first untried ask of each kind.  A kind that was
 * passed over comes back with whatever is carried out; then the heap is made
 * anew.  So a decision costs kinds x log(tasks), whatever waits.
 *
 * Kept from the first question on.
 *
 * An example.  100 tasks of one kind and one task of another wait.  The heap holds the first
 * of each.  The first task of the first kind finds no room: the policy says that those alike
 * fail too, and the next candidate is the task of the other kind: two searches instead of 101.
 */
#include <assert.h>

#include "models/cluster/cluster.h"
#include "models/cluster/place.h"
#include "models/jobs/job.h"
#include "policies/phases.h"
#include "policies/state/form.h"
#include "policies/state/gpus.h"
#include "policies/state/queue.h"
#include "policies/state/read.h"
#include "policies/state/state.h"
#include "policies/state/task_slot.h"
#include "policies/state/waiting.h"
#include "sim/base/arena.h"
#include "sim/containers/order.h"
#include "sim/containers/rank_tree.h"

#define SINGLE 0u
#define RESTING UINT32_MAX      /* in the place of a kind: no candidate until it is woken */

/* All by which tasks are told apart, and how many tasks there are. */
struct kind {
    uint32_t form, phase, gpus, gpu_milli, gpu_mib; /* numbers; of each task: GPUs, part, MiB */
    bool later, woken;          /* the law of later steps; its state was held */
    bool new;                   /* its job has kept nothing */
    double owed;                /* bytes of new weights */
    const struct job_rates *rates;  /* of the job; NULL: none */
    uint32_t next;              /* kind of its form */
    uint32_t tasks;             /* of this kind that wait */
};

/* The index.  heap: the first untried task of each kind, the first in the
 * policy's order on top. */
struct host_kinds {
    struct kind *kind;          /* [count]; kinds stay when their tasks have gone */
    uint32_t count, room;
    uint32_t *first, forms;     /* kind of a form, or ID_NONE */
    uint32_t *of, of_room;      /* kind of a task */
    struct order order;         /* tasks by kind */
    uint32_t *heap, heap_count, heap_room;
    uint32_t from;              /* the first that is not tried yet */
    uint32_t at;                /* how many tasks were tried, or passed over */
    uint32_t told;              /* the task that is being tried, or ID_NONE */
    uint64_t seq;               /* of that task */
    uint64_t decisions;         /* when the heap was made; */
    bool stale;                 /* it has to be made anew */
};

/* ---- kinds ---- */

/* Returns all by which the kind of a task is told from others.  The fields of the list,
 * `next` and `tasks`, are 0. */
static struct kind kind_of_task(const struct cs_host *host,
                                const struct host_task_slot *slot)
{
    const struct cs_task *task = &slot->pub;
    const struct host_job *job = host_job_known(host, task->job.i);
    const struct phase_spec *phase = &job->request.form->phase[task->phase];
    bool whole = task->role == CS_ALL_ROLES;

    assert(task->phase < job->request.form->phase_count);
    return (struct kind) {
        .form = slot->form, .phase = task->phase, .gpus = task->gpus,
        .gpu_milli = task->gpu_milli, .gpu_mib = job->request.gpu_mib,
        .later = !whole && phase_law_at(phase, job->step) != phase->law,
        .woken = !whole && host_role_home(host, task->job.i,
                                          task->role) != ID_NONE,
        .new = !whole && host_job_is_new(host, task->job.i),
        .owed = whole ? 0 : host_role_owed(host, task->job.i, task->role),
        .rates = job->request.rates,
    };
}

/* May tasks that look alike be answered differently?  Four reasons: the task
 * holds an idle lease; on nodes that go, a job loses its state while it waits;
 * a goodput changes with progress; the search for a whole job draws a random
 * place, or allows any place after a while. */
static bool is_single(const struct cs_host *host, const struct cs_task *task)
{
    assert(task->role == CS_ALL_ROLES || task->role < FORM_ROLES_MAX);
    return task->held.i != ID_NONE || host_rents(host) ||
           host_job_known(host, task->job.i)->request.goodput != NULL ||
           (task->role == CS_ALL_ROLES &&
            (host->rules->placement == PLACE_RANDOM ||
             host->rules->relax_ns > 0));
}

/* Are tasks of both kinds answered alike? */
static bool same(const struct kind *a, const struct kind *b)
{
    return a->form == b->form && a->phase == b->phase &&
           a->gpus == b->gpus && a->gpu_milli == b->gpu_milli &&
           a->gpu_mib == b->gpu_mib && a->later == b->later &&
           a->woken == b->woken && a->new == b->new &&
           a->owed <= b->owed && b->owed <= a->owed && a->rates == b->rates;
}

/* Adds a kind without tasks; returns its number. */
static uint32_t kind_add(struct cs_host *host, struct kind kind)
{
    struct host_kinds *all = host->waiting->kinds;

    assert(all->count <= all->room && kind.tasks == 0);
    if (all->count == all->room) {
        uint32_t room = all->room > 0 ? 2 * all->room : 16;
        all->kind = arena_grow(host->parts.arena, all->kind, all->room, room,
                               sizeof *all->kind);
        all->room = room;
    }
    assert(all->count < all->room);
    all->kind[all->count] = kind;
    return all->count++;
}

/* Returns the number of a task's kind, made if it is new.  A form has few kinds. */
static uint32_t kind_number(struct cs_host *host,
                            const struct host_task_slot *task)
{
    struct host_kinds *all = host->waiting->kinds;

    if (is_single(host, &task->pub))
        return SINGLE;
    struct kind kind = kind_of_task(host, task);
    if (all->forms < host->forms->capacity) {
        all->first = arena_grow(host->parts.arena, all->first, all->forms,
                                host->forms->capacity, sizeof *all->first);
        while (all->forms < host->forms->capacity)
            all->first[all->forms++] = ID_NONE;
    }
    uint32_t k = all->first[kind.form];
    assert(kind.form < all->forms);
    while (k != ID_NONE && !same(&all->kind[k], &kind))
        k = all->kind[k].next;
    if (k != ID_NONE)
        return k;
    kind.next = all->first[kind.form];
    all->first[kind.form] = kind_add(host, kind);
    assert(kind.next == ID_NONE || kind.next < all->count);
    return all->first[kind.form];
}

/* By the number of the kind, then in the order of the policy. owner: the host. */
static bool stands_before(void *owner, uint32_t a, uint32_t b)
{
    const struct cs_host *host = owner;
    const uint32_t *of = host->waiting->kinds->of;

    return of[a] != of[b] ? of[a] < of[b] : host_task_before(host, a, b);
}

/* Is a task of what waits there, and of that kind? */
static bool is_of(const struct host_kinds *all, uint32_t task, uint32_t kind)
{
    assert(kind < all->count);
    return task != ORDER_NONE && order_holds(&all->order, task) && all->of[task] == kind;
}

/* Puts a task behind or before others of its kind.  These stand in the order of what waits:
 * if one of them is its neighbour there, nothing has to be compared. */
static void put_in(struct cs_host *host, uint32_t task)
{
    struct host_kinds *all = host->waiting->kinds;
    const struct rank_tree *order = host->waiting->order;
    struct order_item item = host_task_item(host, task);
    uint32_t kind = all->of[task], next = rank_tree_next(order, task);
    uint32_t previous = rank_tree_previous(order, task);

    assert(host->waiting->tops == NULL);        /* what waits is sorted */
    if (is_of(all, next, kind))
        order_insert_at(&all->order, task, item, next);
    else if (is_of(all, previous, kind))
        order_insert_at(&all->order, task, item,
                        rank_tree_next(&all->order.tree, previous));
    else
        order_insert(&all->order, task, item, stands_before);
}

void host_kinds_insert(struct cs_host *host, uint32_t task)
{
    assert(task < host->tasks->count && host->tasks->slot[task].live);
    struct host_kinds *all = host->waiting->kinds;

    if (all->of_room < host->tasks->capacity) {
        all->of = arena_grow(host->parts.arena, all->of, all->of_room,
                             host->tasks->capacity, sizeof *all->of);
        all->of_room = host->tasks->capacity;
    }
    all->of[task] = kind_number(host, &host->tasks->slot[task]);
    all->kind[all->of[task]].tasks++;
    put_in(host, task);
    all->stale = true;
}

/* Takes a task from its kind; the heap may still hold it. */
static void take_out(struct host_kinds *all, uint32_t task)
{
    assert(all->of[task] < all->count && all->kind[all->of[task]].tasks > 0);
    all->kind[all->of[task]].tasks--;
    order_remove(&all->order, task);
}

void host_kinds_remove(struct cs_host *host, uint32_t task)
{
    struct host_kinds *all = host->waiting->kinds;

    assert(task < all->of_room);
    if (all->of[task] == RESTING)
        return;
    take_out(all, task);
    all->stale = true;
}

bool host_kinds_rests(const struct cs_host *host, uint32_t task)
{
    assert(host->tasks->slot[task].live);
    return host->waiting->kinds != NULL && host->waiting->kinds->of[task] == RESTING;
}

void host_kinds_again(struct cs_host *host, uint32_t task)
{
    if (host->waiting->kinds == NULL || host_kinds_rests(host, task))
        return;
    assert(host->tasks->slot[task].live);
    host_kinds_remove(host, task);
    host_kinds_insert(host, task);
}

/* Returns the kinds; makes them at the first question. */
static struct host_kinds *keep(struct cs_host *host)
{
    static const struct order_rules plain = { stands_before, NULL, 0 };
    struct kind single = { .next = ID_NONE };

    if (host->waiting->kinds != NULL)
        return host->waiting->kinds;
    assert(!(host->policy->flags & CS_ORDER_MOVES));
    host->waiting->kinds = arena_alloc(host->parts.arena, 1, sizeof *host->waiting->kinds);
    order_init(&host->waiting->kinds->order,
               order_store_new(host->parts.arena), &plain, host);
    kind_add(host, single);
    host->waiting->kinds->told = ID_NONE;
    for (uint32_t task = rank_tree_first(host->waiting->order); task != ORDER_NONE;
         task = rank_tree_next(host->waiting->order, task))
        host_kinds_insert(host, task);
    assert(order_count(&host->waiting->kinds->order) == host_order_count(host));
    return host->waiting->kinds;
}

/* ---- the first untried of each kind ---- */

/* Does a task stand before the tasks of a kind that are not tried yet? */
static bool is_of_before(void *owner, uint32_t a, uint32_t kind)
{
    const struct cs_host *host = owner;
    const struct host_kinds *all = host->waiting->kinds;

    assert(kind < all->count && all->from != ID_NONE);
    return all->of[a] != kind ? all->of[a] < kind
                              : host_task_before(host, a, all->from);
}

/* Returns the first task of a kind that does not stand before all->from, or
 * ID_NONE. */
static uint32_t first_from(struct cs_host *host, uint32_t kind)
{
    struct host_kinds *all = host->waiting->kinds;

    assert(kind < all->count && all->kind[kind].tasks > 0);
    if (all->of[all->from] == kind)
        return all->from;
    uint32_t place = order_front(&all->order, is_of_before, kind, NULL);
    uint32_t found = rank_tree_at(&all->order.tree, place);
    return found != ORDER_NONE && all->of[found] == kind ? found : ID_NONE;
}

/* Moves the task at a place of the heap down to where it belongs. */
static void sink(struct cs_host *host, uint32_t hole)
{
    struct host_kinds *all = host->waiting->kinds;
    uint32_t task = all->heap[hole], child;

    assert(hole < all->heap_count);
    while ((child = 2 * hole + 1) < all->heap_count) {
        if (child + 1 < all->heap_count &&
            host_task_before(host, all->heap[child + 1], all->heap[child]))
            child++;
        if (!host_task_before(host, all->heap[child], task))
            break;
        all->heap[hole] = all->heap[child];
        hole = child;
    }
    all->heap[hole] = task;
}

/* Puts the first untried task of each kind into the heap. */
static void make_heap(struct cs_host *host)
{
    struct host_kinds *all = host->waiting->kinds;

    all->from = rank_tree_at(host->waiting->order, all->at);
    if (all->heap_room < all->room) {
        all->heap = arena_alloc(host->parts.arena, all->room,
                                sizeof *all->heap);
        all->heap_room = all->room;
    }
    all->heap_count = 0;
    for (uint32_t k = 0; all->from != ORDER_NONE && k < all->count; k++) {
        uint32_t task = all->kind[k].tasks > 0 ? first_from(host, k) : ID_NONE;
        if (task != ID_NONE)
            all->heap[all->heap_count++] = task;
    }
    for (uint32_t i = all->heap_count / 2; i-- > 0;)
        sink(host, i);
    all->decisions = host->counts.decisions;
    all->stale = false;
    assert(all->heap_count <= all->heap_room);
}

/* All tasks that are not at rest are candidates again. */
void cs_try_anew(struct cs_host *host)
{
    struct host_kinds *all = keep(host);

    all->at = 0;
    all->stale = true;
}

struct task_id cs_next_candidate(struct cs_host *host)
{
    struct host_kinds *all = keep(host);
    struct task_id none = { ID_NONE };

    if (all->stale || all->decisions != host->counts.decisions)
        make_heap(host);
    if (all->heap_count == 0)
        return none;
    all->at = rank_tree_rank(host->waiting->order, all->heap[0]);
    all->told = all->heap[0];
    all->seq = host->tasks->slot[all->told].seq;
    assert(all->at < host_order_count(host));
    return (struct task_id) { all->told };
}

/* Is it certain that a task finds no room while none of its nodes has more? */
static bool may_rest(const struct cs_host *host)
{
    assert(host->rules->relax_ns >= 0);
    return host->spec->power_cap_w <= 0 && !host_rents(host) && host->rules->relax_ns == 0;
}

/* What the policy says decides whether the rest of the kind is tried: `alike`
 * passes the kind over; a longer estimate may fail where a shorter one does not
 * (CS_ALIKE_AS_LONG); CS_RESTS takes the task out until it is woken. */
bool host_kinds_tried(struct cs_host *host, struct task_id task, enum cs_alike alike)
{
    struct host_kinds *all = host->waiting->kinds;

    assert(task.i < host->tasks->count);
    if (!host->tasks->slot[task.i].live)
        return true;            /* it was started */
    if (all == NULL || all->told != task.i)
        return false;
    all->told = ID_NONE;
    if (host->tasks->slot[task.i].seq != all->seq)
        return true;            /* it was started; it, or another in its slot, waits */
    /* Others may have started meanwhile, so that it has another place. */
    all->at = rank_tree_rank(host->waiting->order, task.i) + 1;
    assert(all->at <= host_order_count(host));
    uint32_t kind = all->of[task.i], next = ORDER_NONE;
    if (kind == SINGLE || alike == CS_ALIKE_NONE || alike == CS_RESTS ||
        (alike == CS_ALIKE_AS_LONG && host->forms->form[all->kind[kind].form].fixed))
        next = rank_tree_next(&all->order.tree, task.i);
    if (alike == CS_RESTS && may_rest(host)) {
        take_out(all, task.i);
        all->of[task.i] = RESTING;
    }
    if (all->stale || all->decisions != host->counts.decisions)
        return true;
    if (next != ORDER_NONE && all->of[next] == kind)
        all->heap[0] = next;
    else
        all->heap[0] = all->heap[--all->heap_count];
    if (all->heap_count > 0)
        sink(host, 0);
    return true;
}

void host_kinds_wake(struct cs_host *host, uint32_t task)
{
    assert(host->tasks->slot[task].live);
    if (host_kinds_rests(host, task))
        host_kinds_insert(host, task);
}
