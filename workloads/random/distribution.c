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
 */
#include "workloads/random/distribution.h"

#include <assert.h>
#include <math.h>

#include "sim/base/rng.h"

/* What is beyond min or max becomes that bound; distribution_mean() does not
 * count that. */
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

/* Are the samples what is drawn? */
static bool is_discrete(const struct distribution *d)
{
    return d->kind == DISTRIBUTION_CHOICE ||
           d->kind == DISTRIBUTION_EMPIRICAL;
}

/* Samples are not sorted, so that all are looked at. */
static double least_sample(const struct distribution *d)
{
    double least = d->sample[0];

    for (size_t i = 1; i < d->sample_count; i++)
        if (d->sample[i] < least)
            least = d->sample[i];
    return least;
}

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

/* A whole number, or a part of one in whole thousandths. */
static bool is_gpus(double value)
{
    return value >= 1.0 ? value == floor(value)
                        : value > 0.0 && fabs(value * 1000.0 -
                                              rint(value * 1000.0)) < 1e-6;
}

bool distribution_gpus(const struct distribution *d)
{
    bool good = d->kind == DISTRIBUTION_CONSTANT ? is_gpus(d->a)
                                                 : is_discrete(d);

    for (size_t i = 0; i < d->sample_count; i++)
        good = good && is_gpus(d->sample[i]);
    return good && (!isfinite(d->min) || is_gpus(d->min)) &&
           (!isfinite(d->max) || is_gpus(d->max));
}

/* Clamping is left out: where it matters, callers draw. */
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
