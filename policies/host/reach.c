/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * reach.c - when there is room on some groups of nodes: for policies that promise a start.
 * Which groups a job may use, best.c says.
 *
 * Groups are bits of a mask, by their index in the cluster.  A cluster may have more than 64 of
 * them: those have no bit, and count where all groups are meant (CS_ALL_GROUPS) alone.
 *
 * All answers are by what holds leases now and until when it should (its estimate).  What waits is
 * not looked at: a policy that promises starts counts its own promises.
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

/* Does GPU `gpu`, counted over all nodes by NODE_GPUS_MAX each, lie on a node
 * of these groups? */
static bool on_groups(const struct cs_host *host, uint32_t gpu, uint64_t groups)
{
    uint32_t group = host->cluster->group_of[gpu / NODE_GPUS_MAX];

    assert(group < host->spec->group_count);
    return groups == CS_ALL_GROUPS || (group < 64 && groups >> group & 1);
}

/* Returns the least memory of a GPU of some groups; UINT32_MAX: it is not known. */
static uint32_t least_mib(const struct cs_host *host, uint64_t groups)
{
    uint32_t least = UINT32_MAX;

    assert(groups != 0);
    for (uint32_t g = 0; g < host->spec->group_count; g++) {
        const struct node_group *group = &host->spec->group[g];
        bool is_in = groups == CS_ALL_GROUPS || (g < 64 && groups >> g & 1);
        uint32_t mib = cluster_gpu_mib(group);
        least = is_in && group->gpus > 0 && mib < least ? mib : least;
    }
    return least;
}

/* Returns the part with more thousandths; of equals, the one with more memory. */
static struct cs_part roomier(struct cs_part a, struct cs_part b)
{
    assert(a.milli <= GPU_MILLI && b.milli <= GPU_MILLI);
    return a.milli > b.milli || (a.milli == b.milli && a.mib >= b.mib) ? a : b;
}

/* Returns what a part has beyond another one, which is within it. */
static struct cs_part beyond(struct cs_part has, struct cs_part part)
{
    assert(has.milli >= part.milli);
    return (struct cs_part) { has.milli - part.milli,
                              has.mib > part.mib ? has.mib - part.mib : 0 };
}

/* A GPU is wholly free, or free in parts; one that is free in parts until all of it is
 * counts once.  Of GPUs that are wholly free the least memory counts. */
int64_t cs_room_for_part_ns(struct cs_host *host, uint64_t groups, struct cs_part part,
                            uint32_t *spare, struct cs_part *beside)
{
    int64_t now_ns = cs_now_ns(host), at_ns = host_groups_when(host, groups, 1, spare);
    struct cs_part most = { 0, 0 };
    uint64_t count = 0, whole;
    uint32_t at, gpu;

    assert(part.milli > 0 && part.milli < GPU_MILLI);
    for (at = 0; (gpu = host_next_part_gpu(host, &at)) != ID_NONE;)
        if (on_groups(host, gpu, groups)) {
            int64_t then_ns = host_part_when(host, gpu, part);
            then_ns = then_ns < now_ns ? now_ns : then_ns;
            at_ns = then_ns < at_ns ? then_ns : at_ns;
        }
    *spare = 0;
    *beside = most;
    if (at_ns == CLOCK_NEVER_NS)
        return at_ns;
    whole = host_groups_by(host, groups, at_ns);
    for (at = 0; (gpu = host_next_part_gpu(host, &at)) != ID_NONE;)
        if (on_groups(host, gpu, groups)) {
            struct cs_part left = host_part_by(host, gpu, at_ns);
            whole -= left.milli == GPU_MILLI;
            count += host_part_fits(left, part);
            most = host_part_fits(left, part) ? roomier(most, left) : most;
        }
    count += whole;
    if (whole > 0 || most.milli == GPU_MILLI)
        most = (struct cs_part) { GPU_MILLI, least_mib(host, groups) };
    assert(count > 0 && most.milli >= part.milli);
    *spare = (uint32_t)count - 1;
    *beside = beyond(most, part);
    return at_ns;
}

int64_t cs_part_free_ns(struct cs_host *host, uint64_t groups, uint32_t milli,
                        uint32_t *spare, uint32_t *beside)
{
    struct cs_part left;
    int64_t at_ns = cs_room_for_part_ns(host, groups, (struct cs_part) { milli, 0 }, spare,
                                        &left);

    assert(at_ns >= cs_now_ns(host));
    *beside = left.milli;
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

/* The first option that has one of these groups is taken: a gang has one type
 * of GPU. */
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
