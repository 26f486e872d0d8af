/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * naive_ends.h - policies/state/ends.h by a walk over all leases at each question:
 * in place of the calendars.
 */
#include <assert.h>

#include "models/cluster/cluster.h"
#include "policies/state/ends.h"
#include "policies/state/lease_slot.h"
#include "policies/state/nodes.h"
#include "policies/state/slots.h"
#include "policies/state/state.h"
#include "sim/base/clock.h"

static struct { int64_t end_ns; uint32_t number, gpus; } naive_extra[64];
static uint32_t naive_extras;   /* what host_end_expect() added; one thread */

static const struct cs_lease *naive_lease(const struct cs_host *host, uint32_t i)
{
    return &host->leases->slot[host_held(host)->item[i]].pub;
}

static bool naive_is_part(const struct cs_lease *lease)
{
    return lease->gpus == 1 && lease->gpu_milli < GPU_MILLI;
}

/* The one GPU that a lease has a part of. */
static uint32_t naive_gpu(const struct cs_lease *lease)
{
    uint32_t g = 0;

    while (!(lease->placement.share[0].gpu_mask >> g & 1))
        g++;
    return lease->placement.share[0].node * NODE_GPUS_MAX + g;
}

/* Does another part of the same GPU end after this one? */
static bool naive_outlived(const struct cs_host *host, uint32_t i)
{
    const struct cs_lease *lease = naive_lease(host, i);

    for (uint32_t k = 0; k < host_held(host)->count; k++) {
        const struct cs_lease *other = naive_lease(host, k);
        if (k == i || !naive_is_part(other) || naive_gpu(other) != naive_gpu(lease))
            continue;
        if (other->expected_end_ns > lease->expected_end_ns ||
            (other->expected_end_ns == lease->expected_end_ns && k < i))
            return true;
    }
    return false;
}

static bool naive_on(const struct cs_host *host, uint64_t groups, uint32_t node)
{
    uint32_t group = 0;

    if (groups == UINT64_MAX)
        return true;
    while (node >= host->spec->group[group].first_node + host->spec->group[group].node_count)
        group++;
    return group < 64 && (groups & UINT64_C(1) << group) != 0;
}

static bool naive_states_cores(const struct cs_host *host, uint32_t node)
{
    return cluster_group_of(host->spec, node)->cores != CLUSTER_CORES_UNLIMITED;
}

uint32_t host_lease_gpus_on(const struct cs_host *host, uint32_t lease, uint64_t groups)
{
    const struct placement *place = &host->leases->slot[lease].pub.placement;
    uint32_t gpus = 0;

    for (uint32_t s = 0; s < place->share_count; s++)
        for (uint32_t g = 0; g < NODE_GPUS_MAX; g++)
            gpus += naive_on(host, groups, place->share[s].node) &&
                    (place->share[s].gpu_mask >> g & 1);
    return gpus;
}

/* What the i-th lease frees on some groups: GPUs, or thousandths of cores. */
static uint64_t naive_frees(const struct cs_host *host, uint64_t groups, uint32_t i, bool cores)
{
    const struct cs_lease *lease = naive_lease(host, i);
    uint64_t sum = 0;

    if (!cores && naive_is_part(lease) && naive_outlived(host, i))
        return 0;
    if (!cores)
        return host_lease_gpus_on(host, host_held(host)->item[i], groups);
    for (uint32_t s = 0; s < lease->placement.share_count; s++) {
        const struct share *share = &lease->placement.share[s];
        if (naive_on(host, groups, share->node) && naive_states_cores(host, share->node))
            sum += share->cores * UINT64_C(1000) + share->core_milli;
    }
    return sum;
}

static uint64_t naive_freed_by(const struct cs_host *host, uint64_t groups, int64_t at_ns,
                               bool cores)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < host_held(host)->count; i++)
        if (naive_lease(host, i)->expected_end_ns <= at_ns)
            sum += naive_frees(host, groups, i, cores);
    for (uint32_t i = 0; i < naive_extras && !cores && groups == UINT64_MAX; i++)
        if (naive_extra[i].end_ns <= at_ns)
            sum += naive_extra[i].gpus;
    return sum;
}

/* The first time from from_ns on by which so much has been freed. */
static int64_t naive_when(const struct cs_host *host, uint64_t groups, uint64_t need,
                          int64_t from_ns, bool cores)
{
    int64_t best = CLOCK_NEVER_NS;

    if (naive_freed_by(host, groups, from_ns, cores) >= need)
        return from_ns;
    for (uint32_t i = 0; i < host_held(host)->count + naive_extras; i++) {
        int64_t at = i < naive_extras ? naive_extra[i].end_ns
                                      : naive_lease(host, i - naive_extras)->expected_end_ns;
        if (at > from_ns && at < best && naive_freed_by(host, groups, at, cores) >= need)
            best = at;
    }
    return best;
}

/* Free now on nodes of the groups. */
static int64_t naive_free_cores(const struct cs_host *host, uint64_t groups)
{
    int64_t milli = 0;

    for (uint32_t n = 0; n < host->spec->node_count; n++)
        if (naive_on(host, groups, n) && naive_states_cores(host, n))
            milli += cluster_core_milli(host->cluster, n);
    return milli;
}

static uint64_t naive_free_gpus(const struct cs_host *host, uint64_t groups)
{
    uint64_t gpus = 0, most = host_gpus_capped(host->nodes, host->spec->power_cap_w);

    for (uint32_t n = 0; n < host->spec->node_count; n++)
        for (uint32_t g = 0; g < NODE_GPUS_MAX; g++)
            gpus += naive_on(host, groups, n) && (host->cluster->free_mask[n] >> g & 1);
    return gpus < most ? gpus : most;
}

uint32_t host_groups_free(const struct cs_host *host, uint64_t groups)
{
    return (uint32_t)naive_free_gpus(host, groups);
}

int64_t host_groups_when(struct cs_host *host, uint64_t groups, uint32_t gpus,
                         uint32_t *left_gpus)
{
    uint64_t free = naive_free_gpus(host, groups);
    int64_t at = free >= gpus ? host_now(host)
                              : naive_when(host, groups, gpus - free, host_now(host), false);

    *left_gpus = 0;
    if (at != CLOCK_NEVER_NS)
        *left_gpus = (uint32_t)(free + naive_freed_by(host, groups, at, false) - gpus);
    return at;
}

uint64_t host_groups_by(struct cs_host *host, uint64_t groups, int64_t at_ns)
{
    return naive_free_gpus(host, groups) + naive_freed_by(host, groups, at_ns, false);
}

int64_t host_groups_cores_when(struct cs_host *host, uint64_t groups, int64_t milli,
                               int64_t from_ns, int64_t *spare)
{
    int64_t free = naive_free_cores(host, groups), at = from_ns;

    *spare = 0;
    if (free + (int64_t)naive_freed_by(host, groups, CLOCK_NEVER_NS, true) < milli)
        return CLOCK_NEVER_NS;
    if (free < milli)
        at = naive_when(host, groups, (uint64_t)(milli - free), from_ns, true);
    if (at != CLOCK_NEVER_NS)
        *spare = free - milli + (int64_t)naive_freed_by(host, groups, at, true);
    return at;
}

int64_t host_cores_when(struct cs_host *host, int64_t milli, int64_t from_ns, int64_t *spare)
{
    return host_groups_cores_when(host, UINT64_MAX, milli, from_ns, spare);
}

int64_t host_ends_when(struct cs_host *host, int64_t now_ns, uint32_t free_now, uint32_t gpus,
                       uint32_t *left_gpus)
{
    int64_t at = free_now >= gpus
                     ? now_ns : naive_when(host, UINT64_MAX, gpus - free_now, now_ns, false);

    if (at != CLOCK_NEVER_NS)
        *left_gpus = (uint32_t)(free_now + naive_freed_by(host, UINT64_MAX, at, false) - gpus);
    return at;
}

bool host_pool_ends_when(const struct cs_host *host, uint32_t pool_mask, uint32_t free_gpus,
                         uint32_t gpus, int64_t *at_ns)
{
    uint32_t pools = 0, held = host_held(host)->count;
    int64_t now = host_now(host), best = CLOCK_NEVER_NS;

    for (uint32_t p = 0; p < host->spec->pool_count; p++)
        pools += pool_mask >> p & 1;
    if (pools > 1)
        return false;
    for (uint32_t c = 0; c <= held; c++) {
        int64_t at = c < held ? naive_lease(host, c)->expected_end_ns : now;
        uint64_t free = free_gpus;
        if (at < now || at >= best)
            continue;
        for (uint32_t i = 0; i < held; i++) {
            const struct cs_lease *lease = naive_lease(host, i);
            uint32_t mask = host->leases->slot[host_held(host)->item[i]].pool_mask;
            if (pool_mask != 0 && !(mask & pool_mask))
                continue;
            if (lease->state == CS_LEASE_IDLE)
                free += lease->gpus;
            else if (lease->expected_end_ns <= at)
                free += naive_is_part(lease) ? !naive_outlived(host, i) : lease->gpus;
        }
        best = free >= gpus ? at : best;
    }
    *at_ns = best;
    return true;
}

/* ---- GPUs that are held in parts ---- */

/* The GPU of the next lease that is the oldest with a part of it. */
uint32_t host_next_part_gpu(const struct cs_host *host, uint32_t *at)
{
    while (*at < host_held(host)->count) {
        uint32_t i = (*at)++;
        bool first = naive_is_part(naive_lease(host, i));
        for (uint32_t k = 0; k < i && first; k++)
            first = !naive_is_part(naive_lease(host, k)) ||
                    naive_gpu(naive_lease(host, k)) != naive_gpu(naive_lease(host, i));
        if (first)
            return naive_gpu(naive_lease(host, i));
    }
    return ID_NONE;
}

struct cs_part host_part_by(const struct cs_host *host, uint32_t gpu, int64_t at_ns)
{
    struct cs_part left = { 0, 0 };
    uint64_t mib = cluster_mib_left(host->cluster, gpu / NODE_GPUS_MAX)[gpu % NODE_GPUS_MAX];

    left.milli = cluster_left(host->cluster, gpu / NODE_GPUS_MAX)[gpu % NODE_GPUS_MAX];

    for (uint32_t i = 0; i < host_held(host)->count; i++) {
        const struct cs_lease *lease = naive_lease(host, i);
        if (naive_is_part(lease) && naive_gpu(lease) == gpu && lease->expected_end_ns <= at_ns) {
            left.milli += lease->gpu_milli;
            mib += lease->placement.share[0].gpu_mib;
        }
    }
    left.mib = mib > UINT32_MAX ? UINT32_MAX : (uint32_t)mib;
    return left;
}

int64_t host_part_when(const struct cs_host *host, uint32_t gpu, struct cs_part part)
{
    int64_t best = CLOCK_NEVER_NS;

    if (host_part_fits(host_part_by(host, gpu, -1), part))
        return host_now(host);
    for (uint32_t i = 0; i < host_held(host)->count; i++) {
        int64_t at = naive_lease(host, i)->expected_end_ns;
        if (at < best && host_part_fits(host_part_by(host, gpu, at), part))
            best = at;
    }
    return best;
}

/* ---- what happens to leases ---- */

void host_lease_expect(struct cs_host *host, uint32_t lease, int64_t end_ns)
{
    host->leases->slot[lease].pub.expected_end_ns = end_ns;
}

void host_lease_unexpect(struct cs_host *host, uint32_t lease)
{
    (void)host;
    (void)lease;
}

void host_pool_ends_note(struct cs_host *host, uint32_t lease, bool comes)
{
    (void)host;
    (void)lease;
    (void)comes;
}

void host_end_expect(struct cs_host *host, int64_t end_ns, uint32_t number, uint32_t gpus)
{
    (void)host;
    assert(naive_extras < sizeof naive_extra / sizeof *naive_extra);
    naive_extra[naive_extras].end_ns = end_ns;
    naive_extra[naive_extras].number = number;
    naive_extra[naive_extras++].gpus = gpus;
}

void host_end_unexpect(struct cs_host *host, int64_t end_ns, uint32_t number)
{
    (void)host;
    (void)end_ns;
    for (uint32_t i = 0; i < naive_extras; i++)
        if (naive_extra[i].number == number)
            naive_extra[i--] = naive_extra[--naive_extras];
}
