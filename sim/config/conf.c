/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * conf.c - looking at the tree, and at words that are nearly right.
 *
 * Maps are searched from the front: they have a few keys, and no index could be
 * shared by overlays.  Nothing here changes a node.
 */
#include "sim/config/conf.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/config/node.h"

#define WORD_BYTES_MAX 64       /* longer words have no neighbours */

enum conf_kind conf_kind(const struct conf_node *node)
{
    assert(node != NULL);
    return node->kind;
}

struct err_pos conf_pos(const struct conf_node *node)
{
    assert(node != NULL);
    return node->pos;
}

const char *conf_text(const struct conf_node *scalar)
{
    assert(scalar != NULL);
    assert(scalar->kind == CONF_SCALAR);
    return scalar->text;
}

bool conf_stands_in(const struct conf_node *node)
{
    assert(node != NULL);
    return (node->marks & CONF_NEUTRAL) != 0;
}

/* A map counts as guessed if the value of one of its keys is. */
bool conf_is_guessed(const struct conf_node *node)
{
    assert(node != NULL);
    if (node->kind == CONF_MAP)
        for (size_t i = 0; i < node->count; i++)
            if ((node->pairs[i].value->marks & CONF_GUESSED) != 0)
                return true;
    return (node->marks & CONF_GUESSED) != 0;
}

bool conf_is_hurt(const struct conf_node *node)
{
    assert(node != NULL);
    return (node->marks & CONF_HURT) != 0;
}

size_t conf_count(const struct conf_node *node)
{
    assert(node != NULL);
    return node->count;
}

const struct conf_node *conf_item(const struct conf_node *list, size_t i)
{
    assert(list != NULL && list->kind == CONF_LIST);
    assert(i < list->count);
    return list->items[i];
}

const char *conf_key(const struct conf_node *map, size_t i)
{
    assert(map != NULL && map->kind == CONF_MAP);
    assert(i < map->count);
    return map->pairs[i].key;
}

struct err_pos conf_key_pos(const struct conf_node *map, size_t i)
{
    assert(map != NULL && map->kind == CONF_MAP);
    assert(i < map->count);
    return map->pairs[i].key_pos;
}

const struct conf_node *conf_value(const struct conf_node *map, size_t i)
{
    assert(map != NULL && map->kind == CONF_MAP);
    assert(i < map->count);
    return map->pairs[i].value;
}

/* So that a key can be read by conf_read(), as a value is. */
const struct conf_node *conf_key_node(struct arena *arena,
                                      const struct conf_node *map, size_t i)
{
    assert(arena != NULL && map != NULL && map->kind == CONF_MAP);
    assert(i < map->count);
    struct conf_node *node = arena_alloc(arena, 1, sizeof *node);
    node->kind = CONF_SCALAR;
    node->plain = true;
    node->pos = map->pairs[i].key_pos;
    node->text = map->pairs[i].key;
    return node;
}

/* The keys of a map are unique, since the reader refuses those given twice. */
const struct conf_node *conf_get(const struct conf_node *map, const char *key)
{
    assert(map != NULL && map->kind == CONF_MAP);
    assert(key != NULL);
    for (size_t i = 0; i < map->count; i++) {
        if (strcmp(map->pairs[i].key, key) == 0)
            return map->pairs[i].value;
    }
    return NULL;
}

/* A quoted "" or "null" is a text. */
bool conf_is_null(const struct conf_node *node)
{
    assert(node != NULL);
    if (node->kind != CONF_SCALAR || !node->plain)
        return false;
    return node->text[0] == '\0' || strcmp(node->text, "~") == 0 ||
           strcmp(node->text, "null") == 0;
}

const char *conf_kind_name(const struct conf_node *node)
{
    assert(node != NULL);
    switch (node->kind) {
    case CONF_LIST: return "a list";
    case CONF_MAP: return "a map";
    case CONF_SCALAR: break;
    }
    return conf_is_null(node) ? "nothing" : "a single value";
}

/* From its end to its beginning, as each node knows what holds it. */
void conf_write_path(const struct conf_node *node, char *out, size_t out_bytes)
{
    size_t begin = out_bytes - 1;

    assert(node != NULL && out_bytes > 8);
    out[begin] = '\0';
    for (; node != NULL; node = node->up) {
        const struct conf_node *up = node->up;
        const char *step = node->key != NULL ? node->key : up != NULL ? "[]" : "";
        bool dot = node->key != NULL && up != NULL && (up->key != NULL || up->up != NULL);
        size_t bytes = strlen(step);

        assert(begin >= 3);
        if (bytes + dot > begin - 3) {
            begin += out[begin] == '.';
            begin -= 3;
            memcpy(out + begin, "...", 3);
            break;
        }
        begin -= bytes;
        memcpy(out + begin, step, bytes);
        if (dot)
            out[--begin] = '.';
    }
    memmove(out, out + begin, out_bytes - begin);
}

/* Joins as many names as there is room for; the rest is "...". */
void conf_join(const char *const *names, char *out, size_t out_bytes)
{
    size_t used = 0;

    assert(names != NULL);
    assert(out_bytes > 8);
    out[0] = '\0';
    for (size_t i = 0; names[i] != NULL; i++) {
        const char *comma = i > 0 ? ", " : "";
        size_t bytes = strlen(comma) + strlen(names[i]);
        size_t tail = names[i + 1] != NULL ? 5 : 0;     /* ", ..." */
        if (used + bytes + tail + 1 > out_bytes) {
            snprintf(out + used, out_bytes - used, "%s...", comma);
            return;
        }
        snprintf(out + used, out_bytes - used, "%s%s", comma, names[i]);
        used += bytes;
    }
}

/* Returns a letter as a small one.  ASCII only, in every locale. */
static char lower_letter(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Returns the smaller of two numbers. */
static unsigned least_of(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/*
 * Edit distance with swaps of neighbours (Damerau 1964, in the restricted
 * form of optimal string alignment), capitals being no difference.  Three
 * rows of the table are kept: this, the last, and the one before it.  For example, "gpsu" is one
 * swap from "gpus", and "gpu" one insertion.  O(a_bytes x b_bytes).
 */
static unsigned edit_distance(const char *a, size_t a_bytes, const char *b,
                              size_t b_bytes)
{
    unsigned row[3][WORD_BYTES_MAX + 1];

    assert(a_bytes <= WORD_BYTES_MAX && b_bytes <= WORD_BYTES_MAX);
    for (size_t j = 0; j <= b_bytes; j++)
        row[0][j] = (unsigned)j;
    for (size_t i = 1; i <= a_bytes; i++) {
        unsigned *now = row[i % 3];
        const unsigned *last = row[(i + 2) % 3];
        const unsigned *before = row[(i + 1) % 3];
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= b_bytes; j++) {
            char x = lower_letter(a[i - 1]);
            char y = lower_letter(b[j - 1]);
            now[j] = least_of(last[j] + 1, now[j - 1] + 1);
            now[j] = least_of(now[j], last[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == lower_letter(b[j - 2]) &&
                y == lower_letter(a[i - 2]))
                now[j] = least_of(now[j], before[j - 2] + 1);
        }
    }
    return row[a_bytes % 3][b_bytes];
}

/* Returns the number of letters with which both words begin. */
static size_t begin_alike(const char *a, const char *b)
{
    size_t i = 0;

    assert(a != NULL && b != NULL);
    while (a[i] != '\0' && lower_letter(a[i]) == lower_letter(b[i]))
        i++;
    return i;
}

/* The edit distance that counts as near grows with the word: with short words
 * everything is near.  Of equally near names, the one that shares most of the word's
 * beginning wins, then the first. */
const char *conf_nearest(const char *word, const char *const *names)
{
    assert(word != NULL && names != NULL);
    size_t word_bytes = strlen(word);
    /* A third of the letters may be wrong, but never more than three. */
    unsigned limit = least_of((unsigned)least_of((unsigned)word_bytes, 99) / 3, 3);
    const char *nearest = NULL;
    unsigned smallest = (limit == 0 && word_bytes > 1 ? 1 : limit) + 1;

    if (word_bytes == 0 || word_bytes > WORD_BYTES_MAX)
        return NULL;
    for (size_t i = 0; names[i] != NULL; i++) {
        size_t name_bytes = strlen(names[i]);
        if (name_bytes > WORD_BYTES_MAX)
            continue;
        unsigned d = edit_distance(word, word_bytes, names[i], name_bytes);
        if (d < name_bytes &&
            (d < smallest || (d == smallest && nearest != NULL &&
                              begin_alike(word, names[i]) > begin_alike(word, nearest)))) {
            smallest = d;
            nearest = names[i];
        }
    }
    return nearest;
}
