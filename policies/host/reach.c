/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * reach.c - the groups of nodes on which a job may lie, and when there is room on them: for
 * policies that promise a start.
 */
#include <assert.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/cluster/fit.h"
#include "models/jobs/job.h"
#include "policies/cores.h"
#include "policies/leases/time.h"
#include "policies/plan.h"
#include "policies/policy.h"
#include "policies/state/ends.h"
#include "policies/state/form.h"
#include "policies/state/job_slot.h"
#include "policies/state/lease_slot.h"
#include "policies/state/slots.h"
#include "policies/state/state.h"
#include "sim/base/clock.h"

/* Returns the groups of the pools of a mask (0: all) for which `gpus` holds alike and, if it
 * does, that have GPUs of the type (ID_NONE: any).  More than 64 are not told apart. */
static uint64_t groups_of(const struct cluster_spec *spec, uint32_t pool_mask, bool gpus,
                          uint32_t type)
{
    uint64_t groups = 0;
    bool all = true;

    for (uint32_t g = 0; g < spec->group_count; g++) {
        const struct node_group *group = &spec->group[g];
        if (gpus && group->gpus == 0)
            continue;
        if ((pool_mask == 0 || pool_mask >> group->pool & 1) &&
            (type == ID_NONE || (group->gpu != NULL && group->gpu->index == type)))
            groups |= g < 64 ? UINT64_C(1) << g : 0;
        else
            all = false;
    }
    assert(spec->group_count > 0);
    return all || spec->group_count > 64 ? CS_ALL_GROUPS : groups;
}

uint64_t cs_pool_groups(const struct cs_host *host, uint32_t pool_mask)
{
    return groups_of(host->spec, pool_mask, false, ID_NONE);
}

uint32_t cs_group_pools(const struct cs_host *host, uint64_t groups)
{
    uint32_t pools = 0;

    for (uint32_t g = 0; g < host->spec->group_count; g++)
        if (groups == CS_ALL_GROUPS || (g < 64 && groups >> g & 1))
            pools |= 1u << host->spec->group[g].pool;
    return pools;
}

void cs_role_reach(const struct cs_host *host, struct job_id id, uint32_t role,
                   struct cs_reach *out)
{
    const struct host_job_slot *job = host_job_slot(host, id.i);
    const struct cs_want as_asked = { 0 };
    struct fit_want fit;

    *out = (struct cs_reach) { .gpus = job_role_gpus(&job->pub.request, role),
                               .gpu_milli = job_role_milli(&job->pub.request, role) };
    if (out->gpus == 0 || !host_fit_want(host, job, role, &as_asked, &fit))
        return;
    assert(CS_REACH_MAX > 0);
    uint32_t types = fit.gpu_type_count <= CS_REACH_MAX ? fit.gpu_type_count : 0;
    for (uint32_t t = 0; t < types; t++) {
        uint64_t groups = groups_of(host->spec, fit.pool_mask, true, fit.gpu_types[t]);
        if (groups == 0)
            continue;
        out->option[out->count].groups = groups;
        out->option[out->count++].gpu_type = fit.gpu_types[t] + 1;
    }
    if (types > 0)
        return;
    out->option[0].groups = groups_of(host->spec, fit.pool_mask, true, ID_NONE);
    out->count = out->option[0].groups != 0;
}

uint64_t cs_job_groups(const struct cs_host *host, struct job_id id)
{
    const struct host_form *form = host_job_form(host, id.i);
    uint64_t groups = 0;

    for (uint32_t r = 0; r < form->form->role_count; r++) {
        struct cs_reach reach;
        cs_role_reach(host, id, r, &reach);
        for (uint32_t i = 0; i < reach.count; i++)
            groups |= reach.option[i].groups;
        if (reach.count == 0 || form->form->role[r].on_cores.cores > 0)
            groups |= cs_pool_groups(host, form->pool_mask[r]);
    }
    assert(form->form->role_count > 0);
    return groups;
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
    assert(lease.i < host->leases->count);
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
