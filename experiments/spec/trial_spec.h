/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trial_spec.h - what a trial is: the experiment makes it, trial.h runs it.
 */
#ifndef EXPERIMENTS_SPEC_TRIAL_SPEC_H
#define EXPERIMENTS_SPEC_TRIAL_SPEC_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/event/loop.h"

struct cluster_spec;
struct host_policy;
struct isolate_fork;
struct own_metrics;
struct workload_spec;

/* What can be told of a run that did not end: where it was, and what the policy
 * asked for last. */
#define TRIAL_LAST 4u           /* requests that are kept */
struct trial_watch {
    struct loop_pulse pulse;    /* time and events, as the loop goes on */
    uint64_t requests;
    char last[TRIAL_LAST][192]; /* request i at i % TRIAL_LAST */
};

/* The process of a trial that has one of its own. */
struct trial_guest {
    bool apart;                 /* in a process of its own, which may have */
    double memory_bytes;        /* most memory; 0: as this one; */
    int64_t event_limit_ns;     /* most wall time for one event; CLOCK_NEVER_NS: any; */
    int64_t time_limit_ns;      /* and most in all; likewise */
    const struct isolate_fork *fork;    /* what hears of forks; or NULL */
};

/* In which processes the trials of an experiment run, and within which limits. */
struct trial_processes {
    struct trial_guest guest;   /* of policies that are not built in */
    struct trial_guest built_in;        /* of all others; `apart`: they have one */
};

/* One trial.  All of it is read-only and shared by threads. */
struct trial_spec {
    const struct cluster_spec *cluster; /* of the point */
    const struct workload_spec *workload;   /* of the point as the policy meets it: `with:` */
    const struct host_policy *policy;   /* an entry of `policies:` */
    struct trial_guest guest;   /* used if the policy is not built in, or if `alone` */
    bool alone;                 /* a built-in policy too runs in a process of its own */
    uint64_t seed;              /* of the experiment */
    uint32_t replica;           /* which of its seeds, from 0 */
    int64_t warmup_ns;          /* jobs submitted before it do not count */
    int64_t until_ns;           /* CLOCK_NEVER_NS: until drained */
    int64_t stalled_ns;         /* until drained: watchdog.h; 0: for ever */
    uint64_t event_count_max;   /* then the trial fails; see `event_count_max` */
    uint32_t vain_max;          /* see host_parts; 0: as usual */
    bool by_step;               /* fidelity: step */
    bool by_host;               /* even where GPUs are a count alone */
    bool audit_full;            /* all that experiments/recount can look at */
    const struct own_metrics *own;  /* metrics of the experiment's own; NULL: none */
    const char *point;          /* label, for the rows */
    const volatile int *stop;   /* set by Ctrl-C; polled; may be NULL */
    struct trial_watch *watch;  /* what others see of the run; may be NULL */
};

#endif
