/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * block_stats.h - how sure one can be of what was measured in blocks of time:
 * jobs of one day depend on each other, days much less.
 *
 * NAN: not known.  An interval may have no end (-INFINITY, INFINITY).
 */
#ifndef EXPERIMENTS_PAIRS_BLOCK_STATS_H
#define EXPERIMENTS_PAIRS_BLOCK_STATS_H

#include <stddef.h>
#include <stdint.h>

struct arena;

#define BLOCKS_LEAST 10u        /* fewer give no interval */

/* The ratio of two sums over the blocks, and its 95% interval. */
struct block_ratio {
    double value, low, high;    /* NAN: too few blocks */
};
/* Returns the ratio of the sums of sum[] and by[] over the blocks, with its 95%
 * interval by the bootstrap-t: blocks are drawn with replacement, always the same
 * ones for the same `stream`.  Fewer than BLOCKS_LEAST blocks give no interval. */
struct block_ratio block_ratio(struct arena *arena, const double *sum,
                               const double *by, size_t blocks,
                               uint64_t stream);
/* Returns the two-sided p-value of Wilcoxon's signed-rank test (Biometrics
 * Bulletin 1, 1945): is the middle of the values 0?  Exact for up to 200 values
 * that are not 0, given their ties. */
double block_signed_rank(struct arena *arena, const double *value,
                         size_t blocks);
/* Returns the correlation of each value with the next: 0 if blocks are long enough
 * to be independent. */
double block_neighbours(const double *value, size_t blocks);

#endif
