/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * advice_check.h - expectations of advice: an experiment file whose key is
 * `advise` instead of `experiment`.
 *
 * It has a workload, a cluster (or the whole catalogue), and `expect:` about
 * bytes on a GPU of the jobs as they are written, or about the cheapest
 * layout of a job on a kind of node.  Nothing is drawn at random, so a figure
 * has no interval.
 */
#ifndef EXPERIMENTS_ADVISE_ADVICE_CHECK_H
#define EXPERIMENTS_ADVISE_ADVICE_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "experiments/advise/advice_inputs.h"
#include "experiments/results/check.h"

struct arena;
struct conf_schema;
struct err;

/* What came of a question: verdicts, and what sensitivity would vary. */
struct advice_check {
    const char *name;           /* names the results folder */
    struct check_list checks;
    struct advice_inputs inputs;        /* that sensitivity varies */
};

/* Does the file have the key `advise`?  False, too, if it cannot be read:
 * reading it as an experiment then reports the error. */
bool advice_check_is(struct arena *arena, const char *path);
/* Reads the file, with --set KEY=VALUE, and judges it unless read_only, then with no
 * checks.  All memory comes from the arena.  False: err says why, and err->next what
 * else is wrong. */
struct advice_check_options {
    const char *const *set;     /* [set_count]: "KEY=VALUE" */
    size_t set_count;
    bool read_only;
};
bool advice_check_run(struct arena *arena, const char *path,
                      const struct advice_check_options *options,
                      struct advice_check *result, struct err *err);

extern const struct conf_schema advice_schema, advice_expect_schema;

#endif
