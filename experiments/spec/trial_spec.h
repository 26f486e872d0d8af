/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trial_spec.h - what a trial is: the experiment makes it, trial.h runs it.
 */
#ifndef EXPERIMENTS_SPEC_TRIAL_SPEC_H
#define EXPERIMENTS_SPEC_TRIAL_SPEC_H

#include <stdbool.h>
#include <stdint.h>

struct cluster_spec;
struct host_policy;
struct own_metrics;
struct workload_spec;

/* One trial.  All of it is read-only and shared by threads. */
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
    const struct own_metrics *own;  /* metrics of the experiment's own; NULL: none */
    const char *point;          /* label, for the rows */
    const volatile int *stop;   /* set by Ctrl-C; polled; may be NULL */
};

#endif
