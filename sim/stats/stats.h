/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stats.h - means and paired differences, with their confidence intervals.
 *
 * A sample is the result of one seed.  NAN: not known, there are too few
 * samples.
 */
#ifndef SIM_STATS_STATS_H
#define SIM_STATS_STATS_H

#include <stdbool.h>
#include <stddef.h>

struct arena;

struct stats_mean {
    size_t count;               /* samples that were given */
    double mean, low, high;     /* what neither Student's nor Hall's test rejects */
    double skew;                /* how much few samples decide: |skewness| / sqrt(samples),
                                   from 0 to 1; NAN below three samples */
    bool cases;                 /* the interval is over cases of one sample, taken as
                                   independent.  These functions set false; callers with an
                                   interval of their own set true */
};

/* Differences of pairs, in the unit of the samples and in percent of the
 * baseline's mean. */
struct stats_delta {
    size_t count;               /* pairs that were given */
    double mean, low, high;
    double percent, percent_low, percent_high;
    double p_value;             /* two-sided: the larger of the two tests */
    double skew;                /* of the differences, as of a mean */
    bool cases;                 /* as of a mean */
};

/* Samples that are not finite are left out. */
struct stats_mean stats_mean(const double *x, size_t count,
                             double confidence);
/* Pair i is x[i], base[i]; a pair with a side that is not finite is left
 * out. */
struct stats_delta stats_delta(const double *x, const double *base,
                               size_t count, double confidence);
/* Replaces p-values by Holm's (Scand. J. Stat. 6, 1979, 65): to reject where
 * one is below a keeps the chance of any wrong rejection among all below a.
 * NAN stays, and does not count.  The arena holds what is sorted. */
void stats_holm(struct arena *arena, double *p, size_t count);

/* For qsort() over doubles: rising.  NAN has no place in that order. */
int stats_order(const void *a, const void *b);

#endif
