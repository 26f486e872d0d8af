/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * branches.h - `clustersim fork`: one policy of an experiment, and what it would be from
 * some time on.
 */
#ifndef EXPERIMENTS_SPEC_BRANCHES_H
#define EXPERIMENTS_SPEC_BRANCHES_H

#include <stddef.h>

struct arena;
struct conf_node;
struct err;

/* What the command line asks. */
struct experiment_branches {
    const char *at;             /* a time, as in a file */
    const char *const *set;     /* of each branch: "KEY=VALUE", or a map of YAML */
    size_t count;               /* at least 1 */
    const char *policy;         /* which one is forked; NULL: the only one there is */
};

/* Returns the experiment in which that policy is the baseline and the branches stand
 * beside it, each with a `then`, in the arena.  What speaks of other policies (expect,
 * controls, options, decide, tuned) is left out.  NULL: err says what is wrong. */
const struct conf_node *branches_open(struct arena *arena, const struct conf_node *root,
                                      const struct experiment_branches *branches,
                                      struct err *err);

#endif
