/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sweep.h - the points of a sweep: the tree of each, and what it is
 * called.
 *
 * A point is the whole tree with some values replaced, so that anything that
 * can be written can be swept.
 */
#ifndef EXPERIMENTS_SPEC_SWEEP_H
#define EXPERIMENTS_SPEC_SWEEP_H

#include <stdbool.h>
#include <stdint.h>

struct conf_node;
struct err;
struct experiment_inputs;

struct sweep {
    const struct conf_node *root;   /* of the experiment, without the sweep */
    const struct conf_node *keys;   /* `sweep:`; NULL: there is none */
    uint32_t count;                 /* points; 1 without one */
};

/* Are these keys to lists of values?  If so, how many points there are. */
bool sweep_check(const struct conf_node *keys, uint32_t *count,
                 struct err *err);
/* Point `index` counts through the lists, the last key fastest.  NULL: err says
 * why. */
const struct conf_node *sweep_tree(struct experiment_inputs *inputs,
                                   const struct sweep *sweep, uint32_t index,
                                   const char **label, struct err *err);

#endif
