/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sweep.h - the points of a sweep: the tree and the label of each.
 *
 * A point is the whole tree of the experiment with some values replaced.  So
 * any key of the file can be swept.
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

/* Checks that each key has a list of values, and counts the points.  False: err
 * says why. */
bool sweep_check(const struct conf_node *keys, uint32_t *count,
                 struct err *err);
/* Returns the tree of a point and sets *label.  The last key changes fastest
 * from point to point.  NULL: err says why. */
const struct conf_node *sweep_tree(struct experiment_inputs *inputs,
                                   const struct sweep *sweep, uint32_t index,
                                   const char **label, struct err *err);

#endif
