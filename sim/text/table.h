/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * table.h - results as CSV whose columns are declared, in order, with units.
 *
 * The unit is part of the printed name: wait_s, energy_kwh, cost_usd.  The
 * same rows give the same bytes on every machine.  A table is written into
 * memory; its maker decides in which order tables reach a file.  Texts
 * are quoted as RFC 4180 says where they must be.  A text that a spreadsheet
 * would take for a formula has an apostrophe before it, which csv.h takes off
 * again from a CSV_TABLE.
 */
#ifndef SIM_TEXT_TABLE_H
#define SIM_TEXT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table;

enum table_type { TABLE_TEXT, TABLE_COUNT, TABLE_TIME, TABLE_REAL };

/* One column.  The table keeps the pointer: name and help live as long as it
 * does. */
struct table_column {
    const char *name;           /* of the column, as files have it */
    enum table_type type;       /* of its cells */
    const char *help;           /* what it says, for the manual */
};

/* Owns its buffer: table_free returns it. */
struct table *table_new(const struct table_column *columns, size_t count);
void table_free(struct table *table);                       /* accepts NULL */

/* Each fills the next column and asserts that it is of that type; table_reals
 * fills the next `count`. */
void table_text(struct table *table, const char *text);
/* A text of `bytes` bytes that needs neither quotes nor an apostrophe. */
void table_plain(struct table *table, const char *text, size_t bytes);
/* Does a text have an apostrophe before it in the table?  It does if it begins with =, +,
 * -, @, a tab or a carriage return, and is no number, and if apostrophes stand before such
 * a text already: so one is taken off, and it is as it was. */
bool table_guards(const char *text);
void table_count(struct table *table, uint64_t count);
void table_number(struct table *table, uint64_t number);    /* as a text */
void table_milli(struct table *table, uint64_t milli);  /* a count: 0.46, 8 */
void table_time(struct table *table, int64_t time_ns);      /* exact */
void table_real(struct table *table, double value);         /* "%.9g" */
/* Likewise; returns the double that a reader takes the cell for, without reading it. */
double table_real_read(struct table *table, double value);
void table_real_or_empty(struct table *table, double value);    /* not finite */
void table_reals(struct table *table, const double *value, size_t count);
void table_empty(struct table *table);                      /* any type */
/* table_begun() gives the cells so far of a row that is begun, as bytes, good
 * until the next call.  table_repeat() appends such bytes to another row, of a
 * table with columns alike: `columns` cells at once. */
size_t table_begun(const struct table *table, const char **bytes);
void table_repeat(struct table *table, const char *bytes, size_t count,
                  size_t columns);
void table_end_row(struct table *table);    /* asserts that it is full */

/* From now on rows go to fn whenever there are many, and are forgotten: memory
 * does not grow with what is written.  table_bytes() has what is left. */
typedef void table_sink_fn(void *self, const char *bytes, size_t count);
void table_sink(struct table *table, table_sink_fn *fn, void *self);

/* The rows so far, without a header line; good until the next call. */
const char *table_bytes(const struct table *table, size_t *bytes);
/* Are all rows that were written among them?  False: a sink has some. */
bool table_is_whole(const struct table *table);
void table_clear(struct table *table);      /* forgets rows, keeps columns */
/* "a,b,c\n" in out; returns the bytes it wanted, as snprintf does. */
size_t table_header(const struct table_column *columns, size_t count,
                    char *out, size_t out_bytes);

/* "%.9g" and its bytes, without the cost or the locale of printf. */
size_t table_format_real(double value, char out[32]);

#endif
