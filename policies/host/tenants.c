/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tenants.c - what waits of each tenant, in the order it came, so that a
 * policy that is fair to tenants need not walk the queue.
 *
 * Who fits is found in a tree of all asks by tenant and order, which knows of
 * its subtrees for how few GPUs one waits.
 *
 * Kept from the first question on.  Tenants are numbered in the order in which
 * their first jobs came; jobs without a tenant are one tenant's.
 */
#include <assert.h>
#include <string.h>

#include "policies/host/state.h"
#include "sim/base/arena.h"
#include "sim/containers/ranks.h"

#define NONE ID_NONE

struct tenant {
    const char *name;
    uint32_t first, last;       /* asks */
};

struct link {                   /* of an ask */
    uint32_t tenant, before, after;
};

struct host_tenants {
    struct tenant *tenant;
    uint32_t *by_name;          /* tenants, sorted */
    uint32_t count, room;
    struct link *link;
    uint32_t link_room;
    struct ranks *tree;         /* NULL: nobody asked */
    uint32_t *least, least_room;        /* by ask: GPUs, of its subtree */
};

static uint32_t number_of(struct cs_host *host, const char *name)
{
    struct host_tenants *all = host->tenants;
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

static uint32_t tenant_of(struct cs_host *host, uint32_t j)
{
    struct host_job_slot *job = host_job_slot(host, j);
    const char *name = job->pub.request.tenant;

    if (job->tenant == NONE)
        job->tenant = number_of(host, name != NULL ? name : "");
    return job->tenant;
}

/* ---- the tree -------------------------------------------------------------- */

static bool stands_before(void *owner, uint32_t a, uint32_t b)
{
    const struct cs_host *host = owner;
    uint32_t x = host->tenants->link[a].tenant;
    uint32_t y = host->tenants->link[b].tenant;

    return x != y ? x < y : host->ask[a].seq < host->ask[b].seq;
}

static void sum_least(void *owner, uint32_t item, uint32_t left,
                      uint32_t right)
{
    const struct cs_host *host = owner;
    uint32_t *least = host->tenants->least, gpus = host->ask[item].pub.gpus;

    if (left != RANKS_NONE && least[left] < gpus)
        gpus = least[left];
    if (right != RANKS_NONE && least[right] < gpus)
        gpus = least[right];
    least[item] = gpus;
}

static void plant(struct cs_host *host, uint32_t ask)
{
    struct host_tenants *all = host->tenants;

    if (all->least_room < host->ask_room) {
        all->least = arena_grow(host->parts.arena, all->least,
                                all->least_room, host->ask_room,
                                sizeof *all->least);
        all->least_room = host->ask_room;
    }
    ranks_insert(all->tree, ask, stands_before);
}

static void keep_tree(struct cs_host *host)
{
    struct host_tenants *all = host->tenants;

    if (all->tree != NULL)
        return;
    all->tree = arena_alloc(host->parts.arena, 1, sizeof *all->tree);
    ranks_init(all->tree, host->parts.arena, sum_least, host);
    for (uint32_t t = 0; t < all->count; t++)
        for (uint32_t ask = all->tenant[t].first; ask != NONE;
             ask = all->link[ask].after)
            plant(host, ask);
}

static bool passes(const struct cs_host *host, uint32_t item,
                   uint32_t gpus_max)
{
    const struct cs_ask *ask = &host->ask[item].pub;

    return ask->gpus <= gpus_max &&
           !(ask->gpu_milli == GPU_MILLI &&
             host_known_full(host, host_job_slot(host, ask->job.i)->form,
                             ask->gpus));
}

/* The first that passes of a subtree whose first place is `first`, from a place
 * on. */
static uint32_t find(const struct cs_host *host, uint32_t item, uint32_t first,
                     uint32_t from, uint32_t gpus_max)
{
    const struct ranks_node *node = host->tenants->tree->node;

    if (item == RANKS_NONE || first + node[item].count <= from ||
        host->tenants->least[item] > gpus_max)
        return NONE;
    uint32_t left = node[item].left;
    uint32_t place = first + (left == RANKS_NONE ? 0 : node[left].count);
    uint32_t found = find(host, left, first, from, gpus_max);
    if (found != NONE)
        return found;
    if (place >= from && passes(host, item, gpus_max))
        return item;
    return find(host, node[item].right, place + 1, from, gpus_max);
}

/* ---- what waits ------------------------------------------------------------ */

/* Behind all that came before it; most come last. */
void host_tenants_insert(struct cs_host *host, uint32_t ask)
{
    struct host_tenants *all = host->tenants;
    uint32_t t = tenant_of(host, host->ask[ask].pub.job.i);
    struct tenant *tenant = &all->tenant[t];

    if (all->link_room < host->ask_room) {
        all->link = arena_grow(host->parts.arena, all->link, all->link_room,
                               host->ask_room, sizeof *all->link);
        all->link_room = host->ask_room;
    }
    uint32_t before = tenant->last;
    while (before != NONE && host->ask[before].seq > host->ask[ask].seq)
        before = all->link[before].before;
    uint32_t after = before == NONE ? tenant->first : all->link[before].after;
    all->link[ask] = (struct link) { t, before, after };
    if (before == NONE)
        tenant->first = ask;
    else
        all->link[before].after = ask;
    if (after == NONE)
        tenant->last = ask;
    else
        all->link[after].before = ask;
    if (all->tree != NULL)
        plant(host, ask);
}

void host_tenants_remove(struct cs_host *host, uint32_t ask)
{
    struct host_tenants *all = host->tenants;
    struct link link = all->link[ask];
    struct tenant *tenant = &all->tenant[link.tenant];

    if (all->tree != NULL)
        ranks_remove(all->tree, ask);
    if (link.before == NONE)
        tenant->first = link.after;
    else
        all->link[link.before].after = link.after;
    if (link.after == NONE)
        tenant->last = link.before;
    else
        all->link[link.after].before = link.before;
}

static void keep(struct cs_host *host)
{
    assert(!host_per_phase(host));
    if (host->tenants != NULL)
        return;
    host->tenants = arena_alloc(host->parts.arena, 1, sizeof *host->tenants);
    for (uint32_t i = 0; i < host_order_count(host); i++)
        host_tenants_insert(host, ranks_at(host->order, i));
}

uint32_t cs_tenant(struct cs_host *host, struct job_id job)
{
    keep(host);
    return tenant_of(host, job.i);
}

uint32_t cs_tenant_count(struct cs_host *host)
{
    keep(host);
    return host->tenants->count;
}

struct ask_id cs_tenant_first(struct cs_host *host, uint32_t tenant)
{
    keep(host);
    assert(tenant < host->tenants->count);
    return (struct ask_id) { host->tenants->tenant[tenant].first };
}

struct ask_id cs_tenant_next(const struct cs_host *host, struct ask_id ask)
{
    assert(host->tenants != NULL && host->ask[ask.i].live);
    return (struct ask_id) { host->tenants->link[ask.i].after };
}

struct ask_id cs_tenant_fits(struct cs_host *host, struct ask_id ask,
                             uint32_t gpus_max)
{
    struct ask_id none = { NONE };

    if (ask.i == NONE)
        return none;
    keep(host);
    keep_tree(host);
    assert(host->ask[ask.i].live);
    const struct host_tenants *all = host->tenants;
    /* All of one form: what is full is so for whole subtrees. */
    if (host->form_count == 1 && !host->has_parts &&
        host_known_full(host, 0, gpus_max))
        gpus_max = host->form[0].full_gpus - 1;
    uint32_t found = find(host, all->tree->root, 0,
                          ranks_rank(all->tree, ask.i), gpus_max);
    if (found == NONE || all->link[found].tenant != all->link[ask.i].tenant)
        return none;
    return (struct ask_id) { found };
}
