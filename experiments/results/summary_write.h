/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * summary_write.h - summary.csv, written by several threads.  Private to
 * experiments/results.
 */
#ifndef EXPERIMENTS_RESULTS_SUMMARY_WRITE_H
#define EXPERIMENTS_RESULTS_SUMMARY_WRITE_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct err;
struct experiment;
struct folder;
struct grid;

/* Writes a row for each trial that is present and no copy, in the order of trials: the
 * same bytes for any number of threads, which is at least 1.  The values of the grid
 * become those that a reader of the file has.  False: err says why. */
bool summary_write(struct arena *arena, const struct folder *dir,
                   const struct experiment *experiment, struct grid *grid,
                   uint32_t threads, struct err *err);

#endif
