/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * seasonal.h - forecasts of a series of numbers from its past alone: a level and a
 * season that is added to it, both smoothed exponentially.
 *
 * Holt-Winters' additive method without a trend (Holt 1957, Winters 1960; Hyndman and
 * Athanasopoulos, Forecasting: Principles and Practice, 3rd ed., 8.3), in their letters:
 *   l(t) = a (y(t) - s(t-m)) + (1-a) l(t-1)
 *   s(t) = g (y(t) - l(t-1)) + (1-g) s(t-m)
 *   forecast of y(t+h) = l(t) + s of that part of the season
 * The first season is smoothed without seasons.  When it is over, its mean is the
 * level, and what each value is above the mean is its season.
 */
#ifndef SIM_STATS_SEASONAL_H
#define SIM_STATS_SEASONAL_H

#include <stdint.h>

struct seasonal {
    double level_weight;        /* a, from 0 to 1 */
    double season_weight;       /* g, likewise */
    uint32_t slots;             /* m, values in a season; 0: there is none */
    double *season;             /* of `slots`, zeroed by the caller, who owns it */
    double level;
    uint64_t seen;              /* values so far */
};

/* Adds the next value of the series. */
void seasonal_add(struct seasonal *s, double value);
/* Returns the forecast of the value that is `ahead` >= 1 places after the last one;
 * 0 before the first value.  It may be below 0. */
double seasonal_at(const struct seasonal *s, uint64_t ahead);

/* Returns the least whole number n for which a Poisson variable of this mean is at
 * most n with a probability of `share`, which is below 1. */
double seasonal_poisson_most(double mean, double share);

#endif
