/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * steady_book.h - how many jobs were in the system, and when, for sim/stats/steady.h.
 */
#ifndef EXPERIMENTS_MEASURE_STEADY_BOOK_H
#define EXPERIMENTS_MEASURE_STEADY_BOOK_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct steady_book;
struct trial_spec;

/* Returns the book of one trial, in the arena. */
struct steady_book *steady_book_new(struct arena *arena,
                                    const struct trial_spec *spec);
/* A job came, or ended; both in the order of time. */
void steady_book_submit(struct steady_book *book, int64_t now_ns);
/* done: it ended by itself. */
void steady_book_end(struct steady_book *book, int64_t submit_ns, int64_t now_ns,
                     bool done);
/* Fills METRIC_QUEUE_GROWTH, _QUEUE_FILLING and _STEADY_AFTER. */
void steady_book_result(const struct steady_book *book, double *value);

#endif
