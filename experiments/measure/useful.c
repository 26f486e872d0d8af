/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * useful.c - see useful.h.
 *
 * What is held is heard lease by lease, what was done of a job at its end.  At
 * the end of the warm-up all that jobs have done so far is taken off.
 */
#include "experiments/measure/useful.h"

#include <math.h>

#include "experiments/columns/metric.h"
#include "experiments/measure/metrics.h"
#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/jobs/job.h"
#include "models/laws/compute.h"
#include "models/laws/phase.h"
#include "models/types/facts.h"
#include "models/types/placement.h"
#include "policies/host/host.h"
#include "policies/policy.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/event/journal.h"
#include "workloads/source.h"

/* What is known of the work of a form. */
enum work { WORK_FLOPS, WORK_LENGTH, WORK_UNKNOWN, WORK_SERVICE, WORK_COUNT };

struct useful {
    const struct trial_spec *spec;
    const struct cs_host *host;
    int64_t from_ns;            /* the end of the warm-up */
    double flops, gpu_s;            /* done and not lost */
    double held_s[WORK_COUNT];      /* GPU-seconds, by what is known */
    double peak_flops;              /* of those of WORK_FLOPS */
    bool on_cores;                  /* cores computed, whose peak nobody knows */
    double lost_s;                  /* GPU-seconds */
    struct arena *arena;
    double *before_s;               /* GPU-seconds that jobs had held by then, of */
    uint32_t before;                /* ... this number; the others: none */
};

/* A phase that holds GPUs for a time that the file states may do anything on
 * them. */
static enum work work_of(const struct job_form *form)
{
    enum work work = WORK_LENGTH;

    for (uint32_t p = 0; p < form->phase_count; p++) {
        const struct phase_law *law = form->phase[p].law;

        if (law->kind == LAW_SERVE)
            return WORK_SERVICE;
        if (law->kind != LAW_FIXED)
            work = WORK_FLOPS;
    }
    for (uint32_t p = 0; work == WORK_FLOPS && p < form->phase_count; p++) {
        const struct phase_spec *phase = &form->phase[p];

        if (phase->law->kind == LAW_FIXED && form->role[phase->role].gpus > 0)
            work = WORK_UNKNOWN;
    }
    if (work == WORK_LENGTH && form->phase[0].law->seconds > 0)
        work = WORK_UNKNOWN;
    return work;
}

/* Counts what a lease held since the warm-up, by what the work of its job is
 * measured in; for FLOPs also what its GPUs could have done at their peak.  Leases
 * on cores hold no GPUs: their work has no denominator. */
static void hear_drop(void *self, const struct fact *fact)
{
    struct useful *useful = self;
    struct lease_id id = { fact->subject };
    const struct cs_lease *lease = cs_lease(useful->host, id);
    int64_t from_ns = lease->since_ns > useful->from_ns ? lease->since_ns
                                                        : useful->from_ns;

    const struct job_form *form =
        host_job(useful->host, lease->job)->request.form;

    if (lease->gpus == 0) {
        useful->on_cores |= form->role[lease->role].on_cores.cores > 0;
        return;
    }
    enum work work = work_of(form);
    double s = clock_s_from_ns(fact->time_ns - from_ns);
    useful->held_s[work] +=
        s * ((double)((uint64_t)lease->gpus * lease->gpu_milli) / GPU_MILLI);
    for (uint32_t i = 0; work == WORK_FLOPS && i < lease->placement.share_count;
         i++) {
        const struct share *share = &lease->placement.share[i];
        const struct gpu_type *gpu =
            cluster_group_of(useful->spec->cluster, share->node)->gpu;
        double gpus = (double)share_milli(share) / GPU_MILLI;

        if (gpu != NULL)
            useful->peak_flops +=
                s * gpus * compute_peak_flops(gpu, PRECISION_BF16);
    }
}

/* A job lost what it held last, of which what it held in the warm-up does not count. */
static void hear_interrupt(void *self, const struct fact *fact)
{
    struct useful *useful = self;
    struct job_id job = { fact->subject };
    double since_s = host_job_gpu_s(useful->host, job) -
                     (job.i < useful->before ? useful->before_s[job.i] : 0);

    useful->lost_s += fmin(fact->amount, since_s);
}

/* Notes what jobs have held so far, where a failure can make them lose it. */
static void note_held(struct useful *useful)
{
    const struct cs_host *host = useful->host;
    const struct cluster_spec *cluster = useful->spec->cluster;

    useful->before = host != NULL && (cluster->failures != NULL || cluster->rents)
                         ? host_job_count(host) : 0;
    useful->before_s = arena_alloc(useful->arena, useful->before, sizeof *useful->before_s);
    for (uint32_t j = 0; j < useful->before; j++)
        useful->before_s[j] = host_job_gpu_s(host, (struct job_id) { j });
}

/* It listens to two kinds of facts: interruptions, by which work is lost, and
 * leases that end. */
struct useful *useful_new(const struct metrics_parts *parts)
{
    struct useful *useful = arena_alloc(parts->arena, 1, sizeof *useful);

    useful->spec = parts->spec;
    useful->arena = parts->arena;
    journal_listen(parts->journal, UINT64_C(1) << FACT_JOB_INTERRUPT, hear_interrupt,
                   useful);
    journal_listen(parts->journal, UINT64_C(1) << FACT_LEASE_DROP, hear_drop,
                   useful);
    return useful;
}

void useful_watch(struct useful *useful, const struct cs_host *host)
{
    useful->host = host;
}

/* What jobs in the system have done by now is subtracted, as each is added
 * whole when it ends. */
void useful_begin(struct useful *useful, int64_t now_ns)
{
    double flops = 0, gpu_s = 0;

    if (useful->host != NULL)
        host_work_now(useful->host, &flops, &gpu_s);
    *useful = (struct useful) {
        .spec = useful->spec, .host = useful->host, .from_ns = now_ns,
        .flops = 0 - flops, .gpu_s = 0 - gpu_s, .arena = useful->arena,
    };
    note_held(useful);
}

double useful_lost_s(const struct useful *useful)
{
    return useful->lost_s;
}

void useful_job(struct useful *useful, const struct host_job *job, double gpu_s)
{
    useful->flops += job->flops;
    useful->held_s[WORK_LENGTH] += gpu_s;
    useful->gpu_s += gpu_s;
    if (gpu_s == 0 && work_of(job->request.form) == WORK_LENGTH)
        useful->gpu_s += job->work_done_s - job->work_lost_s;
}

/* Returns of / by, not below 0; NAN if there is nothing to divide by. */
static double ratio(double of, double by)
{
    return by > 0 ? fmax(0, of) / by : NAN;
}

/* Work by cost is known only where all of it is measured in one unit: FLOPs, or
 * seconds of a measured length. */
void useful_result(const struct useful *useful, double *value)
{
    const double *held = useful->held_s;
    double all = held[WORK_FLOPS] + held[WORK_LENGTH] + held[WORK_UNKNOWN];
    bool some = held[WORK_FLOPS] > 0 || useful->on_cores;
    bool flops = some && held[WORK_FLOPS] == all;
    bool length = held[WORK_LENGTH] > 0 && held[WORK_LENGTH] == all;
    double usd = workload_service_count(useful->spec->workload) > 0
                     ? 0 : value[METRIC_HELD_COST];

    value[METRIC_FLOPS_KNOWN] = ratio(held[WORK_FLOPS], all);
    value[METRIC_PFLOP] = some
                              ? fmax(0, useful->flops) / 1e15 : NAN;
    value[METRIC_WORK] = held[WORK_LENGTH] > 0 ? fmax(0, useful->gpu_s) : NAN;
    value[METRIC_HELD_MFU] = flops && !useful->on_cores
                                 ? ratio(useful->flops, useful->peak_flops)
                                 : NAN;
    value[METRIC_HELD_WORK] = length ? ratio(useful->gpu_s, all) : NAN;
    value[METRIC_PFLOP_USD] = flops ? ratio(useful->flops / 1e15, usd) : NAN;
    value[METRIC_WORK_USD] = length ? ratio(useful->gpu_s, usd) : NAN;
}
