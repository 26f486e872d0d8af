/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * result.h - what a trial hands back: the tables that were asked for, with a row for
 * each thing that happened, and one result with all figures.
 *
 * The caller owns both.  Tables grow while the trial runs; the result is filled when it
 * is over.
 */
#ifndef EXPERIMENTS_MEASURE_RESULT_H
#define EXPERIMENTS_MEASURE_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "experiments/audit/audit.h"
#include "experiments/columns/metric.h"

struct table;

/* Tables that were asked for; NULL: not wanted.  Rows are appended, in the
 * columns of experiments/columns/columns.h. */
struct trial_tables {
    struct table *jobs, *phases, *timeline, *decisions, *services,
        *arrived, *tenants;
    int64_t timeline_step_ns;   /* 0: 200 to 400 intervals, of 10 s at least */
};

/* What a trial came to.  A failed one has what was measured until then. */
struct trial_result {
    double value[METRIC_ROOM];      /* times in seconds; behind the built-in ones
                                       those of the experiment's own */
    uint8_t own_gap[METRIC_OWN_MAX];    /* enum expr_gap: why those have no value */
    uint64_t event_count;       /* of the loop */
    uint64_t digest;            /* of all events, in order: two runs that agree in it
                                   did the same */
    uint64_t nodes_seen, tasks_seen;     /* by searches: what a run costs */
    uint64_t arena_bytes;       /* memory of the trial, at its end */
    uint64_t audit_count[AUDIT_CHECK_COUNT];    /* checks made, by enum audit_check */
    uint64_t status_count[8];       /* by enum job_status */
    uint32_t tenant_count;          /* 0: no rows of tenants.csv */
    int64_t end_ns;                 /* simulated */
    bool interrupted;           /* it was called off, and is not whole */
    bool clairvoyant;           /* its policy knew true lengths */
};

#endif
