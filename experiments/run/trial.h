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

struct err;
struct table;

/* Tables that were asked for; NULL: not wanted.  Rows are appended, in the
 * columns of experiments/columns/columns.h. */
struct trial_tables {
    struct table *jobs, *phases, *timeline, *decisions, *services,
        *arrived, *tenants;
    int64_t timeline_step_ns;   /* 0: a two-hundredth of the run, at most */
};

/* What the audit checked, how often. */
enum audit_check {
    AUDIT_CAPACITY, AUDIT_STATES, AUDIT_WORK, AUDIT_COST, AUDIT_TIME,
    AUDIT_LITTLE, AUDIT_LINKS, AUDIT_GPUS, AUDIT_CHECK_COUNT
};
const char *audit_check_name(enum audit_check check);

struct trial_result {
    double value[METRIC_ROOM];      /* times in seconds; behind the built-in ones
                                       those of the experiment's own */
    uint8_t own_gap[METRIC_OWN_MAX];    /* enum expr_gap: why those have no value */
    uint64_t event_count;
    uint64_t digest;
    uint64_t nodes_seen, tasks_seen;     /* by searches: what a run costs */
    uint64_t arena_bytes;
    uint64_t audit_count[AUDIT_CHECK_COUNT];
    uint64_t status_count[8];       /* by enum job_status */
    uint32_t tenant_count;          /* 0: no rows of tenants.csv */
    int64_t end_ns;                 /* simulated */
    bool interrupted;
    bool clairvoyant;
};

/* False: err says why; the tables may hold rows of the failed run.  A broken
 * audit is ERR_BUG with the fact that broke it. */
bool trial_run(const struct trial_spec *spec,
               const struct trial_tables *tables, struct trial_result *result,
               struct err *err);

#endif
