/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trial.h - one run: a function of (experiment, point, policy, seed) and of
 * nothing else.
 */
#ifndef EXPERIMENTS_RUN_TRIAL_H
#define EXPERIMENTS_RUN_TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "experiments/columns/metric.h"
#include "experiments/spec/trial_spec.h"

struct cs_host;
struct err;
struct journal;
struct table;

/* Tables that were asked for; NULL: not wanted.  Rows are appended, in the
 * columns of experiments/columns/columns.h. */
struct trial_tables {
    struct table *jobs, *phases, *timeline, *decisions, *services,
        *arrived, *tenants;
    int64_t timeline_step_ns;   /* 0: 200 to 400 intervals, of 10 s at least */
};

/* What the audit checked, how often. */
enum audit_check {
    AUDIT_CAPACITY, AUDIT_STATES, AUDIT_WORK, AUDIT_COST, AUDIT_TIME,
    AUDIT_LITTLE, AUDIT_LINKS, AUDIT_GPUS, AUDIT_FIGURES, AUDIT_CHECK_COUNT
};
/* Returns the name of a check in audit.json, static. */
const char *audit_check_name(enum audit_check check);

/* What a trial came to.  A failed one has what was measured until then. */
struct trial_result {
    double value[METRIC_ROOM];      /* times in seconds; behind the built-in ones
                                       those of the experiment's own */
    uint8_t own_gap[METRIC_OWN_MAX];    /* enum expr_gap: why those have no value */
    uint64_t event_count;
    uint64_t digest;            /* of all events, in order: two runs that agree in it
                                   did the same */
    uint64_t nodes_seen, tasks_seen;     /* by searches: what a run costs */
    uint64_t arena_bytes;
    uint64_t audit_count[AUDIT_CHECK_COUNT];
    uint64_t status_count[8];       /* by enum job_status */
    uint32_t tenant_count;          /* 0: no rows of tenants.csv */
    int64_t end_ns;                 /* simulated */
    bool interrupted;           /* it was called off, and is not whole */
    bool clairvoyant;           /* its policy knew true lengths */
};

/* For a trial whose policy holds its decisions (policies/host/host.h): trial_open(),
 * then trial_go() until it is over, answering what the policy asks in between, then
 * trial_close().  trial_run() does all of it; only that takes the shorter way for
 * clusters that are a count of GPUs. */
enum trial_state { TRIAL_ASKS, TRIAL_OVER };
struct trial;
/* Begins a trial and stops before its first event.  `spec` and `tables` must live
 * as long as the trial. NULL: err says why. */
struct trial *trial_open(const struct trial_spec *spec, const struct trial_tables *tables,
                         struct err *err);
/* Ends the decision that is held, if one is, and runs to the next one that is
 * held, or to the end. */
enum trial_state trial_go(struct trial *trial);
/* Stores the result of a trial that is over, and audits it; the trial is freed in
 * any case.  False: as trial_run(). */
bool trial_close(struct trial *trial, struct trial_result *result, struct err *err);
/* Drops a trial, over or not; accepts NULL. */
void trial_drop(struct trial *trial);
/* Return the host and the journal of the trial, to look at and to listen to. */
struct cs_host *trial_host(const struct trial *trial);
struct journal *trial_journal(const struct trial *trial);
/* Is a job of the workload still to come? */
bool trial_job_to_come(const struct trial *trial);

/* Runs a whole trial. A function of spec alone: equal specs give equal results and
 * rows, in any thread.  False: err says why (ERR_POLICY, ERR_LIMIT,
 * ERR_INTERRUPTED ...); the tables may hold rows of the failed run.  A broken
 * audit is ERR_BUG with the fact that broke it. */
bool trial_run(const struct trial_spec *spec,
               const struct trial_tables *tables, struct trial_result *result,
               struct err *err);

#endif
