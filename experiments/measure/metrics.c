/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * metrics.c - which parts of the measurement hear which facts of a trial.
 *
 * What GPUs do is in idle.c and phase_time.c, what they cost in costs.c, the times of jobs
 * in job_times.c, the rows of jobs and phases in job_rows.c, and the metrics that all of
 * these give in metrics_result.c.
 *
 * It hears facts from the journal.  What happened before from_ns (the warm-up, or
 * the first job of a trace) does not count: counters are set back there, and a
 * phase that began before counts from there on.
 */
#include "experiments/measure/metrics.h"

#include <string.h>

#include "experiments/bounds/bounds_book.h"
#include "experiments/measure/costs.h"
#include "experiments/measure/fairness.h"
#include "experiments/measure/fragmentation.h"
#include "experiments/measure/idle.h"
#include "experiments/measure/job_rows.h"
#include "experiments/measure/job_times.h"
#include "experiments/measure/metrics_parts.h"
#include "experiments/measure/phase_time.h"
#include "experiments/measure/steady_book.h"
#include "experiments/measure/useful.h"
#include "experiments/own/own_book.h"
#include "models/jobs/job.h"
#include "models/laws/phase.h"
#include "models/types/facts.h"
#include "models/types/truth.h"
#include "policies/host/host.h"
#include "policies/policy.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/containers/demand_count.h"
#include "sim/event/journal.h"
#include "sim/event/loop.h"
#include "sim/stats/tally.h"
#include "workloads/source.h"

static void listen(struct metrics *m, struct journal *journal);

struct metrics *metrics_new(const struct metrics_parts *parts)
{
    struct metrics *m = arena_alloc(parts->arena, 1, sizeof *m);

    m->parts = *parts;
    m->times = job_times_new(parts->arena, parts->spec);
    m->idle = idle_new(parts);
    m->costs = costs_new(parts);
    m->rows = job_rows_new(parts);
    m->bounds = bounds_book_new(parts->arena, parts->spec);
    m->arrived = arrived_new(parts);
    m->useful = useful_new(parts);
    m->fairness = fairness_new(parts);
    m->steady = steady_book_new(parts->arena, parts->spec);
    m->own = own_book_new(parts->arena, parts->spec->own);
    listen(m, parts->journal);
    return m;
}

void metrics_watch(struct metrics *m, struct cs_host *host)
{
    m->host = host;
    costs_watch(m->costs, host);
    idle_watch(m->idle, host);
    arrived_watch(m->arrived, host);
    useful_watch(m->useful, host);
    fairness_watch(m->fairness, host);
}

void metrics_watch_count(struct metrics *m, const struct metrics_count *count)
{
    m->count = count;
}

/* Does no job run or wait? */
static bool none_left(const struct metrics *m)
{
    if (m->count)
        return m->count->running == 0 && m->count->pending == 0;
    return host_running(m->host) == 0 && host_pending(m->host) == 0;
}

/* Begins a gauge anew at its level, when the warm-up ends: its area and its extremes are
 * forgotten. */
static void restart(struct gauge *gauge, int64_t now)
{
    double level = gauge->level;

    memset(gauge, 0, sizeof *gauge);
    gauge->from_ns = gauge->last_ns = now;
    gauge_set(gauge, now, level);
}

/* Forgets what was counted so far.  Counters of the host cannot be set back, so
 * that what they had is subtracted at the end. */
void metrics_begin(struct metrics *m)
{
    const struct host_counts *counts = metrics_counts(m);
    int64_t now = loop_now_ns(m->parts.loop);

    restart(&m->memory, now);
    idle_begin(m->idle, now);
    costs_begin(m->costs, now);
    useful_begin(m->useful, now);
    fairness_begin(m->fairness, now);
    phase_time_begin(&m->phases, now);
    m->preempted = counts->preemptions;
    m->resized = counts->resizes + counts->moves;
    m->decided = counts->decisions;
    m->limited = counts->limited;
    m->refused = counts->refused;
    m->interrupted = counts->interruptions;
    m->from_ns = now;
}

/* Changes the level of a gauge. */
static void add(struct gauge *gauge, int64_t now, double change)
{
    gauge_set(gauge, now, gauge->level + change);
}

/* Returns the GPUs of a lease; a part of a GPU counts as that part. */
static double lease_gpus(const struct cs_lease *lease)
{
    return (double)((uint64_t)lease->gpus * lease->gpu_milli) / GPU_MILLI;
}

/* Returns the host memory of the lease that a fact is of, in bytes. */
static double lease_memory(struct metrics *m, const struct fact *fact)
{
    const struct placement *place =
        &cs_lease(m->host, (struct lease_id) { fact->subject })->placement;
    int64_t memory = 0;

    for (uint32_t i = 0; i < place->share_count; i++)
        memory += place->share[i].memory_bytes;
    return (double)memory;
}

/* A replica of a service is no job of a user: it has no completion time. */
static bool is_replica(const struct host_job *job)
{
    return job->request.form->phase[0].law->kind == LAW_SERVE;
}

/* Shows a job to the metrics of the experiment's own. */
static void own_row(struct metrics *m, const struct host_job *job,
                    enum job_status status)
{
    struct job_view view;
    struct expr_cells row = { job_rows_cell, &view };

    job_rows_view(&view, job, status);
    own_book_job(m->own, &row, status == JOB_DONE);
}

/* Counts a job that ended, in whatever way.  Its times count if it was submitted
 * after the warm-up. */
static void job_ended(struct metrics *m, const struct host_job *job,
                      enum job_status status, uint64_t seed, int64_t now)
{
    int64_t submit = job->request.submit_ns;

    job_rows_job(m->rows, job, status);
    costs_charge(m->costs, job);
    if (is_replica(job))
        return;
    if (status != JOB_FAILED)
        useful_job(m->useful, job, m->host == NULL ? job->gpu_seconds : 0);
    fairness_ended(m->fairness, job, status, now);
    if (status != JOB_UNFINISHED)
        steady_book_end(m->steady, submit, now, status == JOB_DONE);
    if (status == JOB_DONE)
        bounds_book_done(m->bounds, job, seed);
    if (submit < m->parts.spec->warmup_ns)
        return;
    if (own_book_reads_jobs(m->own))
        own_row(m, job, status);
    if (status == JOB_DONE && m->parts.spec->until_ns != CLOCK_NEVER_NS)
        m->last_end_usd = costs_until(m->costs, now);
    job_times_ended(m->times, job, status, now);
}

/* Counts a job that came.  Before the first job of a trace nothing counts, so that
 * all metrics of a row have one clock. */
static void job_submitted(struct metrics *m, const struct host_job *job,
                          int64_t now)
{
    /* A row has one clock: before the first job of a trace nothing counts. */
    if (!m->begun && !is_replica(job)) {
        m->begun = true;
        if (now > m->from_ns && workload_is_trace_alone(m->parts.spec->workload))
            metrics_begin(m);
    }
    bounds_book_submit(m->bounds, job);
    if (is_replica(job))
        return;
    fairness_submitted(m->fairness, job, now);
    steady_book_submit(m->steady, now);
    if (now < m->parts.spec->warmup_ns)
        return;
    job_times_submitted(m->times, now);
}

/* Returns the metrics that hear a fact, and notes that the run lasted until it. */
static inline struct metrics *hears(void *self, const struct fact *fact)
{
    struct metrics *m = self;

    m->last_fact_ns = fact->time_ns;
    return m;
}

/* A job came.  Costs are told as well: while there is no job, they wait for no change of the
 * carbon intensity. */
static void hear_submit(void *self, const struct fact *fact)
{
    struct metrics *m = hears(self, fact);
    struct job_id job = { fact->subject };

    job_submitted(m, host_job(m->host, job), fact->time_ns);
    costs_job_came(m->costs, fact->time_ns);
}

/* A job ended, with the status in the fact's object. */
static void hear_end(void *self, const struct fact *fact)
{
    struct metrics *m = hears(self, fact);
    struct job_id job = { fact->subject };

    job_ended(m, host_job(m->host, job), (enum job_status)fact->object,
              host_job_truth(m->host, job)->seed, fact->time_ns);
    costs_job_ended(m->costs, fact->time_ns);
}

/* Host memory is held from the start of a lease to its end. */
static void hear_take(void *self, const struct fact *fact)
{
    struct metrics *m = hears(self, fact);

    add(&m->memory, fact->time_ns, lease_memory(m, fact));
}

static void hear_drop(void *self, const struct fact *fact)
{
    struct metrics *m = hears(self, fact);

    add(&m->memory, fact->time_ns, 0 - lease_memory(m, fact));
}

/* A phase ended, or was cut off (its amount is 0).  Its GPU time is split here, and its
 * row is written. */
static void hear_phase_end(void *self, const struct fact *fact)
{
    struct metrics *m = hears(self, fact);
    struct lease_id id = { fact->subject };
    const struct host_phase_run *run = host_phase_run(m->host, id);
    const struct cs_lease *lease = cs_lease(m->host, id);
    double busy = phase_time_add(&m->phases, run, lease_gpus(lease), run->start_ns,
                            fact->time_ns);

    if (m->parts.tables->phases != NULL)
        job_rows_phase(m->rows, host_job(m->host, run->job), run, &lease->placement,
                       (uint64_t)lease->gpus * lease->gpu_milli, fact->time_ns, busy);
}

/* What policies do when all jobs have ended is not of the run. */
static void hear_decide(void *self, const struct fact *fact)
{
    const struct metrics *m = self;

    if (host_jobs_left(m->host) > 0)
        (void)hears(self, fact);
}

/* Hears facts that change no figure: the run lasted until their time. */
static void hear_other(void *self, const struct fact *fact)
{
    (void)hears(self, fact);
}

/* Facts that are not listed do not end a run: a sample of the timeline, for
 * example, is no part of it. */
static void listen(struct metrics *m, struct journal *journal)
{
    static const struct {
        enum fact_kind kind;
        journal_fn *hear;
    } ear[] = {
        { FACT_JOB_SUBMIT, hear_submit }, { FACT_JOB_STOP, hear_other },
        { FACT_JOB_END, hear_end }, { FACT_JOB_INTERRUPT, hear_other },
        { FACT_LEASE_TAKE, hear_take }, { FACT_LEASE_LEAVE, hear_other },
        { FACT_LEASE_DROP, hear_drop }, { FACT_PHASE_END, hear_phase_end },
        { FACT_DECIDE, hear_decide },
    };

    for (size_t i = 0; i < sizeof ear / sizeof *ear; i++)
        journal_listen(journal, UINT64_C(1) << ear[i].kind, ear[i].hear, m);
}

void metrics_count_submitted(struct metrics *m, const struct host_job *job)
{
    m->last_fact_ns = loop_now_ns(m->parts.loop);
    job_submitted(m, job, m->last_fact_ns);
}

/* In a trial without a host: a job takes GPUs and host memory, or gives them back (sign -1). */
static void count_held(struct metrics *m, const struct host_job *job,
                       int64_t now, int sign)
{
    uint32_t gpus = job_role_gpus(&job->request, 0);
    double bytes = (double)(job->request.form->role[0].memory_bytes * gpus);

    if (bytes > 0 || m->memory.level > 0)       /* of most traces, never */
        add(&m->memory, now, sign * bytes);
    costs_count(m->costs, now, gpus, sign > 0);
    if (job->request.tenant != NULL)
        fairness_held(m->fairness, job, sign * (int64_t)gpus * GPU_MILLI, now);
}

void metrics_count_started(struct metrics *m, const struct host_job *job)
{
    m->last_fact_ns = loop_now_ns(m->parts.loop);
    count_held(m, job, m->last_fact_ns, +1);
}

/* A job of known length on GPUs that are a count: it was busy for all of its time. */
void metrics_count_ended(struct metrics *m, const struct host_job *job,
                         const struct placement *at)
{
    int64_t now = m->last_fact_ns = loop_now_ns(m->parts.loop);
    double s = clock_s_from_ns(now - job->start_ns);
    struct host_phase_run run = { .phase = &job->request.form->phase[0],
                                  .start_ns = job->start_ns, .rate = s > 0 ? 1 / s : 0,
                                  .rate_max = 1 / job->ideal_s, .part = 1,
                                  .busy_fraction = 1, .bottleneck = "" };
    uint32_t gpus = job_role_gpus(&job->request, 0);
    double busy = phase_time_add(&m->phases, &run, gpus, job->start_ns, now);

    if (at != NULL)
        job_rows_phase(m->rows, job, &run, at, (uint64_t)gpus * GPU_MILLI, now, busy);
    count_held(m, job, now, -1);
    job_ended(m, job, JOB_DONE, 0, now);
}

/* What GPUs did at this instant is read from the counters that the trial keeps. */
void metrics_count_told(struct metrics *m)
{
    const struct metrics_count *count = m->count;

    m->last_fact_ns = loop_now_ns(m->parts.loop);
    idle_count(m->idle, m->last_fact_ns, count->working_gpus,
               demand_count_least(&count->waits),
               demand_count_least_but(&count->waits, count->first_gpus));
}

/* A run that is drained ended with its last fact: a sample of the timeline may
 * come later, and must not cost anything. */
int64_t metrics_stop(struct metrics *m)
{
    bool drained = m->parts.spec->until_ns == CLOCK_NEVER_NS && none_left(m);

    arrived_stop(m->arrived);
    m->end_ns = drained ? m->last_fact_ns : loop_now_ns(m->parts.loop);
    if (m->end_ns < m->from_ns)
        m->end_ns = m->from_ns;
    idle_until(m->idle, m->end_ns);
    return m->end_ns;
}
