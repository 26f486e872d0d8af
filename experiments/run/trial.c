/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trial.c - puts one trial together and runs it.
 *
 * Arrivals are a cursor over the source, never more than one event; the same
 * job stream meets every policy.  All that a trial makes lives in its arena
 * and is dropped at the end.
 *
 * From opening to closing: trial_open() builds everything and puts the first events
 * into the loop, trial_go() runs the loop until it is over or a policy that is
 * another program is asked, trial_close() judges the run and fills the result.  A
 * failed trial has a result too: what it came to.
 */
#include "experiments/run/trial.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "experiments/audit/audit.h"
#include "experiments/columns/metric.h"
#include "experiments/measure/costs.h"
#include "experiments/measure/metrics.h"
#include "experiments/measure/timeline.h"
#include "experiments/recount/recount.h"
#include "experiments/run/decision_rows.h"
#include "experiments/run/trial_serve.h"
#include "experiments/run/watchdog.h"
#include "models/cluster/cluster.h"
#include "models/cluster/fabric.h"
#include "models/cluster/time_series.h"
#include "policies/host/host.h"
#include "policies/host/stall.h"
#include "policies/policy.h"
#include "policies/state/terms.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/event/journal.h"
#include "sim/event/loop.h"
#include "sim/flow/flow.h"
#include "workloads/jobs/birth.h"
#include "workloads/source.h"

#define ARENA_BLOCK_BYTES ((size_t)1 << 16)    /* at first: small trials are many */

struct trial {
    const struct trial_spec *spec;  /* of the caller, as are the tables */
    const struct trial_tables *tables;  /* where rows go; NULL members: not wanted */
    struct journal *journal;    /* all that happens; the parts below listen to it */
    struct arena *arena;        /* of the trial: trial_close() frees it */
    struct loop *loop;          /* its clock and events */
    struct flow_net *net;       /* of its links */
    struct cs_host *host;       /* the cluster, the jobs in it, and the policy */
    struct source *source;      /* gives jobs in the order in which they come */
    struct audit *audit;        /* laws of conservation, from the facts alone */
    struct metrics *metrics;    /* what the results are made of */
    struct recount *recount;    /* the same figures, by other code */
    struct timeline *timeline;  /* NULL: no table of it is wanted */
    struct trial_serve *serve;  /* NULL: no services */
    struct job_birth next;      /* the job that comes next, if to_come */
    bool source_failed, to_come;    /* a job is still to come */
    struct watchdog *dog;       /* NULL: none is needed */
    int64_t look_ns;            /* when it looks */
    int64_t then_ns;            /* another policy takes over; CLOCK_NEVER_NS: no more */
    enum loop_end end;          /* of the loop, the last time */
    bool stands;                /* nothing moves any more */
    struct err err;             /* the first failure; trial_close() hands it on */
};

/* Takes the next job of the source into trial->next.  False: there is none.  An
 * error of the source stops the loop, and judge() tells it. */
static bool fetch(struct trial *trial)
{
    enum source_step step =
        source_next(trial->source, &trial->next, &trial->err);

    if (step == SOURCE_ERROR) {
        trial->source_failed = true;
        loop_stop(trial->loop);
    }
    trial->to_come = step == SOURCE_JOB;
    return trial->to_come;
}

/* Does the run go on while no job is left? */
static bool lasts(const struct trial *trial)
{
    return trial->to_come || trial->spec->until_ns != CLOCK_NEVER_NS;
}

/* Submits all jobs of this instant, and schedules itself at the next arrival.  Jobs
 * are numbered by submission: replicas of services are jobs of the host, too, so a
 * job has another number there than in its trace. */
static void arrive(struct loop *loop, void *self, uint64_t arg)
{
    struct trial *trial = self;
    bool more = true;

    (void)arg;
    while (more && trial->next.request.submit_ns == loop_now_ns(loop)) {
        /* Replicas of services are jobs too: numbers go by submission. */
        trial->next.request.id.i = host_job_count(trial->host);
        host_submit(trial->host, &trial->next.request, &trial->next.truth);
        more = fetch(trial);
        if (!more)
            host_submit_none(trial->host);
        host_lasts(trial->host, lasts(trial));
    }
    if (more)
        loop_at(loop, trial->next.request.submit_ns, LOOP_RANK_ARRIVAL,
                arrive, trial, 0);
}

/* The event at the end of the warm-up: what happens from now on counts. */
static void begin_counting(struct loop *loop, void *self, uint64_t arg)
{
    struct trial *trial = self;

    (void)loop;
    (void)arg;
    metrics_begin(trial->metrics);
    recount_begin(trial->recount);
}

/* The time of `until` is reached. */
static void end_of_run(struct loop *loop, void *self, uint64_t arg)
{
    (void)self;
    (void)arg;
    loop_stop(loop);
}

/* 146 years: from there on, sums of times stay below "never". */
#define END_OF_TIME_NS (CLOCK_NEVER_NS / 2)

/* Makes all parts of a trial.  False, with trial->err: the policy's init failed, or
 * the workload could not be read for PLACE_FGD, which knows the mix of jobs
 * beforehand.
 *
 * The order matters: listeners of the journal are made before the host, so
 * that no fact is missed; the audit first, so that it hears a broken fact before
 * others work with it. */
static bool build(struct trial *trial)
{
    const struct trial_spec *spec = trial->spec;
    struct arena *arena = trial->arena;
    struct loop_limits limits = {
        .until_ns = END_OF_TIME_NS,
        .event_count_max = spec->event_count_max,
        .stop = spec->stop,
    };

    trial->loop = loop_new(limits);
    loop_pulse(trial->loop, spec->watch == NULL ? NULL : &spec->watch->pulse);
    trial->net = flow_new(trial->loop);
    struct fabric *fabric = fabric_new(arena, spec->cluster, trial->net);
    struct journal *journal = trial->journal = journal_new(arena);
    struct audit_parts watched = { arena, journal, trial->loop, trial->net,
                                   spec->cluster };
    struct metrics_parts parts = { arena, journal, trial->loop, trial->net,
                                   fabric, spec, trial->tables };
    trial->audit = audit_new(&watched);
    trial->metrics = metrics_new(&parts);
    if (trial->tables->timeline)
        trial->timeline = timeline_new(&parts);
    struct recount_parts again = {
        arena, journal, trial->loop, trial->net, fabric, spec, trial->tables->jobs,
        trial->tables->timeline, trial->tables->tenants, trial->tables->services,
    };
    trial->recount = recount_new(&again);
    struct trial_serve_parts serving = { arena, trial->loop, journal, spec };
    trial->serve = trial_serve_new(&serving);
    struct host_parts host = {
        arena, trial->loop, trial->net, spec->cluster, fabric, journal,
        spec->policy, spec->seed, spec->replica, spec->by_step, NULL, 0,
        spec->vain_max,
    };
    if (spec->policy->rules.placement == PLACE_FGD &&
        !workload_demand(arena, spec->workload, spec->seed, &host.demand,
                         &host.demand_count, &trial->err))
        return false;
    trial->host = host_new(&host, &trial->err);
    if (!trial->host)
        return false;
    audit_watch(trial->audit, trial->host);
    metrics_watch(trial->metrics, trial->host);
    recount_watch(trial->recount, trial->host);
    if (trial->timeline)
        timeline_watch(trial->timeline, trial->host);
    decision_rows_listen(arena, spec, trial->tables->decisions, trial->host);
    trial->source = source_open(arena, spec->workload, spec->seed,
                                spec->replica);
    return true;
}

/* Fails a run that came to nothing: says how, and which job waits for what
 * (policies/host/stall.h).  Always returns false, with trial->err. */
static bool stalled(struct trial *trial, const char *how)
{
    const struct trial_spec *spec = trial->spec;
    uint32_t first = 0, left = host_unfinished(trial->host, &first);
    struct err_pos nowhere = { 0 };
    struct host_stall stall;

    host_stall_explain(trial->host, &stall);
    err_set(&trial->err, ERR_POLICY, nowhere,
            "policy %.40s%s, %u of %u jobs left; %s", spec->policy->name,
            how, left, host_job_count(trial->host), stall.what);
    return err_hint(&trial->err, "%s With `until: 14d` what is left would "
                                "count as unfinished.", stall.why);
}

/* The loop has no event left.  True if no job is left either. */
static bool nobody_starves(struct trial *trial)
{
    uint32_t first = 0;

    return host_unfinished(trial->host, &first) == 0 ||
           stalled(trial, " leaves jobs waiting for ever: nothing happens any more");
}

/* The loop has reached the end of time, which it cannot count beyond.  True if no
 * job is left. */
static bool time_sufficed(struct trial *trial)
{
    uint32_t first = 0;

    return host_unfinished(trial->host, &first) == 0 ||
           stalled(trial, ": 146 years have passed");
}

/* A run without an end gets a watchdog, which fails it when nothing has moved for
 * stalled_ns. */
static void set_watchdog(struct trial *trial)
{
    const struct trial_spec *spec = trial->spec;

    if (spec->until_ns != CLOCK_NEVER_NS || spec->stalled_ns == 0)
        return;
    trial->dog = watchdog_new(trial->arena, trial->host, trial->serve,
                              spec->stalled_ns);
    trial->look_ns = watchdog_next_ns(trial->dog, loop_now_ns(trial->loop));
}

/* ---- the run ---- */

/* The policy that the entry names for later (`then`) takes over. */
static void hand_over(struct loop *loop, void *self, uint64_t arg)
{
    struct trial *trial = self;

    (void)loop;
    (void)arg;
    host_hand_over(trial->host, trial->spec->policy->then);
}

/* Does the run go on beyond the time at which another policy takes over, or stand still
 * before it?  Then that is the next event, the first of its instant but for work that
 * ends.  A run that is over by then stays as it is. */
static bool plan_hand_over(struct trial *trial)
{
    uint32_t first = 0;
    bool there = trial->end == LOOP_TIME_LIMIT &&
                 loop_now_ns(trial->loop) == trial->then_ns - 1;

    if (trial->then_ns == CLOCK_NEVER_NS ||
        !(there || (trial->end == LOOP_DRAINED &&
                    host_unfinished(trial->host, &first) > 0)))
        return false;
    loop_at(trial->loop, trial->then_ns, LOOP_RANK_FINISH, hand_over, trial, 0);
    trial->then_ns = CLOCK_NEVER_NS;
    return true;
}

/* Returns up to when the loop runs next: to a look of the watchdog, or to the last
 * instant before another policy takes over. */
static int64_t piece_end_ns(const struct trial *trial)
{
    int64_t to = trial->dog == NULL || trial->look_ns >= END_OF_TIME_NS
        ? END_OF_TIME_NS : trial->look_ns;

    return trial->then_ns - 1 < to ? trial->then_ns - 1 : to;
}

/* Runs the loop in pieces.  A policy that is held stops the loop: the caller answers it,
 * and calls again. */
enum trial_state trial_go(struct trial *trial)
{
    uint32_t first = 0;

    if (host_holds(trial->host))
        host_resume(trial->host);
    for (;;) {
        int64_t to = piece_end_ns(trial);

        loop_until(trial->loop, to);
        trial->end = loop_run(trial->loop);
        if (trial->end == LOOP_STOPPED && host_holds(trial->host))
            return TRIAL_ASKS;
        if (plan_hand_over(trial))
            continue;
        if (trial->dog == NULL || trial->end != LOOP_TIME_LIMIT || to == END_OF_TIME_NS)
            return TRIAL_OVER;
        trial->stands = !watchdog_look(trial->dog, trial->look_ns, trial->to_come) &&
                        host_unfinished(trial->host, &first) > 0;
        if (trial->stands)
            return TRIAL_OVER;
        trial->look_ns = watchdog_next_ns(trial->dog, loop_now_ns(trial->loop));
    }
}

/* Fails a run in which no job moved or, `in_vain`, no decision came to anything.  Always
 * false. */
static bool stood_still(struct trial *trial, bool in_vain)
{
    uint32_t vain = trial->spec->vain_max;
    char how[80];

    if (in_vain)
        snprintf(how, sizeof how,
                 ": nothing runs, and nothing came of %u decisions",
                 vain > 0 ? vain : HOST_VAIN_MAX);
    else
        snprintf(how, sizeof how, ": nothing moved for %.4g days",
                 clock_s_from_ns(trial->spec->stalled_ns) / 86400);
    return stalled(trial, how);
}

/* Puts the first events into the loop: the services, the first arrival, the end of
 * the warm-up, the end of the run. */
static void begin(struct trial *trial)
{
    const struct trial_spec *spec = trial->spec;

    if (trial->serve)
        trial_serve_begin(trial->serve, trial->host);
    if (fetch(trial))
        loop_at(trial->loop, trial->next.request.submit_ns,
                LOOP_RANK_ARRIVAL, arrive, trial, 0);
    host_lasts(trial->host, lasts(trial));
    if (spec->warmup_ns > 0)
        loop_at(trial->loop, spec->warmup_ns, LOOP_RANK_SAMPLE,
                begin_counting, trial, 0);
    if (spec->until_ns != CLOCK_NEVER_NS)
        loop_at(trial->loop, spec->until_ns, LOOP_RANK_SAMPLE, end_of_run,
                trial, 0);
    trial->then_ns = spec->policy->then == NULL ? CLOCK_NEVER_NS : spec->policy->then_ns;
    set_watchdog(trial);
}

/* Did the run come to its end as it should?  False, with trial->err.  What is
 * checked first is what explains the most: a policy that broke its contract also
 * stands still. */
static bool judge(struct trial *trial, struct trial_result *result)
{
    const struct trial_spec *spec = trial->spec;
    struct err_pos nowhere = { 0 };

    result->event_count = loop_event_count(trial->loop);
    result->digest = loop_digest(trial->loop);
    result->interrupted = trial->end == LOOP_CALLED_OFF;
    result->clairvoyant = host_policy_flags(spec->policy) & CS_CLAIRVOYANT;
    if (trial->source_failed)
        return false;
    if (host_in_vain(trial->host) || trial->stands)
        return stood_still(trial, !trial->stands);
    if (!host_verdict(trial->host, &trial->err) ||
        (trial->serve && !trial_serve_verdict(trial->serve, &trial->err)))
        return false;
    if (result->interrupted)
        return err_set(&trial->err, ERR_INTERRUPTED, nowhere, "interrupted");
    if (trial->end == LOOP_EVENT_LIMIT)
        return err_set(&trial->err, ERR_LIMIT, nowhere,
                       "event limit reached: %llu (key event_count_max)",
                       (unsigned long long)spec->event_count_max);
    if (trial->timeline && !timeline_fits(trial->timeline, &trial->err))
        return false;
    return trial->end == LOOP_TIME_LIMIT
               ? time_sufficed(trial)
               : trial->end != LOOP_DRAINED || nobody_starves(trial);
}

/* A series of prices or carbon must last as long as the run, since it says nothing
 * of the time after its end.  False, with trial->err. */
static bool series_last(struct trial *trial, struct trial_result *result)
{
    const struct time_series *over =
        cluster_series_over(trial->spec->cluster, result->end_ns,
                            &result->value[METRIC_SERIES_HELD]);

    if (over == NULL)
        return true;
    err_set(&trial->err, ERR_RANGE, over->pos,
            "the series ends %.0f s before the run, which took %.0f s",
            clock_s_from_ns(time_series_over_ns(over, result->end_ns)),
            clock_s_from_ns(result->end_ns));
    return err_hint(&trial->err,
                    "Give a longer one, `repeat:`, or `after: hold` to keep "
                    "its last value, which is counted in series_held_s.");
}

/* Stops all measuring, closes the host, and fills the result, whether the run
 * succeeded or not.  Returns whether the trial succeeded.  Jobs that are left end
 * here as unfinished, which the audit wants to see. */
static bool finish(struct trial *trial, struct trial_result *result,
                   bool ran)
{
    result->end_ns = metrics_stop(trial->metrics);
    if (trial->timeline)
        timeline_close(trial->timeline, result->end_ns);
    if (trial->serve)
        trial_serve_stop(trial->serve);
    host_close(trial->host);
    metrics_result(trial->metrics, result);
    if (trial->serve)
        trial_serve_result(trial->serve, trial->tables->services, result);
    for (uint32_t s = 0; s < JOB_STATUS_COUNT; s++)
        result->status_count[s] = host_counts(trial->host)->ended[s];
    result->nodes_seen = host_counts(trial->host)->nodes_seen;
    result->tasks_seen = host_counts(trial->host)->tasks_seen;
    result->arena_bytes = arena_used_bytes(trial->arena);
    /* A broken audit outranks the rest: it is what stopped the loop. */
    struct err audit = { 0 };
    audit_causes(trial->audit, metrics_gpus_add_up(trial->metrics),
                 costs_add_up(result));
    bool whole = audit_close(trial->audit, result->audit_count, &audit) &&
                 (!ran || recount_close(trial->recount, result->value, result->end_ns,
                                        &result->audit_count[AUDIT_FIGURES], &audit));
    if (!whole && ran) {
        trial->err = audit;
        return false;
    }
    if (!ran || !series_last(trial, result))
        return false;
    metrics_own_result(trial->metrics, result);
    return true;
}

struct trial *trial_open(const struct trial_spec *spec, const struct trial_tables *tables,
                         struct err *err)
{
    struct arena *arena = arena_new(ARENA_BLOCK_BYTES);
    struct trial *trial = arena_alloc(arena, 1, sizeof *trial);

    assert(spec->cluster && spec->workload && spec->policy && err);
    *trial = (struct trial){ .spec = spec, .tables = tables, .arena = arena };
    if (build(trial)) {
        begin(trial);
        return trial;
    }
    *err = trial->err;
    trial_drop(trial);
    return NULL;
}

bool trial_close(struct trial *trial, struct trial_result *result, struct err *err)
{
    memset(result, 0, sizeof *result);
    bool done = finish(trial, result, judge(trial, result));

    if (!done)
        *err = trial->err;
    trial_drop(trial);
    return done;
}

void trial_drop(struct trial *trial)
{
    if (trial == NULL)
        return;
    trial_serve_free(trial->serve);
    host_free(trial->host);
    flow_free(trial->net);
    loop_free(trial->loop);
    arena_free(trial->arena);
}

struct cs_host *trial_host(const struct trial *trial)
{
    return trial->host;
}

struct journal *trial_journal(const struct trial *trial)
{
    return trial->journal;
}

bool trial_job_to_come(const struct trial *trial)
{
    return trial->to_come;
}
