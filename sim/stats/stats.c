/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stats.c - Student's t, one sample and paired.
 *
 * The relative difference is mean(x) / mean(b) - 1.  Its interval is Fieller's
 * (J. R. Stat. Soc. B 16, 1954, 175): all ratios r for which the paired t-test
 * of x - r b does not reject.  So it heeds that x and b of a seed rise and
 * fall together, and leaves out 0% exactly when the paired t-test of x - b
 * (the p-value; Law, Simulation Modeling and Analysis, 5th ed., 10.2.1)
 * rejects.  Where the baseline's mean may be zero the interval has no end.
 * Differences that are all alike have an interval of no width; p is then 1 if
 * they are zero and 0 if not.
 */
#include "sim/stats/stats.h"

#include <assert.h>
#include <gsl/gsl_cdf.h>
#include <math.h>

#include "sim/stats/tally.h"

static struct stats_mean from_tally(const struct tally *tally,
                                    double confidence)
{
    assert(confidence > 0 && confidence < 1);
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
    assert(half >= 0);
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
    assert(d->count < 2 || tally_sd(d) >= 0);
    double n = (double)d->count, error = tally_sd(d) / sqrt(n);

    if (d->count < 2)
        return NAN;
    if (error == 0)
        return d->mean == 0 ? 1 : 0;
    return 2 * gsl_cdf_tdist_Q(fabs(d->mean) / error, n - 1);
}

/* Sums of squares and products about the means, by count - 1. */
struct moments {
    double n, x, b, xx, bb, xb;
};

static struct moments moments_of(const double *x, const double *base,
                                 size_t count)
{
    struct moments m = { 0, 0, 0, 0, 0, 0 };

    for (size_t i = 0; i < count; i++) {
        if (!isfinite(x[i]) || !isfinite(base[i]))
            continue;
        m.n++;
        m.x += x[i];
        m.b += base[i];
    }
    m.x /= m.n;
    m.b /= m.n;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(x[i]) || !isfinite(base[i]))
            continue;
        m.xx += (x[i] - m.x) * (x[i] - m.x) / (m.n - 1);
        m.bb += (base[i] - m.b) * (base[i] - m.b) / (m.n - 1);
        m.xb += (x[i] - m.x) * (base[i] - m.b) / (m.n - 1);
    }
    assert(m.xx >= 0 || m.n < 2);
    return m;
}

/* The roots of a r^2 - 2 h r + c, where the paired t-test is on its edge. */
static void fieller(struct moments m, double confidence,
                    struct stats_delta *delta)
{
    assert(confidence > 0 && confidence < 1 && m.n >= 2);
    double t = gsl_cdf_tdist_Pinv(0.5 + confidence / 2, m.n - 1);
    double g = t * t / m.n, a = m.b * m.b - g * m.bb;
    double h = m.x * m.b - g * m.xb, c = m.x * m.x - g * m.xx;
    double root = sqrt(fmax(0, h * h - a * c)), sign = m.b < 0 ? -1 : 1;
    double low, high;

    if (a <= 0) {
        delta->percent_low = -INFINITY;
        delta->percent_high = INFINITY;
        return;
    }
    low = 100 * sign * ((h - root) / a - 1);
    high = 100 * sign * ((h + root) / a - 1);
    delta->percent_low = fmin(low, high);
    delta->percent_high = fmax(low, high);
    assert(delta->percent_low <= delta->percent_high);
}

struct stats_delta stats_delta(const double *x, const double *base,
                               size_t count, double confidence)
{
    assert(confidence > 0 && confidence < 1);
    struct stats_delta delta = { .percent = NAN, .percent_low = NAN,
                                 .percent_high = NAN };
    struct moments moments = moments_of(x, base, count);
    struct tally d = { 0 };
    struct stats_mean m;

    for (size_t i = 0; i < count; i++)
        if (isfinite(x[i]) && isfinite(base[i]))
            tally_add(&d, x[i] - base[i]);
    m = from_tally(&d, confidence);
    delta.count = m.count;
    delta.mean = m.mean;
    delta.low = m.low;
    delta.high = m.high;
    delta.p_value = p_value(&d);
    if (d.count == 0 || moments.b == 0)
        return delta;
    delta.percent = 100 * m.mean / fabs(moments.b);
    if (d.count > 1 && m.low == 0 && m.high == 0)   /* all pairs are equal: */
        delta.percent_low = delta.percent_high = 0; /* so is their ratio */
    else if (d.count > 1)
        fieller(moments, confidence, &delta);
    return delta;
}
