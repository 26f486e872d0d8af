/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * likelihood_test.c - fits of all families to samples by lot: no neighbour of the fitted
 * parameters is more likely, and likelihoods, AIC and distances are those of formulas written a
 * second time.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sim/base/rng.h"
#include "sim/stats/likelihood.h"
#include "sim/stats/stats.h"

#define SAMPLE_MAX 400

static double normal(double z) { return erfc(-z / sqrt(2)) / 2; }

/* Logarithm of the density, by the book. */
static double log_density(const struct likelihood *f, double x)
{
    switch (f->family) {
    case LIKELIHOOD_EXPONENTIAL:
        return -x / f->a - log(f->a);
    case LIKELIHOOD_LOGNORMAL:
        return -pow((log(x) - f->a) / f->b, 2) / 2 - log(x * f->b * sqrt(2 * acos(-1)));
    case LIKELIHOOD_WEIBULL:
        return log(f->b / f->a) + (f->b - 1) * log(x / f->a) - pow(x / f->a, f->b);
    case LIKELIHOOD_GAMMA:
        return (f->a - 1) * log(x) - x / f->b - lgamma(f->a) - f->a * log(f->b);
    case LIKELIHOOD_PARETO:
        return x < f->a ? -INFINITY : log(f->b) + f->b * log(f->a) - (f->b + 1) * log(x);
    default:
        return log(f->c / f->a * exp(-x / f->a) + (1 - f->c) / f->b * exp(-x / f->b));
    }
}

static double sum_of(const struct likelihood *f, const double *sample, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += log_density(f, sample[i]);
    return sum;
}

/* Those that have a closed form; of the gamma an integral of the density. */
static double cdf(const struct likelihood *f, double x)
{
    double sum = 0;

    switch (f->family) {
    case LIKELIHOOD_EXPONENTIAL:
        return 1 - exp(-x / f->a);
    case LIKELIHOOD_LOGNORMAL:
        return normal((log(x) - f->a) / f->b);
    case LIKELIHOOD_WEIBULL:
        return 1 - exp(-pow(x / f->a, f->b));
    case LIKELIHOOD_PARETO:
        return x < f->a ? 0 : 1 - pow(f->a / x, f->b);
    case LIKELIHOOD_GAMMA:          /* below a shape of 1 by u = t^a, which has no pole at 0 */
        for (int i = 0; f->a >= 1 && i < 4000; i++)
            sum += exp(log_density(f, (i + 0.5) / 4000 * x)) * x / 4000;
        if (f->a >= 1)
            return sum;
        for (int i = 0; i < 4000; i++) {
            double u = (i + 0.5) / 4000 * pow(x, f->a);
            sum += exp(-pow(u, 1 / f->a) / f->b);
        }
        return sum / 4000 * pow(x, f->a) / f->a * exp(-lgamma(f->a) - f->a * log(f->b));
    default:
        return 1 - f->c * exp(-x / f->a) - (1 - f->c) * exp(-x / f->b);
    }
}

static void is_near(const char *what, int family, double found, double expected, double within)
{
    if (!(fabs(found - expected) <= within * (1 + fabs(expected))))
        fail_msg("%s of %s: %.12g, expected %.12g", what,
                 likelihood_name((enum likelihood_family)family), found, expected);
}

/* Both distances from the sorted sample: D'Agostino and Stephens 1986, section 4.2. */
static void check_distances(const struct likelihood *f, const double *sample, size_t n)
{
    double ks = 0, ad = 0;

    for (size_t i = 0; i < n; i++) {
        double below = likelihood_cdf(f, sample[i]);
        double above = 1 - likelihood_cdf(f, sample[n - 1 - i]);
        ks = fmax(ks, fmax(below - (double)i / (double)n, (double)(i + 1) / (double)n - below));
        ad -= (2.0 * (double)i + 1) / (double)n * (log(fmax(below, 1e-300)) +
                                                   log(fmax(above, 1e-300)));
    }
    is_near("KS", (int)f->family, f->ks, ks, 1e-9);
    if (f->family != LIKELIHOOD_PARETO)     /* whose least value has a probability of 0 */
        is_near("AD", (int)f->family, f->ad, ad - (double)n, 1e-6);
}

/* A step of any parameter to either side loses; the scale of the Pareto may only fall. */
static void check_maximum(const struct likelihood *f, const double *sample, size_t n)
{
    double here = sum_of(f, sample, n);
    bool two = f->family == LIKELIHOOD_HYPEREXPONENTIAL;

    for (int k = 0; k < 3; k++)
        for (int side = -1; side <= 1; side += 2) {
            struct likelihood other = *f;
            double *moved = k == 0 ? &other.a : k == 1 ? &other.b : &other.c;
            if ((k == 1 && f->family == LIKELIHOOD_EXPONENTIAL) || (k == 2 && !two))
                continue;
            *moved += side * 0.01 * fmax(fabs(*moved), 0.01);
            if (k == 2 && *moved >= 1)
                continue;
            double there = sum_of(&other, sample, n);
            if (there > here + (two ? 1e-3 : 1e-9) * fabs(here))
                fail_msg("%s: %.9g at %.9g, and %.9g at %.9g", likelihood_name(f->family), here,
                         k == 0 ? f->a : k == 1 ? f->b : f->c, there, *moved);
        }
}

static void check_fit(const struct likelihood *f, const double *sample, size_t n)
{
    static const int parameters[] = { 1, 2, 2, 2, 2, 3 };
    double sum = sum_of(f, sample, n);

    /* The fit of two exponentials goes on until a step adds hardly anything. */
    double within = f->family == LIKELIHOOD_HYPEREXPONENTIAL ? 1e-6 : 1e-9;
    is_near("likelihood", (int)f->family, f->log_likelihood, sum, within);
    is_near("AIC", (int)f->family, f->aic, 2 * (parameters[f->family] - f->log_likelihood),
            1e-12);
    for (size_t i = 0; i < n; i += 7)
        is_near("P", (int)f->family, likelihood_cdf(f, sample[i]), cdf(f, sample[i]), 2e-4);
    assert_true(likelihood_cdf(f, 0) == 0 && likelihood_cdf(f, -1) == 0);
    check_distances(f, sample, n);
    check_maximum(f, sample, n);
}

static double draw_one(struct rng *rng, int from)
{
    switch (from) {
    case 0: return rng_exponential(rng, 20);
    case 1: return rng_lognormal(rng, 2, 0.9);
    case 2: return rng_weibull(rng, 30, 0.6);
    case 3: return rng_gamma(rng, 3, 7);
    case 4: return rng_pareto(rng, 5, 1.7);
    default: return rng_below(rng, 4) == 0 ? rng_exponential(rng, 200) : rng_exponential(rng, 3);
    }
}

static void no_neighbour_is_more_likely(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 48; seed++) {
        double sample[SAMPLE_MAX];
        struct likelihood fit[LIKELIHOOD_FAMILIES];
        bool good[LIKELIHOOD_FAMILIES];
        size_t n = 20 + (size_t)seed * 8, best;
        struct rng rng;

        rng_init(&rng, seed, "likelihood", 0);
        for (size_t i = 0; i < n; i++)
            sample[i] = draw_one(&rng, (int)(seed % 6)) + 1e-3;
        qsort(sample, n, sizeof *sample, stats_order);
        assert_true(likelihood_best(sample, n, fit, good, &best));
        assert_true(good[best]);
        for (int f = 0; f < LIKELIHOOD_FAMILIES; f++) {
            if (!good[f])
                continue;
            assert_int_equal(fit[f].family, f);
            check_fit(&fit[f], sample, n);
            assert_true(fit[best].aic <= fit[f].aic);
        }
        for (int f = 0; f < LIKELIHOOD_HYPEREXPONENTIAL; f++)
            assert_true(good[f]);
    }
}

/* 1,999 values near 1 and one so large that neither exponential can have given it at first: it is
 * of the longer one, which then has its value for a mean. */
static void what_both_vanish_at_is_of_the_longer_one(void **state)
{
    static double sample[2000];
    struct likelihood fit;
    double sum = 0;

    (void)state;
    for (size_t i = 0; i < 1999; i++)
        sum += sample[i] = 1 + (double)i / 4000;
    sample[1999] = 1e9;
    assert_true(likelihood_fit(LIKELIHOOD_HYPEREXPONENTIAL, sample, 2000, &fit));
    assert_true(fabs(fit.a / (sum / 1999) - 1) < 1e-3);
    assert_true(fabs(fit.b / 1e9 - 1) < 1e-3);
    assert_true(fabs(fit.c / (1999.0 / 2000) - 1) < 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_neighbour_is_more_likely),
        cmocka_unit_test(what_both_vanish_at_is_of_the_longer_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
