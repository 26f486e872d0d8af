/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * own_book.h - the metrics of an experiment's own in one trial: aggregates are shown
 * each job when it ends, and nothing of a job is kept.
 */
#ifndef EXPERIMENTS_OWN_OWN_BOOK_H
#define EXPERIMENTS_OWN_OWN_BOOK_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct expr_cells;
struct own_book;
struct own_metrics;

/* NULL: there are no such metrics; `own` may be NULL. */
struct own_book *own_book_new(struct arena *arena, const struct own_metrics *own);
/* Does the book want to be shown jobs?  `book` may be NULL; so below. */
bool own_book_reads_jobs(const struct own_book *book);
/* A job that counts was done, or came to another end: its row, by enum job_cell. */
void own_book_job(struct own_book *book, const struct expr_cells *row, bool done);
/* Sets value[METRIC_COUNT] and those behind it, from the built-in ones; why[] is enum
 * expr_gap, from 0. */
void own_book_result(struct own_book *book, double *value, uint8_t *why);

#endif
