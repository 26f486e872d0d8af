/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * queue.c - what waits, in the policy's order, and when leases end: the
 * two sequences that a policy with a long queue must not walk.
 *
 * Both are kept in ranks.h.  Sums over their subtrees are kept from the first
 * question on that needs them.  Of asks it is, for every power of two of GPUs,
 * the shortest estimate: a subtree in which nothing is small and short enough
 * is passed over whole.  Of leases it is how many GPUs come back.
 */
#include <assert.h>
#include <string.h>

#include "policies/phases.h"
#include "policies/state/waiting.h"
#include "policies/state/state.h"
#include "sim/base/arena.h"
#include "sim/containers/calendar.h"
#include "sim/containers/rank_tree.h"

/* Estimates in units of 2^30 ns (1.07 s), rounded down: a bound is enough. */
#define BOUND_SHIFT 30
#define BOUND_MAX (UINT32_MAX - 1)
#define BOUND_NONE UINT32_MAX

/* 0 for none, 1 for one GPU, 2 for two or three ... */
static uint32_t class_of(uint32_t gpus)
{
    uint32_t class = gpus == 0 ? 0 : 32 - (uint32_t)__builtin_clz(gpus);

    return class < HOST_GPU_CLASSES ? class : HOST_GPU_CLASSES - 1;
}

static uint32_t bound_of(int64_t estimate_ns)
{
    if (estimate_ns < 0)
        return 0;
    int64_t bound = estimate_ns >> BOUND_SHIFT;
    return bound < BOUND_MAX ? (uint32_t)bound : BOUND_MAX;
}

/* Half of all subtrees are a leaf. */
static void least_bounds(uint32_t *bound, const struct host_task_sum *left,
                         const struct host_task_sum *right)
{
    const struct host_task_sum *one = left != NULL ? left : right;

    for (uint32_t c = 0; one == NULL && c < HOST_GPU_CLASSES; c++)
        bound[c] = BOUND_NONE;
    if (one != NULL)
        memcpy(bound, one->bound, sizeof one->bound);
    if (left == NULL || right == NULL)
        return;
    for (uint32_t c = 0; c < HOST_GPU_CLASSES; c++)
        bound[c] = right->bound[c] < bound[c] ? right->bound[c] : bound[c];
}

void host_sum_tasks(const struct cs_host *host, struct host_task_sum *of,
                    uint32_t item, uint32_t left, uint32_t right)
{
    struct host_task_sum *sum = &of[item];
    const struct host_task_slot *slot = &host->slots->task[item];
    uint32_t own = class_of(slot->pub.gpus);

    least_bounds(sum->bound, left != RANK_TREE_NONE ? &of[left] : NULL,
                 right != RANK_TREE_NONE ? &of[right] : NULL);
    if (bound_of(slot->pub.estimate_ns) < sum->bound[own])
        sum->bound[own] = bound_of(slot->pub.estimate_ns);
    sum->first_seq = slot->seq;
    if (left != RANK_TREE_NONE && of[left].first_seq < sum->first_seq)
        sum->first_seq = of[left].first_seq;
    if (right != RANK_TREE_NONE && of[right].first_seq < sum->first_seq)
        sum->first_seq = of[right].first_seq;
}

static void sum_tasks(void *owner, uint32_t item, uint32_t left,
                      uint32_t right)
{
    struct cs_host *host = owner;

    host_sum_tasks(host, host->waiting->task_sum, item, left, right);
}

bool host_task_before(const struct cs_host *host, uint32_t a, uint32_t b)
{
    if (host->policy->before) {
        struct task_id x = { a }, y = { b };
        if (host->policy->before(host->self, host, x, y))
            return true;
        if (host->policy->before(host->self, host, y, x))
            return false;
    }
    return host->slots->task[a].seq < host->slots->task[b].seq;
}

void host_note_full(struct cs_host *host, uint32_t i, uint32_t gpus)
{
    struct host_form *form = &host->slots->form[i];

    if (form->form->role_count != 1 || host_known_full(host, i, gpus))
        return;
    form->full_gpus = gpus;
    form->full_at = host->cluster->releases;
}

/* Room for a gang has room for a smaller one of the same form: every rule
 * would leave out some of its GPUs. */
bool host_known_full(const struct cs_host *host, uint32_t i, uint32_t gpus)
{
    const struct host_form *form = &host->slots->form[i];

    return form->full_gpus > 0 && gpus >= form->full_gpus &&
           form->full_at == host->cluster->releases;
}

static bool stands_before(void *owner, uint32_t a, uint32_t b)
{
    return host_task_before(owner, a, b);
}

void host_order_begin(struct cs_host *host)
{
    struct arena *arena = host->parts.arena;

    host->waiting->order = arena_alloc(arena, 1, sizeof *host->waiting->order);
    rank_tree_init(host->waiting->order, arena, NULL, host);
}

uint32_t host_order_count(const struct cs_host *host)
{
    return rank_tree_count(host->waiting->order);
}

/* The list's memory is there for whoever needs all at once. */
uint32_t *host_list_room(struct cs_host *host, uint32_t count)
{
    if (count > host->waiting->list_room) {
        uint32_t room = host->waiting->list_room > 0 ? host->waiting->list_room : 64;
        while (room < count)
            room *= 2;
        host->waiting->list = arena_alloc(host->parts.arena, room,
                                 sizeof *host->waiting->list);
        host->waiting->list_room = room;
    }
    return host->waiting->list;
}

/* The room for sums follows that of the tasks. */
static void sums_room(struct cs_host *host)
{
    if (host->waiting->task_sum_room >= host->slots->task_room)
        return;
    host->waiting->task_sum = arena_grow(host->parts.arena, host->waiting->task_sum,
                                host->waiting->task_sum_room, host->slots->task_room,
                                sizeof *host->waiting->task_sum);
    host->waiting->task_sum_room = host->slots->task_room;
}

void host_order_insert(struct cs_host *host, uint32_t task)
{
    if (host->waiting->order->sum != NULL)
        sums_room(host);
    rank_tree_insert(host->waiting->order, task,
                     host->waiting->tops == NULL ? stands_before : NULL);
    host->hooks.task_made(host, task);
}

void host_order_again(struct cs_host *host, uint32_t task)
{
    rank_tree_remove(host->waiting->order, task);
    rank_tree_insert(host->waiting->order, task, stands_before);
}

/* Insertion sort: between two decisions few tasks change their place. */
void host_order_sort(struct cs_host *host)
{
    uint32_t count = rank_tree_count(host->waiting->order);
    uint32_t *list = host_list_room(host, count);
    bool moved = false;

    rank_tree_list(host->waiting->order, list);
    for (uint32_t i = 1; i < count; i++) {
        uint32_t task = list[i], j = i;
        while (j > 0 && host_task_before(host, task, list[j - 1])) {
            list[j] = list[j - 1];
            j--;
        }
        list[j] = task;
        moved |= j != i;
    }
    if (moved)
        rank_tree_reorder(host->waiting->order, list);
}

static bool task_passes(const struct cs_host *host, uint32_t item,
                        const struct cs_filter *filter)
{
    const struct cs_task *task = &host->slots->task[item].pub;

    if (filter->startable && task->role == CS_ALL_ROLES &&
        task->gpu_milli == GPU_MILLI &&
        host_known_full(host, host_job_slot(host, task->job.i)->form,
                        task->gpus))
        return false;
    return task->gpus <= filter->gpus_max &&
           (task->estimate_ns <= filter->estimate_max_ns ||
            task->gpus <= filter->gpus_any_estimate);
}

/* Could something below pass?  Never false where something does. */
static bool some_may_pass(const struct host_task_sum *sum,
                          const struct cs_filter *filter)
{
    uint32_t limit = bound_of(filter->estimate_max_ns);

    for (uint32_t c = 0; c < HOST_GPU_CLASSES; c++) {
        uint32_t bound = sum->bound[c];
        uint32_t gpus_min = c == 0 ? 0 : 1u << (c - 1);
        if (gpus_min > filter->gpus_max)
            return false;
        if (bound != BOUND_NONE &&
            ((filter->estimate_max_ns >= 0 && bound <= limit) ||
             gpus_min <= filter->gpus_any_estimate))
            return true;
    }
    return false;
}

struct search {
    struct cs_host *host;
    const struct rank_tree_node *node;
    const struct host_task_sum *sum;
    const struct cs_filter *filter;
    uint32_t from;
};

/* The first that passes in the subtree of `item`, whose place is `first` and
 * on, from place `from` on; its place. */
static uint32_t find_below(const struct search *search, uint32_t item,
                           uint32_t first)
{
    const struct rank_tree_node *node = search->node;

    if (item == RANK_TREE_NONE || first + node[item].count <= search->from ||
        !some_may_pass(&search->sum[item], search->filter))
        return RANK_TREE_NONE;
    search->host->counts.tasks_seen++;
    uint32_t left = node[item].left;
    uint32_t place = first + (left == RANK_TREE_NONE ? 0 : node[left].count);
    uint32_t found = find_below(search, left, first);
    if (found != RANK_TREE_NONE)
        return found;
    if (place >= search->from &&
        task_passes(search->host, item, search->filter))
        return place;
    return find_below(search, node[item].right, place + 1);
}

uint32_t host_find_task(struct cs_host *host, const struct rank_tree *ranks,
                        const struct host_task_sum *sum, uint32_t from,
                        const struct cs_filter *filter)
{
    struct search search = { host, ranks->node, sum, filter, from };
    uint32_t place = find_below(&search, ranks->root, 0);

    return place == RANK_TREE_NONE ? rank_tree_count(ranks) : place;
}

static void keep_task_sums(struct cs_host *host)
{
    uint32_t *list = host_list_room(host, rank_tree_count(host->waiting->order));

    sums_room(host);
    host->waiting->order->sum = sum_tasks;
    rank_tree_list(host->waiting->order, list);
    rank_tree_reorder(host->waiting->order, list);
}

uint32_t host_order_find(struct cs_host *host, uint32_t from,
                         const struct cs_filter *filter)
{
    struct cs_filter all = *filter;

    if (host->waiting->order->sum == NULL)
        keep_task_sums(host);
    /* All of one form: what is full is so for whole subtrees. */
    if (filter->startable && host->slots->form_count == 1 && !host_per_phase(host) &&
        !host->waiting->has_parts && host_known_full(host, 0, filter->gpus_max))
        all.gpus_max = host->slots->form[0].full_gpus - 1;
    return host_find_task(host, host->waiting->order, host->waiting->task_sum, from, &all);
}

uint32_t host_order_first(struct cs_host *host, uint64_t seq)
{
    const struct rank_tree_node *node = host->waiting->order->node;
    uint32_t at = host->waiting->order->root, found = ID_NONE;

    if (host->waiting->order->sum == NULL) {
        keep_task_sums(host);
        at = host->waiting->order->root;
    }
    while (at != RANK_TREE_NONE && host->waiting->task_sum[at].first_seq < seq) {
        uint32_t left = node[at].left;
        if (left != RANK_TREE_NONE && host->waiting->task_sum[left].first_seq < seq) {
            at = left;
        } else if (host->slots->task[at].seq < seq) {
            found = at;
            break;
        } else {
            at = node[at].right;
        }
    }
    return found;
}

/* ---- when leases end ---- */

void host_lease_expect(struct cs_host *host, uint32_t lease, int64_t end_ns)
{
    struct cs_lease *pub = &host->slots->lease[lease].pub;

    if (host->waiting->ends != NULL) {
        calendar_drop(host->waiting->ends, pub->expected_end_ns, lease);
        calendar_add(host->waiting->ends, end_ns, lease, pub->gpus);
    }
    pub->expected_end_ns = end_ns;
}

void host_lease_unexpect(struct cs_host *host, uint32_t lease)
{
    if (host->waiting->ends != NULL)
        calendar_drop(host->waiting->ends, host->slots->lease[lease].pub.expected_end_ns, lease);
}

static void keep_ends(struct cs_host *host)
{
    host->waiting->ends = calendar_new(host->parts.arena);
    for (uint32_t i = 0; i < host->waiting->held->count; i++) {
        uint32_t lease = host->waiting->held->item[i];

        if (lease != ID_NONE)
            calendar_add(host->waiting->ends, host->slots->lease[lease].pub.expected_end_ns,
                         lease, host->slots->lease[lease].pub.gpus);
    }
}

void host_end_expect(struct cs_host *host, int64_t end_ns, uint32_t number,
                     uint32_t gpus)
{
    assert(number >= host->slots->lease_room);
    if (host->waiting->ends == NULL)
        keep_ends(host);
    calendar_add(host->waiting->ends, end_ns, number, gpus);
}

void host_end_unexpect(struct cs_host *host, int64_t end_ns, uint32_t number)
{
    calendar_drop(host->waiting->ends, end_ns, number);
}

int64_t host_ends_room(struct cs_host *host, int64_t now_ns, uint32_t free_now,
                       uint32_t gpus, uint32_t *spare_gpus)
{
    int64_t at = now_ns;
    uint64_t free = free_now;

    if (host->waiting->ends == NULL)
        keep_ends(host);
    if (free < gpus) {
        int64_t end = calendar_when(host->waiting->ends, gpus - free);
        if (end == CLOCK_NEVER_NS)
            return CLOCK_NEVER_NS;
        at = end > at ? end : at;
    }
    /* A lease that outlives its estimate may end at any moment. */
    free += calendar_by(host->waiting->ends, at);
    assert(free >= gpus);
    *spare_gpus = (uint32_t)(free - gpus);
    return at;
}
