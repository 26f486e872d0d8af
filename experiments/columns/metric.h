/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * metric.h - the figures that a trial yields, and the tables that hold them.
 */
#ifndef EXPERIMENTS_COLUMNS_METRIC_H
#define EXPERIMENTS_COLUMNS_METRIC_H

#include <stdbool.h>

/* What may be written into a results folder beside summary.csv. */
enum experiment_table {
    EXPERIMENT_COMPARE = 1u << 0, EXPERIMENT_JOBS = 1u << 1, EXPERIMENT_PHASES = 1u << 2,
    EXPERIMENT_TIMELINE = 1u << 3, EXPERIMENT_DECISIONS = 1u << 4,
    EXPERIMENT_SERVICES = 1u << 5, EXPERIMENT_ARRIVED = 1u << 6
};

/* One entry per column of summary.csv after point, policy, seed. */
enum metric {
    METRIC_JOBS, METRIC_JOBS_DONE, METRIC_JOBS_FAILED, METRIC_MAKESPAN,
    METRIC_JCT_MEAN, METRIC_JCT_P50, METRIC_JCT_P95, METRIC_JCT_P99,
    METRIC_WAIT_MEAN, METRIC_WAIT_P99, METRIC_SLOWDOWN,
    METRIC_BOUNDED_SLOWDOWN, METRIC_GPU_ALLOCATED, METRIC_GPU_UTILIZATION,
    METRIC_CPU_UTILIZATION, METRIC_MEMORY_UTILIZATION, METRIC_COST,
    METRIC_COST_PER_JOB, METRIC_ENERGY, METRIC_SLO, METRIC_PREEMPTIONS,
    METRIC_DECISIONS, METRIC_REFUSED,
    /* where GPU time went, fractions of all GPU-seconds of the run */
    METRIC_GPU_BUSY, METRIC_GPU_TAIL, METRIC_GPU_SWITCH, METRIC_GPU_BUBBLE,
    METRIC_GPU_IDLE_QUEUED, METRIC_GPU_IDLE_EMPTY,
    METRIC_STEPS_DONE, METRIC_CARBON,
    /* what no policy could beat: experiments/run/bounds.h */
    METRIC_JCT_BOUND, METRIC_MAKESPAN_BOUND, METRIC_COST_BOUND, METRIC_GAP,
    METRIC_MAKESPAN_GAP,
    METRIC_INTERRUPTIONS, METRIC_GPU_DOWN, METRIC_GPU_LOST,
    METRIC_HELD_COST, METRIC_SERVICE_COST, METRIC_SERVICE_MILLION,
    METRIC_SERVICE_LATENCY,
    METRIC_GPU_BURSTS,
    METRIC_DROPPED, METRIC_AT_100, METRIC_AT_LAST,
    /* parts of METRIC_GPU_IDLE_QUEUED, and rented GPUs not yet or no more of
     * use: experiments/run/idle.h */
    METRIC_GPU_FRAGMENT, METRIC_GPU_GANG, METRIC_GPU_UNSUITED,
    METRIC_GPU_RENT,
    /* METRIC_COST by cause */
    METRIC_COST_COMPUTE, METRIC_COST_WAIT, METRIC_COST_SWITCH,
    METRIC_COST_FREE, METRIC_COST_RENT, METRIC_COST_ENERGY,
    METRIC_COST_STORAGE, METRIC_COST_TRANSFER,
    METRIC_NODES_RENTED, METRIC_SERIES_HELD,
    METRIC_RESIZES,
    METRIC_GPU_BEHIND,          /* a part of METRIC_GPU_IDLE_QUEUED */
    /* beside means over jobs that were done: experiments/results/survivors.h */
    METRIC_JCT_RESTRICTED, METRIC_COST_LAST_END,
    METRIC_REQUESTS, METRIC_REQUESTS_DONE,
    METRIC_LIMITED,
    METRIC_COUNT
};

/* Of what a metric is: of all, or of what came to its end. */
enum metric_of {
    METRIC_OF_ALL, METRIC_OF_JOBS_DONE, METRIC_OF_REQUESTS_DONE
};

struct metric_info {
    const char *name;           /* column: jct_mean_s ... */
    const char *unit;           /* "s", "USD", "fraction", "count" ... */
    const char *help;
    bool count;                 /* a whole number */
    int better;                 /* +1 more is better, -1 less, 0 neither */
};
const struct metric_info *metric_info(enum metric metric);
/* What charts call it, in words: "cost per job done"; NULL: none shows it. */
const char *metric_title(enum metric metric);
enum metric_of metric_of(enum metric metric);
/* METRIC_COUNT if there is none of that name. */
enum metric metric_find(const char *name);

#endif
