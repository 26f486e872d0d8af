/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * place.c - where a byte of a scalar's text stands in its file.
 *
 * The tree keeps the text, not how it was written.  The file is read again, and
 * its characters are matched with those of the text, one by one: blanks match any
 * number of blanks and line ends, and what stands for a quotation mark in the file
 * may have an escape before it.
 */
#include "sim/config/conf.h"

#include <assert.h>
#include <string.h>

#include "sim/config/node.h"
#include "sim/text/scan.h"

/* Where in the file the walk is. */
struct walk {
    struct scan *scan;          /* the file, line by line */
    const char *line;           /* what is left of the line; NULL: the file ended */
    struct err_pos pos;         /* of *line */
};

/* Reads the next line of the file.  An error is the end: the file was read
 * before. */
static void next_line(struct walk *walk)
{
    struct err ignored = { .kind = ERR_NONE };
    char *line;
    size_t bytes;

    assert(walk->line != NULL);         /* the file has not ended yet */
    walk->line = scan_line(walk->scan, &line, &bytes, &ignored) == SCAN_LINE ? line
                                                                           : NULL;
    walk->pos.line++;
    walk->pos.col = 1;
}

/* One byte on; bytes within a character have no column of their own. */
static void next_byte(struct walk *walk)
{
    assert(walk->line != NULL && *walk->line != '\0');
    walk->line++;
    walk->pos.col += ((unsigned char)*walk->line & 0xc0) != 0x80;
}

/* What YAML may fold into one blank. */
static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

/* Goes to the next byte that is no blank, over ends of lines. */
static void skip_blanks(struct walk *walk)
{
    while (walk->line != NULL && (*walk->line == '\0' || is_blank(*walk->line)))
        if (*walk->line == '\0')
            next_line(walk);
        else
            next_byte(walk);
}

/* To the first character of the text; its quotation mark, or '\0'.  Blanks before the first
 * character may be left. */
static char open_text(struct walk *walk, const struct conf_node *scalar)
{
    char quote = '\0';

    assert(walk->pos.line < scalar->pos.line && scalar->pos.col > 0);
    while (walk->line != NULL && walk->pos.line < scalar->pos.line)
        next_line(walk);
    while (walk->line != NULL && *walk->line != '\0' &&
           walk->pos.col < scalar->pos.col)
        next_byte(walk);
    if (walk->line == NULL || scalar->plain)
        return quote;
    quote = *walk->line;
    if (quote == '\'' || quote == '"')
        next_byte(walk);
    else
        next_line(walk);        /* "|" or ">-": the text begins below */
    return quote;
}

/* Goes to the byte that is the next of the text.  False: another one is there. */
static bool match_byte(struct walk *walk, char quote, char next)
{
    assert(next != '\0' && !is_blank(next));
    skip_blanks(walk);
    if (walk->line == NULL)
        return false;
    if ((quote == '"' && *walk->line == '\\') ||
        (quote == '\'' && next == '\'' && strncmp(walk->line, "''", 2) == 0))
        next_byte(walk);
    return *walk->line == next;
}

/* Blanks of the text are passed over unless one of them is asked for: a fold
 * of lines cannot be told from a blank there, so then the scalar's own place
 * is returned. */
struct err_pos conf_text_pos(const struct conf_node *scalar, size_t offset)
{
    const char *text = conf_text(scalar);
    struct err ignored = { .kind = ERR_NONE };
    struct walk walk = { NULL, "", { scalar->pos.file, 0, 1 } };
    struct err_pos found = scalar->pos;
    size_t end = strlen(text), i;
    char quote;

    assert(offset <= end);
    walk.scan = scalar->pos.file == NULL || scalar->pos.line == 0
                    ? NULL : scan_open(scalar->pos.file, &ignored);
    if (walk.scan == NULL)
        return found;
    quote = open_text(&walk, scalar);
    for (i = 0; i < end && walk.line != NULL; i++) {
        if (is_blank(text[i]) && i != offset)
            continue;
        if (is_blank(text[i]) || !match_byte(&walk, quote, text[i]))
            break;
        found = walk.pos;
        if (i == offset)
            break;
        next_byte(&walk);
        found = walk.pos;       /* the end of the text is behind its last byte */
    }
    scan_close(walk.scan);
    assert(found.line >= scalar->pos.line);
    return i == offset || (i == end && offset == end) ? found : scalar->pos;
}
