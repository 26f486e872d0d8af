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
 */
#include "experiments/preflight/load.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "experiments/preflight/places.h"
#include "experiments/spec/experiment.h"
#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/cluster/fabric.h"
#include "models/cluster/fit.h"
#include "models/jobs/job.h"
#include "models/jobs/speedup.h"
#include "models/laws/phase.h"
#include "models/laws/phase_cache.h"
#include "models/types/truth.h"
#include "policies/host/host.h"
#include "policies/state/terms.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/text/paths.h"
#include "workloads/jobs/birth.h"
#include "workloads/replay/trace.h"
#include "workloads/source.h"

#define CHUNKS 512u             /* into which a role is divided among pools */

/* What is measured for one policy at one point. */
struct reckoning {
    struct arena *arena;
    const struct experiment *experiment;
    const struct experiment_point *point;
    const struct host_policy *policy;
    struct cluster *empty;
    struct phase_cache *plans;
    struct share *share;
    bool bare, has_bare[LOAD_POOLS];    /* nodes without GPUs: any, by pool */
    struct load load;
    double (*work)[LOAD_POOLS]; /* of a part: units per second if all of it is
                                   there; INFINITY: it cannot be */
    uint32_t room;
};

static bool on_cores_alone(const struct host_policy *policy)
{
    return host_hardware(policy->policy, &policy->rules) == HOST_CORES_ALONE;
}

/* Do both lease for the same time, confine roles to homes or not, and use the same
 * hardware?  Nothing else of a policy enters. */
bool load_alike(const struct host_policy *a, const struct host_policy *b)
{
    return ((a->policy->flags ^ b->policy->flags) & CS_PER_PHASE) == 0 &&
           places_confines(a) == places_confines(b) &&
           on_cores_alone(a) == on_cores_alone(b);
}

const char *load_manner(const struct host_policy *policy)
{
    if (policy->policy->flags & CS_PER_PHASE)
        return places_confines(policy) ? "leases for a phase, at home"
                                       : "leases for a phase";
    return places_confines(policy) ? "leases for a job's life, at home"
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

/* Adds a part; returns its work by pool, INFINITY until it is known.  ARENA_REACH
 * moves two arrays of one length, hence `room` twice. */
static double *add_part(struct reckoning *r, const char *form,
                        const char *role, bool cores)
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

/* Returns the role as it counts: one that may run on either counts for GPUs,
 * unless the policy has cores alone. */
static struct role_spec make_counted(const struct reckoning *r,
                                     const struct role_spec *role)
{
    struct role_spec as = *role;

    if (!job_role_chooses(role) ||
        !on_cores_alone(r->policy))
        return as;
    as.gpus = as.gpu_type_count = 0;
    as.cores = role->on_cores.cores;
    as.memory_bytes = role->on_cores.memory_bytes;
    return as;
}

/* Returns the seconds of a phase in a pool on what its role asks for, averaged
 * over steps in which it does not run, on the fastest of its GPU types; INFINITY:
 * it has no room there.  Found by placing the role on the empty cluster. */
static double measure_phase_s(struct reckoning *r, const struct job_form *form,
                              uint32_t p, uint32_t pool)
{
    const struct phase_spec *phase = &form->phase[p];
    const struct role_spec as = make_counted(r, &form->role[phase->role]);
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

/* May the role run in that pool under the policy? */
static bool can_be(const struct reckoning *r, const struct job_request *request,
                   uint32_t role, uint32_t pool)
{
    const struct cluster_spec *spec = r->point->cluster;
    uint32_t mask = places_mask(spec, r->policy, request, role);
    const struct role_spec as = make_counted(r, &request->form->role[role]);

    if (mask != 0 && !(mask >> pool & 1))
        return false;
    /* Roles without GPUs stay off nodes with GPUs where there are others. */
    return as.gpus > 0 ? r->load.gpus[pool] > 0 && holds_gpu(r, &as, pool)
                       : r->load.cores[pool] > 0 && (!r->bare || r->has_bare[pool]);
}

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
            s[p][k] = can_be(r, request, form->phase[p].role, k)
                          ? measure_phase_s(r, form, p, k) : INFINITY;
    double life_s = measure_step_s(form, s, pools);
    for (uint32_t role = 0; role < form->role_count; role++) {
        const struct role_spec as = make_counted(r, &form->role[role]);
        const struct role_spec *spec = &as;
        double *work = add_part(r, form->name, spec->name, spec->gpus == 0);
        double units = spec->gpus > 0 ? spec->gpus : spec->cores;
        if (spec->gpus > 0)
            r->load.part[r->load.part_count - 1].cores_per_gpu = spec->cores;
        for (uint32_t k = 0; k < pools; k++) {
            double at_work_s = 0;
            for (uint32_t p = 0; p < form->phase_count; p++)
                if (form->phase[p].role == role)
                    at_work_s += s[p][k];
            if (can_be(r, request, role, k) && isfinite(at_work_s))
                work[k] = jobs_per_s * runs * units *
                          (by_phase ? at_work_s : life_s);
        }
    }
}

/* Returns the speed of a job of known length in a pool where it can be, over that at which
 * its length was measured. */
static double speed_in(const struct job_request *request, uint32_t pool)
{
    return request->rates == NULL ? 1
                                  : speedup_of(request, pool, job_role_gpus(request, 0));
}

/* Adds jobs of known length: `gpus` GPU-seconds that come in a second, at a speed
 * of 1. */
static void add_whole(struct reckoning *r, const struct job_request *request,
                      double gpus)
{
    const struct role_spec *role = &request->form->role[0];
    double *work = add_part(r, request->form->name, role->name,
                            role->gpus == 0);

    for (uint32_t k = 0; k < r->point->cluster->pool_count; k++) {
        double speed = speed_in(request, k);

        if (can_be(r, request, 0, k) && speed > 0)
            work[k] = gpus / speed;
    }
}

/* A mix without a rate (all at once, fixed times) has no load. */
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

/* ---- of a trace --------------------------------------------------------- */

struct heap {                   /* jobs of one form and of the same rates */
    struct job_request request; /* of the first of them */
    bool cores;
    uint32_t pool_mask;         /* where it can be */
    double work[LOAD_POOLS];    /* in each pool, as in add_part() */
};

#define HEAPS_MAX 64u           /* what comes later goes with others: find_heap() */

/* Returns the pools in which a job can be. */
static uint32_t find_pools(const struct reckoning *r, const struct job_request *request)
{
    uint32_t mask = 0;

    for (uint32_t k = 0; k < r->point->cluster->pool_count; k++)
        mask |= (uint32_t)can_be(r, request, 0, k) << k;
    return mask;
}

/* Returns the heap of a job: that of its form and rates, or a new one; once there are
 * many, the last one of its form, else the last one that takes the same, GPUs or cores. */
static struct heap *find_heap(const struct reckoning *r, struct heap *heap, uint32_t *heaps,
                              const struct job_request *request)
{
    bool cores = request->form->role[0].gpus == 0;
    struct heap *other = NULL;

    for (uint32_t i = *heaps; i-- > 0;) {
        bool same = heap[i].request.form == request->form;

        if (same && heap[i].request.rates == request->rates)
            return &heap[i];
        if (other == NULL ? heap[i].cores == cores
                          : same && other->request.form != request->form)
            other = &heap[i];
    }
    /* One is kept for the first job that takes what no other does. */
    if (*heaps + (other != NULL) >= HEAPS_MAX)
        return other;
    heap[*heaps] = (struct heap) { *request, cores, find_pools(r, request), { 0 } };
    return &heap[(*heaps)++];
}

/* Adds a job to its heap, in each pool at its own speed.  Where jobs like the first of the
 * heap can run and it cannot, it counts as in its best pool. */
static void add_to_heap(const struct reckoning *r, struct heap *heap,
                        const struct job_request *request, double units_s)
{
    double work[LOAD_POOLS], least = INFINITY;
    uint32_t pools = r->point->cluster->pool_count;
    bool form = request->form == heap->request.form;
    bool like = form && request->rates == heap->request.rates;
    uint32_t mask = form ? heap->pool_mask : find_pools(r, request);

    for (uint32_t k = 0; k < pools; k++) {
        double speed = mask >> k & 1 ? speed_in(request, k) : 0;

        work[k] = speed > 0 ? units_s / speed : INFINITY;
        least = fmin(least, work[k]);
    }
    for (uint32_t k = 0; k < pools && (like || isfinite(least)); k++)
        heap->work[k] += like || isfinite(work[k]) ? work[k] : least;
}

/* Returns the name of a heap's jobs: of a heap that can be in other pools than another one of
 * that name, with its pools, as in "trace (a or b)". */
static const char *name_heap(const struct reckoning *r, const struct heap *heap, uint32_t heaps,
                             uint32_t own)
{
    const struct cluster_spec *cluster = r->point->cluster;
    const char *name = heap[own].request.form->name, *pools = "";
    bool alone = true;

    assert(own < heaps);
    for (uint32_t i = 0; i < heaps; i++)
        alone &= strcmp(heap[i].request.form->name, name) != 0 ||
                 heap[i].pool_mask == heap[own].pool_mask;
    if (alone)
        return name;
    for (uint32_t k = 0; k < cluster->pool_count; k++)
        if (heap[own].pool_mask >> k & 1)
            pools = text_format(r->arena, "%s%s%s", pools, pools[0] == '\0' ? "" : " or ",
                                cluster->pool_name[k]);
    return text_format(r->arena, "%s (%s)", name, pools);
}

/* The whole trace is read once.  Jobs of one form and rates are one heap: their
 * work adds up. */
static void add_trace(struct reckoning *r)
{
    struct source *source = source_open(r->arena, r->point->workload,
                                        r->experiment->seed, TRACE_AS_FILED);
    struct heap heap[HEAPS_MAX];
    struct job_birth birth;
    struct err ignored = { 0 };
    uint32_t heaps = 0;
    uint64_t jobs = 0;
    int64_t first_ns = 0, last_ns = 0;

    while (source_next(source, &birth, &ignored) == SOURCE_JOB) {
        const struct job_request *request = &birth.request;

        add_to_heap(r, find_heap(r, heap, &heaps, request), request,
                    clock_s_from_ns(birth.truth.duration_ns) *
                        (request->form->role[0].gpus > 0 ? job_role_amount(request, 0)
                                                         : request->form->role[0].cores));
        first_ns = jobs == 0 ? request->submit_ns : first_ns;
        last_ns = request->submit_ns;
        jobs++;
    }
    double span_s = trace_work_span_s(first_ns, last_ns, jobs);
    r->load.known = span_s > 0;
    for (uint32_t i = 0; r->load.known && i < heaps; i++) {
        const struct job_form *form = heap[i].request.form;
        double *work = add_part(r, name_heap(r, heap, heaps, i), form->role[0].name,
                                heap[i].cores);

        for (uint32_t k = 0; k < r->point->cluster->pool_count; k++)
            work[k] = heap[i].work[k] / span_s;
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

/* In turns, so that no role takes the good places before the others. */
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
        add_trace(&r);
    else
        add_mix(&r);
    divide_load(&r);
    merge_parts(&r.load);
    return r.load;
}
