/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * json.h - a cursor over a line of JSON as clustersim writes it, without blanks.  Values
 * that nobody asks for are skipped.
 *
 * A cursor is a pointer into the line; functions that take `at` by pointer move it past
 * what they read.  The line ends with a zero byte and must be well formed: this is no
 * parser of other people's JSON.  Texts are not unescaped.
 */
#ifndef POLICIES_CLIENTS_C_JSON_H
#define POLICIES_CLIENTS_C_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Returns where the value at `at` ends: a text with its quotes, a list or a
 * map whole, a number or a word up to the next comma or bracket. */
static inline const char *skip_value(const char *at)
{
    int depth = 0;

    do {
        if (*at == '"') {
            for (at++; *at != '"' && *at != '\0'; at++)
                at += *at == '\\';
            at += *at != '\0';
        } else if (*at == '{' || *at == '[') {
            depth++;
            at++;
        } else if (*at == '}' || *at == ']') {
            depth--;
            at++;
        } else if (depth > 0) {
            at += *at != '\0';
        } else {
            at += strcspn(at, ",]}");
        }
    } while (depth > 0 && *at != '\0');
    return at;
}

/* Goes to the next pair of a map; false: it has ended.  clustersim writes no blanks. */
static inline bool next_key(const char **at, const char **key, size_t *bytes)
{
    *at += **at == '{' || **at == ',';
    if (**at != '"')
        return false;
    *key = ++*at;
    *bytes = strcspn(*at, "\"");
    *at += *bytes + 2;          /* past the colon */
    return true;
}

/* Is the key that next_key() found this one? */
static inline bool is(const char *key, size_t bytes, const char *name)
{
    return strlen(name) == bytes && memcmp(key, name, bytes) == 0;
}

/* Goes to the next item of a list; false: it has ended, and was left. */
static inline bool next_item(const char **at)
{
    *at += **at == '[' || **at == ',';
    if (**at != ']')
        return true;
    ++*at;
    return false;
}

/* Reads a whole number; the cursor must stand on it. */
static inline int64_t read_int(const char **at)
{
    char *end;
    int64_t value = strtoll(*at, &end, 10);

    *at = end;
    return value;
}

#endif
