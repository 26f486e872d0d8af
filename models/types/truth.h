/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * truth.h - the ground truth of a job: values that the simulation knows and
 * that are hidden from policies.
 */
#ifndef MODELS_TYPES_TRUTH_H
#define MODELS_TYPES_TRUTH_H

#include <stdint.h>

struct job_regimes;

struct job_truth {
    int64_t duration_ns;        /* recipe `trace`: run time on the GPUs that
                                   the job requests */
    uint64_t seed;              /* of its response lengths: rng_at(seed, step,
                                   phase, 0) gives the uniform of a draw */
    const struct job_regimes *regimes;  /* batch sizes over time; NULL: the
                                           job has no modes */
};

#endif
