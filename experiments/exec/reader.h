/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * reader.h - reads a line of a program: maps with known keys, lists, numbers, texts.
 * Private to experiments/exec.
 *
 * Every function that returns bool returns false at a fault, with err at its column.
 */
#ifndef EXPERIMENTS_EXEC_READER_H
#define EXPERIMENTS_EXEC_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/err.h"
#include "sim/text/json.h"

/* The line that is read; `out` is what it fills. */
struct reader {
    struct json *json;          /* the tokens of the line */
    struct err *err;            /* the first fault */
    int64_t number;             /* "n" of the line; -1: not yet said */
    int64_t expected;           /* the number that it must be */
    void *out;
};

#define READER_KEYS_MAX 64u     /* of one kind of map */

/* Keys of a kind of map, ended by NULL, and what reads the value of one by its place. */
struct reader_map {
    const char *const *key;     /* names, of which each may come once */
    bool (*read)(struct reader *r, uint32_t key);
};

/* Reads an item of a list that begins with the token. */
typedef bool reader_item(struct reader *r, enum json_token token);

/* False, with err at the token that was read last. */
bool reader_fault(struct reader *r, const char *what);
/* False, with err that names the word and the nearest one that there is. */
bool reader_word_fault(struct reader *r, const char *what, const char *word,
                       const char *const *names);
/* Returns the number of the word, or -1. */
int reader_find(const char *const *names, const char *word);

/* Read the next token, or a value that must be of that type; reader_int(): from `low` to
 * `high`.  After a fault *out says nothing. */
bool reader_next(struct reader *r, enum json_token *token);
bool reader_int(struct reader *r, int64_t low, int64_t high, int64_t *out);
bool reader_u32(struct reader *r, uint32_t *out);
bool reader_real(struct reader *r, double *out);
bool reader_bool(struct reader *r, bool *out);
/* The text is good until the next token. */
bool reader_text(struct reader *r, const char **out);
/* Copies a text; one that has no room is a fault. */
bool reader_word(struct reader *r, char *out, size_t out_bytes);
/* Reads {"key": value, ...} from its bracket on, which was read if `open`.  A key that is
 * not of the map, or stands there twice, is a fault. */
bool reader_map(struct reader *r, bool open, const struct reader_map *map);
/* Reads a list; `item` is called for each item, whose first token was read. */
bool reader_list(struct reader *r, reader_item *item);
/* Reads a whole line: one map, with "n" among its keys, and nothing behind it. */
bool reader_line(struct reader *r, char *line, size_t bytes, const struct reader_map *map);

#endif
