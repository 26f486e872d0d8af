/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * read_csv.c - one line is one row: our tables never write a line feed
 * inside a field.
 */
#include "sim/text/read_csv.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/text/scan.h"

#define COLUMNS_MAX 128u

struct csv_in {
    struct scan *scan;
    const char *name[COLUMNS_MAX];
    size_t column_count;
    const char *field[COLUMNS_MAX];
};

/* Cuts a line in place; returns the number of fields, or SIZE_MAX. */
static size_t cut(char *line, const char **field)
{
    size_t count = 0;
    char *in = line, *to;

    for (;;) {
        if (count == COLUMNS_MAX)
            return SIZE_MAX;
        to = in;
        field[count++] = to;
        if (*in == '"') {
            for (in++; *in != '\0'; *to++ = *in++)
                if (*in == '"' && *++in != '"')
                    break;
        } else {
            while (*in != ',' && *in != '\0')
                in++;
            to = in;
        }
        if (*in == '\0') {
            *to = '\0';
            return count;
        }
        if (*in != ',')
            return SIZE_MAX;
        in++;
        *to = '\0';
    }
}

struct csv_in *csv_in_open(struct arena *arena, const char *path,
                           struct err *err)
{
    struct csv_in *in = arena_alloc(arena, 1, sizeof *in);
    char *line;
    size_t bytes;

    in->scan = scan_open(arena_text(arena, path), err);
    if (in->scan == NULL)
        return NULL;
    switch (scan_line(in->scan, &line, &bytes, err)) {
    case SCAN_LINE:
        in->column_count = cut(arena_text(arena, line), in->name);
        if (in->column_count != SIZE_MAX)
            return in;
        err_set(err, ERR_SYNTAX, scan_pos(in->scan, 1),
                "the header line is not CSV");
        break;
    case SCAN_END:
        err_set(err, ERR_SYNTAX, scan_pos(in->scan, 0), "the file is empty");
        break;
    case SCAN_ERROR:
        break;
    }
    scan_close(in->scan);
    return NULL;
}

void csv_in_close(struct csv_in *in)
{
    if (in != NULL)
        scan_close(in->scan);
}

bool csv_in_column(const struct csv_in *in, const char *name, size_t *column,
                   struct err *err)
{
    for (size_t i = 0; i < in->column_count; i++)
        if (strcmp(in->name[i], name) == 0) {
            *column = i;
            return true;
        }
    return err_set(err, ERR_SCHEMA, scan_pos(in->scan, 1),
                   "the column '%.60s' is missing", name);
}

enum csv_step csv_in_next(struct csv_in *in, struct err *err)
{
    char *line;
    size_t bytes, count;

    switch (scan_line(in->scan, &line, &bytes, err)) {
    case SCAN_END:
        return CSV_END;
    case SCAN_ERROR:
        return CSV_ERROR;
    case SCAN_LINE:
        break;
    }
    count = cut(line, in->field);
    if (count == in->column_count)
        return CSV_ROW;
    err_set(err, ERR_SYNTAX, scan_pos(in->scan, 1),
            "the row has not as many fields as the header line has columns");
    return CSV_ERROR;
}

const char *csv_in_field(const struct csv_in *in, size_t column)
{
    assert(column < in->column_count);
    return in->field[column];
}

bool csv_in_number(const struct csv_in *in, size_t column, double *value,
                   struct err *err)
{
    const char *text = csv_in_field(in, column);

    if (text[0] == '\0') {
        *value = NAN;
        return true;
    }
    if (scan_f64(text, strlen(text), value))
        return true;
    return err_set(err, ERR_SYNTAX, scan_pos(in->scan, 1),
                   "%.40s must be a number, and is '%.60s'", in->name[column],
                   text);
}

struct err_pos csv_in_pos(const struct csv_in *in)
{
    return scan_pos(in->scan, 1);
}
