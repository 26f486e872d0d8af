/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mend.c - an error's place in the tree, whether it only follows from
 * another, and the repair.
 *
 * What is taken out is replaced by what the caller has in stock at the same
 * keys, once; so the parts beside it are read on.
 *
 * Places are found by file, line and column: the tree that a reader saw may
 * be an overlay (conf_set) of the one that is repaired, and shares its places.
 */
#include "sim/config/mend.h"

#include <assert.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/config/node.h"

#define DEPTH_MAX   80          /* the tree's 64, and overlays */
#define WORD_BYTES  120

/* From the root to what is at fault: node[i + 1] is child index[i] of
 * node[i].  `count` nodes; the last one is at fault. */
struct place {
    const struct conf_node *node[DEPTH_MAX];
    size_t index[DEPTH_MAX];
    size_t count;
    bool is_key;            /* the key of the last node, not its value */
};

/* Are both the same place of the same file? */
static bool same_pos(struct err_pos a, struct err_pos b)
{
    return a.line == b.line && a.col == b.col && a.line > 0 &&
           a.file != NULL && b.file != NULL && strcmp(a.file, b.file) == 0;
}

/* Returns the i-th value below a list or a map. */
static const struct conf_node *child_at(const struct conf_node *node, size_t i)
{
    assert(node->kind != CONF_SCALAR && i < node->count);
    return node->kind == CONF_MAP ? node->pairs[i].value : node->items[i];
}

/* Returns how many values lie directly below a node. */
static size_t child_count(const struct conf_node *node)
{
    return node->kind == CONF_SCALAR ? 0 : node->count;
}

static bool is_marked(const struct conf_node *node, unsigned marks)
{
    assert(marks != 0);
    return (node->marks & marks) != 0;
}

/* What an error is looked for by. */
struct search {
    struct err_pos pos;
    enum err_fault fault;
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
    if (search->fault == FAULT_KEY || !same_pos(node->pos, search->pos))
        return false;
    return search->fault != FAULT_MISSING || node->kind == CONF_MAP;
}

/* The node at depth place->count - 1, or below it.  A map stands where its
 * first key stands: the map is taken, except for the root. */
static bool find_below(const struct search *search, struct place *place)
{
    assert(place->count > 0 && place->count <= DEPTH_MAX);
    const struct conf_node *node = place->node[place->count - 1];

    if (is_wanted(search, node) &&
        (place->count > 1 || search->fault == FAULT_MISSING ||
         is_marked(node, CONF_HURT)))
        return true;
    if (place->count == DEPTH_MAX)
        return false;
    for (size_t i = 0; i < child_count(node); i++) {
        place->index[place->count - 1] = i;
        place->node[place->count++] = child_at(node, i);
        place->is_key = node->kind == CONF_MAP && search->file == NULL &&
            search->fault != FAULT_MISSING &&
            same_pos(node->pairs[i].key_pos, search->pos);
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
    for (size_t i = 0; i < child_count(node); i++)
        find_holder(child_at(node, i), pos, begin);
    if (node->kind == CONF_SCALAR && node->pos.file != NULL && pos.file != NULL &&
        strcmp(node->pos.file, pos.file) == 0 && !is_behind(node->pos, pos) &&
        is_behind(node->pos, *begin))
        *begin = node->pos;
}

/* Finds the node that an error is about.  Where the error lies within a text
 * (as of an expression), it is the scalar that holds the place.  Where it lies
 * in another file, it is the scalar that names this file. */
static bool find_place(const struct conf_mend *mend, const struct err *err,
                       struct place *place)
{
    struct search search = {err->pos, err->fault, NULL};

    *place = (struct place){.node = {mend->root}, .count = 1};
    if (find_below(&search, place))
        return true;
    if (err->fault == FAULT_VALUE) {
        search.pos = (struct err_pos){NULL, 0, 0};
        find_holder(mend->root, err->pos, &search.pos);
        *place = (struct place){.node = {mend->root}, .count = 1};
        return find_below(&search, place);
    }
    if (err->pos.file == NULL || err->fault != FAULT_OTHER ||
        strcmp(err->pos.file, mend->root->pos.file) == 0)
        return false;
    search.file = base_name(err->pos.file);
    *place = (struct place){.node = {mend->root}, .count = 1};
    assert(search.file[0] != '\0');
    return find_below(&search, place);
}

/* Consequences. */

/* Has a node, or anything below it, one of the marks? */
static bool holds_mark(const struct conf_node *node, unsigned marks)
{
    assert(marks != 0);
    if (is_marked(node, marks))
        return true;
    for (size_t i = 0; i < child_count(node); i++) {
        if (holds_mark(child_at(node, i), marks))
            return true;
    }
    return false;
}

/* A map, without the items of its lists: those are judged alone. */
static bool unit_is_hurt(const struct conf_node *node)
{
    if (is_marked(node, CONF_NEUTRAL | CONF_HURT))
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
static const struct conf_node *unit_of(const struct place *place)
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

/* One quoted word, or a step of a quoted path, is what was taken out. */
static bool names_taken(const struct conf_mend *mend, const char *text)
{
    assert(text != NULL);
    for (const char *open = strchr(text, '\''); open != NULL;
         open = strchr(open, '\'')) {
        const char *word = open + 1;
        const char *end = strchr(word, '\'');
        if (end == NULL)
            return false;
        if (was_taken(mend, word, (size_t)(end - word)))
            return true;
        while (word < end) {
            size_t bytes = strcspn(word, ".'");
            if (was_taken(mend, word, bytes))
                return true;
            word += bytes + 1;
        }
        open = end + 1;
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
            (!here || same_pos(mend->found[i].pos, err->pos)))
            return true;
    }
    return false;
}

/* A name that nobody knows is wrong whatever stands beside it. */
static bool is_own_name(const struct err *err, const struct place *place)
{
    const struct conf_node *node = place->node[place->count - 1];

    assert(place->count > 0);
    return err->kind == ERR_REFERENCE && !place->is_key &&
           node->kind == CONF_SCALAR && strstr(err->text, node->text) != NULL;
}

/* Is the error in what the stock put in, and not in the file of the user? */
static bool is_stock(const struct conf_mend *mend, struct err_pos pos)
{
    return mend->stock != NULL && pos.file == mend->stock->pos.file;
}

/* Whether it fits what it is judged against cannot be known: that is not as
 * the user meant it. */
static bool is_groundless(const struct conf_mend *mend, const struct err *err,
                          const struct place *place)
{
    const unsigned any = CONF_NEUTRAL | CONF_GUESSED | CONF_HURT;

    assert(place->count > 0 && mend->root != NULL);
    if (mend->ground == NULL)
        return false;
    const struct conf_node *ground = conf_get(mend->root, mend->ground);
    if (ground == NULL || place->node[place->count > 1 ? 1 : 0] == ground)
        return false;
    bool stock = is_stock(mend, ground->pos);
    if (!stock && !holds_mark(ground, any))
        return false;
    for (size_t i = 0; mend->ground_words[i] != NULL; i++) {
        if (strstr(err->text, mend->ground_words[i]) != NULL)
            return true;
    }
    return !stock && err->kind == ERR_RANGE;
}

/* Does an error follow from one that was kept?  True: it is not reported.  It
 * errs to the side of silence, since the file is read again once the first
 * errors are mended. */
static bool is_consequence(const struct conf_mend *mend,
                           const struct err *err, const struct place *place)
{
    const struct conf_node *node = place->node[place->count - 1];

    assert(err->kind != ERR_NONE);
    if (was_told(mend, err, true) || is_stock(mend, err->pos))
        return true;
    if (place->count > 1 && was_told(mend, err, false) &&
        place->node[place->count - 2]->kind == CONF_LIST &&
        is_marked(place->node[place->count - 2], CONF_HURT))
        return true;        /* of each item of a list, as of a swept key */
    for (size_t i = 1; i < place->count; i++) {
        if (is_marked(place->node[i], CONF_NEUTRAL | CONF_GUESSED))
            return true;
    }
    if (err->fault == FAULT_MISSING && is_marked(node, CONF_HURT))
        return true;
    if (err->fault != FAULT_OTHER)
        return false;
    if (names_taken(mend, err->text) && !was_told(mend, err, false))
        return true;
    if (is_groundless(mend, err, place))
        return true;
    if (is_own_name(err, place))
        return false;
    return holds_mark(node, CONF_NEUTRAL | CONF_GUESSED | CONF_HURT) ||
           unit_is_hurt(unit_of(place));
}

/* Repairs. */

/* Returns a copy of a node with room for one more value, in the arena. */
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
    for (size_t i = 0; i < child_count(node); i++)
        take_words(mend, child_at(node, i));
}

/* The root anew, with `node` for the one at place->node[depth]. */
static void put_node(struct conf_mend *mend, const struct place *place,
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
                                        const struct place *place,
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

/* The pair or item at fault goes. */
static bool take_out(struct conf_mend *mend, const struct place *place)
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
    if (stock != NULL && !is_stock(mend, node->pos))
        copy->pairs[index].value = stock;
    else
        remove_child(copy, index);
    copy->marks |= CONF_HURT;
    put_node(mend, place, depth, copy);
    return true;
}

/* A map gets the keys that the stock has and it has not; false: none. */
static bool stock_up(struct conf_mend *mend, const struct place *place)
{
    assert(place->count > 0);
    const struct conf_node *map = place->node[place->count - 1];
    const struct conf_node *stock = stock_at(mend, place, place->count - 1);

    if (stock == NULL || stock->kind != CONF_MAP || map->kind != CONF_MAP ||
        place->is_key || is_marked(map, CONF_HURT))
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

/* The word of "Did you mean 'WORD'?", with or without its marks. */
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
 * key. */
static bool guess_key(struct conf_mend *mend, const struct place *place,
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
static bool guess_value(struct conf_mend *mend, const struct place *place,
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
static bool add_missing(struct conf_mend *mend, const struct place *place,
                        const char *key)
{
    const struct conf_node *map = place->node[place->count - 1];
    const struct conf_node *value = NULL;

    assert(map->kind == CONF_MAP && key != NULL);
    const struct conf_node *stock = stock_at(mend, place, place->count - 1);

    if (stock != NULL && stock->kind == CONF_MAP)
        value = conf_get(stock, key);
    if (value == NULL && is_marked(map, CONF_HURT))
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
                         const struct place *place)
{
    assert(place->count > 0 && err->kind != ERR_NONE);
    const struct conf_node *node = place->node[place->count - 1];
    const char *word = find_suggestion(mend, err);
    bool fresh = !is_marked(node, CONF_GUESSED | CONF_NEUTRAL);

    if (err->fault == FAULT_MISSING)
        return add_missing(mend, place, err->key);
    if (word != NULL && fresh && place->is_key)
        return guess_key(mend, place, word);
    if (word != NULL && fresh && node->kind == CONF_SCALAR)
        return guess_value(mend, place, word);
    if (err->fault == FAULT_VALUE && !place->is_key &&
        !is_marked(node, CONF_NEUTRAL)) {
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

/* The ground of the stock for the user's, which says nothing any more. */
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
            is_stock(mend, pair->value->pos))
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
 * not as the user meant it (is_groundless()), the ground is replaced instead.  False:
 * nothing can be repaired. */
bool conf_mend_next(struct conf_mend *mend, struct err *err)
{
    assert(mend != NULL && mend->root != NULL);
    assert(err != NULL && err->kind != ERR_NONE);
    assert(mend->round_count < CONF_MEND_ROUNDS_MAX);
    bool of_file = err->kind == ERR_SCHEMA || err->kind == ERR_RANGE ||
        err->kind == ERR_REFERENCE || err->kind == ERR_SYNTAX ||
        err->kind == ERR_IO;
    struct place place;

    bool found = of_file && find_place(mend, err, &place);
    if (mend->found_count == 0 ||
        (found && !is_consequence(mend, err, &place)))
        keep_error(mend, err);
    assert(mend->found_count > 0);
    mend->round_count++;
    if (!found || mend->round_count == CONF_MEND_ROUNDS_MAX)
        return false;
    bool groundless = is_stock(mend, err->pos) ||
                      is_groundless(mend, err, &place);
    if (!(groundless && replace_ground(mend)) && !repair_place(mend, err, &place))
        return false;
    *err = (struct err){.kind = ERR_NONE};
    return true;
}

/* The file that was given first, then those that it names. */
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
