/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * random.c - probes of random variates: ns a draw, summed in a loop.
 */
#include <assert.h>
#include <stdlib.h>

#include "sim/base/rng.h"
#include "tests/bench/probe.h"

struct draws {
    struct rng rng;
    uint64_t count;
    double sum;                 /* used, so that it is computed */
};

static void *draws_make(uint64_t size, bool quick)
{
    struct draws *draws = calloc(1, sizeof *draws);
    assert(draws != NULL);
    rng_init(&draws->rng, 1, "draws", size);
    draws->count = quick ? 500000 : 5000000;
    return draws;
}

static double draws_end(struct draws *draws, const struct rng *rng,
                        double start, double sum)
{
    double ns = (bench_cpu_ns() - start) / (double)draws->count;
    draws->rng = *rng;
    draws->sum += sum;
    return ns;
}

static double u64_stretch(void *self)
{
    struct draws *draws = self;
    struct rng rng = draws->rng;
    double start = bench_cpu_ns();
    uint64_t sum = 0;
    for (uint64_t i = 0; i < draws->count; i++)
        sum += rng_u64(&rng);
    return draws_end(draws, &rng, start, (double)sum);
}

static double exponential_stretch(void *self)
{
    struct draws *draws = self;
    struct rng rng = draws->rng;
    double sum = 0, start = bench_cpu_ns();
    for (uint64_t i = 0; i < draws->count; i++)
        sum += rng_exponential(&rng, 1);
    return draws_end(draws, &rng, start, sum);
}

static double normal_stretch(void *self)
{
    struct draws *draws = self;
    struct rng rng = draws->rng;
    double sum = 0, start = bench_cpu_ns();
    for (uint64_t i = 0; i < draws->count; i++)
        sum += rng_normal(&rng, 0, 1);
    return draws_end(draws, &rng, start, sum);
}

static double lognormal_stretch(void *self)
{
    struct draws *draws = self;
    struct rng rng = draws->rng;
    double sum = 0, start = bench_cpu_ns();
    for (uint64_t i = 0; i < draws->count; i++)
        sum += rng_lognormal(&rng, 0, 1);
    return draws_end(draws, &rng, start, sum);
}

const struct bench_probe_type bench_u64 = {draws_make, u64_stretch, free};
const struct bench_probe_type bench_exponential = {draws_make,
                                                   exponential_stretch, free};
const struct bench_probe_type bench_normal = {draws_make, normal_stretch,
                                              free};
const struct bench_probe_type bench_lognormal = {draws_make,
                                                 lognormal_stretch, free};
