/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trial.h - one run: a function of (experiment, point, policy, seed) and of
 * nothing else.
 */
#ifndef EXPERIMENTS_TRIAL_H
#define EXPERIMENTS_TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cluster_spec;
struct err;
struct host_policy;
struct placement;
struct table;
struct workload_spec;

/* What to run.  All of it is read-only and shared by threads. */
struct trial_spec {
    const struct cluster_spec *cluster;
    const struct workload_spec *workload;
    const struct host_policy *policy;
    uint64_t seed;              /* of the experiment */
    uint32_t replica;           /* which of its seeds, from 0 */
    int64_t warmup_ns;          /* jobs submitted before it do not count */
    int64_t until_ns;           /* CLOCK_NEVER_NS: until drained */
    int64_t stalled_ns;         /* until drained: watchdog.h; 0: for ever */
    uint64_t event_count_max;
    uint32_t vain_max;          /* see host_parts; 0: as usual */
    bool by_step;               /* fidelity: step */
    bool by_host;               /* even where GPUs are a count alone */
    const char *point;          /* label, for the rows */
    const volatile int *stop;   /* set by Ctrl-C; polled; may be NULL */
};

/* Tables that were asked for; NULL: not wanted.  Rows are appended, in the
 * columns of experiments/columns.h. */
struct trial_tables {
    struct table *jobs, *phases, *timeline, *decisions, *services,
        *arrived;
    int64_t timeline_step_ns;   /* 0: a two-hundredth of the run, at most */
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
    /* what no policy could beat: experiments/bounds.h */
    METRIC_JCT_BOUND, METRIC_MAKESPAN_BOUND, METRIC_COST_BOUND, METRIC_GAP,
    METRIC_MAKESPAN_GAP,
    METRIC_INTERRUPTIONS, METRIC_GPU_DOWN, METRIC_GPU_LOST,
    METRIC_HELD_COST, METRIC_SERVICE_COST, METRIC_SERVICE_MILLION,
    METRIC_SERVICE_LATENCY,
    METRIC_GPU_BURSTS,
    METRIC_DROPPED, METRIC_AT_100, METRIC_AT_LAST,
    /* parts of METRIC_GPU_IDLE_QUEUED, and rented GPUs not yet or no more of
     * use: experiments/idle.h */
    METRIC_GPU_FRAGMENT, METRIC_GPU_GANG, METRIC_GPU_UNSUITED,
    METRIC_GPU_RENT,
    /* METRIC_COST by cause */
    METRIC_COST_COMPUTE, METRIC_COST_WAIT, METRIC_COST_SWITCH,
    METRIC_COST_FREE, METRIC_COST_RENT, METRIC_COST_ENERGY,
    METRIC_COST_STORAGE, METRIC_COST_TRANSFER,
    METRIC_NODES_RENTED, METRIC_SERIES_HELD,
    METRIC_RESIZES,
    METRIC_GPU_BEHIND,          /* a part of METRIC_GPU_IDLE_QUEUED */
    /* beside means over jobs that were done: experiments/survivors.h */
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

/* What the audit checked, how often. */
enum audit_check {
    AUDIT_CAPACITY, AUDIT_STATES, AUDIT_WORK, AUDIT_COST, AUDIT_TIME,
    AUDIT_LITTLE, AUDIT_LINKS, AUDIT_GPUS, AUDIT_CHECK_COUNT
};
const char *audit_check_name(enum audit_check check);

struct trial_result {
    double value[METRIC_COUNT];     /* times in seconds */
    uint64_t event_count;
    uint64_t digest;
    uint64_t nodes_seen, asks_seen;     /* by searches: what a run costs */
    uint64_t arena_bytes;
    uint64_t audit_count[AUDIT_CHECK_COUNT];
    uint64_t status_count[8];       /* by enum job_status */
    int64_t end_ns;                 /* simulated */
    bool interrupted;
    bool clairvoyant;
};

/* False: err says why; the tables may hold rows of the failed run.  A broken
 * audit is ERR_BUG with the fact that broke it. */
bool trial_run(const struct trial_spec *spec,
               const struct trial_tables *tables, struct trial_result *result,
               struct err *err);

/* "3:0-7 5:0+2": GPUs 0 to 7 of node 3, 0 and 2 of node 5; a node without
 * GPUs stands alone.  Cut with "..." where out is too short. */
void trial_placement_text(const struct placement *placement, char *out,
                          size_t out_bytes);

#endif
