/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * likelihood.c - distributions fitted to samples by maximum likelihood, and how
 * well they fit.
 *
 * Exponential, lognormal and Pareto have closed forms; the shapes of Weibull and
 * gamma are roots of the likelihood's derivative (Johnson, Kotz and Balakrishnan,
 * Continuous Univariate Distributions 1, 1994, chapters 17 and 21); two
 * exponentials are found by expectation maximization (Asmussen, Nerman and
 * Olsson, Scand. J. Statist. 23, 1996).  Powers are taken of values over the
 * largest, so that no sum leaves the range of a double.  The distances are those
 * of D'Agostino and Stephens, Goodness-of-Fit Techniques, 1986, chapter 4; their
 * published critical values are for given parameters, not for fitted ones.
 */
#include "sim/stats/likelihood.h"

#include <assert.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sf_gamma.h>
#include <gsl/gsl_sf_psi.h>
#include <math.h>

#define STEPS_MAX 500           /* of expectation maximization */
#define PRECISION 1e-10         /* relative, of shapes */
#define SHAPE_MIN 1e-3          /* outside, a sample is as good as constant, */
#define SHAPE_MAX 1e5           /* or spread beyond what doubles hold */

struct sums {
    /* Means of x and of ln x, and the variance of ln x (divided by count). */
    double count, mean, log_mean, log_square;
};

static const char *const names[LIKELIHOOD_FAMILIES] = {
    "exponential", "lognormal", "weibull", "gamma", "pareto",
    "hyperexponential"
};

const char *likelihood_name(enum likelihood_family family)
{
    assert((unsigned)family < LIKELIHOOD_FAMILIES);
    return names[family];
}

/* Two passes, so that the spread of logarithms does not cancel. */
static struct sums sum_up(const double *sample, size_t count)
{
    assert(count > 0);
    struct sums sums = {.count = (double)count};
    double sum = 0.0, logs = 0.0, squares = 0.0;

    for (size_t i = 0; i < count; i++) {
        sum += sample[i];
        logs += log(sample[i]);
    }
    sums.mean = sum / sums.count;
    sums.log_mean = logs / sums.count;
    for (size_t i = 0; i < count; i++) {
        double off = log(sample[i]) - sums.log_mean;

        squares += off * off;
    }
    sums.log_square = squares / sums.count;
    assert(sums.mean > 0 && sums.log_square >= 0);
    return sums;
}

/* ---- each family --------------------------------------------------------- */

/* a: the mean.  For an exponential the sum of log densities is -n (log mean + 1). */
static void fit_exponential(const struct sums *sums, struct likelihood *out)
{
    assert(sums->mean > 0);
    out->a = sums->mean;
    out->log_likelihood = -sums->count * (log(sums->mean) + 1.0);
}

/* a, b: mean and standard deviation of the logarithms, by n and not n - 1: the
 * maximum. */
static void fit_lognormal(const struct sums *sums, struct likelihood *out)
{
    assert(sums->log_square >= 0);
    out->a = sums->log_mean;
    out->b = sqrt(sums->log_square);
    out->log_likelihood =
        -sums->count * (sums->log_mean + log(out->b) +
                        0.5 * log(2.0 * acos(-1.0)) + 0.5);
}

/* sum x^k ln x / sum x^k - 1/k - mean ln x, which grows with k. */
static double weibull_slope(double shape, const double *sample, size_t count,
                            const struct sums *sums)
{
    assert(shape > 0 && count > 0);
    double powers = 0.0, logs = 0.0, top = log(sample[count - 1]);

    for (size_t i = 0; i < count; i++) {
        double l = log(sample[i]), power = exp(shape * (l - top));

        powers += power;
        logs += power * l;
    }
    return logs / powers - 1.0 / shape - sums->log_mean;
}

/* Bisects the logarithm of the shape; the scale follows from the shape. */
static void fit_weibull(const double *sample, size_t count,
                        const struct sums *sums, struct likelihood *out)
{
    double low = SHAPE_MIN, high = SHAPE_MAX, powers = 0.0;
    double top = log(sample[count - 1]);

    while (high / low > 1.0 + PRECISION) {
        double middle = sqrt(low * high);

        if (weibull_slope(middle, sample, count, sums) < 0.0)
            low = middle;
        else
            high = middle;
    }
    out->b = sqrt(low * high);
    for (size_t i = 0; i < count; i++)
        powers += exp(out->b * (log(sample[i]) - top));
    out->a = exp(top + log(powers / sums->count) / out->b);
    out->log_likelihood =
        sums->count * (log(out->b) - out->b * log(out->a) +
                       (out->b - 1.0) * sums->log_mean - 1.0);
    assert(out->a > 0 && out->b > 0);
}

/* ln k - psi(k) = ln mean - mean ln, by bisection: the left side falls. */
static bool fit_gamma(const struct sums *sums, struct likelihood *out)
{
    double want = log(sums->mean) - sums->log_mean;
    double low = SHAPE_MIN, high = SHAPE_MAX;

    if (!(want > log(high) - gsl_sf_psi(high)) ||
        !(want < log(low) - gsl_sf_psi(low)))
        return false;
    while (high / low > 1.0 + PRECISION) {
        double middle = sqrt(low * high);

        if (log(middle) - gsl_sf_psi(middle) > want)
            low = middle;
        else
            high = middle;
    }
    out->a = sqrt(low * high);
    out->b = sums->mean / out->a;
    out->log_likelihood =
        sums->count * ((out->a - 1.0) * sums->log_mean - out->a -
                       gsl_sf_lngamma(out->a) - out->a * log(out->b));
    assert(out->a > 0 && out->b > 0);
    return true;
}

/* The scale is the smallest value.  False: all values are equal. */
static bool fit_pareto(const double *sample, const struct sums *sums,
                       struct likelihood *out)
{
    double off = sums->log_mean - log(sample[0]);

    if (!(off > 0.0))
        return false;
    out->a = sample[0];
    out->b = 1.0 / off;
    out->log_likelihood =
        sums->count * (log(out->b) + out->b * log(out->a) -
                       (out->b + 1.0) * sums->log_mean);
    assert(out->a > 0 && out->b > 0);
    return true;
}

/* One step: how likely each value came from the first; returns the log
 * likelihood of what the step began with. */
static double two_step(const double *sample, size_t count,
                       struct likelihood *at)
{
    assert(at->a > 0 && at->b > 0 && count > 0);
    double first = 0.0, first_sum = 0.0, rest_sum = 0.0, total = 0.0;
    double n = (double)count;

    for (size_t i = 0; i < count; i++) {
        double p = at->c / at->a * exp(-sample[i] / at->a);
        double q = (1.0 - at->c) / at->b * exp(-sample[i] / at->b);
        double share = p / (p + q);

        if (!(p + q > 0.0))     /* both vanish: it is of the longer one */
            share = at->a > at->b ? 1.0 : 0.0;
        total += p + q > 0.0 ? log(p + q) : -745.0;
        first += share;
        first_sum += share * sample[i];
        rest_sum += (1.0 - share) * sample[i];
    }
    if (!(first > 0.0 && first < n && first_sum > 0.0 && rest_sum > 0.0))
        return total;
    at->a = first_sum / first;
    at->b = rest_sum / (n - first);
    at->c = first / n;
    return total;
}

/* Begins with the means of the lower and the upper half. */
static bool fit_two(const double *sample, size_t count,
                    struct likelihood *out)
{
    double low = 0.0, high = 0.0, last = -INFINITY;
    size_t half = count / 2;

    if (count < 4 || !(sample[0] < sample[count - 1]))
        return false;
    for (size_t i = 0; i < count; i++)
        *(i < half ? &low : &high) += sample[i];
    out->a = low / (double)half;
    out->b = high / (double)(count - half);
    out->c = 0.5;
    for (int step = 0; step < STEPS_MAX; step++) {
        out->log_likelihood = two_step(sample, count, out);
        if (out->log_likelihood - last <=
            PRECISION * fabs(out->log_likelihood))
            break;
        last = out->log_likelihood;
    }
    assert(half > 0 && half < count);
    return isfinite(out->log_likelihood) && out->a > 0.0 && out->b > 0.0 &&
           out->c > 0.0 && out->c < 1.0;
}

/* ---- how well ------------------------------------------------------------ */

double likelihood_cdf(const struct likelihood *fit, double x)
{
    if (x <= 0.0)
        return 0.0;
    switch (fit->family) {
    case LIKELIHOOD_EXPONENTIAL:
        return -expm1(-x / fit->a);
    case LIKELIHOOD_LOGNORMAL:
        return gsl_cdf_ugaussian_P((log(x) - fit->a) / fit->b);
    case LIKELIHOOD_WEIBULL:
        return -expm1(-pow(x / fit->a, fit->b));
    case LIKELIHOOD_GAMMA:
        return gsl_cdf_gamma_P(x, fit->a, fit->b);
    case LIKELIHOOD_PARETO:
        return x <= fit->a ? 0.0 : -expm1(fit->b * log(fit->a / x));
    case LIKELIHOOD_HYPEREXPONENTIAL:
        return -fit->c * expm1(-x / fit->a) -
               (1.0 - fit->c) * expm1(-x / fit->b);
    case LIKELIHOOD_FAMILIES:
        break;
    }
    assert(!"a family");
    return 0.0;
}

/* Equal values are one step of the sample's distribution. */
static void measure_fit(const double *sample, size_t count, struct likelihood *fit)
{
    assert(count > 0);
    const double tiny = 1e-300;
    double n = (double)count, sum = 0.0;

    for (size_t i = 0; i < count; i++) {
        double p = likelihood_cdf(fit, sample[i]);
        double q = 1.0 - likelihood_cdf(fit, sample[count - 1 - i]);
        bool first = i == 0 || sample[i] > sample[i - 1];
        bool last = i + 1 == count || sample[i + 1] > sample[i];

        if (first && p - (double)i / n > fit->ks)
            fit->ks = p - (double)i / n;
        if (last && (double)(i + 1) / n - p > fit->ks)
            fit->ks = (double)(i + 1) / n - p;
        sum += (2.0 * (double)i + 1.0) *
               (log(p > tiny ? p : tiny) + log(q > tiny ? q : tiny));
    }
    fit->ad = -n - sum / n;
    assert(fit->ks >= 0 && fit->ks <= 1);
}

/* All but the exponential need two different values.  The AIC is 2 k - 2 log
 * L, k being the number of parameters. */
bool likelihood_fit(enum likelihood_family family, const double *sample,
                    size_t count, struct likelihood *out)
{
    static const double parameters[LIKELIHOOD_FAMILIES] = {1, 2, 2, 2, 2, 3};
    struct likelihood fit = {.family = family};
    struct sums sums;
    bool good = count >= 2 && sample[0] < sample[count - 1];

    assert(count > 0 && sample[0] > 0.0);
    if (!good && family != LIKELIHOOD_EXPONENTIAL)
        return false;
    sums = sum_up(sample, count);
    good = true;
    if (family == LIKELIHOOD_EXPONENTIAL)
        fit_exponential(&sums, &fit);
    else if (family == LIKELIHOOD_LOGNORMAL)
        fit_lognormal(&sums, &fit);
    else if (family == LIKELIHOOD_WEIBULL)
        fit_weibull(sample, count, &sums, &fit);
    else if (family == LIKELIHOOD_GAMMA)
        good = fit_gamma(&sums, &fit);
    else if (family == LIKELIHOOD_PARETO)
        good = fit_pareto(sample, &sums, &fit);
    else
        good = fit_two(sample, count, &fit);
    if (!good)
        return false;
    fit.aic = 2.0 * parameters[family] - 2.0 * fit.log_likelihood;
    measure_fit(sample, count, &fit);
    *out = fit;
    return true;
}

bool likelihood_best(const double *sample, size_t count,
                     struct likelihood out[LIKELIHOOD_FAMILIES],
                     bool good[LIKELIHOOD_FAMILIES], size_t *best)
{
    assert(count > 0);
    *best = LIKELIHOOD_FAMILIES;
    for (int f = 0; f < LIKELIHOOD_FAMILIES; f++) {
        good[f] = likelihood_fit((enum likelihood_family)f, sample, count,
                                 &out[f]);
        if (good[f] && (*best == LIKELIHOOD_FAMILIES ||
                        out[f].aic < out[*best].aic))
            *best = (size_t)f;
    }
    return *best < LIKELIHOOD_FAMILIES;
}
