/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mend_place.c - the node of a tree that an error is about.
 *
 * Places are found by file, line and column: the tree that a reader saw may
 * be an overlay (conf_set) of the one that is repaired, and shares its places.
 */
#include "sim/config/mend_parts.h"

#include <assert.h>
#include <string.h>

#include "sim/base/err.h"
#include "sim/config/node.h"

/* What an error is looked for by. */
struct search {
    struct err_pos pos;         /* of the error */
    enum err_fault fault;       /* FAULT_KEY: a key is looked for, FAULT_MISSING: a map, else a
                                 * value */
    const char *file;       /* not NULL: the scalar that names this file */
};

/* Behind the last slash. */
static const char *base_name(const char *path)
{
    assert(path != NULL);
    const char *slash = strrchr(path, '/');

    return slash == NULL ? path : slash + 1;
}

/* Is this node the one that the message is about? */
static bool is_wanted(const struct search *search,
                      const struct conf_node *node)
{
    assert(search->file == NULL || search->fault == FAULT_OTHER);
    if (search->file != NULL)
        return node->kind == CONF_SCALAR &&
               strcmp(base_name(node->text), search->file) == 0;
    if (search->fault == FAULT_KEY || !mend_same_pos(node->pos, search->pos))
        return false;
    return search->fault != FAULT_MISSING || node->kind == CONF_MAP;
}

/* The node at depth place->count - 1, or below it.  A map stands where its
 * first key stands: the map is taken, except for the root.  Depth first.  On success `place`
 * has the path from the root to the node; else it is as it was. */
static bool find_below(const struct search *search, struct mend_place *place)
{
    assert(place->count > 0 && place->count <= MEND_DEPTH_MAX);
    const struct conf_node *node = place->node[place->count - 1];

    if (is_wanted(search, node) &&
        (place->count > 1 || search->fault == FAULT_MISSING ||
         mend_is_marked(node, CONF_HURT)))
        return true;
    if (place->count == MEND_DEPTH_MAX)
        return false;
    for (size_t i = 0; i < mend_child_count(node); i++) {
        place->index[place->count - 1] = i;
        place->node[place->count++] = mend_child(node, i);
        place->is_key = node->kind == CONF_MAP && search->file == NULL &&
            search->fault != FAULT_MISSING &&
            mend_same_pos(node->pairs[i].key_pos, search->pos);
        if (place->is_key || find_below(search, place))
            return true;
        place->count--;
    }
    return false;
}

/* Does a stand after b in one file? */
static bool is_behind(struct err_pos a, struct err_pos b)
{
    return a.line > b.line || (a.line == b.line && a.col > b.col);
}

/* The last scalar that begins before the place: its text holds it. */
static void find_holder(const struct conf_node *node, struct err_pos pos,
                        struct err_pos *begin)
{
    for (size_t i = 0; i < mend_child_count(node); i++)
        find_holder(mend_child(node, i), pos, begin);
    if (node->kind == CONF_SCALAR && node->pos.file != NULL && pos.file != NULL &&
        strcmp(node->pos.file, pos.file) == 0 && !is_behind(node->pos, pos) &&
        is_behind(node->pos, *begin))
        *begin = node->pos;
}

/* Tried in turn: the place itself; for a key that no map has, since a path of `sweep` or `with`
 * set it, the values that were set; for a fault within a text, the scalar that holds it; for
 * an error in another file, the scalar that names this file. */
bool mend_find(const struct conf_mend *mend, const struct err *err,
               struct mend_place *place)
{
    struct search search = {err->pos, err->fault, NULL};

    assert(err->kind != ERR_NONE);
    *place = (struct mend_place){.node = {mend->root}, .count = 1};
    if (find_below(&search, place))
        return true;
    if (err->fault == FAULT_KEY) {
        search.fault = FAULT_OTHER;
        return find_below(&search, place);
    }
    if (err->fault == FAULT_VALUE) {
        search.pos = (struct err_pos){NULL, 0, 0};
        find_holder(mend->root, err->pos, &search.pos);
        *place = (struct mend_place){.node = {mend->root}, .count = 1};
        return find_below(&search, place);
    }
    if (err->pos.file == NULL || err->fault != FAULT_OTHER ||
        strcmp(err->pos.file, mend->root->pos.file) == 0)
        return false;
    search.file = base_name(err->pos.file);
    if (search.file[0] == '\0')         /* a folder, or no name at all */
        return false;
    *place = (struct mend_place){.node = {mend->root}, .count = 1};
    return find_below(&search, place);
}
