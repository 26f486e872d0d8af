/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mend.c - the repair of a tree at the place of an error, and the list of errors
 * that are told.
 *
 * What is taken out is replaced by what the caller has in stock at the same
 * keys, once; so the parts beside it are read on.
 */
#include "sim/config/mend.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/config/mend_parts.h"
#include "sim/config/node.h"

#define WORD_BYTES 120

/* Returns a copy of a node with room for one more value, in the arena.  Trees are shared and
 * never change, so each repair copies what it changes. */
static struct conf_node *copy_of(struct arena *arena,
                                 const struct conf_node *node)
{
    struct conf_node *copy = arena_alloc(arena, 1, sizeof *copy);

    *copy = *node;
    if (node->kind == CONF_LIST)
        copy->items = arena_grow(arena, node->items, node->count,
                                 node->count + 1, sizeof *copy->items);
    if (node->kind == CONF_MAP)
        copy->pairs = arena_grow(arena, node->pairs, node->count,
                                 node->count + 1, sizeof *copy->pairs);
    assert(copy->kind == node->kind && copy->count == node->count);
    return copy;
}

/* Keeps a word that was taken out, so that later messages about it are not told. */
static void take_word(struct conf_mend *mend, const char *word)
{
    if (word[0] == '\0' || (word[0] >= '0' && word[0] <= '9'))
        return;             /* numbers name nothing */
    ARENA_ADD(mend->arena, mend->gone, mend->gone_count, mend->gone_room,
              word);
    assert(mend->gone_count <= mend->gone_room);
}

/* Keeps all words of a subtree that goes, so that errors that name one of them
 * are known as consequences. */
static void take_words(struct conf_mend *mend, const struct conf_node *node)
{
    if (node->kind == CONF_SCALAR)
        take_word(mend, node->text);
    for (size_t i = 0; i < mend_child_count(node); i++)
        take_words(mend, mend_child(node, i));
}

/* The root anew, with `node` for the one at place->node[depth].  Only the nodes on the way
 * from the root are copied. */
static void put_node(struct conf_mend *mend, const struct mend_place *place,
                     size_t depth, const struct conf_node *node)
{
    assert(depth < place->count);
    while (depth > 0) {
        depth--;
        struct conf_node *copy = copy_of(mend->arena, place->node[depth]);
        if (copy->kind == CONF_MAP)
            copy->pairs[place->index[depth]].value = node;
        else
            copy->items[place->index[depth]] = node;
        node = copy;
    }
    mend->root = node;
}

/* What the stock has where node[depth] of the place is, or NULL. */
static const struct conf_node *stock_at(const struct conf_mend *mend,
                                        const struct mend_place *place,
                                        size_t depth)
{
    assert(depth <= place->count);
    const struct conf_node *stock = mend->stock;

    for (size_t i = 0; i < depth && stock != NULL; i++) {
        const struct conf_node *node = place->node[i];
        stock = node->kind == CONF_MAP && stock->kind == CONF_MAP
                    ? conf_get(stock, node->pairs[place->index[i]].key)
                    : NULL;
    }
    return stock;
}

/* Removes the value at an index; those behind it move up. */
static void remove_child(struct conf_node *node, size_t index)
{
    assert(index < node->count);
    node->count--;
    for (size_t i = index; i < node->count; i++) {
        if (node->kind == CONF_MAP)
            node->pairs[i] = node->pairs[i + 1];
        else
            node->items[i] = node->items[i + 1];
    }
}

/* Keeps ".2" for the map that goes from a list and those behind it, which move up: what a path
 * then finds or misses at such a number is a consequence. */
static void take_numbers(struct conf_mend *mend, size_t index, size_t count)
{
    char word[24];

    assert(index < count);
    for (; index < count; index++) {
        snprintf(word, sizeof word, ".%zu", index);
        take_word(mend, arena_text(mend->arena, word));
    }
}

/* The pair or item at fault goes.  If the stock has something at the same place, that stands
 * in, unless what is wrong came from the stock itself.  False: the place is the root. */
static bool take_out(struct conf_mend *mend, const struct mend_place *place)
{
    if (place->count < 2)
        return false;
    size_t depth = place->count - 2;
    size_t index = place->index[depth];
    assert(index < place->node[depth]->count);
    const struct conf_node *node = place->node[depth + 1];
    const struct conf_node *stock = stock_at(mend, place, depth + 1);
    struct conf_node *copy = copy_of(mend->arena, place->node[depth]);

    take_words(mend, node);
    if (copy->kind == CONF_MAP)
        take_word(mend, copy->pairs[index].key);
    else if (node->kind == CONF_MAP)
        take_numbers(mend, index, copy->count);
    if (stock != NULL && !mend_is_stock(mend, node->pos))
        copy->pairs[index].value = stock;
    else
        remove_child(copy, index);
    copy->marks |= CONF_HURT;
    put_node(mend, place, depth, copy);
    return true;
}

/* A map gets the keys that the stock has and it has not; false: none.  For a map that lacks
 * what it should have, though no single key is at fault. */
static bool stock_up(struct conf_mend *mend, const struct mend_place *place)
{
    assert(place->count > 0);
    const struct conf_node *map = place->node[place->count - 1];
    const struct conf_node *stock = stock_at(mend, place, place->count - 1);

    if (stock == NULL || stock->kind != CONF_MAP || map->kind != CONF_MAP ||
        place->is_key || mend_is_marked(map, CONF_HURT))
        return false;
    struct conf_node *copy = copy_of(mend->arena, map);
    size_t room = copy->count;
    for (size_t i = 0; i < stock->count; i++)
        if (conf_get(map, stock->pairs[i].key) == NULL)
            ARENA_ADD(mend->arena, copy->pairs, copy->count, room,
                      stock->pairs[i]);
    copy->marks |= CONF_HURT;
    put_node(mend, place, place->count - 1, copy);
    return copy->count > map->count;
}

/* The word of "Did you mean 'WORD'?", with or without its marks.  The repair so tries what the
 * user is told.  NULL: the hint offers no word. */
static const char *find_suggestion(const struct conf_mend *mend,
                                   const struct err *err)
{
    static const char before[] = "Did you mean ";
    char word[WORD_BYTES];

    if (strncmp(err->hint, before, sizeof before - 1) != 0)
        return NULL;
    const char *from = err->hint + sizeof before - 1;
    from += *from == '\'';
    size_t bytes = strcspn(from, "'? ");
    if (bytes == 0 || bytes >= sizeof word || from[bytes] == ' ')
        return NULL;        /* "the unit 'h'": no whole value */
    memcpy(word, from, bytes);
    word[bytes] = '\0';
    assert(bytes < WORD_BYTES);
    return arena_text(mend->arena, word);
}

/* Replaces an unknown key by its nearest spelling, unless the map has that
 * key.  If the map has the right key too, the wrong one is taken out. */
static bool guess_key(struct conf_mend *mend, const struct mend_place *place,
                      const char *word)
{
    assert(place->count >= 2 && word[0] != '\0');
    size_t depth = place->count - 2;
    struct conf_node *map = copy_of(mend->arena, place->node[depth]);
    struct conf_pair *pair = &map->pairs[place->index[depth]];

    if (conf_get(place->node[depth], word) != NULL)
        return take_out(mend, place);
    struct conf_node *value = copy_of(mend->arena, pair->value);
    value->marks |= CONF_GUESSED;
    take_word(mend, pair->key);
    pair->key = word;
    pair->value = value;
    put_node(mend, place, depth, map);
    return true;
}

/* Replaces a scalar by the word that the hint offers. */
static bool guess_value(struct conf_mend *mend, const struct mend_place *place,
                        const char *word)
{
    struct conf_node *node = copy_of(mend->arena,
                                     place->node[place->count - 1]);

    assert(node->kind == CONF_SCALAR);
    take_word(mend, node->text);
    node->text = word;
    node->marks |= CONF_GUESSED;
    put_node(mend, place, place->count - 1, node);
    return true;
}

/* Returns a scalar that every type takes: conf_read() gives it a value that
 * the field allows. */
static struct conf_node *neutral_at(struct conf_mend *mend,
                                    struct err_pos pos)
{
    assert(pos.line > 0 || pos.file == NULL || pos.col == 0);
    struct conf_node *node = arena_alloc(mend->arena, 1, sizeof *node);

    node->kind = CONF_SCALAR;
    node->pos = pos;
    node->text = "?";
    node->marks = CONF_NEUTRAL;
    return node;
}

/* Adds a required key: with the stock's value, else with a neutral one. */
static bool add_missing(struct conf_mend *mend, const struct mend_place *place,
                        const char *key)
{
    const struct conf_node *map = place->node[place->count - 1];
    const struct conf_node *value = NULL;

    assert(map->kind == CONF_MAP && key != NULL);
    const struct conf_node *stock = stock_at(mend, place, place->count - 1);

    if (stock != NULL && stock->kind == CONF_MAP)
        value = conf_get(stock, key);
    if (value == NULL && mend_is_marked(map, CONF_HURT))
        return take_out(mend, place);   /* nothing stands for what went */
    if (value == NULL)
        value = neutral_at(mend, map->pos);
    struct conf_node *copy = copy_of(mend->arena, map);
    copy->pairs[copy->count++] = (struct conf_pair){key, map->pos, value};
    put_node(mend, place, place->count - 1, copy);
    return true;
}

/* Repairs the tree at the place of an error, by the mildest way that there is:
 * a guess, a neutral value, the stock's keys, removal. */
static bool repair_place(struct conf_mend *mend, const struct err *err,
                         const struct mend_place *place)
{
    assert(place->count > 0 && err->kind != ERR_NONE);
    const struct conf_node *node = place->node[place->count - 1];
    const char *word = find_suggestion(mend, err);
    bool fresh = !mend_is_marked(node, CONF_GUESSED | CONF_NEUTRAL);

    if (err->fault == FAULT_MISSING)
        return add_missing(mend, place, err->key);
    if (word != NULL && fresh && place->is_key)
        return guess_key(mend, place, word);
    if (word != NULL && fresh && node->kind == CONF_SCALAR)
        return guess_value(mend, place, word);
    if (err->fault == FAULT_VALUE && !place->is_key &&
        !mend_is_marked(node, CONF_NEUTRAL)) {
        take_words(mend, node);
        put_node(mend, place, place->count - 1,
                 neutral_at(mend, node->pos));
        return true;
    }
    return stock_up(mend, place) || take_out(mend, place);
}

/* Keeps an error that will be told. */
static void keep_error(struct conf_mend *mend, const struct err *err)
{
    assert(mend->found_count < CONF_MEND_ROUNDS_MAX);
    if (mend->found == NULL)
        mend->found = arena_alloc(mend->arena, CONF_MEND_ROUNDS_MAX,
                                  sizeof *mend->found);
    mend->found[mend->found_count++] = *err;
}

/* The ground of the stock for the user's, which says nothing any more.  False: there is none,
 * or it was replaced before. */
static bool replace_ground(struct conf_mend *mend)
{
    if (mend->ground == NULL || mend->stock == NULL ||
        conf_get(mend->stock, mend->ground) == NULL)
        return false;
    struct conf_node *root = copy_of(mend->arena, mend->root);
    assert(root->kind == CONF_MAP);
    for (size_t i = 0; i < root->count; i++) {
        struct conf_pair *pair = &root->pairs[i];
        if (strcmp(pair->key, mend->ground) != 0 ||
            mend_is_stock(mend, pair->value->pos))
            continue;
        take_words(mend, pair->value);
        pair->value = conf_get(mend->stock, mend->ground);
        mend->root = root;
        return true;
    }
    return false;
}

/* Keeps the error, unless it is a consequence of earlier ones, and repairs its place
 * in the tree, so that reading it again comes further.  Where the error's ground is
 * not as the user meant it (mend_is_groundless()), the ground is replaced instead.  False:
 * nothing can be repaired. */
bool conf_mend_next(struct conf_mend *mend, struct err *err)
{
    assert(mend != NULL && mend->root != NULL);
    assert(err != NULL && err->kind != ERR_NONE);
    assert(mend->round_count < CONF_MEND_ROUNDS_MAX);
    bool of_file = err->kind == ERR_SCHEMA || err->kind == ERR_RANGE ||
        err->kind == ERR_REFERENCE || err->kind == ERR_SYNTAX ||
        err->kind == ERR_IO;
    struct mend_place place;

    bool found = of_file && mend_find(mend, err, &place);
    if (mend->found_count == 0 ||
        (found && !mend_follows(mend, err, &place)))
        keep_error(mend, err);
    assert(mend->found_count > 0);
    mend->round_count++;
    if (!found || mend->round_count == CONF_MEND_ROUNDS_MAX)
        return false;
    bool groundless = mend_is_stock(mend, err->pos) ||
                      mend_is_groundless(mend, err, &place);
    if (!(groundless && replace_ground(mend)) && !repair_place(mend, err, &place))
        return false;
    *err = (struct err){.kind = ERR_NONE};
    return true;
}

/* The file that was given first, then those that it names.  Returns which of two errors is
 * told first: below 0, x.  Within a file, by line and column. */
static int compare_errs(const struct err *x, const struct err *y,
                        const char *first)
{
    const char *left = x->pos.file == NULL ? "" : x->pos.file;
    const char *right = y->pos.file == NULL ? "" : y->pos.file;
    int order = (strcmp(right, first) == 0) - (strcmp(left, first) == 0);

    if (order == 0)
        order = strcmp(left, right);
    if (order == 0)
        order = x->pos.line < y->pos.line ? -1 : x->pos.line > y->pos.line;
    if (order == 0)
        order = x->pos.col < y->pos.col ? -1 : x->pos.col > y->pos.col;
    return order;
}

/* Insertion sort, stable; there are at most CONF_MEND_ROUNDS_MAX. */
static void sort_errs(struct err *errs, size_t count, const char *first)
{
    assert(count <= CONF_MEND_ROUNDS_MAX && first != NULL);
    for (size_t i = 1; i < count; i++) {
        struct err moved = errs[i];
        size_t j = i;
        for (; j > 0 && compare_errs(&errs[j - 1], &moved, first) > 0; j--)
            errs[j] = errs[j - 1];
        errs[j] = moved;
    }
    for (size_t i = 1; i < count; i++)
        assert(compare_errs(&errs[i - 1], &errs[i], first) <= 0);
}

/* Returns true if no error was found at all.  Else *err is the first, and its `next` the
 * others, CONF_MEND_TOLD_MAX in all; the last one says how many more there were. */
bool conf_mend_end(struct conf_mend *mend, struct err *err)
{
    assert(mend != NULL && err != NULL);
    if (mend->found_count == 0)
        return err->kind == ERR_NONE;
    size_t told = mend->found_count < CONF_MEND_TOLD_MAX
                      ? mend->found_count : CONF_MEND_TOLD_MAX;

    sort_errs(mend->found, mend->found_count, mend->root->pos.file);
    /* One error may be a list of its own (those of a compiler); the last one keeps it. */
    for (size_t i = 0; i + 1 < told; i++)
        mend->found[i].next = &mend->found[i + 1];
    mend->found[told - 1].more = (uint32_t)(mend->found_count - told);
    *err = mend->found[0];
    return false;
}

/* `read` is called anew after each repair, with the repaired tree, until it succeeds or
 * nothing can be repaired. */
bool conf_mend_read(struct conf_mend *mend,
                    bool (*read)(void *self, const struct conf_node *root,
                                 struct err *err),
                    void *self, struct err *err)
{
    assert(mend != NULL && read != NULL && err != NULL);
    while (!read(self, mend->root, err)) {
        if (!conf_mend_next(mend, err))
            break;
    }
    return conf_mend_end(mend, err);
}
