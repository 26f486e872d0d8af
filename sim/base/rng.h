/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rng.h - random numbers in named streams.
 *
 * A stream is fixed by (experiment seed, stream name, replica) and by nothing
 * else, so one component's draws never move another's: two policies see the
 * same arrivals and the same failures.  The generator is sfc64 (Doty-Humphrey,
 * PractRand), 64 bits a draw, because GSL's own keep 32 bits of a seed; its
 * ziggurats (Marsaglia & Tsang 2000, 256 layers) give exponential and normal.
 * rng_gsl.h wraps the stream as a gsl_rng for every other distribution.
 *
 * What is drawn per event is inline: the call costs as much as the draw.
 */
#ifndef SIM_BASE_RNG_H
#define SIM_BASE_RNG_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

/* A plain value: copying forks the stream at its present state. */
struct rng {
    uint64_t a, b, c, counter;
};

/* Sets the stream that (seed, name, replica) fix. `stream` names the component
 * that draws ("arrival"), `replica` the trial. Equal triples give equal draws
 * on every machine. */
void rng_init(struct rng *rng, uint64_t seed, const char *stream,
              uint64_t replica);

static inline uint64_t rng_u64(struct rng *rng);
static inline double rng_uniform(struct rng *rng);      /* [0, 1), 53 bits */
uint64_t rng_below(struct rng *rng, uint64_t limit);    /* unbiased */

/* Distributions.  Parameters out of range fail an assertion; nothing is
 * allocated.  The lognormal takes mean and deviation of the logarithm.  The
 * Pareto is of type I, with its least value `scale`.  Weibull and Pareto invert
 * their distribution function, at one draw a value. */
static inline double rng_exponential(struct rng *rng, double mean);
static inline double rng_normal(struct rng *rng, double mean, double sd);
double rng_lognormal(struct rng *rng, double log_mean, double log_sd);
double rng_weibull(struct rng *rng, double scale, double shape);
double rng_pareto(struct rng *rng, double scale, double shape);
double rng_gamma(struct rng *rng, double shape, double scale);  /* GSL's */
double rng_beta(struct rng *rng, double a, double b);           /* GSL's */

/* Returns an index below count with probability weight[i] / sum, never one of
 * weight 0. At least one weight must be above 0 and none below. */
size_t rng_pick(struct rng *rng, const double *weight, size_t count);

/* A uniform in [0, 1) fixed by a key alone: draws that must not depend on the
 * order in which they are asked for (step k of job j, say). */
double rng_at(uint64_t seed, uint64_t a, uint64_t b, uint64_t c);

/* Returns a hash of a text's bytes, equal on every machine. */
uint64_t rng_hash_text(const char *text);

/* One layer of a ziggurat: a draw j of 53 bits gives x = j * scale, which
 * stands as it is if j < inside.  Layer 0 is the base strip with the tail.  The densities
 * stand in an array of their own, since only a draw at an edge needs them. */
struct rng_layer {
    uint64_t inside;            /* draws below it lie under the curve for sure */
    double scale;               /* the width of the layer over the number of draws */
};

#define RNG_LAYER_COUNT 256u
extern const struct rng_layer rng_exponential_layer[RNG_LAYER_COUNT];
extern const double rng_exponential_density[RNG_LAYER_COUNT];
extern const struct rng_layer rng_normal_layer[RNG_LAYER_COUNT];
extern const double rng_normal_density[RNG_LAYER_COUNT];

/* Decide a draw at the edge of a layer or in the tail; `bits` are those that
 * the inline part drew.  Return a value of mean 1, or of mean 0 and deviation
 * 1.  One draw in 45 (exponential) or 67 (normal) needs them. */
double rng_exponential_edge(struct rng *rng, uint64_t bits);
double rng_normal_edge(struct rng *rng, uint64_t bits);

static inline uint64_t rng_u64(struct rng *rng)
{
    uint64_t out = rng->a + rng->b + rng->counter++;
    rng->a = rng->b ^ rng->b >> 11;
    rng->b = rng->c + (rng->c << 3);
    rng->c = (rng->c << 24 | rng->c >> 40) + out;
    return out;
}

static inline double rng_uniform(struct rng *rng)
{
    return (double)(int64_t)(rng_u64(rng) >> 11) * 0x1p-53;
}

/* The layer is the low 8 bits and the draw the high 53: independent. */
static inline double rng_exponential(struct rng *rng, double mean)
{
    assert(mean >= 0);
    uint64_t bits = rng_u64(rng);
    const struct rng_layer *layer = &rng_exponential_layer[bits & 255];
    uint64_t draw = bits >> 11;
    if (__builtin_expect(draw < layer->inside, 1))
        return mean * ((double)(int64_t)draw * layer->scale);
    struct rng edge = *rng;     /* so that rng may stay in registers */
    double x = rng_exponential_edge(&edge, bits);
    *rng = edge;
    return mean * x;
}

/* As rng_exponential(), with a signed draw of 54 bits. */
static inline double rng_normal(struct rng *rng, double mean, double sd)
{
    assert(sd >= 0);
    uint64_t bits = rng_u64(rng);
    const struct rng_layer *layer = &rng_normal_layer[bits & 255];
    int64_t draw = (int64_t)bits >> 10;
    uint64_t size = (uint64_t)(draw < 0 ? -draw : draw);
    if (__builtin_expect(size < layer->inside, 1))
        return mean + sd * ((double)draw * layer->scale);
    struct rng edge = *rng;
    double x = rng_normal_edge(&edge, bits);
    *rng = edge;
    return mean + sd * x;
}

#endif
