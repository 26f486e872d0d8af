/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tally.c - mean and spread of samples, and the time average of a level.
 *
 * Samples: B. P. Welford, Note on a method for calculating corrected sums of
 * squares and products, Technometrics 4 (1962) 419-420.  Merging: T. F. Chan,
 * G. H. Golub, R. J. LeVeque, Updating formulae and a pairwise algorithm for
 * computing sample variances, COMPSTAT 1982.  Both keep the sum of squared
 * distances from the mean, which does not cancel as the sum of squares does.
 */
#include "sim/stats/tally.h"

#include <assert.h>
#include <math.h>

#include "sim/base/clock.h"

/* Welford's update (1962): the sum of squares never becomes negative. */
void tally_add(struct tally *tally, double sample)
{
    double from_old;

    assert(isfinite(sample));
    if (tally->count == 0 || sample < tally->min)
        tally->min = sample;
    if (tally->count == 0 || sample > tally->max)
        tally->max = sample;
    tally->count++;
    from_old = sample - tally->mean;
    tally->mean += from_old / (double)tally->count;
    tally->square_sum += from_old * (sample - tally->mean);
    assert(tally->square_sum >= 0);
}

double tally_sd(const struct tally *tally)
{
    assert(tally->square_sum >= 0);
    if (tally->count < 2)
        return 0;
    return sqrt(tally->square_sum / (double)(tally->count - 1));
}

void gauge_set(struct gauge *gauge, int64_t now_ns, double level)
{
    assert(now_ns >= gauge->last_ns);
    if (level == gauge->level)
        return;                 /* the sum goes on: nothing to add yet */
    assert(isfinite(level));
    gauge->area = gauge_area(gauge, now_ns);
    gauge->last_ns = now_ns;
    gauge->level = level;
}

double gauge_area(const struct gauge *gauge, int64_t until_ns)
{
    assert(gauge->last_ns >= gauge->from_ns || gauge->level == 0);
    assert(until_ns >= gauge->last_ns);
    if (gauge->level == 0)
        return gauge->area;
    return gauge->area +
           gauge->level * clock_s_from_ns(until_ns - gauge->last_ns);
}

double gauge_mean(const struct gauge *gauge, int64_t until_ns)
{
    assert(until_ns >= gauge->from_ns);
    if (until_ns == gauge->from_ns)
        return 0;
    return gauge_area(gauge, until_ns) /
           clock_s_from_ns(until_ns - gauge->from_ns);
}
