/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * load_parts.c - where a role can be, and how long a phase takes there: what a mix and a trace
 * both ask.
 */
#include "experiments/preflight/load_parts.h"

#include <assert.h>
#include <math.h>

#include "experiments/preflight/allowed.h"
#include "experiments/spec/experiment.h"
#include "models/cluster/cluster.h"
#include "models/cluster/fabric.h"
#include "models/cluster/fit.h"
#include "models/jobs/job.h"
#include "models/jobs/speedup.h"
#include "models/laws/phase.h"
#include "models/laws/phase_cache.h"
#include "policies/host/host.h"
#include "policies/state/terms.h"
#include "sim/base/arena.h"

bool load_on_cores_alone(const struct host_policy *policy)
{
    return host_hardware(policy->policy, &policy->rules) == HOST_CORES_ALONE;
}

/* ARENA_REACH moves two arrays of one length, hence `room` twice. */
double *load_add_part(struct reckoning *r, const char *form, const char *role, bool cores)
{
    struct load *load = &r->load;

    uint32_t room = r->room;

    ARENA_REACH(r->arena, load->part, room, load->part_count);
    ARENA_REACH(r->arena, r->work, r->room, load->part_count);
    load->part[load->part_count] = (struct load_part) {
        .form = form, .role = role, .cores = cores
    };
    double *work = r->work[load->part_count++];
    for (uint32_t p = 0; p < LOAD_POOLS; p++)
        work[p] = INFINITY;
    return work;
}

struct role_spec load_counted(const struct reckoning *r, const struct role_spec *role)
{
    struct role_spec as = *role;

    if (!job_role_chooses(role) || !load_on_cores_alone(r->policy))
        return as;
    as.gpus = as.gpu_type_count = 0;
    as.cores = role->on_cores.cores;
    as.memory_bytes = role->on_cores.memory_bytes;
    return as;
}

double load_phase_s(struct reckoning *r, const struct job_form *form, uint32_t p, uint32_t pool)
{
    const struct phase_spec *phase = &form->phase[p];
    const struct role_spec as = load_counted(r, &form->role[phase->role]);
    const struct role_spec *role = &as;
    const struct phase_law *law = phase_law_usual(phase);
    uint32_t nodes = r->point->cluster->node_count;
    struct fit_want want = {
        .gpus = role->gpus, .cores = role->cores,
        .memory_bytes = role->memory_bytes, .pool_mask = 1u << pool,
        .computes = role->gpus == 0 && role->on_cores.cores > 0,
    };
    double least_s = INFINITY;

    if (role->gpus == 0 && role->cores == 0)
        return 0;
    for (uint32_t t = 0; t == 0 || t < role->gpu_type_count; t++) {
        struct placement place;
        want.gpu_types = role->gpu_types ? &role->gpu_types[t] : NULL;
        want.gpu_type_count = role->gpu_type_count > 0;
        if (!fit_find(r->empty, FIT_PACK, &want, r->share, nodes, &place))
            continue;
        struct gang gang = fabric_gang(r->point->cluster, &place);
        double s = phase_cache_seconds(r->plans, law, &gang, 0.5);
        if (!isfinite(s) && law->kind == LAW_SYNC)
            s = 0;
        least_s = fmin(least_s, s / phase->every);
    }
    return least_s;
}

/* Has the pool a node, empty, that holds a GPU of the role with its cores and memory?  Of a
 * pod only the GPU counts: what else it takes is not of one GPU. */
static bool holds_gpu(const struct reckoning *r, const struct role_spec *role, uint32_t pool)
{
    const struct fit_want want = {
        .gpus = 1, .cores = role->pod ? 0 : role->cores,
        .memory_bytes = role->pod ? 0 : role->memory_bytes,
        .gpu_types = role->gpu_types, .gpu_type_count = role->gpu_type_count,
        .pool_mask = 1u << pool,
    };
    struct placement place;

    assert(pool < r->point->cluster->pool_count);
    return fit_find(r->empty, FIT_PACK, &want, r->share, r->point->cluster->node_count, &place);
}

bool load_can_be(const struct reckoning *r, const struct job_request *request, uint32_t role,
                 uint32_t pool)
{
    const struct cluster_spec *spec = r->point->cluster;
    uint32_t mask = allowed_pools(spec, r->policy, request, role);
    const struct role_spec as = load_counted(r, &request->form->role[role]);

    if (mask != 0 && !(mask >> pool & 1))
        return false;
    /* Roles without GPUs stay off nodes with GPUs where there are others. */
    return as.gpus > 0 ? r->load.gpus[pool] > 0 && holds_gpu(r, &as, pool)
                       : r->load.cores[pool] > 0 && (!r->bare || r->has_bare[pool]);
}

double load_speed_in(const struct job_request *request, uint32_t pool)
{
    return request->rates == NULL ? 1
                                  : speedup_of(request, pool, job_role_gpus(request, 0));
}
