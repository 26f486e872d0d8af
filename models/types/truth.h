/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * truth.h - what the simulation knows of a job and no policy may.
 */
#ifndef MODELS_TYPES_TRUTH_H
#define MODELS_TYPES_TRUTH_H

#include <stdint.h>

struct job_regimes;

struct job_truth {
    int64_t duration_ns;        /* recipe `trace`: run time on what it tasks */
    uint64_t seed;              /* of its response lengths: rng_at(seed, step,
                                   phase, 0) gives the uniform of a draw */
    const struct job_regimes *regimes;  /* of a job with modes */
};

#endif
