/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * breaks.c - three characters replaced by three of a private use, or unassigned.
 */
#include "sim/config/breaks.h"

#include <assert.h>
#include <string.h>

#include "sim/base/arena.h"

/* U+0085 by U+07FF; U+2028 and U+2029 by U+E028 and U+E029. */
static const struct {
    const char *is, *stands;    /* what the user wrote; what libyaml is given in its place */
    size_t bytes;               /* of each of the two */
} pair[] = {
    { "\xC2\x85", "\xDF\xBF", 2 },
    { "\xE2\x80\xA8", "\xEE\x80\xA8", 3 },
    { "\xE2\x80\xA9", "\xEE\x80\xA9", 3 },
};
#define PAIRS (sizeof pair / sizeof pair[0])

/* Returns the first place of a word in a text, or NULL. */
static const char *find(const char *text, size_t bytes, const char *word, size_t word_bytes)
{
    const char *end = text + bytes;

    assert(word_bytes > 0);
    while ((size_t)(end - text) >= word_bytes) {
        text = memchr(text, word[0], (size_t)(end - text) - word_bytes + 1);
        if (text == NULL || memcmp(text, word, word_bytes) == 0)
            return text;
        text++;
    }
    return NULL;
}

/* Replaces all places of a word by another one of as many bytes. */
static void replace(char *text, size_t bytes, const char *word, const char *by,
                    size_t word_bytes)
{
    const char *at = text;

    assert(strlen(by) == word_bytes);
    while ((at = find(at, bytes - (size_t)(at - text), word, word_bytes)) != NULL) {
        memcpy(text + (at - text), by, word_bytes);
        at += word_bytes;
    }
}

/* A text that has one of the replacements already is left as it is, since breaks_show() could
 * not tell them apart. */
const char *breaks_hide(struct arena *arena, const char *text, size_t bytes, bool *hidden)
{
    char *copy;

    *hidden = false;
    for (size_t i = 0; i < PAIRS; i++) {
        if (find(text, bytes, pair[i].stands, pair[i].bytes) != NULL)
            return text;
        *hidden = *hidden || find(text, bytes, pair[i].is, pair[i].bytes) != NULL;
    }
    if (!*hidden)
        return text;
    copy = arena_alloc(arena, bytes + 1, 1);
    memcpy(copy, text, bytes);
    for (size_t i = 0; i < PAIRS; i++)
        replace(copy, bytes, pair[i].is, pair[i].stands, pair[i].bytes);
    return copy;
}

void breaks_show(char *text)
{
    assert(text != NULL);
    for (size_t i = 0; i < PAIRS; i++)
        replace(text, strlen(text), pair[i].stands, pair[i].is, pair[i].bytes);
}
