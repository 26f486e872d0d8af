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
#include <stddef.h>
#include <stdint.h>

struct arena;
struct conf_node;
struct conf_schema;
struct err;
struct experiment_inputs;
struct input;

extern const struct conf_schema sweep_schema;   /* of `sweep: {sample: ...}` */

struct sweep {
    const struct conf_node *root;   /* of the experiment, without the sweep */
    const struct conf_node *keys;   /* map of the swept keys; NULL: there is none */
    uint32_t count;                 /* points; 1 without one */
    /* For a sample instead of a product: the keys in order; u[point x input_count + key]: the
     * place of a point's value in the range of a key, 0 to 1. */
    const struct input *input;
    uint32_t input_count;       /* 0: a product */
    const double *u;
};

/* Fills a sweep from `sweep:` of the experiment, which may be NULL.  `seed` is that of
 * the experiment.  False: err says why. */
bool sweep_open(struct arena *arena, const struct conf_node *root,
                const struct conf_node *node, uint64_t seed, struct sweep *sweep,
                struct err *err);
/* False, with err: a swept key, or one of --set KEY=VALUE, acts at no point, since a
 * swept key that comes later replaces it. */
bool sweep_check(struct experiment_inputs *inputs, const struct sweep *sweep,
                 const char *const *set, size_t set_count, struct err *err);
/* Returns the tree of a point and sets *label.  The last key of a product changes
 * fastest from point to point.  NULL: err says why. */
const struct conf_node *sweep_tree(struct experiment_inputs *inputs,
                                   const struct sweep *sweep, uint32_t index,
                                   const char **label, struct err *err);

/* Returns how labels call the swept key `which` of sweep.keys: "arrival.rate" for
 * "workload.arrival.rate". */
const char *sweep_label(const struct conf_node *keys, size_t which);

#endif
