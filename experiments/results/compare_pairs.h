/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * compare_pairs.h - what compare.c and compare_runs.c share: the samples of both
 * sides of a comparison, and where its result stands.
 */
#ifndef EXPERIMENTS_RESULTS_COMPARE_PAIRS_H
#define EXPERIMENTS_RESULTS_COMPARE_PAIRS_H

#include <stddef.h>
#include <stdint.h>

struct arena;
struct grid;

/* Samples of a metric, of one policy and of the one that it is compared with. */
struct compare_pairs {
    double *x, *base;           /* seed_count each */
    uint32_t count;             /* of them, the samples */
};

/* Returns room for the samples of both sides, in the arena. */
struct compare_pairs compare_pairs_new(struct arena *arena, const struct grid *grid);
/* Returns the place of a comparison in an array of all metrics, points and policies.
 * Those of one metric, which are corrected together, lie side by side. */
size_t compare_row_at(const struct grid *grid, uint32_t point, uint32_t policy,
                      unsigned metric);

#endif
