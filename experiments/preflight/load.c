/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * load.c - the work of a kind of job in each pool, and how it is divided.
 *
 * Offered load rho = arrival rate x work of a job / capacity, as in queueing
 * theory; a pool with rho >= 1 has no steady state.  Three steps: measure the
 * pools; for each role of each kind of job, the work that it would be in each
 * pool if all of it went there (struct reckoning.work, units per second); then
 * divide the roles among pools.
 *
 * The division is greedy: each role is cut into CHUNKS, and chunk by chunk all
 * roles in turn go where the pool is then the emptiest.  This comes within a
 * chunk of the smallest possible largest load for the shapes that occur; the
 * exact optimum would be a linear program, whose answer no reader could follow.
 *
 * Example: 2 jobs an hour come, each of 4 GPUs for 3 hours: 24 GPU-hours of
 * work an hour.  A pool of 32 GPUs has rho = 0.75.
 */
#include "experiments/preflight/load_parts.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "experiments/spec/experiment.h"
#include "models/cluster/cluster.h"
#include "models/jobs/job.h"
#include "models/laws/phase_cache.h"
#include "policies/host/host.h"
#include "policies/state/terms.h"
#include "sim/base/arena.h"
#include "workloads/source.h"

#define CHUNKS 512u             /* into which a role is divided among pools */

/* Returns whether both policies lease for the same time, confine roles to homes
 * or not, and use the same hardware.  Nothing else of a policy enters. */
bool load_alike(const struct host_policy *a, const struct host_policy *b)
{
    return ((a->policy->flags ^ b->policy->flags) & CS_PER_PHASE) == 0 &&
           host_confines(a) == host_confines(b) &&
           load_on_cores_alone(a) == load_on_cores_alone(b);
}

/* Says in words by what load_alike() tells policies apart, but for cores alone. */
const char *load_manner(const struct host_policy *policy)
{
    if (policy->policy->flags & CS_PER_PHASE)
        return host_confines(policy) ? "leases for a phase, at home"
                                       : "leases for a phase";
    return host_confines(policy) ? "leases for a job's life, at home"
                                   : "leases for a job's life";
}

/* ---- what pools can do -------------------------------------------------- */

/* Adds up GPUs and cores of each pool.  Roles without GPUs go to nodes without
 * GPUs if there are any, so these are noted. */
static void measure_pools(struct reckoning *r)
{
    const struct cluster_spec *spec = r->point->cluster;

    for (uint32_t g = 0; g < spec->group_count; g++)
        r->bare |= spec->group[g].gpus == 0;
    for (uint32_t g = 0; g < spec->group_count; g++) {
        const struct node_group *group = &spec->group[g];
        r->load.gpus[group->pool] += (double)group->gpus * group->node_count;
        r->load.cores[group->pool] += (double)group->cores * group->node_count;
        r->has_bare[group->pool] |= group->gpus == 0;
    }
}

/* ---- what a kind of job brings ------------------------------------------ */

/* Returns the time from the start of a step to its end, each phase in the pool
 * where it is soonest over: the critical path of the graph. */
static double measure_step_s(const struct job_form *form, double (*s)[LOAD_POOLS],
                             uint32_t pools)
{
    double end[FORM_PHASES_MAX] = { 0 }, all = 0;

    for (uint32_t p = 0; p < form->phase_count; p++) {
        double start = 0, least = INFINITY;
        for (uint32_t q = 0; q < p; q++)
            if (form->phase[p].after_mask >> q & 1)
                start = fmax(start, end[q]);
        for (uint32_t k = 0; k < pools; k++)
            least = fmin(least, s[p][k]);
        end[p] = start + (isfinite(least) ? least : 0);
        all = fmax(all, end[p]);
    }
    return all;
}

/* Adds jobs that run phases: jobs_per_s a second, each of `runs` runs of the
 * graph.  A policy per phase holds a lease while its role works; any other holds
 * it for the whole life of a job. */
static void add_phases(struct reckoning *r, const struct job_request *request,
                       double jobs_per_s, double runs)
{
    const struct job_form *form = request->form;
    bool by_phase = r->policy->policy->flags & CS_PER_PHASE;
    uint32_t pools = r->point->cluster->pool_count;
    double s[FORM_PHASES_MAX][LOAD_POOLS];

    for (uint32_t p = 0; p < form->phase_count; p++)
        for (uint32_t k = 0; k < pools; k++)
            s[p][k] = load_can_be(r, request, form->phase[p].role, k)
                          ? load_phase_s(r, form, p, k) : INFINITY;
    double life_s = measure_step_s(form, s, pools);
    for (uint32_t role = 0; role < form->role_count; role++) {
        const struct role_spec as = load_counted(r, &form->role[role]);
        const struct role_spec *spec = &as;
        double *work = load_add_part(r, form->name, spec->name, spec->gpus == 0);
        double units = spec->gpus > 0 ? spec->gpus : spec->cores;
        if (spec->gpus > 0)
            r->load.part[r->load.part_count - 1].cores_per_gpu = spec->cores;
        for (uint32_t k = 0; k < pools; k++) {
            double at_work_s = 0;
            for (uint32_t p = 0; p < form->phase_count; p++)
                if (form->phase[p].role == role)
                    at_work_s += s[p][k];
            if (load_can_be(r, request, role, k) && isfinite(at_work_s))
                work[k] = jobs_per_s * runs * units *
                          (by_phase ? at_work_s : life_s);
        }
    }
}

/* Adds jobs of known length: `gpus` GPU-seconds that come in a second, at a speed
 * of 1. */
static void add_whole(struct reckoning *r, const struct job_request *request,
                      double gpus)
{
    const struct role_spec *role = &request->form->role[0];
    double *work = load_add_part(r, request->form->name, role->name,
                            role->gpus == 0);

    for (uint32_t k = 0; k < r->point->cluster->pool_count; k++) {
        double speed = load_speed_in(request, k);

        if (load_can_be(r, request, 0, k) && speed > 0)
            work[k] = gpus / speed;
    }
}

/* Adds all kinds of job of a mix.  One without a rate (all at once, fixed
 * times) has no load. */
static void add_mix(struct reckoning *r)
{
    const struct workload_spec *workload = r->point->workload;
    double rate = workload_rate_per_s(workload);

    r->load.known = rate > 0;
    for (size_t i = 0; rate > 0 && i < workload_form_count(workload); i++) {
        struct job_request request = workload_request(workload, i);
        struct workload_mean part = workload_mean(workload, i);
        double per_s = rate * part.share;
        if (part.gpus > 0)
            add_whole(r, &request, per_s * part.gpu_s);
        else
            add_phases(r, &request, per_s, part.runs);
    }
}

/* ---- divided ------------------------------------------------------------ */

/* The load that one chunk of a part (1 / CHUNKS of its work) is for a pool. */
struct chunk {
    double rho, rho_cores;      /* load of its GPUs, of its cores */
    double full;                /* the larger load with the chunk added */
};

/* Returns what one chunk of part i would be for pool k; `full` is INFINITY if it
 * cannot go there. */
static struct chunk measure_chunk(const struct reckoning *r, uint32_t i, uint32_t k)
{
    const struct load *load = &r->load;
    const struct load_part *part = &load->part[i];
    double work = r->work[i][k] / CHUNKS;
    double per_gpu = part->cores ? 1 : part->cores_per_gpu;
    struct chunk chunk = { 0, 0, INFINITY };

    if (!isfinite(work) || !((part->cores ? load->cores : load->gpus)[k] > 0))
        return chunk;
    chunk.rho = part->cores ? 0 : work / load->gpus[k];
    chunk.rho_cores = load->cores[k] > 0 ? work * per_gpu / load->cores[k] : 0;
    chunk.full = fmax(part->cores ? 0 : load->rho[k] + chunk.rho,
                      per_gpu > 0 ? load->rho_cores[k] + chunk.rho_cores : 0);
    return chunk;
}

/* Gives a chunk of part i to the pool that is then the emptiest. */
static void put_chunk(struct reckoning *r, uint32_t i)
{
    struct load *load = &r->load;
    struct load_part *part = &load->part[i];
    struct chunk its = { 0, 0, INFINITY };
    uint32_t pool = 0;

    for (uint32_t k = 0; k < r->point->cluster->pool_count; k++) {
        struct chunk chunk = measure_chunk(r, i, k);
        if (chunk.full >= its.full)
            continue;
        its = chunk;
        pool = k;
    }
    if (!isfinite(its.full))
        return;                 /* it has no place: told by places.h */
    load->rho[pool] += its.rho;
    load->rho_cores[pool] += its.rho_cores;
    part->rho[pool] += part->cores ? its.rho_cores : its.rho;
    part->rho_cores[pool] += part->cores ? 0 : its.rho_cores;
}

/* Divides all parts among pools, in turns, so that no role takes the good
 * places before the others. */
static void divide_load(struct reckoning *r)
{
    struct load *load = &r->load;

    for (uint32_t c = 0; c < CHUNKS; c++)
        for (uint32_t i = 0; i < load->part_count; i++)
            put_chunk(r, i);
    for (uint32_t k = 0; k < r->point->cluster->pool_count; k++) {
        double most = fmax(load->rho[k], load->rho_cores[k]);
        if (most <= load->most)
            continue;
        load->most = most;
        load->most_pool = k;
    }
}

/* Returns whether two parts would have one name in print. */
static bool is_one_part(const struct load_part *a, const struct load_part *b)
{
    return strcmp(a->form, b->form) == 0 && strcmp(a->role, b->role) == 0 &&
           a->cores == b->cores;
}

/* Adds up the parts of one name. */
static void merge_parts(struct load *load)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < load->part_count; i++) {
        uint32_t same = 0;

        while (same < kept && !is_one_part(&load->part[same], &load->part[i]))
            same++;
        if (same == kept) {
            load->part[kept++] = load->part[i];
            continue;
        }
        for (uint32_t k = 0; k < LOAD_POOLS; k++) {
            load->part[same].rho[k] += load->part[i].rho[k];
            load->part[same].rho_cores[k] += load->part[i].rho_cores[k];
        }
    }
    load->part_count = kept;
}

/* The parts of a trace come from its rows, those of a mix from its rates. */
struct load load_of(struct arena *arena, const struct experiment *experiment,
                    const struct experiment_point *point,
                    const struct host_policy *policy)
{
    struct reckoning r = { .arena = arena, .experiment = experiment, .point = point,
                           .policy = policy };

    r.empty = cluster_new(arena, point->cluster);
    r.plans = phase_cache_new(arena);
    r.share = arena_alloc(arena, point->cluster->node_count, sizeof *r.share);
    measure_pools(&r);
    if (workload_is_trace(point->workload))
        load_add_trace(&r);
    else
        add_mix(&r);
    divide_load(&r);
    merge_parts(&r.load);
    return r.load;
}
