/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * space.h - what `tune:` says: a metric, seeds, a budget, and the values that keys
 * may have.  Private to experiments/tune.
 *
 * A dimension is an entry of `over:`.  A choice of it is one value of its key, or
 * of several keys at once (a split of nodes, a layout).
 */
#ifndef EXPERIMENTS_TUNE_SPACE_H
#define EXPERIMENTS_TUNE_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "experiments/columns/metric.h"
#include "experiments/spec/quantity.h"
#include "experiments/spec/experiment.h"

struct arena;
struct conf_node;
struct err;

/* Settings that are made together. */
struct space_choice {
    const struct experiment_setting *set;   /* [count] */
    size_t count;
};

struct space_dimension {
    const char *name;                   /* the key, for results */
    struct err_pos pos;                 /* of its name */
    const struct conf_node *node;       /* what `over` says of it */
    const struct space_choice *choice;  /* NULL: a range */
    size_t choice_count;
    struct quantity_range range;        /* without `choice` */
};

struct space {
    enum metric metric;
    const struct metric_info *info;     /* of it */
    /* training seeds and judging seeds; trials a policy */
    uint32_t seeds, judge, budget;
    const char *point;          /* label; NULL: all points */
    struct space_dimension *dimension;
    size_t dimension_count;
};

/* Reads and checks `tune:` of the experiment; memory in the arena.  False: err
 * says what is wrong, with its place. */
bool space_read(struct arena *arena, const struct experiment *experiment,
                struct space *space, struct err *err);
/* Is the key "policies.NAME.KEY", of another policy than this one? */
bool space_is_of_another(const char *key, const char *policy);
/* Does the dimension vary something for that policy?  Keys of another policy do
 * not. */
bool space_concerns(const struct space_dimension *dimension, const char *policy);
/* Returns how many candidates the dimensions of a policy have; UINT32_MAX: more, or
 * there is a range. */
uint32_t space_count(const struct space *space, const char *policy);
/* Returns an array of `count` candidates in the arena: all that there are, if `count`
 * is space_count(), else points of Sobol's sequence.  Two of them may be alike, since
 * a list has fewer values than the sequence has points; one may set nothing. */
struct space_choice *space_draw(struct arena *arena, const struct space *space,
                                const char *policy, uint32_t count);

#endif
