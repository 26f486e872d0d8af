/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trial_count.c - a trial in which GPUs are a count: opened, run and judged.
 *
 * A policy that asks for no more than a number of GPUs, of nodes that are all
 * alike, gets any: where they stand changes nothing that is measured.  So
 * there is one number of free GPUs, a queue, and for EASY the expected ends of
 * what runs.  Only rows of phases tell where a job stands, and then that is noted.
 * Events, their order and what they are called by are the host's, and so is the
 * digest of the run.  Events are in count_events.c, and which trials may run this way is in
 * count_applies.c.
 *
 * The audit counts GPUs, as the host's does, and checks with whole numbers:
 * GPU-nanoseconds charged are the integral of GPUs held (cost), jobs in the
 * system the sum of their times in it (little).
 */
#include "experiments/run/trial_count.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "experiments/audit/audit.h"
#include "experiments/measure/metrics.h"
#include "experiments/measure/timeline.h"
#include "experiments/recount/recount.h"
#include "experiments/run/count_places.h"
#include "experiments/run/count_state.h"
#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/cluster/fabric.h"
#include "models/cluster/power.h"
#include "policies/host/host.h"
#include "policies/params.h"
#include "policies/policy.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/event/journal.h"
#include "sim/event/loop.h"
#include "sim/flow/flow.h"
#include "workloads/source.h"

#define ARENA_BLOCK_BYTES ((size_t)1 << 16)    /* at first: small trials are many */

/* The checks that need the whole run.  False, with err: one of all checks did not
 * hold. */
static bool close_audit(struct count_trial *t, struct trial_result *result)
{
    struct count_audit *audit = &t->audit;
    struct err_pos nowhere = { 0 };

    count_check(t, AUDIT_CAPACITY, t->free_gpus == t->spec->cluster->gpu_count,
                "GPUs are held when all jobs have ended", 0);
    count_check(t, AUDIT_STATES, audit->submitted == audit->ended,
                "not every job that was submitted ended once", 0);
    count_check(t, AUDIT_COST, audit->held == audit->charged,
                "jobs are charged something else than was held", 0);
    count_check(t, AUDIT_LITTLE, audit->in_system == audit->sojourn,
                "jobs in the system do not add up to their times in it", 0);
    memcpy(result->audit_count, audit->count, sizeof audit->count);
    return audit->broken == NULL ||
           err_set(t->err, ERR_BUG, nowhere,
                   "the audit failed: %s: %s (number %u)",
                   audit_check_name(audit->kind), audit->broken,
                   audit->subject);
}

/* Fails the run: jobs wait, and nothing will happen any more. */
static bool starved(const struct trial_spec *spec, uint32_t left,
                    uint32_t jobs, uint32_t first, struct err *err)
{
    struct err_pos nowhere = { 0 };

    err_set(err, ERR_POLICY, nowhere,
            "policy %s leaves %u of %u jobs waiting for ever, job %u first",
            spec->policy->name, left, jobs, first);
    return err_hint(err,
                    "Its roles may not fit the pools together, or the policy "
                    "refuses to start them; with `until: 14d` they would "
                    "count as unfinished.");
}

/* Runs the loop to its end and judges it.  False, with err. */
static bool run(struct count_trial *t, struct trial_result *result)
{
    struct err_pos nowhere = { 0 };

    count_begin(t);
    if (t->source_failed)
        return false;
    enum loop_end end = loop_run(t->loop);
    result->event_count = loop_event_count(t->loop);
    result->digest = loop_digest(t->loop);
    result->interrupted = end == LOOP_CALLED_OFF;
    if (t->source_failed)
        return false;
    if (result->interrupted)
        return err_set(t->err, ERR_INTERRUPTED, nowhere, "interrupted");
    if (end == LOOP_EVENT_LIMIT)
        return err_set(t->err, ERR_LIMIT, nowhere,
                       "event limit reached: %llu (key event_count_max)",
                       (unsigned long long)t->spec->event_count_max);
    if (t->timeline != NULL && !timeline_fits(t->timeline, t->err))
        return false;
    return end != LOOP_DRAINED || t->now.pending == 0 ||
           starved(t->spec, t->now.pending, (uint32_t)t->audit.submitted,
                   count_first_waiting(t), t->err);
}

/* Makes all parts of the run.  Memory is of the arena, but for the loop and the
 * net. */
static void open_trial(struct count_trial *t,
                       const struct trial_tables *tables,
                       struct flow_net **net)
{
    const struct trial_spec *spec = t->spec;
    struct loop_limits limits = {
        .until_ns = CLOCK_NEVER_NS - 1,
        .event_count_max = spec->event_count_max, .stop = spec->stop,
    };
    const int64_t *depth = count_param(spec->policy, "depth_max");
    const int *reservation = count_param(spec->policy, "reservation");

    t->loop = loop_new(limits);
    *net = flow_new(t->loop);
    struct metrics_parts parts = {
        t->arena, journal_new(t->arena), t->loop, *net,
        fabric_new(t->arena, spec->cluster, *net), spec, tables,
    };
    t->metrics = metrics_new(&parts);
    struct recount_parts again = {
        t->arena, parts.journal, t->loop, *net, parts.fabric, spec, tables->jobs,
        tables->timeline, tables->tenants, NULL,
    };
    if (tables->timeline != NULL)
        t->timeline = timeline_new(&parts);
    t->recount = recount_new(&again);
    metrics_watch_count(t->metrics, &t->now);
    recount_watch_count(t->recount, &t->now.pending, &t->now.running);
    if (t->timeline != NULL)
        timeline_watch_count(t->timeline, &t->now);
    if (tables->phases != NULL)
        t->places = count_places_new(t->arena, &spec->cluster->group[0]);
    t->now.counts = &t->counts;
    t->group = &spec->cluster->group[0];
    t->gpu_w = power_gpu_w(t->group->gpu, 1);
    t->free_gpus = spec->cluster->gpu_count;
    t->depth_max = depth ? *depth : 0;
    t->unreserved = reservation && *reservation == 1;     /* head, none */
}

bool trial_count_run(const struct trial_spec *spec,
                     const struct trial_tables *tables,
                     struct trial_result *result, struct err *err)
{
    struct count_trial t = { .spec = spec, .err = err };
    struct flow_net *net;

    assert(trial_count_applies(spec, tables));
    memset(result, 0, sizeof *result);
    t.arena = arena_new(ARENA_BLOCK_BYTES);
    open_trial(&t, tables, &net);
    t.source = source_open(t.arena, spec->workload, spec->seed,
                           spec->replica);
    bool done = run(&t, result);
    if (done || t.audit.broken) {
        result->end_ns = metrics_stop(t.metrics);
        if (t.timeline != NULL)
            timeline_close(t.timeline, result->end_ns);
        metrics_result(t.metrics, result);
        memcpy(result->status_count, t.counts.ended, sizeof t.counts.ended);
        result->arena_bytes = arena_used_bytes(t.arena);
        done = close_audit(&t, result) && done &&
               recount_close(t.recount, result->value, result->end_ns,
                             &result->audit_count[AUDIT_FIGURES], err);
        metrics_own_result(t.metrics, result);
    }
    flow_free(net);
    loop_free(t.loop);
    arena_free(t.arena);
    return done;
}
