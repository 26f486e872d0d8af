/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tree.h - one tree from all the files of an experiment; private to
 * experiment.
 *
 * The cluster and the workload stand in it as if they had been written
 * inline; each value still knows the file and line it came from.
 */
#ifndef EXPERIMENTS_SPEC_TREE_H
#define EXPERIMENTS_SPEC_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/err.h"

struct arena;
struct conf_node;
struct experiment_input;

/* Files met so far, each once. */
struct experiment_inputs {
    struct arena *arena;
    struct experiment_input *item;
    size_t count, room;
};

const struct conf_node *tree_load(struct experiment_inputs *inputs,
                                  const char *path, struct err *err);
/* Replaces `cluster: FILE` and `workload: FILE` by what the files hold. */
const struct conf_node *tree_graft(struct experiment_inputs *inputs,
                                   const struct conf_node *root,
                                   struct err *err);
/* Sets a dotted path; `value` NULL: to `text`, read as YAML. */
const struct conf_node *tree_set(struct experiment_inputs *inputs,
                                 const struct conf_node *root,
                                 const char *path,
                                 const struct conf_node *value,
                                 const char *text, struct err *err);
/* All of --set KEY=VALUE, then the files that the tree names. */
const struct conf_node *tree_sets(struct experiment_inputs *inputs,
                                  const struct conf_node *root,
                                  const char *const *set, size_t count,
                                  struct err *err);
/* The map of a file that may wrap it in one key of its kind. */
const struct conf_node *tree_unwrap(const struct conf_node *root,
                                    const char *key);

/* The cluster or the workload of a file: the file itself, or the key of a
 * question to advise.  NULL without an err: the question has none. */
const struct conf_node *tree_part(struct experiment_inputs *inputs,
                                  const char *path, const char *key,
                                  struct err *err);

/* What stands for a part that cannot be read, so that the others are judged
 * in the same reading (sim/config/mend.h).  Nothing of it is ever run. */
const struct conf_node *tree_stock(struct arena *arena);
extern const char *const tree_ground_words[];   /* of what fits no cluster */

/* Of all that is written in it, and of the bytes of the files it names;
 * those are added to the inputs. */
uint64_t tree_hash(struct experiment_inputs *inputs, const struct conf_node *node);

#endif
