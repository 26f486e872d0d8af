/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * point_label.c - words of labels.
 *
 * Labels are short, and compared word by word as they stand; a key in a label
 * may have lost its first step (sweep_label).
 */
#include "experiments/spec/point_label.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/text/paths.h"

/* Moves *at to the next word, and returns its length; 0 at the end. */
static size_t next_word(const char **at)
{
    *at += strspn(*at, " ");
    return strcspn(*at, " ");
}

/* Returns the bytes of KEY=, or of the whole word where it has none. */
static size_t key_bytes(const char *word, size_t bytes)
{
    const char *equals = memchr(word, '=', bytes);

    return equals == NULL ? bytes : (size_t)(equals - word) + 1;
}

/* Returns the first word of `text` that begins with that KEY=; NULL: none does. */
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

/* Returns one step of a key in words: units and abbreviations as people write
 * them, "_" as a blank. */
static const char *element_words(struct arena *arena, const char *element)
{
    static const char *const words[][2] = {
        { "cv", "coefficient of variation" }, { "count", "number" },
        { "gpus", "GPUs" }, { "cpu", "CPU" }, { "nvme", "NVMe" },
        { "nics", "NICs" }, { "usd", "USD" }
    };
    char *text;

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(element, words[i][0]) == 0)
            return words[i][1];
    text = arena_text(arena, element);
    for (char *p = text; *p != '\0'; p++)
        if (*p == '_')
            *p = ' ';
    return text;
}

/* Keys whose next step is the name of an item, and what the items are called
 * behind that name. */
static const char *const owner_key[] = { "nodes", "policies", "mix" };
static const char *const owner_noun[] = { " nodes", "", " jobs" };

/* Cuts the next step off a key, and returns it; *rest becomes NULL after the
 * last one. */
static const char *next_element(char **rest)
{
    char *element = *rest, *dot = element == NULL ? NULL
                                                  : strchr(element, '.');

    if (dot != NULL)
        *dot++ = '\0';
    *rest = dot;
    return element;
}

/* An owner in the middle of a key goes behind its part: "nodes.a.gpus" is "GPUs
 * of a nodes". */
const char *point_key_words(struct arena *arena, const char *key)
{
    const char *of = NULL, *noun = "", *words = "", *element;
    char *rest = arena_text(arena, key);

    while ((element = next_element(&rest)) != NULL) {
        size_t o = 0;

        while (o < 3 && strcmp(element, owner_key[o]) != 0)
            o++;
        if (o < 3 && *words == '\0' && of == NULL && rest != NULL &&
            strchr(rest, '.') != NULL) {
            of = next_element(&rest);
            noun = owner_noun[o];
            if (o == 0 && strcmp(rest, "count") == 0)
                return text_format(arena, "nodes of %s", of);
            continue;
        }
        words = text_format(arena, "%s%s%s", words, *words == '\0' ? "" : " ",
                            element_words(arena, element));
    }
    return of == NULL ? words
                      : text_format(arena, "%s of %s%s", words, of, noun);
}

const char *point_unit_words(const char *unit)
{
    static const char *const words[][2] = {
        { "/s", "per second" }, { "/min", "per minute" },
        { "/h", "per hour" }, { "/d", "per day" }, { "%", "percent" },
        { "s", "seconds" }, { "m", "minutes" }, { "h", "hours" },
        { "d", "days" }
    };

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(unit, words[i][0]) == 0)
            return words[i][1];
    return unit;
}

/* Returns the list with `more` behind a comma. */
static const char *append_to_list(struct arena *arena, const char *list,
                                  const char *more)
{
    return text_format(arena, "%s%s%s", list, *list == '\0' ? "" : ", ", more);
}

void point_label_split(struct arena *arena, const char *label,
                       const char **keys, const char **values)
{
    size_t bytes;

    *keys = *values = "";
    for (; (bytes = next_word(&label)) > 0; label += bytes) {
        size_t key = key_bytes(label, bytes);

        if (label[key - 1] != '=') {            /* "base" */
            *keys = *values = NULL;
            return;
        }
        *keys = append_to_list(arena, *keys, point_key_words(
            arena, text_format(arena, "%.*s", (int)key - 1, label)));
        *values = append_to_list(arena, *values, text_format(
            arena, "%.*s", (int)(bytes - key), label + key));
    }
}

const char *point_label_words(struct arena *arena, const char *label)
{
    const char *text = "", *keys, *values;
    size_t bytes;

    for (; (bytes = next_word(&label)) > 0; label += bytes) {
        point_label_split(arena, text_format(arena, "%.*s", (int)bytes,
                                             label), &keys, &values);
        if (keys == NULL)
            return arena_text(arena, label);
        text = append_to_list(arena, text, text_format(arena, "%s = %s", keys,
                                                       values));
    }
    return text;
}
