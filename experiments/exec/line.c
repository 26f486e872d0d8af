/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * line.c - JSON, appended.
 *
 * Written by hand and not by a library: most bytes of a trial with a program
 * are written here, digit by digit, into one buffer that is used again.
 */
#include "experiments/exec/line.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/base/decimal.h"

/* Makes room for some bytes and a NUL; returns where they go.  Room doubles, so that appending
 * costs O(1) a byte. */
static char *reserve_bytes(struct line *line, size_t bytes)
{
    while (line->used + bytes + 1 > line->room) {
        line->room = line->room == 0 ? 1024 : 2 * line->room;
        line->text = arena_resize_own(line->text, line->room, 1);
    }
    return line->text + line->used;
}

void line_clear(struct line *line)
{
    line->used = 0;
}

void line_free(struct line *line)
{
    free(line->text);
    *line = (struct line){ 0 };
}

/* Appends bytes as they are. */
static void put_bytes(struct line *line, const char *text, size_t bytes)
{
    memcpy(reserve_bytes(line, bytes), text, bytes);
    line->used += bytes;
}

void line_raw(struct line *line, const char *text)
{
    put_bytes(line, text, strlen(text));
}

/* `more` may be empty. */
void line_append(struct line *line, const struct line *more)
{
    put_bytes(line, more->text, more->used);
}

/* The last byte tells whether a comma is due, so no nesting is kept. */
static bool comma_is_due(const struct line *line)
{
    char last = line->used > 0 ? line->text[line->used - 1] : '[';

    return last != '[' && last != '{' && last != ':';
}

void line_item(struct line *line)
{
    if (comma_is_due(line))
        put_bytes(line, ",", 1);
}

/* Most that is written are keys and numbers: each makes room once. */
void line_key(struct line *line, const char *key)
{
    size_t bytes = strlen(key);
    char *end = reserve_bytes(line, bytes + 4);

    if (comma_is_due(line))
        *end++ = ',';
    *end++ = '"';
    end = (char *)memcpy(end, key, bytes) + bytes;
    *end++ = '"';
    *end++ = ':';
    line->used = (size_t)(end - line->text);
}

/* Without printf, which takes several times as long. */
void line_int(struct line *line, int64_t value)
{
    char *end = reserve_bytes(line, 21);

    if (value < 0)
        *end++ = '-';
    end = decimal_put(end, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
    line->used = (size_t)(end - line->text);
}

/* 17 digits read back as the same double; JSON has no infinity, so what is not
 * finite is null. */
void line_real(struct line *line, double value)
{
    char text[40];

    if (!isfinite(value))
        snprintf(text, sizeof text, "null");
    else
        snprintf(text, sizeof text, "%.17g", value);
    line_raw(line, text);
}

/* May the byte stand in a text of JSON as it is? */
static bool is_plain(unsigned char c)
{
    return c >= ' ' && c != '"' && c != '\\';
}

/* Escapes what JSON must have escaped; bytes from 0x80 on are UTF-8 and pass.  Bytes that
 * need nothing go out together: names are most of a message. */
void line_words(struct line *line, const char *text, size_t bytes)
{
    size_t from = 0;

    put_bytes(line, "\"", 1);
    for (size_t i = 0; i < bytes; i++) {
        unsigned char c = (unsigned char)text[i];
        char code[8];

        if (is_plain(c))
            continue;
        put_bytes(line, text + from, i - from);
        from = i + (c < ' ');
        if (c < ' ')
            snprintf(code, sizeof code, "\\u%04x", c);
        line_raw(line, c < ' ' ? code : "\\");
    }
    put_bytes(line, text + from, bytes - from);
    put_bytes(line, "\"", 1);
}

void line_text(struct line *line, const char *text)
{
    line_words(line, text, strlen(text));
}

void line_int_of(struct line *line, const char *key, int64_t value)
{
    line_key(line, key);
    line_int(line, value);
}

void line_real_of(struct line *line, const char *key, double value)
{
    line_key(line, key);
    line_real(line, value);
}

void line_text_of(struct line *line, const char *key, const char *text)
{
    line_key(line, key);
    line_text(line, text);
}
