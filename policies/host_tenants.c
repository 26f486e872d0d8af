/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * host_tenants.c - what waits of each tenant, in the order it came, so that a
 * policy that is fair to tenants need not walk the queue.
 *
 * Kept from the first question on.  Tenants are numbered in the order in which
 * their first jobs came; jobs without a tenant are one tenant's.
 */
#include <assert.h>
#include <string.h>

#include "policies/host_state.h"
#include "sim/arena.h"

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
}

void host_tenants_remove(struct cs_host *host, uint32_t ask)
{
    struct host_tenants *all = host->tenants;
    struct link link = all->link[ask];
    struct tenant *tenant = &all->tenant[link.tenant];

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
