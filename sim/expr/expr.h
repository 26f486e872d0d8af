/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * expr.h - expressions over columns: one value from the columns of one row
 * (scalars) and from aggregates over the rows of a table.
 *
 *   cost_usd / (jobs_done * slo_attained_fraction)
 *   quantile(jct_s, 0.9 where tenant == "a" and gpus <= 8) / 1h
 *
 * An expression is parsed and type-checked once, and is read-only afterwards:
 * threads share it.  Its text has at most EXPR_TEXT_BYTES bytes and is nested at
 * most EXPR_DEPTH deep, so neither parsing nor evaluation can run away.
 *
 * NAN is an empty cell.  What is computed from an empty cell is empty, and so is
 * what has no finite value (x / 0, the root of -1): `enum expr_gap` says which.
 * A row for which the condition of `where` is empty is not taken; an aggregate
 * leaves out rows for which its value is empty.
 */
#ifndef SIM_EXPR_EXPR_H
#define SIM_EXPR_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct err;
struct expr;
struct expr_sums;

#define EXPR_TEXT_BYTES 2000u
#define EXPR_DEPTH 40u

/* What an expression or a part of it is.  A condition is a number as well: 1 or 0. */
enum expr_type { EXPR_NUMBER, EXPR_CONDITION, EXPR_TEXT };

/* A column that an expression may name. */
struct expr_column {
    const char *name;
    enum expr_type type;        /* EXPR_NUMBER or EXPR_TEXT */
};

/* What messages call the table, and its columns. */
struct expr_table {
    const char *name;
    const struct expr_column *column;   /* [count] */
    uint32_t count;             /* of columns */
};

/* Parses a text.  Names outside of aggregates are columns of `scalars`, inside of
 * them columns of `rows`; the text and both tables need only live during the call.
 * All memory comes from the arena, some 90 bytes for each byte of text.  NULL: err
 * says why, without a place; *at is the byte of the text that is wrong. */
const struct expr *expr_parse(struct arena *arena, const char *text,
                              const struct expr_table *scalars,
                              const struct expr_table *rows, size_t *at,
                              struct err *err);

/* Returns what it is: a number or a condition, which is a number too. */
enum expr_type expr_type(const struct expr *expr);

#define EXPR_NO_AGGREGATE UINT32_MAX
/* One mention of a column. */
struct expr_read {
    uint32_t column;            /* of `rows` within an aggregate, or of `scalars` */
    uint32_t aggregate;         /* its number, from 0; or EXPR_NO_AGGREGATE */
    bool divisor;               /* something is divided by what it is part of */
};
/* Returns every mention of a column, in the order of the text, and stores their
 * number; memory of the expression. */
const struct expr_read *expr_reads(const struct expr *expr, uint32_t *count);
/* Returns the number of aggregates; they are numbered from 0 in the order of the
 * text. */
uint32_t expr_aggregate_count(const struct expr *expr);

/* Where cells come from.  A number that is NAN is an empty cell; a text is never
 * NULL.  Only the member of the column's type is read. */
struct expr_cell {
    double number;              /* of a column of EXPR_NUMBER */
    const char *text;           /* of a column of EXPR_TEXT */
};
struct expr_cells {
    struct expr_cell (*cell)(const void *self, uint32_t column);
    const void *self;           /* handed to cell() */
};

/* Returns empty sums for the aggregates of one expression.  The memory is the
 * arena's and does not grow with the rows.  Sums are compensated (Neumaier,
 * Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen, ZAMM 54,
 * 1974): to all digits that are printed they do not depend on the order of rows. */
struct expr_sums *expr_sums_new(struct arena *arena, const struct expr *expr);
/* Shows a row to one of the aggregates.  The caller does so for each aggregate and
 * row, so that it may leave some out. */
void expr_sums_add(struct expr_sums *sums, uint32_t aggregate,
                   const struct expr_cells *row);

/* Why a value is empty, or is not of all rows.  EXPR_WHOLE: there is a value, of all rows.
 * EXPR_EMPTY_CELL: a cell that was read is empty.  EXPR_BY_ZERO: something was divided by 0.
 * EXPR_NOT_FINITE: an overflow, or the root or logarithm of a number that has none.
 * EXPR_NO_ROW: an aggregate met no row with a value.  EXPR_ROWS_BY_ZERO: there is a value, but
 * rows without a finite one are left out. */
enum expr_gap {
    EXPR_WHOLE, EXPR_EMPTY_CELL, EXPR_BY_ZERO, EXPR_NOT_FINITE, EXPR_NO_ROW,
    EXPR_ROWS_BY_ZERO, EXPR_GAP_COUNT
};
/* Returns words for a message, static; "" of EXPR_WHOLE. */
const char *expr_gap_text(enum expr_gap gap);

/* Returns the value, NAN for an empty one; a condition is 1 or 0.  `sums` may be
 * NULL for an expression without aggregates.  Stores why the value is empty, or
 * EXPR_ROWS_BY_ZERO if it has a value, but not of all rows.  O(nodes) and
 * O(quantiles of their digests); allocates nothing. */
double expr_value(const struct expr *expr, struct expr_sums *sums,
                  const struct expr_cells *scalars, enum expr_gap *gap);

/* Returns the name of function or aggregate `i`, for lists; NULL behind the last. */
const char *expr_function_name(unsigned i);

#endif
