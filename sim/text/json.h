/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * json.h - a JSON file, token by token.
 *
 * Streamed, plain, gzip or zstd: memory does not grow with the file, as it does in
 * libraries that build a tree first (a log of Philly's jobs is a single array
 * of 117,325 objects).  Several values may follow each other, as in files of
 * one object a line.  RFC 8259, but a line must not be longer than 1 MiB.
 *
 * A line in memory, as programs send it, is read in the same way: json_line().
 */
#ifndef SIM_TEXT_JSON_H
#define SIM_TEXT_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/err.h"

struct arena;
struct json;

/* What json_next() found.  JSON_END: the text is over; JSON_ERROR: *err says
 * why. */
enum json_token {
    JSON_OBJECT, JSON_OBJECT_END, JSON_ARRAY, JSON_ARRAY_END, JSON_KEY,
    JSON_TEXT, JSON_NUMBER, JSON_TRUE, JSON_FALSE, JSON_NULL, JSON_END,
    JSON_ERROR
};

/* The json lives in the arena, but owns the open file: json_close returns
 * it.  NULL and an err if the file cannot be opened. */
struct json *json_open(struct arena *arena, const char *path,
                       struct err *err);
void json_close(struct json *json);                     /* accepts NULL */

/* Begins with a line in memory, which ends with NUL and is changed by reading: what
 * follows is read from it up to JSON_END.  A json for lines needs no json_close().
 * `number` is the line of positions. */
struct json *json_new(struct arena *arena);
void json_line(struct json *json, char *line, uint32_t number);

/* Reads the next token.  JSON_END comes only where no bracket is open.
 * JSON_ERROR comes with an err, and nothing may be read after it. */
enum json_token json_next(struct json *json, struct err *err);
/* Of the token that was read last: a key, a text, or the digits of a number;
 * good until the next call. */
const char *json_text(const struct json *json, size_t *bytes);
struct err_pos json_pos(const struct json *json);
/* Passes over the value that begins with the token read last. */
bool json_skip(struct json *json, enum json_token token, struct err *err);
/* Reads the next token, which must be this one.  False: it is another one, and
 * err says "WHAT is expected here". */
bool json_expect(struct json *json, enum json_token token, const char *what,
                 struct err *err);

/* Is the whole text a number by the grammar of RFC 8259?  "007", "+1", ".5" and "1."
 * are not. */
bool json_is_number(const char *text);

#endif
