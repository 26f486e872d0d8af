/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * judge.h - the verdict on an expectation at changed keys.  Private to
 * experiments/sensitivity.
 */
#ifndef EXPERIMENTS_SENSITIVITY_JUDGE_H
#define EXPERIMENTS_SENSITIVITY_JUDGE_H

#include "experiments/results/check.h"

struct probe;

/* A question. */
struct judge_query {
    const struct experiment_expect *expect;     /* a row of it, see judge_rows() */
    const char *point;
    const struct experiment_setting *setting;
    size_t setting_count;       /* keys that are set, the last of a key counts */
};

struct judge_answer {
    struct check_item item;     /* as `check` has it */
    double value;               /* what it judges; NAN: not known, or not comparable */
    const char *why;            /* why not; NULL */
    uint32_t trials;            /* that it took, whenever they were run */
    bool unread;                /* the settings give no valid experiment */
};

/* Judges all queries over all seeds of the experiment, its trials on the threads
 * together. answer[i] is of query[i]; memory comes from the arena.  A failed trial
 * makes its answer unknown (`why`), and not the call.  False: Ctrl-C, or a folder
 * cannot be written; err says so. */
bool judge_run(struct arena *arena, struct probe *probe,
               const struct judge_query *query, size_t count,
               struct judge_answer *answer, struct err *err);

/* An expectation at one point of the experiment. */
struct judge_row {
    const struct experiment_expect *expect;     /* without a point of its own */
    const char *point;
    const char *metric;         /* name of what is judged */
    const char *rest;           /* the label without words of the varied key; "" */
};
/* Returns where the expectations of a claim are judged if `key` is varied: each at
 * every point that it speaks of, once for points that only differ in that key. key
 * NULL: no key is varied.  In the arena; stores the number of rows. */
struct judge_row *judge_rows(struct arena *arena, const struct experiment *experiment,
                             const char *claim, const char *key, size_t *count);
/* Returns a row in words: "C1", and unless `alone` (the claim has one row), "C1
 * (jct_mean_s of dynamic vs static, nodes.a.count=2)". */
const char *judge_name(struct arena *arena, const struct judge_row *row, bool alone);

#endif
