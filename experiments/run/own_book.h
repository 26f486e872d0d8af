/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * own_book.h - the metrics of an experiment's own in one trial: aggregates are shown
 * each job when it ends, and nothing of a job is kept.
 */
#ifndef EXPERIMENTS_RUN_OWN_BOOK_H
#define EXPERIMENTS_RUN_OWN_BOOK_H

#include "models/jobs/job.h"

struct arena;
struct host_job;
struct own_book;
struct trial_result;
struct trial_spec;

/* NULL: the experiment has no metrics of its own. */
struct own_book *own_book_new(struct arena *arena, const struct trial_spec *spec);
/* A job that counts ended, or was left.  `book` may be NULL; so below. */
void own_book_job(struct own_book *book, const struct host_job *job,
                  enum job_status status);
/* Sets the metrics behind the built-in ones, which are all set. */
void own_book_result(struct own_book *book, struct trial_result *result);

#endif
