/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * intervals_test.c - intervals of means and of ratios, drawn by a seed: each end lies where the
 * last of two tests begins to reject, and the tests are worked out here anew, from sums.  What
 * is turned over, scaled or put in another order gives the same, turned over and scaled.
 */
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "sim/base/rng.h"
#include "sim/stats/stats.h"

#define MOST 12
#define CASES 300

struct drawn {
    size_t count;
    double x[MOST], base[MOST], d[MOST];
};

/* Pairs that rise and fall together, more or less skewed, above or below 0, few and many. */
static struct drawn draw_pairs(struct rng *rng)
{
    struct drawn p = { .count = 2 + rng_below(rng, MOST - 1) };
    double skew = (double)rng_below(rng, 4) * 0.4, ratio = 0.6 + 0.1 * (double)rng_below(rng, 9);
    double sign = rng_below(rng, 2) ? 1 : -1, noise = 0.02 * (double)(1 + rng_below(rng, 20));

    for (size_t i = 0; i < p.count; i++) {
        p.base[i] = sign * exp(skew * rng_normal(rng, 0, 1)) * 10;
        p.x[i] = p.base[i] * ratio + 10 * noise * rng_normal(rng, 0, 1);
        p.d[i] = p.x[i] - p.base[i];
    }
    return p;
}

/* How far the mean of v is from `value`, in standard errors: Student's, and by Hall's cubic. */
static void distances(const double *v, size_t count, double value, double *student, double *hall)
{
    double n = (double)count, mean = 0, square = 0, cube = 0;

    for (size_t i = 0; i < count; i++)
        mean += v[i] / n;
    for (size_t i = 0; i < count; i++) {
        square += pow(v[i] - mean, 2);
        cube += pow(v[i] - mean, 3);
    }
    double sd = sqrt(square / (n - 1)), u = (mean - value) / sd;
    double g = count < 3 ? 0 : n / (n - 1) / (n - 2) * cube / pow(sd, 3);
    *student = fabs(u) * sqrt(n);
    *hall = fabs(u + g * u * u / 3 + g * g * u * u * u / 27 + g / n / 6) * sqrt(n);
}

/* The larger of the two p-values of a mean of `value`. */
static double p_of(const double *v, size_t count, double value)
{
    double student, hall;

    distances(v, count, value, &student, &hall);
    return 2 * gsl_cdf_tdist_Q(fmin(student, hall), (double)count - 1);
}

static double p_of_ratio(const struct drawn *p, double ratio)
{
    double v[MOST];

    for (size_t i = 0; i < p->count; i++)
        v[i] = p->x[i] - ratio * p->base[i];
    return p_of(v, p->count, 0);
}

/* How much few samples decide: the third moment over the second to 3/2, over the root of n. */
static double skew_of(const double *v, size_t count)
{
    double n = (double)count, mean = 0, square = 0, cube = 0;

    for (size_t i = 0; i < count; i++)
        mean += v[i] / n;
    for (size_t i = 0; i < count; i++) {
        square += pow(v[i] - mean, 2) / n;
        cube += pow(v[i] - mean, 3) / n;
    }
    return count < 3 ? (double)NAN : fabs(cube) / pow(square, 1.5) / sqrt(n);
}

static void is_edge(const char *what, double inside, double outside, double level, size_t k)
{
    if (!(inside >= level * (1 - 1e-9)) || !(outside <= level * (1 + 1e-9)))
        fail_msg("%s of case %zu: p inside %.9g, outside %.9g", what, k, inside, outside);
}

static void ends_of_a_mean_are_where_the_tests_reject(void **state)
{
    struct rng rng;

    (void)state;
    rng_init(&rng, 1, "intervals", 0);
    for (size_t k = 0; k < CASES; k++) {
        struct drawn p = draw_pairs(&rng);
        double level = k % 2 ? 0.05 : 0.2;
        struct stats_mean m = stats_mean(p.d, p.count, 1 - level);
        double step = (m.high - m.low) * 1e-6;
        assert_int_equal(m.count, p.count);
        double skew = skew_of(p.d, p.count);
        assert_true(isnan(skew) ? isnan(m.skew) : fabs(m.skew - skew) < 1e-9);
        is_edge("low", p_of(p.d, p.count, m.low + step), p_of(p.d, p.count, m.low - step), level,
                k);
        is_edge("high", p_of(p.d, p.count, m.high - step), p_of(p.d, p.count, m.high + step),
                level, k);
    }
}

/* The percent is of the size of the baseline, so that of one below 0 the ends turn round.  An end
 * that has none is where neither test rejects however far one goes. */
static void ends_of_a_ratio_are_where_the_tests_reject(void **state)
{
    int bounded = 0, below = 0;
    struct rng rng;

    (void)state;
    rng_init(&rng, 2, "intervals", 0);
    for (size_t k = 0; k < CASES; k++) {
        struct drawn p = draw_pairs(&rng);
        double level = k % 2 ? 0.05 : 0.2, x = 0, b = 0;
        struct stats_delta d = stats_delta(p.x, p.base, p.count, 1 - level);
        for (size_t i = 0; i < p.count; i++) {
            x += p.x[i] / (double)p.count;
            b += p.base[i] / (double)p.count;
        }
        assert_true(fabs(d.percent - 100 * (x - b) / fabs(b)) < 1e-9 * (1 + fabs(d.percent)));
        assert_true(fabs(d.p_value - p_of(p.d, p.count, 0)) < 1e-9);
        assert_true(d.percent_low <= d.percent && d.percent <= d.percent_high);
        /* 0% is left out only where the tests of the differences reject. */
        if (d.p_value > level + 1e-6 && !(d.percent_low <= 0 && d.percent_high >= 0))
            fail_msg("case %zu: p %g, from %g%% to %g%%", k, d.p_value, d.percent_low,
                     d.percent_high);
        if (!isfinite(d.percent_low) || !isfinite(d.percent_high))
            continue;
        bounded++;
        below += b < 0;
        double sign = b < 0 ? -1 : 1, step = (d.percent_high - d.percent_low) * 1e-6;
        is_edge("percent_low", p_of_ratio(&p, 1 + sign * (d.percent_low + step) / 100),
                p_of_ratio(&p, 1 + sign * (d.percent_low - step) / 100), level, k);
        is_edge("percent_high", p_of_ratio(&p, 1 + sign * (d.percent_high - step) / 100),
                p_of_ratio(&p, 1 + sign * (d.percent_high + step) / 100), level, k);
    }
    assert_true(bounded > CASES / 2 && below > CASES / 6);
}

static void are_near(const char *what, size_t k, double a, double b)
{
    if (!(a == b || (isnan(a) && isnan(b)) ||
          fabs(a - b) <= 1e-7 * (fabs(a) + fabs(b) + 1e-3)))
        fail_msg("%s of case %zu: %.12g and %.12g", what, k, a, b);
}

/* Metrics below 0, such as what is saved: signs and units of both sides change the ends alone,
 * not the percent nor the tests. */
static void ends_turn_round_with_the_sign(void **state)
{
    struct rng rng;

    (void)state;
    rng_init(&rng, 3, "intervals", 0);
    for (size_t k = 0; k < CASES; k++) {
        struct drawn p = draw_pairs(&rng), turned = p, scaled = p, back = p;
        for (size_t i = 0; i < p.count; i++) {
            turned.x[i] = -p.x[i];
            turned.base[i] = -p.base[i];
            scaled.x[i] = 3600 * p.x[i];
            scaled.base[i] = 3600 * p.base[i];
            back.x[i] = p.x[p.count - 1 - i];
            back.base[i] = p.base[p.count - 1 - i];
        }
        struct stats_delta a = stats_delta(p.x, p.base, p.count, 0.95);
        struct stats_delta b = stats_delta(turned.x, turned.base, p.count, 0.95);
        struct stats_delta c = stats_delta(scaled.x, scaled.base, p.count, 0.95);
        struct stats_delta d = stats_delta(back.x, back.base, p.count, 0.95);
        are_near("mean", k, a.mean, -b.mean);
        are_near("low", k, a.low, -b.high);
        are_near("high", k, a.high, -b.low);
        are_near("percent", k, a.percent, -b.percent);
        are_near("percent_low", k, a.percent_low, -b.percent_high);
        are_near("percent_high", k, a.percent_high, -b.percent_low);
        are_near("p", k, a.p_value, b.p_value);
        are_near("skew", k, a.skew, b.skew);
        are_near("scaled mean", k, 3600 * a.mean, c.mean);
        are_near("scaled low", k, 3600 * a.low, c.low);
        are_near("scaled percent", k, a.percent, c.percent);
        are_near("scaled percent_low", k, a.percent_low, c.percent_low);
        are_near("scaled percent_high", k, a.percent_high, c.percent_high);
        are_near("scaled p", k, a.p_value, c.p_value);
        are_near("back", k, a.percent_low, d.percent_low);
        are_near("back p", k, a.p_value, d.p_value);
    }
}

/* A pair of which a side is not known is none. */
static void what_is_not_known_is_left_out(void **state)
{
    struct rng rng;

    (void)state;
    rng_init(&rng, 4, "intervals", 0);
    for (size_t k = 0; k < 40; k++) {
        struct drawn p = draw_pairs(&rng);
        double x[MOST + 3], base[MOST + 3];
        x[0] = (double)NAN, base[0] = 1;
        x[1] = 5, base[1] = k % 2 ? (double)NAN : (double)INFINITY;
        for (size_t i = 0; i < p.count; i++) {
            x[2 + i] = p.x[i];
            base[2 + i] = p.base[i];
        }
        x[p.count + 2] = -(double)INFINITY, base[p.count + 2] = -(double)INFINITY;
        struct stats_delta a = stats_delta(p.x, p.base, p.count, 0.9);
        struct stats_delta b = stats_delta(x, base, p.count + 3, 0.9);
        assert_int_equal(b.count, p.count);
        assert_true(a.mean == b.mean && a.percent == b.percent && a.p_value == b.p_value);
        are_near("low", k, a.percent_low, b.percent_low);
        are_near("high", k, a.percent_high, b.percent_high);
        x[1] = (double)NAN;
        struct stats_mean m = stats_mean(x, p.count + 3, 0.9), n = stats_mean(p.x, p.count, 0.9);
        assert_true(m.count == n.count && m.mean == n.mean && m.low == n.low && m.high == n.high);
    }
}

/* None, one, two that are alike, all alike: what is known then. */
static void few_and_equal_samples_have_what_they_can_have(void **state)
{
    static const double x[] = { 3, 3, 3 }, y[] = { 2, 2, 2 }, zero[] = { 0, 0, 0 };
    static const double rising[] = { 1, 2, 3 };

    (void)state;
    struct stats_mean m = stats_mean(x, 0, 0.95);
    assert_true(m.count == 0 && isnan(m.mean) && isnan(m.low) && isnan(m.high) && isnan(m.skew));
    m = stats_mean(x, 1, 0.95);
    assert_true(m.count == 1 && m.mean == 3 && isnan(m.low) && isnan(m.high) && isnan(m.skew));
    m = stats_mean(x, 3, 0.95);
    assert_true(m.count == 3 && m.mean == 3 && m.low == 3 && m.high == 3 && m.skew == 0);
    struct stats_delta d = stats_delta(x, y, 0, 0.95);
    assert_true(d.count == 0 && isnan(d.mean) && isnan(d.percent) && isnan(d.p_value));
    d = stats_delta(x, y, 1, 0.95);
    assert_true(d.count == 1 && d.mean == 1 && d.percent == 50 && isnan(d.percent_low) &&
                isnan(d.percent_high) && isnan(d.p_value) && isnan(d.low));
    for (size_t n = 2; n <= 3; n++) {
        d = stats_delta(x, y, n, 0.95);
        assert_true(d.mean == 1 && d.low == 1 && d.high == 1 && d.p_value == 0);
        assert_true(d.percent == 50 && d.percent_low == 50 && d.percent_high == 50);
        d = stats_delta(x, x, n, 0.95);
        assert_true(d.mean == 0 && d.percent == 0 && d.p_value == 1);
        assert_true(d.percent_low == 0 && d.percent_high == 0);
        d = stats_delta(rising, rising, n, 0.95);
        assert_true(d.percent_low == 0 && d.percent_high == 0 && d.p_value == 1);
        d = stats_delta(x, zero, n, 0.95);
        assert_true(d.mean == 3 && isnan(d.percent) && isnan(d.percent_low) && d.p_value == 0);
        d = stats_delta(zero, y, n, 0.95);
        assert_true(d.percent == -100 && d.percent_low == -100 && d.percent_high == -100);
    }
    /* Of a baseline that may be 0 nothing bounds the ratio. */
    static const double about[] = { -1, 1.1, 0.1 };
    d = stats_delta(x, about, 3, 0.95);
    assert_true(isinf(d.percent_low) && d.percent_low < 0 && isinf(d.percent_high));
}

static int compare(const double *a, const double *b)
{
    return stats_order(a, b);
}

static void order_is_that_of_numbers(void **state)
{
    static const double v[] = { -(double)INFINITY, -2, -1e-9, 0, 1e-9, 3, (double)INFINITY };

    (void)state;
    for (size_t i = 0; i < 7; i++)
        for (size_t k = 0; k < 7; k++) {
            int order = compare(&v[i], &v[k]);
            assert_true(i < k ? order < 0 : i > k ? order > 0 : order == 0);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_of_a_mean_are_where_the_tests_reject),
        cmocka_unit_test(ends_of_a_ratio_are_where_the_tests_reject),
        cmocka_unit_test(ends_turn_round_with_the_sign),
        cmocka_unit_test(what_is_not_known_is_left_out),
        cmocka_unit_test(few_and_equal_samples_have_what_they_can_have),
        cmocka_unit_test(order_is_that_of_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
