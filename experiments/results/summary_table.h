/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * summary_table.h - the table a run ends with: policies by what they cost and how
 * long jobs took, point by point.
 *
 * An experiment always gives one text, whatever the number of threads.
 */
#ifndef EXPERIMENTS_RESULTS_SUMMARY_TABLE_H
#define EXPERIMENTS_RESULTS_SUMMARY_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "experiments/columns/metric.h"
#include "sim/stats/stats.h"

struct arena;
struct grid;

/* A metric at a point, by policy; in the arena. */
struct summary_column {
    struct stats_mean *mean;
    bool *best, *trusted;
    double largest;             /* mean; 0 if none is above */
};
/* Fills a column.  jobs: the column of METRIC_JOBS_DONE at that point, which may be
 * `column` itself.  A policy that did fewer jobs than another one is not marked best; only
 * METRIC_JCT_RESTRICTED is over all jobs, and marks it. */
void summary_fill(struct arena *arena, const struct grid *grid, uint32_t point,
                  enum metric metric, const struct summary_column *jobs,
                  struct summary_column *column);

/* A unit for people: a value in the metric's own unit, over `size`, is in it. */
struct summary_unit {
    const char *name;           /* " h", "%", or "" for the metric's own */
    double size;
};
/* Returns one unit for a column: the largest that leaves its largest mean above 2. */
struct summary_unit summary_unit(const struct metric_info *info, double largest);
#define SUMMARY_NUMBER_BYTES 32
/* Writes that many significant digits, and an exponent only where people would. */
void summary_number(char out[SUMMARY_NUMBER_BYTES], double value, int digits);
/* Returns the longer side of an interval; NAN: there is none. */
double summary_half(struct stats_mean m);
#define SUMMARY_METRICS_MOST (16 + METRIC_OWN_MAX)
/* Writes the metrics that the table shows at a point, jobs done first; returns how
 * many. */
size_t summary_metrics(const struct grid *grid, uint32_t point,
                       enum metric metric[SUMMARY_METRICS_MOST]);

/* Prints the table, with the best of each column marked by a star; bold too where
 * `bold`, for terminals. */
void summary_table_print(FILE *file, const struct grid *grid, const char *name,
                         bool bold);

#endif
