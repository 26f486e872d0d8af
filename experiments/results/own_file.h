/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * own_file.h - metrics.csv: the metrics of the experiment's own, so that a results
 * folder can be read without its experiment.
 */
#ifndef EXPERIMENTS_RESULTS_OWN_FILE_H
#define EXPERIMENTS_RESULTS_OWN_FILE_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct err;
struct experiment;
struct folder;
struct grid;
struct runner_trial;

/* What is to be said of one of them. */
struct own_told {
    uint32_t trials, empty;     /* that were run; without a value */
    const char *why;            /* it has none, in words; "": nothing to say */
};

/* By metric; NULL: the experiment has none of its own. */
const struct own_told *own_told_of(struct arena *arena,
                                   const struct experiment *experiment,
                                   const struct runner_trial *trial);
/* Writes the file, if there are any. */
bool own_write(struct arena *arena, const struct folder *dir,
               const struct grid *grid, struct err *err);
/* Sets grid->metrics and grid->own_told; an absent file: none of its own. */
bool own_read(struct arena *arena, const char *dir, struct grid *grid,
              struct err *err);

#endif
