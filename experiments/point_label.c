/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * point_label.c - words of labels.
 */
#include "experiments/point_label.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "experiments/paths.h"

/* The next word from *at on, and its length; 0 at the end. */
static size_t next_word(const char **at)
{
    *at += strspn(*at, " ");
    return strcspn(*at, " ");
}

/* The bytes of KEY=, or of the whole word where it has none. */
static size_t key_bytes(const char *word, size_t bytes)
{
    const char *equals = memchr(word, '=', bytes);

    return equals == NULL ? bytes : (size_t)(equals - word) + 1;
}

/* The first word of `text` that begins like that; NULL: none does. */
static const char *find_key(const char *text, const char *key, size_t bytes)
{
    size_t length;

    for (; (length = next_word(&text)) > 0; text += length)
        if (length >= bytes && memcmp(text, key, bytes) == 0 &&
            key_bytes(text, length) == bytes)
            return text;
    return NULL;
}

bool point_label_has(const char *label, const char *part)
{
    size_t bytes;

    assert(label != NULL && part != NULL);
    for (; (bytes = next_word(&part)) > 0; part += bytes) {
        const char *word = find_key(label, part, key_bytes(part, bytes));

        if (word == NULL || strcspn(word, " ") != bytes ||
            memcmp(word, part, bytes) != 0)
            return false;
    }
    return true;
}

const char *point_label_with(struct arena *arena, const char *label,
                             const char *part)
{
    const char *text = "", *word = part;
    size_t bytes;

    assert(label != NULL && part != NULL);
    for (; (bytes = next_word(&word)) > 0; word += bytes)
        if (find_key(label, word, key_bytes(word, bytes)) == NULL)
            return NULL;
    for (; (bytes = next_word(&label)) > 0; label += bytes) {
        const char *other = find_key(part, label, key_bytes(label, bytes));
        const char *from = other != NULL ? other : label;

        text = text_format(arena, "%s%s%.*s", text, *text == '\0' ? "" : " ",
                           (int)strcspn(from, " "), from);
    }
    return text;
}
