/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * csv_line.c - a line split into fields where it lies.
 *
 * The line that scan hands out is cut up: fields are ended with NUL bytes,
 * quoted fields are unquoted in place.
 */
#include <assert.h>
#include <string.h>

#include "sim/base/err.h"
#include "sim/text/csv.h"
#include "sim/text/csv_blanks.h"
#include "sim/text/csv_commas.h"
#include "sim/text/csv_state.h"
#include "sim/text/scan.h"

struct err_pos csv_place(const struct csv *csv, uint32_t col)
{
    struct err_pos pos = {csv->path, 0, 0};

    if (csv->scan == NULL)
        return pos;
    pos = scan_pos(csv->scan, col);
    pos.file = csv->path;       /* outlives the scan */
    assert(pos.line > 0 || col <= 1);
    return pos;
}

uint32_t csv_col(const char *line, const char *at)
{
    uint32_t col = 1;

    for (; line < at; line++)
        col += ((unsigned char)*line & 0xC0) != 0x80;
    return col;
}

/* A blank that is no part of a field.  A tab is none where it separates. */
static bool is_blank(const struct csv *csv, char c)
{
    return blanks_is(c) && c != csv->comma && csv->format != CSV_TABLE;
}

/* Cuts a quoted field; returns what follows its closing quote, or NULL. */
static char *cut_quoted(const struct csv *csv, char *at,
                        struct csv_field *field)
{
    assert(*at == '"');
    char *to = at, *from = at + 1;

    for (;;) {
        if (*from == '\0')
            return NULL;
        /* A quotation mark that stands alone ends the field; two of them mean one. */
        if (*from == '"' && from[1] != '"')
            break;
        if (*from == '"')
            from++;
        *to++ = *from++;
    }
    field->text = at;
    field->bytes = (size_t)(to - at);
    memset(to, '"', (size_t)(from - to));       /* what moved is counted once: csv_col() */
    from++;
    while (is_blank(csv, *from))
        from++;
    if (*from != csv->comma && *from != '\0')
        return NULL;
    assert(field->text + field->bytes < from);
    return from;
}

/* Cuts a field without quotes; returns what follows it. */
static char *cut_plain(const struct csv *csv, char *at,
                       struct csv_field *field)
{
    size_t bytes = 0;

    /* Most fields are a few bytes: strcspn() would take longer to begin. */
    while (at[bytes] != csv->comma && at[bytes] != '\0')
        bytes++;
    field->text = at;
    field->bytes = bytes;
    while (field->bytes > 0 && is_blank(csv, at[field->bytes - 1]))
        field->bytes--;
    assert(at[bytes] == csv->comma || at[bytes] == '\0');
    return at + bytes;
}

/* Reports a quoted field that does not end; returns SIZE_MAX. */
static size_t report_quote(const struct csv *csv, const char *line,
                           const struct csv_field *field, struct err *err)
{
    assert(field->col > 0);
    err_set(err, ERR_SYNTAX, csv_place(csv, csv_col(line, line + field->col - 1)),
            "quoted field does not end before the next %s or the end of the "
            "line", csv->comma == ';' ? "semicolon"
                    : csv->comma == '\t' ? "tab" : "comma");
    err_hint(err, "A field holds no line break; a quotation mark within one "
                  "is written twice.");
    return SIZE_MAX;
}

/* Ends the text of a field with NUL; what it overwrites was read already. */
static void end_field(struct csv_field *field)
{
    ((char *)field->text)[field->bytes] = '\0';
}

/* Splits in place from the field at `at` on, before which there are `count`: the zero byte
 * of a field is written over the comma behind it, once that was looked at. */
static size_t split_rest(const struct csv *csv, char *line, char *at, size_t count,
                         struct csv_field *field, size_t max, struct err *err)
{
    bool more = true;

    assert(csv->comma != '\0' && (field != NULL || max == 0));
    while (more) {
        struct csv_field next = {0};
        char *end;

        while (is_blank(csv, *at))
            at++;
        next.col = (uint32_t)(at - line) + 1;
        /* A quotation mark within a field that does not begin with one is a character. */
        end = *at == '"' ? cut_quoted(csv, at, &next)
                         : cut_plain(csv, at, &next);
        if (end == NULL)
            return report_quote(csv, line, &next, err);
        more = *end == csv->comma;
        if (count < max)
            field[count] = next;
        end_field(&next);
        count++;
        at = end + 1;
    }
    assert(count > 0 && at > line);
    return count;
}

size_t csv_split_commas(const struct csv *csv, char *line,
                        struct csv_field *field, size_t max, struct err *err)
{
    return split_rest(csv, line, line, 0, field, max, err);
}

size_t csv_split_table(const struct csv *csv, char *line, size_t bytes,
                       struct csv_field *field, size_t max, bool *plain, struct err *err)
{
    char *rest;
    size_t count;

    assert(csv->format == CSV_TABLE && csv->comma == ',');
    count = commas_split(line, bytes, field, max, &rest);       /* of a cut row: its first fields */
    *plain = rest == NULL;
    return *plain ? count : split_rest(csv, line, rest, count, field, max, err);
}

/* Blanks within a field stay, around it they go. */
size_t csv_split_tabs(char *line, struct csv_field *field, size_t max)
{
    char *at = line;
    size_t count = 0;
    bool more = true;

    assert(field != NULL || max == 0);
    while (more) {
        size_t bytes = strcspn(at, "\t");
        struct csv_field next = {at, bytes, (uint32_t)(at - line) + 1, 0};

        while (next.bytes > 0 && blanks_is(next.text[0])) {
            next.text++;
            next.bytes--;
            next.col++;
        }
        while (next.bytes > 0 && blanks_is(next.text[next.bytes - 1]))
            next.bytes--;
        more = at[bytes] == '\t';
        if (count < max)
            field[count] = next;
        end_field(&next);
        count++;
        at += bytes + 1;
    }
    assert(count > 0 && at > line);
    return count;
}

/* Has a line nothing but blanks?  Such lines are counted and passed over. */
static bool line_is_blank(const char *line)
{
    while (blanks_is(*line))
        line++;
    return *line == '\0';
}

/* In SWF a line whose first character that is not blank is ';' is a comment,
 * or a key of the header, which nothing here needs. */
static bool is_comment(const char *line)
{
    while (*line <= ' ' && blanks_is(*line))
        line++;
    return *line == ';';
}

enum csv_step csv_next_line(struct csv *csv, char **line, size_t *bytes, struct err *err)
{
    assert(csv->scan != NULL && line != NULL);
    for (;;) {
        switch (scan_line(csv->scan, line, bytes, err)) {
        case SCAN_ERROR:
            err->pos.file = csv->path;
            return CSV_ERROR;
        case SCAN_END:
            return CSV_END;
        case SCAN_LINE:
            break;
        }
        if (line_is_blank(*line))
            csv->blank_lines++;
        else if ((csv->format != CSV_SWF && csv->format != CSV_ALEA) ||
                 !is_comment(*line))
            return CSV_ROW;
    }
}
