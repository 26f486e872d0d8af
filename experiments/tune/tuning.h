/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tuning.h - the search for one policy, and what its candidates are worth.  Private to
 * experiments/tune.
 */
#ifndef EXPERIMENTS_TUNE_TUNING_H
#define EXPERIMENTS_TUNE_TUNING_H

#include <stdbool.h>
#include <stdint.h>

#include "experiments/tune/space.h"

struct arena;
struct conf_node;
struct err;
struct probe;
struct probe_answer;
struct tune_options;

struct candidate {
    struct space_choice choice, set;    /* as `over` says; as settings of the probe */
    enum { FINE, TWIN, REFUSED, FAILED } state;     /* TWIN: an earlier one, in other words */
};

/* The search for one policy. */
struct tuning {
    struct arena *arena;
    struct probe *probe;        /* runs trials, or knows them */
    const struct space *space;  /* the keys that are tuned, and their ranges */
    const struct tune_options *options;
    const char *policy;         /* as the experiment calls it */
    const struct conf_node *entry;          /* of `policies`: the first candidate */
    struct candidate *candidate;    /* [candidate_count]; the first is the entry as it is */
    uint32_t candidate_count;
    const char *const *point;   /* labels */
    uint32_t point_count;
    uint32_t round;             /* rounds of the race so far */
    uint32_t twins;             /* candidates that the first round left out as TWIN */
    uint32_t unread;            /* trials of the first round that are of no valid experiment */
    const char *refusal;        /* the first candidate without one, and why; NULL: none */
};

/* Values by point and seed; NULL: there is none, `why` may say why. */
struct values {
    struct probe_answer *answer;        /* by point */
    uint32_t seeds;
    const struct err *why;
    bool refused;               /* no valid experiment, as `why` says */
};

/* Runs `seeds` seeds, from `from` on, of `count` candidates (their indices in `which`) at all
 * points, in one question to the probe.  Returns values by candidate, in the arena; NULL: err
 * says why. */
struct values *values_run(struct tuning *t, const uint32_t *which, uint32_t count,
                          uint32_t from, uint32_t seeds, struct err *err);
/* Returns the means of the untuned entry, by point, in the arena; NULL: err says what it
 * lacks. */
double *values_means(const struct tuning *t, const struct values *untuned, struct err *err);
/* Returns, for one seed, the mean over the points of the value divided by the size of
 * mean[point], that of the untuned entry. */
double values_relative(const struct tuning *t, const struct values *values,
                       const double *mean, uint32_t seed);
/* Does it do all jobs, and answer all requests, that the untuned entry does, with a value
 * each time? */
bool values_are_whole(const struct tuning *t, const struct values *values,
                      const struct values *untuned);

#endif
