/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stats.h - means, paired differences, and how sure one can be of them.
 *
 * Samples are seeds.  NAN: not known (too few samples).
 */
#ifndef SIM_STATS_STATS_H
#define SIM_STATS_STATS_H

#include <stddef.h>

struct stats_mean {
    size_t count;
    double mean, low, high;     /* Student's t interval */
};

/* Differences of pairs, in the unit of the samples and in percent of the
 * baseline's mean. */
struct stats_delta {
    size_t count;
    double mean, low, high;
    double percent, percent_low, percent_high;
    double p_value;             /* two-sided, paired t-test */
};

/* Only finite samples count. */
struct stats_mean stats_mean(const double *x, size_t count,
                             double confidence);
/* Pair i is x[i], base[i]; pairs that lack one side do not count. */
struct stats_delta stats_delta(const double *x, const double *base,
                               size_t count, double confidence);

#endif
