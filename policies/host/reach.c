/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * reach.c - when there is room on some groups of nodes: for policies that promise a start.
 * Which groups a job may use, best.c says.
 */
#include <assert.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "policies/cores.h"
#include "policies/plan.h"
#include "policies/policy.h"
#include "policies/state/ends.h"
#include "policies/state/slots.h"
#include "policies/state/state.h"
#include "sim/base/clock.h"

uint32_t cs_group_pools(const struct cs_host *host, uint64_t groups)
{
    uint32_t pools = 0;

    for (uint32_t g = 0; g < host->spec->group_count; g++)
        if (groups == CS_ALL_GROUPS || (g < 64 && groups >> g & 1))
            pools |= 1u << host->spec->group[g].pool;
    assert(groups == 0 || pools != 0);
    return pools;
}

int64_t cs_groups_free_ns(struct cs_host *host, uint64_t groups, uint32_t gpus,
                          uint32_t *spare)
{
    if (groups == CS_ALL_GROUPS)
        return cs_earliest_ns(host, gpus, spare);
    return host_groups_when(host, groups, gpus, spare);
}

uint32_t cs_groups_free_by(struct cs_host *host, uint64_t groups, int64_t at_ns)
{
    uint64_t gpus = host_groups_by(host, groups, at_ns);

    assert(gpus <= UINT32_MAX);
    return (uint32_t)gpus;
}

int64_t cs_groups_cores_ns(struct cs_host *host, uint64_t groups, int64_t milli,
                           int64_t from_ns, int64_t *spare)
{
    if (groups == CS_ALL_GROUPS)
        return host_cores_when(host, milli, from_ns, spare);
    return host_groups_cores_when(host, groups, milli, from_ns, spare);
}

static bool on_groups(const struct cs_host *host, uint32_t gpu, uint64_t groups)
{
    uint32_t group = host->cluster->group_of[gpu / NODE_GPUS_MAX];

    assert(group < host->spec->group_count);
    return groups == CS_ALL_GROUPS || (group < 64 && groups >> group & 1);
}

/* A GPU is wholly free, or free in parts; one that is free in parts until all of it is
 * counts once. */
int64_t cs_part_free_ns(struct cs_host *host, uint64_t groups, uint32_t milli,
                        uint32_t *spare, uint32_t *beside)
{
    int64_t now_ns = cs_now_ns(host), at_ns = host_groups_when(host, groups, 1, spare);
    uint64_t count = 0, whole;
    uint32_t at, gpu, most = 0;

    assert(milli > 0 && milli < GPU_MILLI);
    for (at = 0; (gpu = host_next_part_gpu(host, &at)) != ID_NONE;)
        if (on_groups(host, gpu, groups)) {
            int64_t then_ns = host_part_when(host, gpu, milli);
            then_ns = then_ns < now_ns ? now_ns : then_ns;
            at_ns = then_ns < at_ns ? then_ns : at_ns;
        }
    *spare = *beside = 0;
    if (at_ns == CLOCK_NEVER_NS)
        return at_ns;
    whole = host_groups_by(host, groups, at_ns);
    for (at = 0; (gpu = host_next_part_gpu(host, &at)) != ID_NONE;)
        if (on_groups(host, gpu, groups)) {
            uint32_t left = host_part_by(host, gpu, at_ns);
            whole -= left == GPU_MILLI;
            count += left >= milli;
            most = left > most ? left : most;
        }
    count += whole;
    most = whole > 0 ? GPU_MILLI : most;
    assert(count > 0 && most >= milli);
    *spare = (uint32_t)count - 1;
    *beside = most - milli;
    return at_ns;
}

uint32_t cs_lease_gpus_on(const struct cs_host *host, struct lease_id lease, uint64_t groups)
{
    return host_lease_gpus_on(host, lease.i, groups);
}

/* Returns 1 + the index of the type that all GPUs of some groups have; 0: they have several. */
static uint32_t type_of(const struct cs_host *host, uint64_t groups)
{
    uint32_t type = 0;

    for (uint32_t g = 0; g < host->spec->group_count; g++) {
        const struct gpu_type *gpu = host->spec->group[g].gpu;
        if (gpu == NULL || g >= 64 || !(groups >> g & 1))
            continue;
        if (type != 0 && type != gpu->index + 1)
            return 0;
        type = gpu->index + 1;
    }
    assert(groups != 0);
    return type;
}

void cs_want_groups(const struct cs_host *host, struct job_id job, uint64_t groups,
                    struct cs_want *want)
{
    struct cs_reach reach;

    cs_role_reach(host, job, want->role, &reach);
    for (uint32_t i = 0; i < reach.count; i++) {
        uint64_t both = groups & reach.option[i].groups;
        if (both == 0)
            continue;
        want->pool_mask = cs_group_pools(host, both);
        want->gpu_type = reach.option[i].gpu_type ? reach.option[i].gpu_type
                                                  : type_of(host, both);
        return;
    }
}
