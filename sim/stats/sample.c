/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sample.c - points spread over the unit cube.
 *
 * GSL's Sobol sequence begins with its point 1, (0.5, 0.5, ...): the origin, at
 * which every input has its least value, never comes.
 */
#include "sim/stats/sample.h"

#include <assert.h>
#include <gsl/gsl_qrng.h>
#include <stdint.h>

#include "sim/base/arena.h"
#include "sim/base/rng.h"

void sample_sobol(double *u, size_t points, size_t dimensions)
{
    gsl_qrng *sequence;

    assert(dimensions > 0 && dimensions <= SAMPLE_DIMENSIONS_MAX);
    sequence = gsl_qrng_alloc(gsl_qrng_sobol, (unsigned)dimensions);
    if (sequence == NULL)
        arena_run_out();
    for (size_t i = 0; i < points; i++)
        gsl_qrng_get(sequence, u + i * dimensions);
    gsl_qrng_free(sequence);
}

/* Each dimension deals the parts out by a shuffle of its own (Fisher, Yates). */
void sample_latin(struct rng *rng, double *u, size_t points, size_t dimensions)
{
    assert(points > 0 && dimensions > 0);
    for (size_t d = 0; d < dimensions; d++) {
        for (size_t i = 0; i < points; i++)
            u[i * dimensions + d] = (double)i;
        for (size_t i = points; i > 1; i--) {
            size_t j = (size_t)rng_below(rng, i);
            double part = u[(i - 1) * dimensions + d];

            u[(i - 1) * dimensions + d] = u[j * dimensions + d];
            u[j * dimensions + d] = part;
        }
        for (size_t i = 0; i < points; i++)
            u[i * dimensions + d] =
                (u[i * dimensions + d] + rng_uniform(rng)) / (double)points;
    }
}
