/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * check.h - did what was expected come true; did anything get worse.
 *
 * An expectation holds when the whole interval of the mean (or of the mean
 * paired difference to `vs`) lies inside the limits, does not hold when all
 * of it lies outside, and is undecided when it straddles a limit.  With one
 * seed, or seeds that are all alike, there is no interval, and the value alone
 * is judged, but for counts and fractions of drawn seeds: what equal ones leave open is
 * their interval (trust.h).  It is not judged when a flag or a folder that is not whole left
 * out what it speaks of; a failed trial among those is a verdict of its own.
 * Only what holds passes.
 */
#ifndef EXPERIMENTS_RESULTS_CHECK_H
#define EXPERIMENTS_RESULTS_CHECK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "experiments/spec/experiment.h"

struct arena;
struct err;
struct folder;
struct grid;
struct metric_info;
struct metric_set;

enum check_verdict {
    /* in the order of check_verdict_name() */
    CHECK_HOLDS, CHECK_FAILS, CHECK_UNDECIDED, CHECK_NOT_JUDGED,
    CHECK_TRIAL_FAILED, CHECK_VERDICT_COUNT
};
/* Returns "holds", "does not hold" ..., static: the words of checks.csv. */
const char *check_verdict_name(enum check_verdict verdict);

/* What was judged, and the verdict.  Texts live in the arena of the judging
 * function. */
struct check_item {
    const char *name;           /* what is expected, in words */
    const char *reason;         /* the figures */
    enum check_verdict verdict;
    const char *policy;         /* that is judged; NULL: all of the point */
    /* Of expectations only: */
    const struct experiment_expect *expect;  /* NULL: a regression check */
    const struct metric_info *info;
    const char *metric;         /* its name */
    const char *lost;           /* "368 of 405 jobs", or NULL: of all */
    bool compared;              /* false: not, as either side lost some */
    bool restricted;            /* jct_restricted_mean_s has values on both sides */
    const char *point;
    uint32_t seeds;             /* that have the value */
    uint32_t seeds_run;
    bool alike;                 /* seeds that are all alike: one sample, */
    bool fixed;                 /* since nothing is drawn */
    bool equal;                 /* a count or a fraction that is the same in all drawn seeds */
    bool each_seed;             /* its limit asks for none or all: the value is judged */
    double value, low, high;    /* in the unit of the metric, or in percent; NAN:
                                   there is none */
    const char *doubt;          /* why the interval cannot be trusted; "": it can */
};

/* All items, and how many have each verdict. */
struct check_list {
    const struct check_item *item;  /* [count], by point and expectation */
    uint32_t count, held, failed, undecided, not_judged, trial_failed;
    bool not_judged_passes;     /* --allow-not-judged */
};
/* Adds an item of this verdict to the sums. */
void check_count(struct check_list *list, enum check_verdict verdict);
/* Returns how many items are against the gate: all that do not hold, but for those
 * that were not judged where that passes. */
uint32_t check_bad(const struct check_list *list);
/* Prints "3 of 5 checks hold, 1 not judged, 1 failed trial", over several lists. */
void check_print_sum(FILE *file, const struct check_list *list, size_t lists);

/* Judges all expectations on the grid: one item per expectation and point that it
 * speaks of, and one that is not judged where there is no such point.  Memory
 * comes from the arena. */
struct check_list check_expects(struct arena *arena, const struct grid *grid,
                                const struct experiment_expect *expect,
                                uint32_t count);
/* Has a baseline rows, the number of jobs and a metric to compare?  False: err says what
 * is missing in `dir`. */
bool check_can_regress(const struct grid *before, const char *dir, struct err *err);
/* What a flag kept from being run. */
struct check_left {
    const char *const *policy;  /* ends with NULL; NULL: none */
    bool seeds;
};
/* Judges `now` against `before`, one item per point and policy of `before`: trials
 * that are gone, other jobs, and, where they are the same, metrics that got worse by more
 * than `tolerance` (a fraction) in any seed.  Trials are deterministic, so no statistics
 * are needed.  `left` may be NULL. */
struct check_list check_regressions(struct arena *arena,
                                    const struct grid *before,
                                    const struct grid *now, double tolerance,
                                    const struct check_left *left);

/* Writes checks.csv of a results folder: expectations and their verdicts; without
 * any, no file.  False: err says why. */
bool check_write(struct arena *arena, const struct folder *dir,
                 const struct check_list *list, struct err *err);
/* Reads the expectations again from checks.csv, into the arena; an absent file has
 * none.  `metrics` are those of the folder.  False: err says why. */
bool check_read(struct arena *arena, const char *dir, const struct metric_set *metrics,
                const struct experiment_expect **expect, uint32_t *count,
                struct err *err);

/* Prints a line for each item, with its figures. */
void check_print(FILE *file, const struct check_list *list);

#endif
