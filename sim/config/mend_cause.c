/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mend_cause.c - whether an error only follows from another.
 */
#include "sim/config/mend_parts.h"

#include <assert.h>
#include <string.h>

#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/config/node.h"

/* Has a node, or anything below it, one of the marks? */
static bool holds_mark(const struct conf_node *node, unsigned marks)
{
    assert(marks != 0);
    if (mend_is_marked(node, marks))
        return true;
    for (size_t i = 0; i < mend_child_count(node); i++) {
        if (holds_mark(mend_child(node, i), marks))
            return true;
    }
    return false;
}

/* A map, without the items of its lists: those are judged alone.  A unit is what a user thinks
 * of as one thing: an item of a list, with the maps below it. */
static bool unit_is_hurt(const struct conf_node *node)
{
    if (mend_is_marked(node, CONF_NEUTRAL | CONF_HURT))
        return true;
    if (node->kind != CONF_MAP)
        return false;
    for (size_t i = 0; i < node->count; i++) {
        if (unit_is_hurt(node->pairs[i].value))
            return true;
    }
    return false;
}

/* The item of a list that the place is in, or the value of a root's key. */
static const struct conf_node *unit_of(const struct mend_place *place)
{
    assert(place->count > 0);
    for (size_t i = place->count; i-- > 2;) {
        if (place->node[i - 1]->kind == CONF_LIST)
            return place->node[i];
    }
    return place->node[place->count > 1 ? 1 : 0];
}

/* Was this word taken out of the tree by a repair? */
static bool was_taken(const struct conf_mend *mend, const char *word,
                      size_t bytes)
{
    assert(word != NULL);
    for (size_t i = 0; i < mend->gone_count; i++) {
        if (strlen(mend->gone[i]) == bytes &&
            memcmp(mend->gone[i], word, bytes) == 0)
            return true;
    }
    return false;
}

/* The word, or a step of it if it is a path, is what was taken out: 'polcies.name' after the
 * key 'polcies', 'mix.1.model' after the second item of mix, whose step is kept as ".1". */
static bool holds_taken(const struct conf_mend *mend, const char *word, const char *end)
{
    assert(word <= end);
    if (was_taken(mend, word, (size_t)(end - word)))
        return true;
    for (const char *step = word; step < end;) {
        size_t bytes = strcspn(step, ".'");
        if (was_taken(mend, step, bytes) ||
            (step > word && was_taken(mend, step - 1, bytes + 1)))
            return true;
        step += bytes + 1;
    }
    return false;
}

/* One quoted word of the text is, or holds, what was taken out. */
static bool names_taken(const struct conf_mend *mend, const char *text)
{
    assert(text != NULL);
    for (const char *open = strchr(text, '\''); open != NULL;
         open = strchr(open, '\'')) {
        const char *end = strchr(open + 1, '\'');
        if (end == NULL)
            return false;
        if (holds_taken(mend, open + 1, end))
            return true;
        open = end + 1;
    }
    return false;
}

/* Does the place lie below a path, as of `sweep`, one of whose steps was taken out? */
static bool sets_taken(const struct conf_mend *mend, const struct mend_place *place)
{
    assert(place->count > 0);
    for (size_t i = 0; i + 1 < place->count; i++) {
        const struct conf_node *map = place->node[i];
        if (map->kind != CONF_MAP)
            continue;
        const char *key = map->pairs[place->index[i]].key;
        if (strchr(key, '.') != NULL && holds_taken(mend, key, key + strlen(key)))
            return true;
    }
    return false;
}

/* Was an error with this text kept before; here: at this place? */
static bool was_told(const struct conf_mend *mend, const struct err *err,
                     bool here)
{
    assert(err->kind != ERR_NONE);
    for (size_t i = 0; i < mend->found_count; i++) {
        if (strcmp(mend->found[i].text, err->text) == 0 &&
            (!here || mend_same_pos(mend->found[i].pos, err->pos)))
            return true;
    }
    return false;
}

/* A name that nobody knows is wrong whatever stands beside it.  So it is told, although
 * something beside it was repaired. */
static bool is_own_name(const struct err *err, const struct mend_place *place)
{
    const struct conf_node *node = place->node[place->count - 1];

    assert(place->count > 0);
    return err->kind == ERR_REFERENCE && !place->is_key &&
           node->kind == CONF_SCALAR && strstr(err->text, node->text) != NULL;
}

/* False as well if the error is within the ground itself. */
bool mend_is_groundless(const struct conf_mend *mend, const struct err *err,
                        const struct mend_place *place)
{
    const unsigned any = CONF_NEUTRAL | CONF_GUESSED | CONF_HURT;

    assert(place->count > 0 && mend->root != NULL);
    if (mend->ground == NULL)
        return false;
    const struct conf_node *ground = conf_get(mend->root, mend->ground);
    if (ground == NULL || place->node[place->count > 1 ? 1 : 0] == ground)
        return false;
    bool stock = mend_is_stock(mend, ground->pos);
    if (!stock && !holds_mark(ground, any))
        return false;
    for (size_t i = 0; mend->ground_words[i] != NULL; i++) {
        if (strstr(err->text, mend->ground_words[i]) != NULL)
            return true;
    }
    return !stock && err->kind == ERR_RANGE;
}

/* It errs to the side of silence, since the file is read again once the first
 * errors are mended. */
bool mend_follows(const struct conf_mend *mend,
                  const struct err *err, const struct mend_place *place)
{
    const struct conf_node *node = place->node[place->count - 1];

    assert(err->kind != ERR_NONE);
    if (was_told(mend, err, true) || mend_is_stock(mend, err->pos))
        return true;
    if (place->count > 1 && was_told(mend, err, false) &&
        place->node[place->count - 2]->kind == CONF_LIST &&
        mend_is_marked(place->node[place->count - 2], CONF_HURT))
        return true;        /* of each item of a list, as of a swept key */
    for (size_t i = 1; i < place->count; i++) {
        if (mend_is_marked(place->node[i], CONF_NEUTRAL | CONF_GUESSED))
            return true;
    }
    if (sets_taken(mend, place))
        return true;
    if (err->fault == FAULT_MISSING && mend_is_marked(node, CONF_HURT))
        return true;
    if (err->fault != FAULT_OTHER)
        return false;
    if (names_taken(mend, err->text) && !was_told(mend, err, false))
        return true;
    if (mend_is_groundless(mend, err, place))
        return true;
    if (is_own_name(err, place))
        return false;
    return holds_mark(node, CONF_NEUTRAL | CONF_GUESSED | CONF_HURT) ||
           unit_is_hurt(unit_of(place));
}
