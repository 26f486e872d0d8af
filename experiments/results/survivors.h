/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * survivors.h - which metrics are of the jobs that were done, or of the
 * requests that were answered, and how many of all these are; and of how many
 * of the seeds.
 *
 * Jobs that do not end in the run (`until`), fail or are dropped have no
 * completion time, and those that take long are the likeliest among them: a
 * mean over the rest is too low, and two policies that leave other jobs are
 * not compared by it.  Nor are two of which one failed in seeds that the other
 * has: seeds have other jobs.
 */
#ifndef EXPERIMENTS_RESULTS_SURVIVORS_H
#define EXPERIMENTS_RESULTS_SURVIVORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "experiments/run/trial.h"

struct grid;

/* Over all seeds that there are. */
struct survivors {
    double done, all;           /* jobs */
};

/* Returns how many of the jobs or requests the metric is of, and how many there
 * were; both equal for a metric of all. */
struct survivors survivors_of(const struct grid *grid, uint32_t point,
                              uint32_t policy, enum metric metric);
/* Does the metric say nothing of some? */
static inline bool survivors_lost(struct survivors s)
{
    return s.done < s.all;
}
/* Returns how many seeds have a value of the metric under the policy, and how many under any
 * policy of the point; both equal where it has no value at all. */
struct survivors survivors_seeds(const struct grid *grid, uint32_t point,
                                 uint32_t policy, enum metric metric);
/* Is the mean over all jobs or requests, and over all seeds that another policy has? */
bool survivors_whole(const struct grid *grid, uint32_t point, uint32_t policy,
                     enum metric metric);
#define SURVIVORS_BYTES 128
/* Writes " (368 of 405)" into SURVIVORS_BYTES bytes, or "" where none was lost. */
void survivors_text(struct survivors s, char *out);
/* Writes " (4 of 6 seeds)" likewise. */
void survivors_seeds_text(struct survivors s, char *out);
/* Writes of how many seeds the points from `first` to before `end` have a trial under any
 * policy, into SURVIVORS_BYTES bytes: "4", or where trials failed "1 of 4", or "1 to 3 of 4". */
void survivors_run_text(const struct grid *grid, uint32_t first, uint32_t end, char *out);
/* Has any policy of that point lost one? */
bool survivors_any(const struct grid *grid, uint32_t point,
                   enum metric metric);

/* Have all policies that were run at that point a mean to the horizon?  Without `until`, one
 * that lost a job has none. */
bool survivors_restricted(const struct grid *grid, uint32_t point);

#endif
