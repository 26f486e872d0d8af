/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stats.c - Student's t, one sample and paired.
 *
 * The relative difference is mean(x - b) / mean(b); its interval is the t
 * interval of the paired differences, divided by the same |mean(b)|.  The
 * divisor is taken as known: with common random numbers nearly all of the
 * noise of a ratio is in its numerator.  (Law, Simulation Modeling and
 * Analysis, 5th ed., section 10.2.1, paired-t.)
 * Differences that are all alike have an interval of no width; p is then 1 if
 * they are zero and 0 if not.
 */
#include "experiments/stats.h"

#include <assert.h>
#include <gsl/gsl_cdf.h>
#include <math.h>

#include "sim/tally.h"

static struct stats_mean from_tally(const struct tally *tally,
                                    double confidence)
{
    struct stats_mean m = { (size_t)tally->count, NAN, NAN, NAN };
    double n = (double)tally->count, half;

    if (tally->count == 0)
        return m;
    m.mean = tally->mean;
    if (tally->count < 2)
        return m;
    half = gsl_cdf_tdist_Pinv(0.5 + confidence / 2, n - 1) *
           tally_sd(tally) / sqrt(n);
    m.low = m.mean - half;
    m.high = m.mean + half;
    return m;
}

struct stats_mean stats_mean(const double *x, size_t count,
                             double confidence)
{
    struct tally tally = { 0 };

    assert(confidence > 0 && confidence < 1);
    for (size_t i = 0; i < count; i++)
        if (isfinite(x[i]))
            tally_add(&tally, x[i]);
    return from_tally(&tally, confidence);
}

static double p_value(const struct tally *d)
{
    double n = (double)d->count, error = tally_sd(d) / sqrt(n);

    if (d->count < 2)
        return NAN;
    if (error == 0)
        return d->mean == 0 ? 1 : 0;
    return 2 * gsl_cdf_tdist_Q(fabs(d->mean) / error, n - 1);
}

struct stats_delta stats_delta(const double *x, const double *base,
                               size_t count, double confidence)
{
    struct stats_delta delta = { .percent = NAN, .percent_low = NAN,
                                 .percent_high = NAN };
    struct tally d = { 0 }, b = { 0 };
    struct stats_mean m;

    for (size_t i = 0; i < count; i++) {
        if (!isfinite(x[i]) || !isfinite(base[i]))
            continue;
        tally_add(&d, x[i] - base[i]);
        tally_add(&b, base[i]);
    }
    m = from_tally(&d, confidence);
    delta.count = m.count;
    delta.mean = m.mean;
    delta.low = m.low;
    delta.high = m.high;
    delta.p_value = p_value(&d);
    if (d.count > 0 && b.mean != 0) {
        delta.percent = 100 * m.mean / fabs(b.mean);
        delta.percent_low = 100 * m.low / fabs(b.mean);
        delta.percent_high = 100 * m.high / fabs(b.mean);
    }
    return delta;
}
