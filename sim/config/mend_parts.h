/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mend_parts.h - what mend.c, which repairs a tree, and the files that look for places and
 * judge errors for it share.  For these files only; nothing here is owned.
 */
#ifndef SIM_CONFIG_MEND_PARTS_H
#define SIM_CONFIG_MEND_PARTS_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "sim/base/err.h"
#include "sim/config/mend.h"
#include "sim/config/node.h"

#define MEND_DEPTH_MAX 80       /* the tree's 64, and overlays */

/* From the root to what is at fault: node[i + 1] is child index[i] of
 * node[i].  `count` nodes; the last one is at fault. */
struct mend_place {
    const struct conf_node *node[MEND_DEPTH_MAX];
    size_t index[MEND_DEPTH_MAX];
    size_t count;
    bool is_key;            /* the key of the last node, not its value */
};

/* Are both the same place of the same file? */
static inline bool mend_same_pos(struct err_pos a, struct err_pos b)
{
    return a.line == b.line && a.col == b.col && a.line > 0 &&
           a.file != NULL && b.file != NULL && strcmp(a.file, b.file) == 0;
}

/* Returns the i-th value below a list or a map. */
static inline const struct conf_node *mend_child(const struct conf_node *node, size_t i)
{
    assert(node->kind != CONF_SCALAR && i < node->count);
    return node->kind == CONF_MAP ? node->pairs[i].value : node->items[i];
}

/* Returns how many values lie directly below a node. */
static inline size_t mend_child_count(const struct conf_node *node)
{
    return node->kind == CONF_SCALAR ? 0 : node->count;
}

static inline bool mend_is_marked(const struct conf_node *node, unsigned marks)
{
    assert(marks != 0);
    return (node->marks & marks) != 0;
}

/* Is the error in what the stock put in, and not in the file of the user? */
static inline bool mend_is_stock(const struct conf_mend *mend, struct err_pos pos)
{
    return mend->stock != NULL && pos.file == mend->stock->pos.file;
}

/* ---- mend_place.c ---- */

/* Finds the node that an error is about.  Where the error lies within a text
 * (as of an expression), it is the scalar that holds the place.  Where it lies
 * in another file, it is the scalar that names this file. */
bool mend_find(const struct conf_mend *mend, const struct err *err,
               struct mend_place *place);

/* ---- mend_cause.c ---- */

/* Does an error at a place follow from one that was kept?  True: it is not reported. */
bool mend_follows(const struct conf_mend *mend, const struct err *err,
                  const struct mend_place *place);
/* Is the error judged against what is not as the user meant it?  Then it cannot be known
 * whether it is one. */
bool mend_is_groundless(const struct conf_mend *mend, const struct err *err,
                        const struct mend_place *place);

#endif
