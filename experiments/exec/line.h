/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * line.h - a line of JSON that grows.  Private to experiments/exec.
 *
 * Nothing fails: if there is no memory, the program ends.  Commas are put by
 * the functions that add items and keys.
 */
#ifndef EXPERIMENTS_EXEC_LINE_H
#define EXPERIMENTS_EXEC_LINE_H

#include <stddef.h>
#include <stdint.h>

/* Zeroed: empty.  line_free() returns its memory. */
struct line {                   /* text [0, used) is the line; no NUL is kept */
    char *text;                 /* owned; NULL: nothing was written yet */
    size_t used, room;          /* bytes of the line; bytes that there is room for */
};

void line_clear(struct line *line);     /* empty again, its memory kept */
void line_free(struct line *line);
/* Text as it is: brackets, commas, keys. */
void line_raw(struct line *line, const char *text);
void line_append(struct line *line, const struct line *more);
/* A list or a map of items: a comma, unless it has just been opened. */
void line_item(struct line *line);
/* "key": with a comma before it, if need be. */
void line_key(struct line *line, const char *key);
void line_int(struct line *line, int64_t value);
/* Reads back as the same double; null if it is not finite. */
void line_real(struct line *line, double value);
void line_text(struct line *line, const char *text);    /* quoted */
void line_words(struct line *line, const char *text, size_t bytes);     /* not quoted */
/* A key and its value. */
void line_int_of(struct line *line, const char *key, int64_t value);
void line_real_of(struct line *line, const char *key, double value);
void line_text_of(struct line *line, const char *key, const char *text);

#endif
