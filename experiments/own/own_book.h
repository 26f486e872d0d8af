/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * own_book.h - the metrics of an experiment's own in one trial. Aggregates are
 * shown each job when it ends, and nothing of a job is kept.
 *
 * Nothing here fails: expressions were checked when they were read.  A value
 * that cannot be computed is NAN, and `why` says why.
 */
#ifndef EXPERIMENTS_OWN_OWN_BOOK_H
#define EXPERIMENTS_OWN_OWN_BOOK_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct expr_cells;
struct own_book;
struct own_metrics;

/* Returns an empty book for one trial, in the arena; `own` must outlive it.  NULL
 * if there are no such metrics; `own` may be NULL. */
struct own_book *own_book_new(struct arena *arena, const struct own_metrics *own);
/* Does the book want to be shown jobs?  If not, the caller need not fill rows.
 * `book` may be NULL here and in the functions below. */
bool own_book_reads_jobs(const struct own_book *book);
/* Tells the book that a job which counts came to its end.  `row`: its cells, by
 * enum job_cell, read within the call only; `done`: its status is JOB_DONE.
 * O(aggregates). */
void own_book_job(struct own_book *book, const struct expr_cells *row, bool done);
/* Computes the metrics at the end of the trial. `value` (METRIC_ROOM numbers, by
 * enum metric, in the units of metrics.def) holds the built-in ones;
 * value[METRIC_COUNT] and those behind it are set, NAN where there is none.
 * why[m], of set.own_count bytes, is the enum expr_gap of metric METRIC_COUNT + m,
 * 0 if nothing lacks. */
void own_book_result(struct own_book *book, double *value, uint8_t *why);

#endif
