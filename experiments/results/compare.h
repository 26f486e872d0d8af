/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * compare.h - policies against the baseline, and one results folder against
 * another, seed by seed.
 */
#ifndef EXPERIMENTS_RESULTS_COMPARE_H
#define EXPERIMENTS_RESULTS_COMPARE_H

#include <stdint.h>
#include <stdio.h>

#include "experiments/columns/metric.h"
#include "sim/stats/stats.h"

struct arena;
struct grid;
struct sheet;
struct table;

/* Returns the difference of a policy to another one at a point, paired by seed;
 * all NAN where both are the same, or either lost some jobs of the metric. */
struct stats_delta compare_pair(const struct grid *grid, uint32_t point, uint32_t policy,
                                uint32_t other, enum metric metric);

/* Fills the table with the rows of compare.csv. baseline UINT32_MAX: no differences. */
void compare_rows(struct arena *arena, const struct grid *grid,
                  uint32_t baseline, struct table *table);

/* Returns the block of `other` that pairs with `grid`: the same points, policies
 * and seeds in the same order, absent where `other` lacks them.  Where nothing is
 * drawn in `other`, its one trial pairs with every seed.  In the arena. */
struct grid *compare_align(struct arena *arena, const struct grid *grid,
                           const struct grid *other);
/* Trials that only one of the two has. */
struct compare_only {
    uint32_t left, right, both;
};
struct compare_only compare_count(const struct grid *left,
                                  const struct grid *right);
/* Returns what moved from left to right with all figures in columns of their own, for
 * programs; the caller frees it. */
struct sheet *compare_sheet(struct arena *arena, const struct grid *left,
                            const struct grid *right);
/* Prints what moved from left to right, as a table for people.  Returns the number
 * of lines: 0, nothing moved. */
uint32_t compare_print(FILE *file, const struct grid *left,
                       const struct grid *right);
/* Returns the place of a comparison in an array of all metrics, points and policies.
 * Those of one metric, which are corrected together, lie side by side. */
size_t compare_row_at(const struct grid *grid, uint32_t point, uint32_t policy,
                      unsigned metric);

#endif
