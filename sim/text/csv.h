/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * csv.h - rows of text files, split into fields, each with its place.
 *
 * Comma-separated with one header line (RFC 4180, a field may be quoted, but
 * holds no line break).  A header without commas may have semicolons or tabs in
 * their place.  Its first columns may have no name, as an index that pandas
 * writes: they are called "Unnamed: 0" and so on, as pandas calls them.
 * Or the columns of the Standard Workload Format, which are separated by blanks
 * and told by number, with comment lines that begin with ';', or fields between
 * tabs without a header (their columns are called "1", "2" ..., as many as the
 * first line has).  PAI's task table has a layout of its own: its header is a
 * file of its own and may stand in the first line.  Streamed, plain, gzip or
 * zstd.  What is no table of lines, such as a JSON of which each job is a row, is
 * read by a csv_source.
 * Blank lines are no rows; they are counted.  A row that has not as many
 * fields as the header is an error.
 */
#ifndef SIM_TEXT_CSV_H
#define SIM_TEXT_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/err.h"

#define CSV_FIELDS_MAX 512u

struct arena;
struct csv;
struct notes;

/* CSV_ALEA: SWF, then {nodes}, queue, and resources up to the line's end.
 * CSV_SOURCE: rows of a csv_source; for csv_of() alone.
 * CSV_TABLE: as table.h writes it; commas alone separate, blanks stay. */
enum csv_format {
    CSV_COMMA, CSV_SWF, CSV_TAB, CSV_ALEA, CSV_PAI, CSV_TABLE, CSV_SOURCE
};
enum csv_step { CSV_ROW, CSV_END, CSV_ERROR };

/* One field of a row; the text lies in the buffer of the open file. */

struct csv_field {
    const char *text;           /* without blanks around it; NUL-terminated */
    size_t bytes;
    uint32_t col;               /* in the line, from 1; in bytes (csv_pos() counts characters) */
    uint32_t line;              /* 0: that of the row */
};

/* The csv lives in the arena, but owns the open file: csv_close returns it.
 * NULL and an err if the file cannot be opened or has no good header. */
struct csv *csv_open(struct arena *arena, const char *path,
                     enum csv_format format, struct err *err);
void csv_close(struct csv *csv);                        /* accepts NULL */

/* Rows that somebody else puts together. */
struct csv_source {
    const char *const *names;   /* of the columns, ends with NULL */
    void *self;                 /* handed to both functions */
    /* Sets one field for each column, its `line` too; texts are good until the
     * next call. */
    enum csv_step (*next)(void *self, struct csv_field *field,
                          struct err *err);
    void (*close)(void *self);
    const struct notes *notes;  /* what next() took for granted; or NULL */
};
/* The csv takes over the source, which is open, and closes it. */
struct csv *csv_of(struct arena *arena, const char *path,
                   const struct csv_source *source);
/* NULL: there are none. */
const struct notes *csv_notes(const struct csv *csv);

/* Names of the columns, ends with NULL; for conf_nearest.  SWF's are those of
 * its definition: "submit_time", "run_time" ... */
const char *const *csv_names(const struct csv *csv);
size_t csv_columns(const struct csv *csv);
/* Returns the index of a column, from 0; SIZE_MAX: there is none. */
size_t csv_find(const struct csv *csv, const char *name);
/* Sets *column to the index of a column.  False and an err that names the
 * column: it is missing. */
bool csv_need_column(const struct csv *csv, const char *name, size_t *column,
                     struct err *err);

/* One more column, which has this text in every row; SIZE_MAX: there are too
 * many.  It is known to csv_find, too. */
size_t csv_constant(struct csv *csv, struct arena *arena, const char *text);
/* "a, b, c": the columns of the file, cut to the bytes that `out` has. */
void csv_list(const struct csv *csv, char *out, size_t out_bytes);
/* Does the header look like a row: is at least half of it numbers? */
bool csv_header_is_row(const struct csv *csv);

/* From now on the caller reads only the first `columns` columns of SWF, or of a table of
 * ours.  A row must still have the others, but they are not cut out, which saves time.  No
 * effect on other formats. */
void csv_cut(struct csv *csv, size_t columns);

/* Reads the next row: CSV_ROW; CSV_END; or CSV_ERROR and an err with line and
 * column, after which no row may be asked for. */
enum csv_step csv_next(struct csv *csv, struct err *err);
/* Of the row that csv_next read; good until the next call. */
const struct csv_field *csv_field(const struct csv *csv, size_t column);
const char *csv_text(const struct csv *csv, size_t column);
/* Sets *value to the number in a field, NAN if the field is empty.  False and an
 * err: it holds something else. */
bool csv_number(const struct csv *csv, size_t column, double *value,
                struct err *err);
/* Where that field stands; for messages. */
struct err_pos csv_pos(const struct csv *csv, size_t column);
uint64_t csv_blank_lines(const struct csv *csv);
/* Of SWF: rows with more than 18 fields, of which the first 18 are read. */
uint64_t csv_longer_rows(const struct csv *csv);

#endif
