/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stop_file.h - what a results folder needs beside summary.csv to be read alone:
 * seeds.csv, how many seeds were run and why no more; metrics.csv, the metrics of the
 * experiment's own.
 */
#ifndef EXPERIMENTS_RESULTS_STOP_FILE_H
#define EXPERIMENTS_RESULTS_STOP_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "experiments/columns/metric.h"
#include "sim/expr/expr.h"

struct arena;
struct err;
struct experiment;
struct experiment_stop;
struct folder;
struct grid;
struct trial_result;

/* Writes seeds.csv; nothing where `seeds` is a number.  False: err says why. */
bool stop_write(struct arena *arena, const struct folder *dir,
                const struct experiment *experiment, struct err *err);
/* Reads seeds.csv into *stop; without the file, `seeds` was a number.  False: err
 * says why. */
bool stop_read(struct arena *arena, const char *dir,
               struct experiment_stop *stop, struct err *err);

/* metrics.csv: the metrics of the experiment's own. */

/* What is to be said of one of them. */
struct own_told {
    uint32_t trials, empty;     /* that were run; without a value */
    const char *why;            /* it has none, in words; "": nothing to say */
};

/* How many trials have a value of such a metric, or why they have none. */
struct own_gaps {
    uint32_t count[METRIC_OWN_MAX][EXPR_GAP_COUNT];
};

/* Counts one trial more that was run. */
void own_count(struct own_gaps *gaps, const struct metric_set *set,
               const struct trial_result *result);
/* Returns what is to be said of the experiment's own metrics, by metric; NULL: it
 * has none. */
const struct own_told *own_told_of(struct arena *arena,
                                   const struct experiment *experiment,
                                   const struct own_gaps *gaps);
/* Writes metrics.csv, if there are any such metrics.  False: err says why. */
bool own_write(struct arena *arena, const struct folder *dir,
               const struct grid *grid, struct err *err);
/* Sets grid->metrics and grid->own_told; an absent file: none of its own. */
bool own_read(struct arena *arena, const char *dir, struct grid *grid,
              struct err *err);

#endif
