/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bounds_book.h - the jobs of a trial as bounds.h wants them.
 */
#ifndef EXPERIMENTS_BOUNDS_BOUNDS_BOOK_H
#define EXPERIMENTS_BOUNDS_BOUNDS_BOOK_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct bounds_book;
struct host_job;
struct trial_spec;

/* Returns the book of one trial, in the arena; `spec` must outlive it. */
struct bounds_book *bounds_book_new(struct arena *arena,
                                    const struct trial_spec *spec);
/* A job was submitted that counts. */
void bounds_book_submit(struct bounds_book *book, const struct host_job *job);
/* The job was done.  `seed`: of its draws, models/types/truth.h. */
void bounds_book_done(struct bounds_book *book, const struct host_job *job,
                      uint64_t seed);
/* Fills the metrics of bounds and gaps in `value`, which enum metric numbers; all other
 * metrics must be there already. */
void bounds_book_result(struct bounds_book *book, double *value);

#endif
