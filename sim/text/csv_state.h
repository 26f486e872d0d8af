/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * csv_state.h - an open CSV file; internal to the files csv*.c.
 */
#ifndef SIM_TEXT_CSV_STATE_H
#define SIM_TEXT_CSV_STATE_H

#include "sim/text/csv.h"

#define CSV_CONSTANTS_MAX 16u
/* How many columns the layouts have: of their definitions, see
 * csv_columns.c. */
enum { CSV_SWF_COLUMNS = 18, CSV_ALEA_COLUMNS = 21 };

struct scan;

struct csv {
    struct scan *scan;          /* NULL: source */
    struct csv_source source;   /* of CSV_SOURCE */
    const char *path;           /* as messages name it */
    enum csv_format format;     /* the layout: separators, header, units */
    const char **name;          /* columns + constants + 1, ends with NULL */
    size_t columns;             /* of the file's header */
    size_t constants;           /* fields behind those of the file */
    char comma;                 /* or ';' or a tab */
    size_t cut;                 /* SWF: columns that are set, if not all */
    struct csv_field *field;    /* [columns + constants], of the row read last */
    uint64_t blank_lines, longer_rows;
    bool begun;                 /* a row was read */
};

/* Reads the names of the columns, or fixes those of the layout, and makes room
 * for as many fields.  False and an err: there is no good header line. */
bool csv_begin(struct csv *csv, struct arena *arena, struct err *err);

/* Columns of these names, and room for as many fields. */
void csv_fix_columns(struct csv *csv, struct arena *arena,
                     const char *const *names);

/* Returns the column of a place in a line: characters, not bytes, from 1 on. */
uint32_t csv_col(const char *line, const char *at);
/* Where the character `col` of the line that was read last stands. */
struct err_pos csv_place(const struct csv *csv, uint32_t col);
/* The next line that is neither blank nor, in SWF, a comment. */
enum csv_step csv_next_line(struct csv *csv, char **line, size_t *bytes, struct err *err);
/* Cut a line where it lies into at most `max` fields, and count all that it
 * has.  csv_split_commas: SIZE_MAX and an err if a quotation is not closed. */
size_t csv_split_commas(const struct csv *csv, char *line,
                        struct csv_field *field, size_t max, struct err *err);
/* Likewise, of a CSV_TABLE; plain: no field is quoted, or may have a guard (table.h). */
size_t csv_split_table(const struct csv *csv, char *line, size_t bytes,
                       struct csv_field *field, size_t max, bool *plain, struct err *err);
size_t csv_split_tabs(char *line, struct csv_field *field, size_t max);

#endif
