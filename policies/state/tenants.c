/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tenants.c - what waits of each tenant, in the order it came, so that a
 * policy that is fair to tenants need not walk the queue.
 *
 * Who fits is found in a tree of all tasks by tenant and order, which knows of
 * its subtrees for how few GPUs one waits; of several forms, for how few of each.
 *
 * Kept from the first question on.  Tenants are numbered in the order in which
 * their first jobs came; jobs without a tenant are one tenant's.
 */
#include <assert.h>
#include <string.h>

#include "policies/phases.h"
#include "policies/rank.h"
#include "policies/state/form.h"
#include "policies/state/full.h"
#include "policies/state/jobs.h"
#include "policies/state/queue.h"
#include "policies/state/state.h"
#include "policies/state/task_slot.h"
#include "policies/state/waiting.h"
#include "sim/base/arena.h"
#include "sim/containers/order.h"
#include "sim/containers/rank_tree.h"

#define NONE ID_NONE

/* A tenant and its tasks, a list in the order in which they came; NONE: it has
 * none. */
struct tenant {
    const char *name;
    uint32_t first, last;       /* tasks */
};

struct link {                   /* of a task */
    uint32_t tenant, before, after;
};

/* All tenants.  Arrays named by tasks are as long as the table of tasks. */
struct host_tenants {
    struct tenant *tenant;      /* [count], in the order in which they came */
    uint32_t *by_name;          /* tenants, sorted */
    uint32_t count, room;
    struct link *link;          /* by task: its neighbours in its tenant's list */
    uint32_t link_room;
    struct rank_tree *tree;         /* NULL: nobody asked */
    uint32_t *least, least_room;        /* by ask: GPUs, of its subtree */
    struct order_groups *groups;        /* likewise, by form; NULL: there is one */
    uint32_t groups_room;
};

/* Returns the number of a tenant; a new one is the next number. */
static uint32_t number_of(struct cs_host *host, const char *name)
{
    struct host_tenants *all = host->waiting->tenants;
    uint32_t low = 0, high = all->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (strcmp(all->tenant[all->by_name[middle]].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < all->count &&
        strcmp(all->tenant[all->by_name[low]].name, name) == 0)
        return all->by_name[low];
    assert(low <= all->count);
    if (all->count == all->room) {
        uint32_t room = all->room > 0 ? 2 * all->room : 16;
        all->tenant = arena_grow(host->parts.arena, all->tenant, all->room,
                                 room, sizeof *all->tenant);
        all->by_name = arena_grow(host->parts.arena, all->by_name, all->room,
                                  room, sizeof *all->by_name);
        all->room = room;
    }
    memmove(&all->by_name[low + 1], &all->by_name[low],
            (all->count - low) * sizeof *all->by_name);
    all->by_name[low] = all->count;
    all->tenant[all->count] = (struct tenant) {
        arena_text(host->parts.arena, name), NONE, NONE
    };
    return all->count++;
}

/* Returns the tenant of a job that is not forgotten; it is looked up by name
 * once for each job. */
static uint32_t tenant_of(struct cs_host *host, uint32_t j)
{
    const char *name;
    uint32_t *tenant = host_job_tenant(host, j, &name);

    if (*tenant == NONE)
        *tenant = number_of(host, name);
    assert(*tenant < host->waiting->tenants->count);
    return *tenant;
}

/* ---- the tree -------------------------------------------------------------- */

/* By tenant, then in the order of submission. owner: the host. */
static bool stands_before(void *owner, uint32_t a, uint32_t b)
{
    const struct cs_host *host = owner;
    uint32_t x = host->waiting->tenants->link[a].tenant;
    uint32_t y = host->waiting->tenants->link[b].tenant;

    assert(x < host->waiting->tenants->count && y < host->waiting->tenants->count);
    return x != y ? x < y : host->tasks->slot[a].seq < host->tasks->slot[b].seq;
}

/* Sets the fewest GPUs that a task of a subtree needs, in all and, where sums by
 * form are kept, by group of forms.  RANK_TREE_NONE: there is no such child. */
static void sum_least(void *owner, uint32_t item, uint32_t left,
                      uint32_t right)
{
    const struct cs_host *host = owner;
    uint32_t *least = host->waiting->tenants->least;
    uint32_t own = host_task_gpus_min(host, item), gpus = own;

    assert(item < host->waiting->tenants->least_room);
    if (left != RANK_TREE_NONE && least[left] < gpus)
        gpus = least[left];
    if (right != RANK_TREE_NONE && least[right] < gpus)
        gpus = least[right];
    least[item] = gpus;
    assert(least[item] <= own);
    struct order_groups *of = host->waiting->tenants->groups;
    if (of != NULL)
        order_groups_sum(&of[item], host->tasks->slot[item].form % ORDER_GROUP_COUNT,
                         own, left != RANK_TREE_NONE ? &of[left] : NULL,
                         right != RANK_TREE_NONE ? &of[right] : NULL);
}

/* Makes room for sums by form, where there are several forms. */
static void make_groups(struct cs_host *host)
{
    struct host_tenants *all = host->waiting->tenants;
    uint32_t count = rank_tree_count(all->tree);
    bool begins = all->groups == NULL && count > 0;

    if (host->forms->count < 2 || all->groups_room >= all->least_room)
        return;
    all->groups = arena_grow(host->parts.arena, all->groups, all->groups_room,
                             all->least_room, sizeof *all->groups);
    assert(all->groups_room < all->least_room);
    all->groups_room = all->least_room;
    if (!begins)
        return;
    uint32_t *list = host_list_scratch(host, count);
    rank_tree_list(all->tree, list);
    rank_tree_reorder(all->tree, list);     /* all sums anew */
}

/* Puts a waiting task into the tree. */
static void plant(struct cs_host *host, uint32_t task)
{
    assert(host->tasks->slot[task].live);
    struct host_tenants *all = host->waiting->tenants;

    if (all->least_room < host->tasks->capacity) {
        all->least = arena_grow(host->parts.arena, all->least,
                                all->least_room, host->tasks->capacity,
                                sizeof *all->least);
        all->least_room = host->tasks->capacity;
    }
    make_groups(host);
    rank_tree_insert(all->tree, task, stands_before);
}

/* Makes the tree at the first question that needs it. */
static void keep_tree(struct cs_host *host)
{
    struct host_tenants *all = host->waiting->tenants;

    if (all->tree != NULL)
        return;
    all->tree = arena_alloc(host->parts.arena, 1, sizeof *all->tree);
    rank_tree_init(all->tree, host->parts.arena, sum_least, host);
    for (uint32_t t = 0; t < all->count; t++)
        for (uint32_t task = all->tenant[t].first; task != NONE;
             task = all->link[task].after)
            plant(host, task);
    assert(rank_tree_count(all->tree) == host_order_count(host));
}

/* Could a task start on gpus_max GPUs, as far as is known? */
static bool passes(const struct cs_host *host, uint32_t item,
                   uint32_t gpus_max)
{
    assert(host->tasks->slot[item].live);
    const struct host_task_slot *task = &host->tasks->slot[item];

    return host_task_gpus_min(host, item) <= gpus_max &&
           !host_known_full(host, task->form, task->pub.gpus, task->pub.gpu_milli);
}

/* What is looked for: a task from place `from` on. */
struct search {
    uint32_t from, gpus_max;
    const uint32_t *group_max;  /* by group of forms; NULL: as many of each */
};

/* Returns the first task that passes in the subtree of `item`, whose first
 * place is `first`; NONE: none does.  Subtrees are left out that lie before
 * `from`, or in which each task needs more GPUs than there are. */
static uint32_t find(const struct cs_host *host, uint32_t item, uint32_t first,
                     const struct search *search)
{
    const struct host_tenants *all = host->waiting->tenants;
    const struct rank_tree_node *node = all->tree->node;

    assert(item == RANK_TREE_NONE || node[item].count > 0);
    if (item == RANK_TREE_NONE || first + node[item].count <= search->from ||
        all->least[item] > search->gpus_max ||
        (search->group_max != NULL &&
         !order_groups_pass(&all->groups[item], search->group_max)))
        return NONE;
    uint32_t left = node[item].left;
    uint32_t place = first + (left == RANK_TREE_NONE ? 0 : node[left].count);
    uint32_t found = find(host, left, first, search);
    if (found != NONE)
        return found;
    if (place >= search->from && passes(host, item, search->gpus_max))
        return item;
    return find(host, node[item].right, place + 1, search);
}

/* ---- what waits ------------------------------------------------------------ */

/* Puts a task behind all tasks of its tenant that came before it.  The search
 * begins at the end, as most tasks come last. */
void host_tenants_insert(struct cs_host *host, uint32_t task)
{
    struct host_tenants *all = host->waiting->tenants;
    uint32_t t = tenant_of(host, host->tasks->slot[task].pub.job.i);
    struct tenant *tenant = &all->tenant[t];

    assert(host->tasks->slot[task].live);
    if (all->link_room < host->tasks->capacity) {
        all->link = arena_grow(host->parts.arena, all->link, all->link_room,
                               host->tasks->capacity, sizeof *all->link);
        all->link_room = host->tasks->capacity;
    }
    uint32_t before = tenant->last;
    while (before != NONE && host->tasks->slot[before].seq > host->tasks->slot[task].seq)
        before = all->link[before].before;
    uint32_t after = before == NONE ? tenant->first : all->link[before].after;
    all->link[task] = (struct link) { t, before, after };
    if (before == NONE)
        tenant->first = task;
    else
        all->link[before].after = task;
    if (after == NONE)
        tenant->last = task;
    else
        all->link[after].before = task;
    if (all->tree != NULL)
        plant(host, task);
    assert(tenant->first != NONE && tenant->last != NONE);
}

void host_tenants_remove(struct cs_host *host, uint32_t task)
{
    struct host_tenants *all = host->waiting->tenants;
    struct link link = all->link[task];
    struct tenant *tenant = &all->tenant[link.tenant];

    assert(link.tenant < all->count && tenant->first != NONE);
    if (all->tree != NULL)
        rank_tree_remove(all->tree, task);
    if (link.before == NONE)
        tenant->first = link.after;
    else
        all->link[link.before].after = link.after;
    if (link.after == NONE)
        tenant->last = link.before;
    else
        all->link[link.after].before = link.before;
    assert((tenant->first == NONE) == (tenant->last == NONE));
}

/* Makes the lists at the first question. */
static void keep(struct cs_host *host)
{
    assert(!host_per_phase(host));
    if (host->waiting->tenants != NULL)
        return;
    host->waiting->tenants = arena_alloc(host->parts.arena, 1, sizeof *host->waiting->tenants);
    for (uint32_t i = 0; i < host_order_count(host); i++)
        host_tenants_insert(host, rank_tree_at(host->waiting->order, i));
}

uint32_t cs_tenant(struct cs_host *host, struct job_id job)
{
    assert(job.i < host_jobs_submitted(host));
    keep(host);
    return tenant_of(host, job.i);
}

uint32_t cs_tenant_count(struct cs_host *host)
{
    keep(host);
    return host->waiting->tenants->count;
}

struct task_id cs_tenant_first(struct cs_host *host, uint32_t tenant)
{
    keep(host);
    assert(tenant < host->waiting->tenants->count);
    return (struct task_id) { host->waiting->tenants->tenant[tenant].first };
}

struct task_id cs_tenant_next(const struct cs_host *host, struct task_id task)
{
    assert(host->waiting->tenants != NULL && host->tasks->slot[task.i].live);
    assert(task.i < host->waiting->tenants->link_room);
    return (struct task_id) { host->waiting->tenants->link[task.i].after };
}

/* The search goes over all tasks from this one on in one tree; what it finds
 * may belong to a later tenant, and then there is none of this one. */
struct task_id cs_tenant_fits(struct cs_host *host, struct task_id task,
                              uint32_t gpus_max)
{
    struct task_id none = { NONE };

    if (task.i == NONE)
        return none;
    keep(host);
    keep_tree(host);
    assert(host->tasks->slot[task.i].live);
    const struct host_tenants *all = host->waiting->tenants;
    /* All of one form: what is full is so for whole subtrees. */
    if (host->forms->count == 1)
        gpus_max = host_full_most(host, 0, gpus_max);
    uint32_t group_max[ORDER_GROUP_COUNT];
    struct search search = { rank_tree_rank(all->tree, task.i), gpus_max, NULL };
    if (all->groups != NULL && host_full_by_form(host, group_max))
        search.group_max = group_max;
    uint32_t found = find(host, all->tree->root, 0, &search);
    if (found == NONE || all->link[found].tenant != all->link[task.i].tenant)
        return none;
    assert(host_task_gpus_min(host, found) <= gpus_max);
    return (struct task_id) { found };
}
