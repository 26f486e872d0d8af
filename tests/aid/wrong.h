/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * wrong.h - values of a tree, replaced by some of another kind: what reads them refuses them,
 * at their place.
 *
 * The replacement comes from a text called "wrong", so an error's place says whether it is
 * that of the value.  Keys that stand at the same place of a tree are tried once.
 */
#ifndef TESTS_WRONG_H
#define TESTS_WRONG_H

#include <stdbool.h>

struct arena;
struct conf_node;
struct err;

/* One part of an experiment, and what reads it; NULL: refused. */
struct wrong_part {
    const char *name;
    const struct conf_node *root;
    const struct cluster_spec *cluster;         /* of a workload */
    bool slow;                                  /* to read: fewer values are tried */
    const void *(*read)(const struct wrong_part *part, struct arena *arena,
                        const struct conf_node *root, struct err *err);
};

struct wrong_count {
    unsigned places, tried, refusals, wrong;
};
extern struct wrong_count wrong_count;          /* of all that was walked */

/* Tries the node and all below it.  path: of the node in the part, "" for its root; place: the
 * same for nodes alike in all parts; key: of the node in its map, or "". */
void wrong_walk(const struct wrong_part *part, const struct conf_node *node, const char *path,
                const char *place, const char *key);

#endif
