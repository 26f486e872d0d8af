/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * queue.c - what waits, in the policy's order, so that a policy with a long queue
 * need not walk it.
 *
 * What waits is an order (sim/containers/order.h), whose sums are kept from the
 * first question on that needs them.  When leases end, ends.c says.
 */
#include "policies/state/queue.h"

#include <assert.h>

#include "models/cluster/cluster.h"
#include "policies/phases.h"
#include "policies/plan.h"
#include "policies/state/ends.h"
#include "policies/state/form.h"
#include "policies/state/gpus.h"
#include "policies/state/state.h"
#include "policies/state/task_slot.h"
#include "policies/state/terms.h"
#include "policies/state/waiting.h"
#include "sim/base/arena.h"
#include "sim/containers/calendar.h"
#include "sim/containers/order.h"
#include "sim/containers/rank_tree.h"

/* If before() of the policy prefers neither task, the one that was made first
 * goes first.  If `a` was made later, one question to the policy is enough.  A
 * new task, which is compared most often, was made later than all others. */
bool host_task_before(const struct cs_host *host, uint32_t a, uint32_t b)
{
    assert(a < host->tasks->count && b < host->tasks->count);
    bool made_first = host->tasks->slot[a].seq < host->tasks->slot[b].seq;
    struct task_id x = { a }, y = { b };

    if (host->policy->before == NULL)
        return made_first;
    return host->policy->before(host->self, host, x, y) ||
           (made_first && !host->policy->before(host->self, host, y, x));
}

/* host_task_before(), for the container; owner: the host. */
static bool stands_before(void *owner, uint32_t a, uint32_t b)
{
    return host_task_before(owner, a, b);
}

uint32_t host_task_gpus_min(const struct cs_host *host, uint32_t task)
{
    const struct cs_task *pub = &host->tasks->slot[task].pub;
    const struct job_form *form =
        host->forms->form[host->tasks->slot[task].form].form;
    uint32_t role = pub->role == CS_ALL_ROLES ? 0 : pub->role;

    assert(role < form->role_count);
    /* Only the first role of a form with several may be on cores. */
    if (form->role[role].on_cores.cores == 0 ||
        host_hardware(host->policy, host->rules) == HOST_GPUS_ALONE)
        return pub->gpus;
    return 0;
}

struct order_item host_task_item(const struct cs_host *host, uint32_t task)
{
    const struct host_task_slot *slot = &host->tasks->slot[task];

    assert(slot->live && slot->pub.estimate_ns >= 0);
    return (struct order_item) {
        .span_ns = slot->pub.estimate_ns,
        .gpus = host_task_gpus_min(host, task),
        .stamp = slot->seq,
        .group = (uint8_t)(slot->form % ORDER_GROUP_COUNT),
    };
}

/* Three sets of sums over what waits, from none to all; queue_with_sums()
 * chooses. */
static const struct order_rules plain = { stands_before, NULL, 0 };
static const struct order_rules summed = { stands_before, NULL, ORDER_CLASSES };
static const struct order_rules grouped = { stands_before, NULL,
                                            ORDER_CLASSES | ORDER_GROUPS };

void host_order_begin(struct cs_host *host)
{
    struct arena *arena = host->parts.arena;
    struct host_waiting *waiting = host->waiting;

    assert(waiting->queue == NULL && waiting->order == NULL);
    waiting->queue = arena_alloc(arena, 1, sizeof *waiting->queue);
    order_init(waiting->queue, order_store_new(arena), &plain, host);
    waiting->order = &waiting->queue->tree;
    assert(rank_tree_count(waiting->order) == 0);
}

void host_order_end(struct cs_host *host)
{
    struct host_waiting *waiting = host->waiting;

    assert(waiting->queue != NULL || waiting->tops != NULL);
    waiting->queue = NULL;
    waiting->order = NULL;
    waiting->tops = NULL;
    waiting->tenants = NULL;
    waiting->turns = NULL;
    waiting->kinds = NULL;
    waiting->turned = NULL;
}

uint32_t host_order_count(const struct cs_host *host)
{
    return rank_tree_count(host->waiting->order);
}

/* The memory grows by doubling and is kept for the next call. */
uint32_t *host_list_scratch(struct cs_host *host, uint32_t count)
{
    if (count > host->waiting->list_capacity) {
        uint32_t room = host->waiting->list_capacity > 0 ? host->waiting->list_capacity : 64;
        while (room < count)
            room *= 2;
        host->waiting->list = arena_alloc(host->parts.arena, room,
                                 sizeof *host->waiting->list);
        host->waiting->list_capacity = room;
    }
    assert(host->waiting->list_capacity >= count);
    return host->waiting->list;
}

void host_order_insert(struct cs_host *host, uint32_t task)
{
    assert(task < host->tasks->count && host->tasks->slot[task].live);
    host->waiting->has_cores |= host_task_gpus_min(host, task) == 0;
    order_insert(host->waiting->queue, task, host_task_item(host, task),
                 host->waiting->tops == NULL ? stands_before : NULL);
    host->hooks.task_made(host, task);
}

void host_order_keep(struct cs_host *host)
{
    assert(host->policy->init != NULL);     /* no other fails to begin */
    host_order_end(host);
    host_order_begin(host);
    for (uint32_t i = 0; i < host->tasks->count; i++)
        if (host->tasks->slot[i].live)
            order_insert(host->waiting->queue, i, host_task_item(host, i), NULL);
}

void host_order_again(struct cs_host *host, uint32_t task)
{
    assert(order_holds(host->waiting->queue, task));
    order_remove(host->waiting->queue, task);
    order_insert(host->waiting->queue, task, host_task_item(host, task),
                 stands_before);
    assert(order_holds(host->waiting->queue, task));
}

/* By insertion, O(tasks + moves): between two decisions few tasks change their
 * place. */
void host_order_sort(struct cs_host *host)
{
    assert(host->policy->before != NULL);
    uint32_t count = rank_tree_count(host->waiting->order);
    uint32_t *list = host_list_scratch(host, count);
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

/* Returns the queue with the sums that searches need; they are kept from then on.
 * What one form alone asks for needs no sums by form. */
static struct order *queue_with_sums(struct cs_host *host)
{
    struct order *queue = host->waiting->queue;
    const struct order_rules *rules = host->forms->count > 1 ? &grouped : &summed;

    if (queue->rules != rules)
        order_rule(queue, rules, host_list_scratch(host, order_count(queue)));
    assert(queue->rules == rules);
    return queue;
}

uint32_t host_search(struct cs_host *host, struct order *order, uint32_t from,
                   const struct order_filter *filter)
{
    uint64_t seen = order->seen;
    uint32_t place = order_find(order, from, filter);

    host->counts.tasks_seen += order->seen - seen;
    assert(order->seen >= seen && place <= order_count(order));
    return place;
}

/* Returns the groups of nodes (plan.h) on which GPUs of a form's jobs may lie; by their rates,
 * they may be bound to fewer. */
static uint64_t form_groups(const struct cs_host *host, uint32_t number)
{
    const struct host_form *form = &host->forms->form[number];
    uint64_t groups = 0;

    assert(number < host->forms->count);
    for (uint32_t r = 0; r < form->form->role_count; r++) {
        const struct role_spec *role = &form->form->role[r];
        for (uint32_t t = 0; t < role->gpu_type_count; t++)
            groups |= host_groups_of(host->spec, form->pool_mask[r], true, role->gpu_types[t]);
        if (role->gpu_type_count == 0)
            groups |= host_groups_of(host->spec, form->pool_mask[r], true, ID_NONE);
    }
    return groups;
}

/* Sets the GPUs that jobs of a form may have with any estimate, by group of forms: `most` for
 * those that may lie on no nodes beside `groups`, and any number for others. */
static void set_any(const struct cs_host *host, uint64_t groups, uint32_t most,
                    struct order_filter *filter)
{
    assert(!filter->any_by_group);
    filter->any_by_group = true;
    for (uint32_t f = 0; f < host->forms->count; f++) {
        bool within = (form_groups(host, f) & ~groups) == 0;
        uint32_t *any = &filter->group_any[f % ORDER_GROUP_COUNT];
        *any = !within ? UINT32_MAX : *any < most ? most : *any;
    }
}

/* The filter of the policy becomes one of the container.  With `startable` what
 * is known to fail (full.c) is left out. */
uint32_t host_order_find(struct cs_host *host, uint32_t from, const struct cs_filter *filter,
                         uint64_t groups)
{
    struct order *queue = queue_with_sums(host);
    struct order_filter all =
        host_startable(host, host_gpus_to_try(host, filter->gpus_max));

    if (!filter->startable) {
        all.gpus_max = filter->gpus_max;
        all.by_group = false;
        all.passes = NULL;
    }
    all.gpus_any_span = filter->gpus_any_estimate;
    all.span_max_ns = filter->estimate_max_ns;
    if (groups != CS_ALL_GROUPS && filter->gpus_any_estimate < UINT32_MAX)
        set_any(host, groups, filter->gpus_any_estimate, &all);
    return host_search(host, queue, from, &all);
}

uint32_t host_order_first(struct cs_host *host, uint64_t seq)
{
    return order_first_stamped(queue_with_sums(host), seq);
}

/* All of the tasks leave before the first one comes back: the tasks that stay
 * are then in order all the time, as a search for a place needs. */
void host_order_anew(struct cs_host *host, const uint32_t *task, uint32_t count)
{
    assert(host->policy->before != NULL && host->waiting->tops == NULL);
    for (uint32_t k = 0; k < count; k++)
        order_remove(host->waiting->queue, task[k]);
    for (uint32_t k = 0; k < count; k++)
        order_insert(host->waiting->queue, task[k], host_task_item(host, task[k]),
                     stands_before);
}

uint32_t cs_pending_count(const struct cs_host *host)
{
    return host_order_count(host);
}

struct task_id cs_pending(const struct cs_host *host, uint32_t i)
{
    struct task_id task = { rank_tree_at(host->waiting->order, i) };
    return task;
}

const struct cs_task *cs_task(const struct cs_host *host, struct task_id task)
{
    assert(task.i < host->tasks->count);
    return &host->tasks->slot[task.i].pub;
}
