/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * with.h - `with:` of a policy: keys of the cluster and the workload that hold
 * for this policy alone.  Private to experiments/spec.
 *
 * All policies of a point must meet the same jobs, or seeds are not paired.  So
 * a policy may change on what its jobs run and in which layout, but not what
 * comes, when, and how much work it is.
 */
#ifndef EXPERIMENTS_SPEC_WITH_H
#define EXPERIMENTS_SPEC_WITH_H

#include <stdbool.h>
#include <stdint.h>

struct conf_node;
struct err;
struct err_pos;
struct experiment_inputs;
struct workload_spec;

/* `word` is the key that holds the map, for messages: "with", or "set" of an option. */

/* Is `with` a map of keys that may be set, none of them in vain because
 * another one, or one of `sweep` (or NULL), says the same?  `tree`: of the
 * experiment.  False: err says why. */
bool with_check(struct experiment_inputs *inputs, const struct conf_node *tree,
                const struct conf_node *with, const char *word,
                const struct conf_node *sweep, struct err *err);
/* Returns the tree of a point with the keys of `with` in it.  Sets acts[i] if
 * key i changes something.  NULL: err says why. */
const struct conf_node *with_tree(struct experiment_inputs *inputs,
                                  const struct conf_node *tree,
                                  const struct conf_node *with, bool *acts,
                                  struct err *err);
/* False: a key changes what the jobs are; err says which. */
bool with_keeps_jobs(struct experiment_inputs *inputs, const struct conf_node *tree,
                     const struct conf_node *with, const char *word, struct err *err);
/* False: some key acts at no point; err names it. */
bool with_acts(const struct conf_node *with, const char *word, const bool *acts,
               struct err *err);
/* Draws the jobs of the first replica of both, WITH_DRAWN at most: do the same
 * jobs come, at the same times, with the same work?  False: err, at `pos`. */
#define WITH_DRAWN 20000u
bool with_draws_alike(const struct workload_spec *all,
                      const struct workload_spec *own, uint64_t seed,
                      struct err_pos pos, const char *word, struct err *err);

#endif
