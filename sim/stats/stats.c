/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stats.c - intervals and tests of means and of ratios of paired means.
 *
 * Two tests of a mean are made, and an interval holds what either of them does
 * not reject.  The first is Student's.  The second is Student's on Hall's cubic
 * of the statistic (P. Hall, On the removal of skewness by transformation, J. R.
 * Stat. Soc. B 54, 1992, 221): with u = (mean - m) / sd and the skewness g,
 *     h(u) = u + g u^2 / 3 + g^2 u^3 / 27 + g / (6 n),
 * which rises with u and can be solved for m.  Student's alone holds a skewed
 * mean too seldom; Hall's alone errs where a few seeds look skewed by chance.
 * tests/experiments/coverage_test.c measures both, with Johnson's and bootstraps left out
 * that did worse (experiments/results/README.md).
 *
 * The relative difference is mean(x) / mean(b) - 1.  Its interval is Fieller's
 * (J. R. Stat. Soc. B 16, 1954, 175): all ratios r for which the tests of
 * x - r b do not reject.  So it heeds that x and b of a seed rise and fall
 * together, and leaves out 0% only when the tests of x - b (the p-value;
 * Law, Simulation Modeling and Analysis, 5th ed., 10.2.1) reject.  Where the
 * baseline's mean may be zero the interval has no end.  Differences that are all
 * alike have an interval of no width; p is then 1 if they are zero and 0 if not.
 */
#include "sim/stats/stats.h"

#include <assert.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "sim/base/arena.h"
#include "sim/stats/tally.h"

#define HALL_LEAST 3u           /* samples that a skewness needs */

/* Mean, standard deviation and skewness, the G1 of Joanes and Gill
 * (The Statistician 47, 1998, 183). */
struct sample {
    double n, mean, sd, skewness;
};

/* What pair i adds: x[i] - ratio base[i], or x[i] alone; NAN if not known. */
static double pair_term(const double *x, const double *base, double ratio, size_t i)
{
    double value = base == NULL ? x[i] : x[i] - ratio * base[i];

    return isfinite(x[i]) && isfinite(value) ? value : NAN;
}

/* Are they finite and all the same?  Most metrics of an experiment are. */
static bool are_equal(const double *x, size_t count)
{
    size_t i = 1;

    if (count == 0 || !isfinite(x[0]))
        return false;
    while (i < count && x[i] == x[0])
        i++;
    return i == count;
}

/* Describes the terms of all pairs with that ratio; the skewness needs a
 * second pass. */
static struct sample sample_of(const double *x, const double *base,
                               double ratio, size_t count)
{
    struct tally tally = { 0 };
    double cubes = 0;
    struct sample s;

    assert(count == 0 || (x != NULL && !isnan(ratio)));
    /* Their mean is their value: a sum divided by n may differ in the last digit. */
    if (base == NULL && are_equal(x, count))
        return (struct sample){ (double)count, x[0] + 0.0, 0, 0 };
    for (size_t i = 0; i < count; i++) {
        double value = pair_term(x, base, ratio, i);

        if (isfinite(value))
            tally_add(&tally, value);
    }
    s = (struct sample){ (double)tally.count, tally.mean, tally_sd(&tally), 0 };
    if (tally.count < HALL_LEAST || !(s.sd > 0))
        return s;
    for (size_t i = 0; i < count; i++) {
        double off = (pair_term(x, base, ratio, i) - s.mean) / s.sd;

        if (isfinite(off))
            cubes += off * off * off;
    }
    assert(isfinite(cubes) && s.n <= (double)count);
    s.skewness = cubes * s.n / ((s.n - 1) * (s.n - 2));
    /* No sample has more, but where values differ in their last digit the mean is rounded. */
    double most = s.n * sqrt(s.n - 1) / (s.n - 2);

    s.skewness = fmax(-most, fmin(s.skewness, most));
    return s;
}

/* Hall's cubic of u. */
static double hall_cubic(const struct sample *s, double u)
{
    assert(s->n > 0 && !isnan(u));
    double g = s->skewness;

    return u + g / 3 * u * u + g * g / 27 * u * u * u + g / (6 * s->n);
}

/* The u of which Hall's cubic is y: 3 / g (cbrt(1 + g (y - g / 6n)) - 1),
 * without the difference that cancels. */
static double hall_inverse(const struct sample *s, double y)
{
    assert(s->n > 0);
    double z = y - s->skewness / (6 * s->n);
    double root = cbrt(1 + s->skewness * z);

    return 3 * z / (root * root + root + 1);
}

/* Returns half the width of Student's interval, in standard deviations. */
static double student_quantile(double confidence, double n)
{
    assert(n > 1 && confidence > 0 && confidence < 1);
    return gsl_cdf_tdist_Pinv(0.5 + confidence / 2, n - 1) / sqrt(n);
}

/* |third moment| / second moment ^ 1.5 / sqrt(n) */
static double skew_of(const struct sample *s)
{
    double skew = NAN;

    if (s->n >= HALL_LEAST)
        skew = fabs(s->skewness) * (s->n - 2) / (s->n * sqrt(s->n - 1));
    assert(!(skew > 1 + 1e-9));
    return skew;
}

/* Returns the values of the mean that at least one of the two tests does not
 * reject. */
static struct stats_mean interval_of(const struct sample *s, double confidence)
{
    struct stats_mean m = { (size_t)s->n, NAN, NAN, NAN, skew_of(s), false };
    double t;

    if (!(s->n > 0))
        return m;
    m.mean = s->mean;
    if (s->n < 2)
        return m;
    t = student_quantile(confidence, s->n);
    /* The wider of both on each side. */
    m.low = s->mean - s->sd * fmax(t, hall_inverse(s, t));
    m.high = s->mean - s->sd * fmin(-t, hall_inverse(s, -t));
    assert(m.low <= m.mean && m.mean <= m.high);
    return m;
}

struct stats_mean stats_mean(const double *x, size_t count,
                             double confidence)
{
    struct sample s = sample_of(x, NULL, 0, count);

    assert(confidence > 0 && confidence < 1);
    return interval_of(&s, confidence);
}

/* The distance from `value` at which both tests reject, in standard errors. */
static double distance_of(const struct sample *s, double value)
{
    double u = (s->mean - value) / s->sd;

    assert(s->sd > 0 && s->n >= 2);
    return sqrt(s->n) * fmin(fabs(u), fabs(hall_cubic(s, u)));
}

/* Returns the p-value of a mean of 0. Where all are equal there is no spread
 * to judge by: 1 if they are 0, else 0. */
static double p_value(const struct sample *d)
{
    assert(d->sd >= 0);
    if (d->n < 2)
        return NAN;
    if (d->sd == 0)
        return d->mean == 0 ? 1 : 0;
    return 2 * gsl_cdf_tdist_Q(distance_of(d, 0), d->n - 1);
}

struct ranked {
    double p;                   /* its p-value */
    size_t at;                  /* its place before sorting */
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    return x->p < y->p ? -1 : x->p > y->p;
}

/* From the least p-value on: each times the number that are left, and never below the
 * one before.  Equal ones get the same, whatever their order. */
void stats_holm(struct arena *arena, double *p, size_t count)
{
    struct ranked *ranked = arena_alloc(arena, count + 1, sizeof *ranked);
    size_t known = 0;
    double least = 0;

    assert(p != NULL || count == 0);
    for (size_t i = 0; i < count; i++)
        if (isfinite(p[i]))
            ranked[known++] = (struct ranked) { p[i], i };
    qsort(ranked, known, sizeof *ranked, compare_ranked);
    assert(known == 0 || ranked[0].p >= 0);
    for (size_t k = 0; k < known; k++) {
        least = fmin(1, fmax(least, (double)(known - k) * ranked[k].p));
        p[ranked[k].at] = least;
    }
}

/* Sums of squares and products about the means, by count - 1. */
struct moments {
    double n, x, b, xx, bb, xb;
};

/* Only pairs with both sides known count; two passes against cancellation. */
static struct moments moments_of(const double *x, const double *base,
                                 size_t count)
{
    struct moments m = { 0, 0, 0, 0, 0, 0 };

    assert(count == 0 || (x != NULL && base != NULL));
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
    return m;
}

/* The roots of a r^2 - 2 h r + c, where the paired t-test is on its edge. */
static void set_fieller(struct moments m, double confidence,
                        struct stats_delta *delta)
{
    double t = gsl_cdf_tdist_Pinv(0.5 + confidence / 2, m.n - 1);
    double g = t * t / m.n, a = m.b * m.b - g * m.bb;
    double h = m.x * m.b - g * m.xb, c = m.x * m.x - g * m.xx;
    double root = sqrt(fmax(0, h * h - a * c)), sign = m.b < 0 ? -1 : 1;
    double low, high;

    assert(m.n > 1 && m.bb >= 0);
    if (a <= 0) {
        delta->percent_low = -INFINITY;
        delta->percent_high = INFINITY;
        return;
    }
    low = 100 * sign * ((h - root) / a - 1);
    high = 100 * sign * ((h + root) / a - 1);
    delta->percent_low = fmin(low, high);
    delta->percent_high = fmax(low, high);
}

/* The samples, for tests of one ratio after another. */
struct pairs {
    const double *x, *base;
    size_t count;               /* of each */
    double limit;               /* of the distance, in standard errors */
};

/* Do both tests reject that the mean of x is `ratio` times that of the
 * baseline?  Terms that are all alike reject every mean but their own. */
static bool is_rejected(const struct pairs *pairs, double ratio)
{
    struct sample s = sample_of(pairs->x, pairs->base, ratio, pairs->count);

    assert(pairs->limit > 0);
    return s.sd > 0 ? distance_of(&s, 0) > pairs->limit : s.mean != 0;
}

/* From an end of Student's interval, outwards to where Hall's test rejects
 * too.  Beyond WIDEST times Student's width there is no end. */
#define WIDEST 1e4
static double widen_end(const struct pairs *pairs, double middle, double end)
{
    /* A step of a sixteenth of the half width, outwards. */
    double in = end, step = (end - middle) / 16, out = end + step / 1e6;

    if (!(fabs(step) > 0) || is_rejected(pairs, out))
        return end;
    for (out = end + step; !is_rejected(pairs, out); step *= 1.25) {
        if (fabs(out - end) > WIDEST * fabs(end - middle))
            return end > middle ? INFINITY : -INFINITY;
        in = out;
        out += step;
    }
    /* `in` is not rejected, `out` is; 60 halvings come to the last digit. */
    for (unsigned i = 0; i < 60; i++) {
        double at = in + (out - in) / 2;

        *(is_rejected(pairs, at) ? &out : &in) = at;
    }
    assert(end > middle ? in >= end : in <= end);
    return in;
}

/* Widens an end as far as a ratio of 1, 0%, and beyond, if the tests do not reject it.  The
 * skewness changes with the ratio, so that of few pairs those that both tests reject may lie
 * between others that they do not. */
static double reach_one(const struct pairs *pairs, double middle, double end)
{
    bool outside = end > middle ? 1 > end : 1 < end;

    return outside && !is_rejected(pairs, 1) ? widen_end(pairs, middle, 1) : end;
}

/* Widens Fieller's interval to what Hall's test does not reject either.  The
 * percent is of the baseline's size, so its sign turns the ends round. */
static void widen_percent(const struct pairs *pairs, struct moments m,
                          struct stats_delta *delta)
{
    double sign = m.b < 0 ? -1 : 1, middle = m.x / m.b;
    double low = 1 + sign * delta->percent_low / 100;
    double high = 1 + sign * delta->percent_high / 100;

    if (isinf(delta->percent_low) || m.n < HALL_LEAST)
        return;
    if (!(delta->percent_low < delta->percent_high)) {
        /* x is 0 throughout: x - r b is -r b, so all ratios but 0 are rejected, or none. */
        if (!is_rejected(pairs, middle + 1)) {
            delta->percent_low = -INFINITY;
            delta->percent_high = INFINITY;
        }
        return;
    }
    low = reach_one(pairs, middle, widen_end(pairs, middle, low));
    high = reach_one(pairs, middle, widen_end(pairs, middle, high));
    low = 100 * sign * (low - 1);
    high = 100 * sign * (high - 1);
    delta->percent_low = fmin(delta->percent_low, low);
    delta->percent_high = fmax(delta->percent_high, high);
    assert(delta->percent_low <= delta->percent_high);
}

/* Have both sides one value each in all pairs?  Then their ratio is known. */
static bool are_constant(const double *x, const double *base, size_t count)
{
    size_t first = 0;

    assert(count == 0 || (x != NULL && base != NULL));
    while (first < count && (!isfinite(x[first]) || !isfinite(base[first])))
        first++;
    for (size_t i = first; i < count; i++)
        if (isfinite(x[i]) && isfinite(base[i]) &&
            (x[i] != x[first] || base[i] != base[first]))
            return false;
    return first < count;
}

/* The difference of pairs, and its ratio to the mean of the base; the ratio's
 * interval is Fieller's, widened to where Hall's test rejects too. */
struct stats_delta stats_delta(const double *x, const double *base,
                               size_t count, double confidence)
{
    struct stats_delta delta = { .percent = NAN, .percent_low = NAN,
                                 .percent_high = NAN };
    struct moments moments = moments_of(x, base, count);
    struct pairs pairs = { x, base, count, 0 };
    struct sample d = sample_of(x, base, 1, count);
    struct stats_mean m = interval_of(&d, confidence);

    assert(m.count <= count && m.count == (size_t)moments.n);
    delta.count = m.count;
    delta.mean = m.mean;
    delta.low = m.low;
    delta.high = m.high;
    delta.p_value = p_value(&d);
    delta.skew = m.skew;
    if (m.count == 0 || moments.b == 0)
        return delta;
    delta.percent = 100 * m.mean / fabs(moments.b);
    if (m.count > 1 && m.low == 0 && m.high == 0) { /* all pairs are equal: */
        delta.percent_low = delta.percent_high = 0; /* so is their ratio */
    } else if (m.count > 1 && are_constant(x, base, count)) {
        delta.percent_low = delta.percent_high = delta.percent;
    } else if (m.count > 1) {
        pairs.limit = student_quantile(confidence, d.n) * sqrt(d.n);
        set_fieller(moments, confidence, &delta);
        widen_percent(&pairs, moments, &delta);
    }
    return delta;
}

int stats_order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}
