/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rng.c - seeding of streams and the draws that are not inline.
 *
 * A ziggurat covers the density with layers of equal area.  A draw that falls
 * in a layer's part under the curve for sure is taken as it is (rng.h); the
 * rest is decided here.  Layer i > 0 lies between the densities of layers i
 * and i - 1; layer 0 is the base strip, whose outside stands for the tail.
 */
#include "sim/base/rng.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include <gsl/gsl_randist.h>

#include "sim/base/rng_gsl.h"

/* Draws that are thrown away after seeding, until each bit of the state depends on each bit of
 * the seed. */
#define WARM_UP_ROUNDS 16   /* PractRand uses 12 after a three-word seed */

/* Where the tails begin, that is, x of the last layer: Marsaglia & Tsang
 * 2000, with more digits so that the layers close exactly. */
static const double exponential_tail = 7.69711747013104972;
static const double normal_tail = 3.6541528853610088;

/* The finalizer of splitmix64 (Steele, Lea & Flood 2014, variant 13 of
 * Stafford): one to one, every input bit moves every output bit. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* FNV-1a, 64 bits (Fowler, Noll & Vo), then mixed: its low bits are weak. */
uint64_t rng_hash_text(const char *text)
{
    assert(text != NULL);
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (const unsigned char *at = (const unsigned char *)text; *at; at++)
        hash = (hash ^ *at) * UINT64_C(0x100000001b3);
    return mix(hash);
}

/* (seed, name hash, replica) map one to one to the state, so streams differ
 * unless two names hash alike; the rounds then spread every bit. */
void rng_init(struct rng *rng, uint64_t seed, const char *stream,
              uint64_t replica)
{
    assert(rng != NULL && stream != NULL);
    rng->a = mix(seed + UINT64_C(0x9e3779b97f4a7c15));
    rng->b = rng_hash_text(stream);
    rng->c = mix(replica + UINT64_C(0xd1342543de82ef95));
    rng->counter = 1;
    for (int i = 0; i < WARM_UP_ROUNDS; i++)
        (void)rng_u64(rng);
}

/* Lemire 2019: the high word of a product, refused where it would be biased. */
uint64_t rng_below(struct rng *rng, uint64_t limit)
{
    __extension__ typedef unsigned __int128 u128;
    assert(limit > 0);
    u128 product = (u128)rng_u64(rng) * limit;
    if ((uint64_t)product < limit) {
        uint64_t refuse = -limit % limit;
        while ((uint64_t)product < refuse)
            product = (u128)rng_u64(rng) * limit;
    }
    assert((uint64_t)(product >> 64) < limit);
    return (uint64_t)(product >> 64);
}

/* Whether x, drawn in layer i > 0, lies under the curve.  A height between the densities of
 * the layer's two edges is drawn.  It needs the density at x itself, which is why only the
 * edge of a layer pays for an exp(). */
static int below_curve(struct rng *rng, const double *density, unsigned i,
                       double density_at_x)
{
    assert(i > 0 && i < RNG_LAYER_COUNT);
    double height = density[i - 1] - density[i];
    return density[i] + rng_uniform(rng) * height < density_at_x;
}

/* Beyond the tail's start an exponential is an exponential again.  So a draw from the tail
 * begins anew, moved by the tail's start. */
double rng_exponential_edge(struct rng *rng, uint64_t bits)
{
    double start = 0;
    for (;;) {
        unsigned i = (unsigned)(bits & 255);
        const struct rng_layer *layer = &rng_exponential_layer[i];
        uint64_t draw = bits >> 11;
        double x = (double)draw * layer->scale;
        if (draw < layer->inside)
            return start + x;
        assert(x >= 0 && start >= 0);
        if (i == 0)
            start += exponential_tail;
        else if (below_curve(rng, rng_exponential_density, i, exp(-x)))
            return start + x;
        bits = rng_u64(rng);
    }
}

/* Marsaglia 1964: the tail of a normal from two exponentials. */
static double normal_tail_draw(struct rng *rng)
{
    double x, y;
    do {
        x = rng_exponential(rng, 1 / normal_tail);
        y = rng_exponential(rng, 1);
    } while (y + y < x * x);
    assert(x >= 0);
    return normal_tail + x;
}

/* The slow path of the ziggurat (Marsaglia and Tsang 2000), for about one draw
 * in a hundred: the edge of a layer, or the tail below the lowest. */
double rng_normal_edge(struct rng *rng, uint64_t bits)
{
    for (;;) {
        unsigned i = (unsigned)(bits & 255);
        const struct rng_layer *layer = &rng_normal_layer[i];
        int64_t draw = (int64_t)bits >> 10;
        double x = (double)draw * layer->scale;
        if ((uint64_t)(draw < 0 ? -draw : draw) < layer->inside)
            return x;
        if (i == 0)
            return copysign(normal_tail_draw(rng), x);
        if (below_curve(rng, rng_normal_density, i, exp(-0.5 * x * x)))
            return x;
        bits = rng_u64(rng);
    }
}

double rng_lognormal(struct rng *rng, double log_mean, double log_sd)
{
    assert(log_sd >= 0);
    return exp(rng_normal(rng, log_mean, log_sd));
}

/* Inverse distribution functions: u in [0, 1), so 1 - u is never 0.  If U is uniform, scale x
 * (-ln(1 - U))^(1/shape) has the Weibull distribution. log1p() keeps the digits of a small u. */
double rng_weibull(struct rng *rng, double scale, double shape)
{
    assert(scale > 0 && shape > 0);
    return scale * pow(-log1p(-rng_uniform(rng)), 1 / shape);
}

double rng_pareto(struct rng *rng, double scale, double shape)
{
    assert(scale > 0 && shape > 0);
    return scale * pow(1 - rng_uniform(rng), -1 / shape);
}

double rng_gamma(struct rng *rng, double shape, double scale)
{
    gsl_rng wrapped;
    assert(scale > 0 && shape > 0);
    rng_gsl_wrap(rng, &wrapped);
    return gsl_ran_gamma(&wrapped, shape, scale);
}

double rng_beta(struct rng *rng, double a, double b)
{
    gsl_rng wrapped;
    assert(a > 0 && b > 0);
    rng_gsl_wrap(rng, &wrapped);
    return gsl_ran_beta(&wrapped, a, b);
}

/* An index with probability weight[i] / sum; never one of weight 0.  One draw, and O(count).
 * Rounding may leave a rest behind the last weight; the last index that has one gets it. */
size_t rng_pick(struct rng *rng, const double *weight, size_t count)
{
    double total = 0;
    size_t last = count;
    for (size_t i = 0; i < count; i++) {
        assert(weight[i] >= 0);
        total += weight[i];
        if (weight[i] > 0)
            last = i;
    }
    assert(last < count && isfinite(total));
    double left = rng_uniform(rng) * total;
    for (size_t i = 0; i < last; i++) {
        if (left < weight[i])
            return i;
        left -= weight[i];
    }
    return last;
}

/* Each key is mixed in after the one before, so that (1, 2) and (2, 1) differ.  The top 53
 * bits become the fraction of a double. */
double rng_at(uint64_t seed, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t hash = mix(seed + UINT64_C(0x9e3779b97f4a7c15));
    hash = mix((hash ^ a) + UINT64_C(0x9e3779b97f4a7c15));
    hash = mix((hash ^ b) + UINT64_C(0x9e3779b97f4a7c15));
    hash = mix((hash ^ c) + UINT64_C(0x9e3779b97f4a7c15));
    return (double)(int64_t)(hash >> 11) * 0x1p-53;
}

/* GSL's own distributions never seed the generator that they are given. This
 * serves a caller of gsl_rng_set(), which must get a stream as well. */
static void gsl_set(void *state, unsigned long seed)
{
    rng_init(state, seed, "gsl", 0);
}

/* What GSL calls for a whole number in [0, 2^64). */
static unsigned long gsl_get(void *state)
{
    return rng_u64(state);
}

/* What GSL calls for a number in [0, 1). */
static double gsl_get_double(void *state)
{
    return rng_uniform(state);
}

static const gsl_rng_type stream_type = {
    .name = "clustersim",
    .max = UINT64_MAX,
    .min = 0,
    .size = sizeof(struct rng),
    .set = gsl_set,
    .get = gsl_get,
    .get_double = gsl_get_double,
};

void rng_gsl_wrap(struct rng *rng, gsl_rng *out)
{
    assert(rng != NULL && out != NULL);
    out->type = &stream_type;
    out->state = rng;
}
