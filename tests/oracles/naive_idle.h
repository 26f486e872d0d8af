/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * naive_idle.h - policies/leases/idle.h by a walk over all leases at each question: in
 * place of the list of idle leases and the indexes by age.
 */
#include <assert.h>

#include "models/cluster/cluster.h"
#include "models/cluster/reclaimable.h"
#include "policies/leases/idle.h"
#include "policies/state/lease_slot.h"
#include "policies/state/nodes.h"
#include "policies/state/slots.h"
#include "policies/state/state.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"

struct host_idle {
    struct reclaimable *all, *aged;     /* filled anew at each question */
};

static uint32_t naive_way[4096];        /* leases in the way; one thread */

static const struct host_lease_slot *naive_idle(const struct cs_host *host, uint32_t i)
{
    const struct host_lease_slot *slot = &host->leases->slot[host_held(host)->item[i]];

    return slot->pub.state == CS_LEASE_IDLE && !slot->leaving ? slot : NULL;
}

bool host_lease_live(const struct cs_host *host, uint32_t lease)
{
    return host->leases->slot[lease].live;
}

bool host_lease_parks(const struct cs_host *host, uint32_t lease)
{
    return host->leases->slot[lease].parks;
}

static void naive_empty(const struct cs_host *host)
{
    for (uint32_t n = 0; host->nodes->idle != NULL && n < host->spec->node_count; n++) {
        struct share none = { .node = n };
        reclaimable_set(host->nodes->idle->all, &none);
        reclaimable_set(host->nodes->idle->aged, &none);
    }
}

void host_idle_add(struct cs_host *host, uint32_t lease)
{
    (void)lease;
    naive_empty(host);
}

void host_idle_remove(struct cs_host *host, uint32_t lease)
{
    (void)lease;
    naive_empty(host);
}

void host_idle_node_leaves(struct cs_host *host, uint32_t node)
{
    (void)node;
    naive_empty(host);
}

const struct reclaimable *host_idle_spare(struct cs_host *host, int64_t idle_ns)
{
    struct host_idle *idle = host->nodes->idle;

    if (idle == NULL) {
        idle = host->nodes->idle = arena_alloc(host->parts.arena, 1, sizeof *idle);
        idle->all = reclaimable_new(host->parts.arena, host->cluster);
        idle->aged = reclaimable_new(host->parts.arena, host->cluster);
    }
    struct reclaimable *spare = idle_ns > 0 ? idle->aged : idle->all;
    for (uint32_t n = 0; n < host->spec->node_count; n++) {
        struct share sum = { .node = n };
        for (uint32_t i = 0; i < host_held(host)->count; i++) {
            const struct host_lease_slot *slot = naive_idle(host, i);
            if (slot == NULL || (host->nodes->leaving != NULL && host->nodes->leaving[n]) ||
                (idle_ns > 0 && slot->pub.idle_since_ns + idle_ns > host_now(host)))
                continue;
            for (uint32_t s = 0; s < slot->pub.placement.share_count; s++) {
                const struct share *share = &slot->pub.placement.share[s];
                if (share->node != n)
                    continue;
                sum.gpu_mask |= share->gpu_mask;
                sum.cores += share->cores;
                sum.memory_bytes += share->memory_bytes;
            }
        }
        reclaimable_set(spare, &sum);
    }
    return spare;
}

int64_t host_idle_next_ns(struct cs_host *host, int64_t idle_ns)
{
    int64_t best = CLOCK_NEVER_NS;

    for (uint32_t i = 0; i < host_held(host)->count && idle_ns > 0; i++) {
        const struct host_lease_slot *slot = naive_idle(host, i);
        int64_t at = slot != NULL ? clock_after(slot->pub.idle_since_ns, idle_ns) : 0;
        if (at > host_now(host) && at < best)
            best = at;
    }
    return best;
}

uint32_t host_idle_in_the_way(struct cs_host *host, const struct placement *placement,
                              bool whole_node, const uint32_t **found)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < host_held(host)->count; i++) {
        const struct host_lease_slot *slot = naive_idle(host, i);
        bool in_the_way = false;
        for (uint32_t s = 0; slot != NULL && s < slot->pub.placement.share_count; s++)
            for (uint32_t p = 0; p < placement->share_count; p++)
                in_the_way |= slot->pub.placement.share[s].node == placement->share[p].node &&
                              (whole_node || (slot->pub.placement.share[s].gpu_mask &
                                              placement->share[p].gpu_mask));
        assert(count < sizeof naive_way / sizeof *naive_way);
        if (in_the_way)
            naive_way[count++] = host_held(host)->item[i];
    }
    *found = naive_way;
    return count;
}
