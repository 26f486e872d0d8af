/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tree.h - one tree from all files of an experiment.  Private to
 * experiments/spec.
 *
 * The cluster and the workload are in the tree as if they were written inline.
 * Each value still knows its file and line.  NULL: err says why.
 */
#ifndef EXPERIMENTS_SPEC_TREE_H
#define EXPERIMENTS_SPEC_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/err.h"

struct arena;
struct catalogue;
struct conf_node;
struct experiment_input;

/* The files read so far, each once. */
struct experiment_inputs {
    struct arena *arena;
    struct experiment_input *item;  /* [count]: paths and hashes */
    size_t count, room;
};

/* Returns the map that a file holds, and adds the file to the inputs. */
const struct conf_node *tree_load(struct experiment_inputs *inputs,
                                  const char *path, struct err *err);
/* Returns the map of a text in place of a file.  Messages name it by `path`. */
const struct conf_node *tree_parse(struct experiment_inputs *inputs, const char *path,
                                   const char *text, struct err *err);
/* Replaces `cluster: FILE` and `workload: FILE` by the contents of the
 * files. */
const struct conf_node *tree_graft(struct experiment_inputs *inputs,
                                   const struct conf_node *root,
                                   struct err *err);
/* Returns the tree with a dotted path set to a value; value NULL: to `text`, read
 * as YAML.  `root` stays as it was. */
const struct conf_node *tree_set(struct experiment_inputs *inputs,
                                 const struct conf_node *root,
                                 const char *path,
                                 const struct conf_node *value,
                                 const char *text, struct err *err);
/* Returns the tree with all of --set KEY=VALUE applied in their order, and with
 * the files that it names read. */
const struct conf_node *tree_sets(struct experiment_inputs *inputs,
                                  const struct conf_node *root,
                                  const char *const *set, size_t count,
                                  struct err *err);
/* Does the first --set of a key, or of a part of it, set all of it? */
bool tree_replaced(const char *const *set, size_t count, const char *key);
/* Does `key`, set after `other`, replace all that it set?  Both are dotted paths, which
 * may call one item by its name, by its number, or all of them `*`. */
bool tree_replaces(struct experiment_inputs *inputs, const struct conf_node *root,
                   const char *key, const char *other);
/* Returns the map under `key` if that is the only key of a file, else the
 * file's own map. */
const struct conf_node *tree_unwrap(const struct conf_node *root,
                                    const char *key);

/* False, with err: the file is an experiment, where its cluster or its workload (key) is
 * wanted. */
bool tree_is_no_experiment(const struct conf_node *root, const char *key, struct err *err);

/* Returns the cluster or the workload of a file: the file itself, or, of a
 * question to advise, the value of `key`.  NULL without an err: the question
 * has none. */
const struct conf_node *tree_part(struct experiment_inputs *inputs,
                                  const char *path, const char *key,
                                  struct err *err);

/* Reads the catalogue with the files that a value of `catalogue:` names, one or a
 * list, relative to the file that it stands in.  NULL: the built-in one.  Returns NULL
 * if it cannot; err says why. */
const struct catalogue *tree_catalogue(struct arena *arena,
                                       const struct conf_node *node, struct err *err);

/* Returns a replacement for a part that cannot be read, so that the same
 * reading finds the errors of the other parts (sim/config/mend.h).  It is never
 * run. */
const struct conf_node *tree_stock(struct arena *arena);
extern const char *const tree_ground_words[];   /* of what fits no cluster */

/* Returns a hash of all values of a tree and of the bytes of the files that it
 * names.  Adds those files to the inputs. */
uint64_t tree_hash(struct experiment_inputs *inputs, const struct conf_node *node);

#endif
