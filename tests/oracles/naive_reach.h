/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * naive_reach.h - policies/host/reach.c by a walk over all GPUs and leases at each
 * question.  It stands behind naive_ends.h.
 */
#include <math.h>

#include "models/catalogue/catalogue.h"
#include "policies/cores.h"
#include "policies/plan.h"

uint32_t cs_group_pools(const struct cs_host *host, uint64_t groups)
{
    uint32_t pools = 0;

    for (uint32_t n = 0; n < host->spec->node_count; n++)
        if (naive_on(host, groups, n))
            pools |= 1u << cluster_group_of(host->spec, n)->pool;
    return pools;
}

int64_t cs_groups_free_ns(struct cs_host *host, uint64_t groups, uint32_t gpus, uint32_t *spare)
{
    return host_groups_when(host, groups, gpus, spare);
}

uint32_t cs_groups_free_by(struct cs_host *host, uint64_t groups, int64_t at_ns)
{
    return (uint32_t)host_groups_by(host, groups, at_ns);
}

int64_t cs_groups_cores_ns(struct cs_host *host, uint64_t groups, int64_t milli,
                           int64_t from_ns, int64_t *spare)
{
    return host_groups_cores_when(host, groups, milli, from_ns, spare);
}

/* What is left of a GPU that somebody holds, once all have gone that go by then. */
static struct cs_part naive_left_by(const struct cs_host *host, uint32_t node, uint32_t gpu,
                                    int64_t at_ns)
{
    uint32_t milli = cluster_left(host->cluster, node)[gpu];
    uint64_t mib = cluster_mib_left(host->cluster, node)[gpu];

    for (uint32_t i = 0; i < host_held(host)->count; i++) {
        const struct cs_lease *lease = naive_lease(host, i);
        for (uint32_t s = 0; s < lease->placement.share_count; s++)
            if (lease->expected_end_ns <= at_ns && lease->placement.share[s].node == node &&
                (lease->placement.share[s].gpu_mask >> gpu & 1)) {
                milli += naive_is_part(lease) ? lease->gpu_milli : GPU_MILLI;
                mib += lease->placement.share[s].gpu_mib;
            }
    }
    return (struct cs_part) { milli, mib > UINT32_MAX ? UINT32_MAX : (uint32_t)mib };
}

/* The memory of the smallest GPU of the groups, in MiB. */
static double naive_smallest_mib(const struct cs_host *host, uint64_t groups)
{
    double least = UINT32_MAX;

    for (uint32_t n = 0; n < host->spec->node_count; n++) {
        const struct gpu_type *gpu = cluster_group_of(host->spec, n)->gpu;
        if (gpu != NULL && gpu->memory_bytes > 0 && naive_on(host, groups, n))
            least = fmin(least, floor(gpu->memory_bytes / (1 << 20)));
    }
    return least;
}

/* Returns on how many GPUs there will be such room, and the largest: by thousandths, then by
 * memory, which of a whole GPU is that of the smallest. */
static uint64_t naive_room_by(const struct cs_host *host, uint64_t groups, struct cs_part part,
                              int64_t at_ns, struct cs_part *most)
{
    uint64_t count = naive_free_gpus(host, groups);

    *most = (struct cs_part) { count > 0 ? GPU_MILLI : 0, 0 };
    for (uint32_t n = 0; n < host->spec->node_count; n++)
        for (uint32_t g = 0; naive_on(host, groups, n) && g < cluster_group_of(host->spec, n)->gpus;
             g++) {
            struct cs_part left = naive_left_by(host, n, g, at_ns);
            bool whole = left.milli == GPU_MILLI;
            if ((host->cluster->free_mask[n] >> g & 1) || left.milli < part.milli ||
                (!whole && left.mib < part.mib))
                continue;
            count++;
            if (left.milli > most->milli || (left.milli == most->milli && left.mib > most->mib))
                *most = left;
        }
    if (most->milli == GPU_MILLI)
        most->mib = (uint32_t)naive_smallest_mib(host, groups);
    return count;
}

int64_t cs_room_for_part_ns(struct cs_host *host, uint64_t groups, struct cs_part part,
                            uint32_t *spare, struct cs_part *beside)
{
    int64_t best = CLOCK_NEVER_NS;
    struct cs_part most;

    *spare = 0;
    *beside = (struct cs_part) { 0, 0 };
    if (naive_room_by(host, groups, part, host_now(host), &most) > 0)
        best = host_now(host);
    for (uint32_t i = 0; i < host_held(host)->count; i++) {
        int64_t at = naive_lease(host, i)->expected_end_ns;
        if (at > host_now(host) && at < best && naive_room_by(host, groups, part, at, &most) > 0)
            best = at;
    }
    if (best != CLOCK_NEVER_NS) {
        *spare = (uint32_t)naive_room_by(host, groups, part, best, &most) - 1;
        beside->milli = most.milli - part.milli;
        beside->mib = most.mib < part.mib ? 0 : most.mib - part.mib;
    }
    return best;
}

int64_t cs_part_free_ns(struct cs_host *host, uint64_t groups, uint32_t milli,
                        uint32_t *spare, uint32_t *beside)
{
    struct cs_part left, part = { milli, 0 };
    int64_t at = cs_room_for_part_ns(host, groups, part, spare, &left);

    *beside = left.milli;
    return at;
}

uint32_t cs_lease_gpus_on(const struct cs_host *host, struct lease_id lease, uint64_t groups)
{
    return host_lease_gpus_on(host, lease.i, groups);
}

/* The type of GPU that all nodes of the groups have which have GPUs: else 0. */
static uint32_t naive_type(const struct cs_host *host, uint64_t groups)
{
    const struct gpu_type *found = NULL;

    for (uint32_t n = 0; n < host->spec->node_count; n++) {
        const struct gpu_type *gpu = cluster_group_of(host->spec, n)->gpu;
        if (gpu == NULL || !naive_on(host, groups, n))
            continue;
        if (found != NULL && gpu != found)
            return 0;
        found = gpu;
    }
    return found != NULL ? found->index + 1 : 0;
}

void cs_want_groups(const struct cs_host *host, struct job_id job, uint64_t groups,
                    struct cs_want *want)
{
    struct cs_reach reach;
    uint32_t i = 0;

    cs_role_reach(host, job, want->role, &reach);
    while (i < reach.count && !(reach.option[i].groups & groups))
        i++;
    if (i == reach.count)
        return;
    want->pool_mask = cs_group_pools(host, groups & reach.option[i].groups);
    want->gpu_type = reach.option[i].gpu_type;
    if (want->gpu_type == 0)
        want->gpu_type = naive_type(host, groups & reach.option[i].groups);
}
