/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * distribution.c - draws of a distribution, their bounds and their mean.
 *
 * Every kind has two parameters, so that a draw is one call of sim/base/rng.h:
 *
 *  kind         a           b
 *  constant     value       -
 *  uniform      low         high
 *  exponential  mean        -
 *  lognormal    log mean    log sd
 *  weibull      scale       shape
 *  gamma        shape       scale
 *  pareto       scale       shape
 *
 * A choice is a list of values and their weights, a hyperexponential one of
 * means, a sample of a file one whose values are all alike.
 *
 * The mean of what is clamped to [low, high] is E[min(x, high)] - E[min(x, low)] + low.
 * Each kind has E[min(x, most)] in closed form, from the integral of 1 - F.
 */
#include "workloads/random/distribution.h"

#include <assert.h>
#include <math.h>

#include "sim/base/rng.h"

#define GAMMA_SHAPE_MAX 1e5     /* beyond it the series of gamma_below() is long */

/* A draw beyond min or max becomes that bound. */
double distribution_draw(const struct distribution *d, struct rng *rng)
{
    double x = d->a;

    switch (d->kind) {
    case DISTRIBUTION_CONSTANT:
        break;
    case DISTRIBUTION_UNIFORM:
        x = d->a + (d->b - d->a) * rng_uniform(rng);
        break;
    case DISTRIBUTION_EXPONENTIAL:
        x = rng_exponential(rng, d->a);
        break;
    case DISTRIBUTION_LOGNORMAL:
        x = rng_lognormal(rng, d->a, d->b);
        break;
    case DISTRIBUTION_WEIBULL:
        x = rng_weibull(rng, d->a, d->b);
        break;
    case DISTRIBUTION_GAMMA:
        x = rng_gamma(rng, d->a, d->b);
        break;
    case DISTRIBUTION_PARETO:
        x = rng_pareto(rng, d->a, d->b);
        break;
    case DISTRIBUTION_HYPEREXPONENTIAL:
        x = d->sample[rng_pick(rng, d->weight, d->sample_count)];
        x = rng_exponential(rng, x);
        break;
    case DISTRIBUTION_CHOICE:
        x = d->sample[rng_pick(rng, d->weight, d->sample_count)];
        break;
    case DISTRIBUTION_EMPIRICAL:
        x = d->sample[rng_below(rng, d->sample_count)];
        break;
    case DISTRIBUTION_KIND_COUNT:
        assert(!"a kind");
    }
    if (x < d->min)
        return d->min;
    return x > d->max ? d->max : x;
}

/* Does a draw return one of the samples?  (Those of a hyperexponential are
 * means.) */
static bool is_discrete(const struct distribution *d)
{
    return d->kind == DISTRIBUTION_CHOICE ||
           d->kind == DISTRIBUTION_EMPIRICAL;
}

/* Returns the smallest sample.  Samples are not sorted, so all are looked at. */
static double least_sample(const struct distribution *d)
{
    double least = d->sample[0];

    for (size_t i = 1; i < d->sample_count; i++)
        if (d->sample[i] < least)
            least = d->sample[i];
    return least;
}

/* Kinds without a parameter for it draw from 0 on.  Clamping may raise or lower
 * it. */
double distribution_least(const struct distribution *d)
{
    double least = 0.0;

    if (d->kind == DISTRIBUTION_CONSTANT ||
        d->kind == DISTRIBUTION_UNIFORM || d->kind == DISTRIBUTION_PARETO)
        least = d->a;
    else if (is_discrete(d))
        least = least_sample(d);
    if (least > d->max)
        return d->max;
    return least < d->min ? d->min : least;
}

/* Kinds with a tail have no largest draw, unless `max` clamps it. */
double distribution_most(const struct distribution *d)
{
    double most = INFINITY;

    if (d->kind == DISTRIBUTION_CONSTANT)
        most = d->a;
    else if (d->kind == DISTRIBUTION_UNIFORM)
        most = d->b;
    for (size_t i = 0; is_discrete(d) && i < d->sample_count; i++)
        if (i == 0 || d->sample[i] > most)
            most = d->sample[i];
    if (most < d->min)
        return d->min;
    return most > d->max ? d->max : most;
}

/* Is it a number of GPUs: whole, or below 1 in whole thousandths?  A double
 * such as 0.07 is not exact, hence the tolerance of 1e-6 thousandths. */
static bool is_gpus(double value)
{
    return value >= 1.0 ? value == floor(value)
                        : value > 0.0 && fabs(value * 1000.0 -
                                              rint(value * 1000.0)) < 1e-6;
}

/* Kinds with a density draw no whole numbers.  Clamps may become draws, so they
 * must be numbers of GPUs, too. */
bool distribution_gpus(const struct distribution *d)
{
    bool good = d->kind == DISTRIBUTION_CONSTANT ? is_gpus(d->a)
                                                 : is_discrete(d);

    for (size_t i = 0; i < d->sample_count; i++)
        good = good && is_gpus(d->sample[i]);
    return good && (!isfinite(d->min) || is_gpus(d->min)) &&
           (!isfinite(d->max) || is_gpus(d->max));
}

/* In closed form by kind; the mean of samples where they are drawn. */
double distribution_mean(const struct distribution *d)
{
    double sum = 0.0;

    switch (d->kind) {
    case DISTRIBUTION_CONSTANT:
    case DISTRIBUTION_EXPONENTIAL:
        return d->a;
    case DISTRIBUTION_UNIFORM:
        return (d->a + d->b) / 2.0;
    case DISTRIBUTION_LOGNORMAL:
        return exp(d->a + d->b * d->b / 2.0);
    case DISTRIBUTION_WEIBULL:
        return d->a * tgamma(1.0 + 1.0 / d->b);
    case DISTRIBUTION_GAMMA:
        return d->a * d->b;
    case DISTRIBUTION_PARETO:
        return d->b > 1.0 ? d->a * d->b / (d->b - 1.0) : INFINITY;
    case DISTRIBUTION_HYPEREXPONENTIAL:
    case DISTRIBUTION_CHOICE:
        for (size_t i = 0; i < d->sample_count; i++)
            sum += d->weight[i] * d->sample[i];
        return sum;
    case DISTRIBUTION_EMPIRICAL:
        for (size_t i = 0; i < d->sample_count; i++)
            sum += d->sample[i];
        return sum / (double)d->sample_count;
    case DISTRIBUTION_KIND_COUNT:
        break;
    }
    assert(!"a kind");
    return 0.0;
}

/* The share of a gamma distribution of this shape, and scale 1, below x: its series.  One
 * of a shape beyond GAMMA_SHAPE_MAX has draws that differ by 0.3%: they count as alike. */
static double gamma_below(double shape, double x)
{
    assert(shape > 0.0 && x >= 0.0);
    double term = exp(shape * log(x) - x - lgamma(shape + 1.0)), sum = 0.0;

    if (!(x > 0.0))
        return 0.0;
    if (shape > GAMMA_SHAPE_MAX || x > shape + 40.0 + 12.0 * sqrt(shape))
        return x > shape ? 1.0 : 0.0;
    for (double n = shape + 1.0; term > 1e-17 * sum || n < x; n++) {
        sum += term;
        term *= x / n;
    }
    return sum;
}

/* The share of a lognormal distribution below x, given log x.  With a log sd of
 * 0 it is one value. */
static double lognormal_below(const struct distribution *d, double log_x)
{
    assert(d->kind == DISTRIBUTION_LOGNORMAL);
    if (!(d->b > 0.0))
        return log_x >= d->a ? 1.0 : 0.0;
    return erfc((d->a - log_x) / d->b / sqrt(2.0)) / 2.0;
}

/* Returns E[min(x, most)] of the kinds that draw from 0 on, for 0 < most < INFINITY. */
static double mean_up_to(const struct distribution *d, double most)
{
    double mean = distribution_mean(d), below, sum = 0.0;

    assert(most > 0.0 && isfinite(most));
    switch (d->kind) {
    case DISTRIBUTION_EXPONENTIAL:
        return -mean * expm1(-most / mean);
    case DISTRIBUTION_LOGNORMAL:
        below = lognormal_below(d, log(most));
        return mean * lognormal_below(d, log(most) - d->b * d->b) + most * (1.0 - below);
    case DISTRIBUTION_WEIBULL:
        below = pow(most / d->a, d->b);
        return mean * gamma_below(1.0 + 1.0 / d->b, below) + most * exp(-below);
    case DISTRIBUTION_GAMMA:
        below = gamma_below(d->a, most / d->b);
        return mean * gamma_below(d->a + 1.0, most / d->b) + most * (1.0 - below);
    case DISTRIBUTION_HYPEREXPONENTIAL:
        for (size_t i = 0; i < d->sample_count; i++)
            sum -= d->weight[i] * d->sample[i] * expm1(-most / d->sample[i]);
        return sum;
    default:
        break;
    }
    assert(!"a kind that draws from 0 on");
    return 0.0;
}

/* Returns E[min(x, most)] of the kinds whose smallest draw is known, uniform
 * and Pareto, for a `most` above it. */
static double mean_from_up_to(const struct distribution *d, double most)
{
    double over = most / d->a;

    assert(d->kind == DISTRIBUTION_UNIFORM || d->kind == DISTRIBUTION_PARETO);
    assert(most > d->a);
    if (d->kind == DISTRIBUTION_UNIFORM)
        return most >= d->b ? (d->a + d->b) / 2.0
                            : most - (most - d->a) * (most - d->a) / (d->b - d->a) / 2.0;
    if (d->b == 1.0)
        return d->a * (1.0 + log(over));
    return d->a * (1.0 + (1.0 - pow(over, 1.0 - d->b)) / (d->b - 1.0));
}

/* Returns E[min(x, most)] of any kind.  `most` may be infinite, or below all
 * draws. */
static double mean_at_most(const struct distribution *d, double most)
{
    double sum = 0.0;

    assert(!isnan(most));
    if (d->kind == DISTRIBUTION_CONSTANT)
        return fmin(d->a, most);
    for (size_t i = 0; is_discrete(d) && i < d->sample_count; i++)
        sum += fmin(d->sample[i], most) *
               (d->weight != NULL ? d->weight[i] : 1.0 / (double)d->sample_count);
    if (is_discrete(d))
        return sum;
    if (isinf(most))
        return distribution_mean(d);
    if (d->kind == DISTRIBUTION_UNIFORM || d->kind == DISTRIBUTION_PARETO)
        return most > d->a ? mean_from_up_to(d, most) : most;
    /* Where a mean is beyond all numbers, so are nearly all draws beyond most. */
    return most > 0.0 ? fmin(most, mean_up_to(d, most)) : most;
}

double distribution_clamped_mean(const struct distribution *d)
{
    assert(d->min <= d->max);
    double mean = mean_at_most(d, d->max);

    if (isinf(d->min))
        return mean;
    return fmin(fmax(mean - mean_at_most(d, d->min) + d->min, d->min), d->max);
}
