/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * held.c - one lease at a time: what it held from one fact to the next.
 *
 * A term is what a lease holds times how long, cut at the end of the warm-up; so
 * nothing depends on the order of terms, and no level is kept over the cluster.
 */
#include "experiments/recount/held.h"

#include <assert.h>

#include "experiments/recount/events.h"
#include "experiments/recount/rows.h"
#include "experiments/spec/trial_spec.h"
#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/cluster/power.h"
#include "models/jobs/job.h"
#include "models/laws/compute.h"
#include "models/laws/phase.h"
#include "models/types/facts.h"
#include "models/types/placement.h"
#include "policies/host/host.h"
#include "policies/policy.h"
#include "sim/base/arena.h"

struct held *held_new(struct arena *arena, const struct trial_spec *spec, struct rows *rows)
{
    const struct cluster_spec *cluster = spec->cluster;
    struct held *held = arena_alloc(arena, 1, sizeof *held);

    assert(rows != NULL);
    held->arena = arena;
    held->spec = spec;
    held->rows = rows;
    held->from_ns = spec->warmup_ns;
    held->pool = arena_alloc(arena, cluster->pool_count, sizeof *held->pool);
    held->pool_busy = arena_alloc(arena, cluster->pool_count, sizeof *held->pool_busy);
    held->idle_w = arena_alloc(arena, cluster->group_count, sizeof *held->idle_w);
    held->work_w = arena_alloc(arena, cluster->group_count, sizeof *held->work_w);
    for (uint32_t g = 0; g < cluster->group_count; g++) {
        const struct gpu_type *gpu = cluster->group[g].gpu;

        held->idle_w[g] = gpu == NULL ? 0 : power_gpu_w(gpu, 0);
        held->work_w[g] = gpu == NULL ? 0 : power_gpu_w(gpu, 1) - held->idle_w[g];
    }
    held->group_j = arena_alloc(arena, cluster->group_count, sizeof *held->group_j);
    return held;
}

/* Returns the smaller of two numbers that are not NAN: fmin() is a call, and
 * this is not. */
static inline double least(double a, double b)
{
    return a < b ? a : b;
}

/* Returns the larger of two numbers that are not NAN. */
static inline double most(double a, double b)
{
    return a > b ? a : b;
}

/* Returns the nanoseconds from `since` to `now` that are after the warm-up. */
static int64_t counted(const struct held *held, int64_t since, int64_t now)
{
    return since > held->from_ns ? now - since
         : now > held->from_ns ? now - held->from_ns : 0;
}

/* Returns the GPUs of a share in thousandths; its gpu_milli 0: whole GPUs. */
static int64_t gpu_milli(const struct share *share)
{
    return (int64_t)mask_count(share->gpu_mask) *
           (share->gpu_milli > 0 ? share->gpu_milli : 1000);
}

/* Returns what a lease holds of which nodes. */
static const struct placement *place_of(const struct held *held, uint32_t lease)
{
    return &cs_lease(held->host, (struct lease_id){ lease })->placement;
}

/* Returns the part of a node that a share holds: of its GPUs, or of its cores
 * on a node without GPUs.  Example: 2 of 8 GPUs are a quarter of the node, and
 * of its price, at any number of cores. */
static double node_part(const struct node_group *group, const struct share *share)
{
    if (group->gpus > 0)
        return (double)gpu_milli(share) / 1000 / group->gpus;
    return group->cores > 0
               ? (share->cores + share->core_milli / 1000.0) / group->cores : 0;
}

/* Returns the USD of a lease from one instant to another, share by share, where
 * prices change. */
static double usd_by_price(const struct held *held, uint32_t i, int64_t from, int64_t to)
{
    const struct cluster_spec *cluster = held->spec->cluster;
    const struct placement *place;
    double usd = 0;

    place = place_of(held, i);
    for (uint32_t s = 0; s < place->share_count; s++) {
        const struct node_group *group = cluster_group_of(cluster, place->share[s].node);

        usd += node_part(group, &place->share[s]) * cluster_node_usd(group, from, to);
    }
    return usd;
}

/* Returns USD of a lease from one instant to another, 0 if that is not later.  One rate
 * will do where no price changes. */
static inline double usd_of(const struct held *held, uint32_t i, int64_t from, int64_t to)
{
    if (to <= from)
        return 0;
    return held->spec->cluster->priced
               ? usd_by_price(held, i, from, to)
               : held->lease[i].usd_per_h * ((double)(to - from) / 3.6e12);
}

/* Watts above idle of the GPUs of a lease that are of one group, or of all (NULL). */
static double watts_of(const struct held *held, uint32_t i, double busy,
                       const struct node_group *of)
{
    const struct cluster_spec *cluster = held->spec->cluster;
    const struct placement *place;
    double watts = 0;

    if (busy == 1 && cluster->group_count == 1)
        return held->work_w[0] * (double)held->lease[i].milli / 1000;
    place = place_of(held, i);
    for (uint32_t s = 0; s < place->share_count; s++) {
        const struct node_group *group = cluster_group_of(cluster, place->share[s].node);
        size_t g = (size_t)(group - cluster->group);
        double gpus = (double)gpu_milli(&place->share[s]) / 1000;

        if (group->gpu != NULL && (of == NULL || of == group))
            watts += gpus * (busy == 1 ? held->work_w[g]
                                       : power_gpu_w(group->gpu, busy) - held->idle_w[g]);
    }
    return watts;
}

/* Adds the energy above idle since busy_ns: over all time for rows of jobs, and from
 * the warm-up on by group. */
static void drew(struct held *held, uint32_t i, int64_t now)
{
    struct held_lease *lease = &held->lease[i];
    const struct cluster_spec *cluster = held->spec->cluster;
    double s = (double)counted(held, lease->busy_ns, now) / 1e9;

    held->all_j += lease->watts * ((double)(now - lease->busy_ns) / 1e9);
    if (cluster->group_count == 1)
        held->group_j[0] += lease->watts * s;
    for (uint32_t g = 0; cluster->group_count > 1 && lease->watts > 0 &&
                         g < cluster->group_count; g++)
        held->group_j[g] += s * watts_of(held, i, least(1, lease->busy),
                                         &cluster->group[g]);
}

/* Adds what a lease has of each pool from one instant to another.  busy below
 * 0: that it holds its GPUs; else: which part of them was busy. */
static void pools_had(struct held *held, uint32_t i, int64_t from, int64_t to, double busy)
{
    const struct cluster_spec *cluster = held->spec->cluster;
    const struct placement *place;

    if (cluster->pool_count == 1) {
        held->pool[0] += busy < 0 ? (__int128_t)held->lease[i].milli * (to - from) : 0;
        held->pool_busy[0] += busy <= 0 ? 0 : busy * (double)held->lease[i].milli / 1000 *
                                                  ((double)(to - from) / 1e9);
        return;
    }
    place = place_of(held, i);
    for (uint32_t s = 0; s < place->share_count; s++) {
        uint32_t p = cluster_group_of(cluster, place->share[s].node)->pool;
        int64_t milli = gpu_milli(&place->share[s]);

        if (busy < 0)
            held->pool[p] += (__int128_t)milli * (to - from);
        else
            held->pool_busy[p] += busy * (double)milli / 1000 *
                                  ((double)(to - from) / 1e9);
    }
}

/* Adds to the full form's list that a lease takes (+1) or gives back (-1) its GPUs of each
 * pool, or that another part of them is busy. */
static void events_of(struct held *held, uint32_t i, int64_t now, int held_more, double busy)
{
    const struct placement *place = place_of(held, i);

    for (uint32_t s = 0; held->events != NULL && s < place->share_count; s++) {
        double gpus = (double)gpu_milli(&place->share[s]) / 1000;
        uint32_t pool = cluster_group_of(held->spec->cluster, place->share[s].node)->pool;

        events_add(held->events, (struct event){ now, pool, held_more * gpus, busy * gpus });
    }
}

/* Closes the time over which the old part was busy, and begins that of the new
 * one. */
void held_busy(struct held *held, const struct fact *fact)
{
    struct held_lease *lease = &held->lease[fact->subject];
    double busy = fact->kind == FACT_LEASE_BUSY ? fact->amount : 0;

    assert(fact->subject < held->room && lease->live);
    if (busy == lease->busy)
        return;
    if (lease->busy > 0) {
        if (held->by_pool)
            pools_had(held, fact->subject, lease->busy_ns, fact->time_ns, lease->busy);
        drew(held, fact->subject, fact->time_ns);
    }
    if (held->events != NULL)
        events_of(held, fact->subject, fact->time_ns, 0, busy - lease->busy);
    lease->busy_ns = fact->time_ns;
    lease->busy = busy;
    lease->watts = busy > 0 ? watts_of(held, fact->subject, least(1, busy), NULL) : 0;
}

/* Sums up the shares of the lease, so that later terms need not go through
 * them. */
void held_take(struct held *held, const struct fact *fact)
{
    const struct placement *place = place_of(held, fact->subject);
    const struct cluster_spec *cluster = held->spec->cluster;

    ARENA_REACH(held->arena, held->lease, held->room, fact->subject);
    struct held_lease lease = {
        .live = true, .job = fact->object, .does = HELD_LOADS,
        .since_ns = fact->time_ns, .take_ns = fact->time_ns, .busy_ns = fact->time_ns,
        .load_ns = fact->time_ns,
    };
    for (uint32_t s = 0; s < place->share_count; s++) {
        const struct share *share = &place->share[s];
        const struct node_group *group = cluster_group_of(cluster, share->node);

        lease.milli += gpu_milli(share);
        lease.memory += share->memory_bytes;
        lease.cores += share->cores + share->core_milli / 1000.0;
        lease.idle_w += held->idle_w[group - cluster->group] *
                        (double)gpu_milli(share) / 1000;
        if (group->rent != NULL)
            rows_rented(held->rows, fact->object);
        if (!cluster->unpriced && !cluster->priced)
            lease.usd_per_h += node_part(group, share) * group->usd_per_h;
    }
    held->lease[fact->subject] = lease;
    held->now_milli += lease.milli;
    if (held->events != NULL)
        events_of(held, fact->subject, fact->time_ns, +1, 0);
}

/* Adds the time since the last change to what the lease was doing. */
static void did(struct held *held, struct held_lease *lease, int64_t now)
{
    held->does[lease->does] +=
        (__int128_t)lease->milli * counted(held, lease->since_ns, now);
    lease->since_ns = now;
}

/* Enters what a lease did until now, and what it does from now on.  Loading that ends is
 * charged as a switch. */
void held_does(struct held *held, const struct fact *fact, enum held_does does)
{
    struct held_lease *lease = &held->lease[fact->subject];

    assert(fact->subject < held->room && lease->live);
    did(held, lease, fact->time_ns);
    if (lease->does == HELD_LOADS && does != HELD_LOADS)
        held->all_switch_usd += usd_of(held, fact->subject, lease->load_ns,
                                       fact->time_ns);
    if (does == HELD_LOADS)
        lease->load_ns = fact->time_ns;
    lease->does = does;
    lease->flowed = -1;
}

/* What is known of the work of jobs of a form: laws that compute FLOPs, a length that
 * was measured, or a stated time in which GPUs may do anything. */
enum known { KNOWN_FLOPS, KNOWN_LENGTH, KNOWN_NOTHING, KNOWN_SERVICE };

/* A job with several phases is known by its laws: one phase of a stated time that holds
 * GPUs is enough for KNOWN_NOTHING. */
static enum known find_known(const struct job_form *form)
{
    bool laws = false, stated = false;

    for (uint32_t p = 0; p < form->phase_count; p++) {
        const struct phase_law *law = form->phase[p].law;

        if (law->kind == LAW_SERVE)
            return KNOWN_SERVICE;
        laws |= law->kind != LAW_FIXED;
        stated |= law->kind == LAW_FIXED && form->role[form->phase[p].role].gpus > 0;
    }
    if (laws)
        return stated ? KNOWN_NOTHING : KNOWN_FLOPS;
    return form->phase[0].law->seconds > 0 ? KNOWN_NOTHING : KNOWN_LENGTH;
}

/* Jobs that end one after the other are often of one form: the last answer is kept. */
static enum known form_known(struct held *held, const struct job_form *form)
{
    if (form != held->form) {
        held->form = form;
        held->form_known = find_known(form);
    }
    return (enum known)held->form_known;
}

/* When a lease ends: adds its GPU-seconds to those of jobs of which FLOPs, length or
 * nothing is known, and what its GPUs could have done in BF16. */
static void add_known(struct held *held, uint32_t i, int64_t now)
{
    const struct cs_lease *pub = cs_lease(held->host, (struct lease_id){ i });
    const struct job_form *form = host_job(held->host, pub->job)->request.form;
    const struct held_lease *lease = &held->lease[i];
    const struct placement *place = &pub->placement;
    double s = (double)counted(held, lease->take_ns, now) / 1e9;

    if (lease->milli == 0) {
        held->on_cores |= form->role[pub->role].on_cores.cores > 0 && now > held->from_ns;
        return;
    }
    switch (form_known(held, form)) {
    case KNOWN_SERVICE: return;
    case KNOWN_LENGTH: held->length_s += s * (double)lease->milli / 1000; return;
    case KNOWN_NOTHING: held->unknown_s += s * (double)lease->milli / 1000; return;
    default: held->flops_s += s * (double)lease->milli / 1000; break;
    }
    for (uint32_t k = 0; k < place->share_count; k++) {
        const struct gpu_type *gpu =
            cluster_group_of(held->spec->cluster, place->share[k].node)->gpu;

        if (gpu != NULL)
            held->peak_flops += s * (double)gpu_milli(&place->share[k]) / 1000 *
                                compute_peak_flops(gpu, PRECISION_BF16);
    }
}

/* What failed jobs did is of no use to anyone, and what replicas do is not
 * known as FLOPs. */
void held_row(struct held *held, const struct host_job *job, enum job_status status)
{
    enum known known = form_known(held, job->request.form);

    if (status == JOB_FAILED || known == KNOWN_SERVICE)
        return;
    held->useful_flops += job->flops;
    if (known == KNOWN_LENGTH)
        held->useful_s += job->work_done_s - job->work_lost_s;
}

/* Closes all that is open of the lease, and adds what it held, cost and drew at
 * rest. */
void held_drop(struct held *held, const struct fact *fact)
{
    struct held_lease *lease = &held->lease[fact->subject];
    int64_t now = fact->time_ns, ns = counted(held, lease->take_ns, now);
    double whole_s = (double)(now - lease->take_ns) / 1e9;

    held_busy(held, fact);
    if (lease->does == HELD_LOADS)
        held_does(held, fact, HELD_WAITS);
    else
        did(held, lease, now);
    if (held->by_pool)
        pools_had(held, fact->subject, lease->take_ns, now, -1);
    held->all_j += lease->idle_w * whole_s;
    held->memory_s += (double)lease->memory * ((double)ns / 1e9);
    double usd = usd_of(held, fact->subject, lease->take_ns, now);
    held->all_usd += usd;
    held->usd += lease->take_ns >= held->from_ns
                     ? usd : usd_of(held, fact->subject, held->from_ns, now);
    held->gpu_s += (double)lease->milli / 1000 * whole_s;
    held->core_s += lease->cores * whole_s;
    add_known(held, fact->subject, now);
    rows_held(held->rows, lease->job, lease->milli, ns);
    held->now_milli -= lease->milli;
    if (held->events != NULL)
        events_of(held, fact->subject, now, -1, 0);
    lease->live = false;
}

/* Hears how much work a flow has done.  Only a lease that works has a flow of a phase; others
 * load or save. */
void held_flowed(struct held *held, uint64_t lease, double work)
{
    assert(work >= 0);
    if (lease < held->room && held->lease[lease].live && held->lease[lease].does == HELD_WORKS)
        held->lease[lease].flowed = work;
}

/* Returns what ran of a phase that ends now: what flowed of its work.  A phase without a flow
 * is slowed by nothing, but that times are whole nanoseconds.  With `fidelity: step` each step
 * has flows of its own, and a service has no work: the host knows what was done. */
static double part_ran(const struct held *held, const struct held_lease *lease,
                       const struct host_phase_run *run, int64_t ns)
{
    assert(ns >= 0);
    if (held->spec->by_step || (run->phase != NULL && run->phase->law->kind == LAW_SERVE))
        return run->part;
    return lease->flowed >= 0 ? lease->flowed
                              : most(run->part, (double)(ns - 1) / 1e9 * run->rate_max);
}

/* Splits the time of a phase: busy as far as its law says, the tail that
 * stragglers leave, and the rest. */
void held_phase(struct held *held, const struct fact *fact)
{
    const struct held_lease *lease = &held->lease[fact->subject];
    const struct host_phase_run *run =
        host_phase_run(held->host, (struct lease_id){ fact->subject });
    int64_t ns = fact->time_ns - lease->since_ns;       /* since it began */
    double s = (double)counted(held, lease->since_ns, fact->time_ns) / 1e9;
    double whole_s = (double)ns / 1e9, gpus = (double)lease->milli / 1000, works = 1;

    assert(lease->does == HELD_WORKS);
    /* A link or another flow that slowed it down: it would have taken part / rate_max. */
    double part = part_ran(held, lease, run, ns);
    if (run->rate_max > 0 && whole_s * run->rate_max > part)
        works = part / (whole_s * run->rate_max);
    double busy = works * least(1, most(0, run->busy_fraction));
    double tail = least(works * run->tail_fraction, works - busy);

    held->busy_s += s * busy * gpus;
    held->tail_s += s * most(0, tail) * gpus;
    held->phase_s += s * gpus;
    held->bursts_s += run->shares_bursts ? s * gpus : 0;
    held->all_compute_usd +=
        busy * usd_of(held, fact->subject, lease->since_ns, fact->time_ns);
}

/* All roles of such a trial hold what they ask for from start to end. */
void held_count(struct held *held, const struct role_spec *role, uint32_t gpus, int64_t ns)
{
    double gpu_s = gpus * ((double)ns / 1e9);

    held->memory_s += (double)role->memory_bytes * gpu_s;
    held->core_s += (double)role->cores * gpu_s;
}

/* Each job worked at full load from its start to its end, so that everything
 * follows from the GPU-seconds of all jobs. */
void held_counted(struct held *held)
{
    const struct cluster_spec *cluster = held->spec->cluster;
    const struct node_group *group = &cluster->group[0];
    double gpu_s = (double)((long double)rows_gpu_ns(held->rows) / 1e9L);

    held->does[HELD_WORKS] = rows_gpu_ns(held->rows) * 1000;
    held->busy_s = held->phase_s = held->gpu_s = held->length_s = held->useful_s = gpu_s;
    held->group_j[0] = gpu_s * held->work_w[0];
    if (held->by_pool) {
        held->pool[group->pool] = (__int128_t)rows_gpu_ns(held->rows) * 1000;
        held->pool_busy[group->pool] = gpu_s;
    }
    held->all_j = gpu_s * (held->work_w[0] + held->idle_w[0]);
    if (!cluster->unpriced)
        held->usd = gpu_s / 3600 / group->gpus * group->usd_per_h;
    held->all_usd = held->all_compute_usd = held->usd;
}
