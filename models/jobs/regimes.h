/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * regimes.h - jobs whose batch size changes while they train.
 *
 * A job has so many epochs; an epoch takes a time that depends on the batch
 * size.  What its owner knows are the batch sizes that it may have (modes) and
 * what an epoch takes with each; in which epochs it has which (regimes) shows
 * only as it trains, and is truth (models/types/truth.h).
 */
#ifndef MODELS_JOBS_REGIMES_H
#define MODELS_JOBS_REGIMES_H

#include <stdint.h>

#define JOB_MODES_MAX 8u

struct job_modes {
    uint32_t epochs;
    uint32_t count;             /* of batch sizes, <= JOB_MODES_MAX */
    const uint32_t *batch;
    const double *epoch_s;      /* on what the job asks for */
};

/* From an epoch on, until the next regime; the first is from epoch 0. */
struct job_regime {
    uint32_t from, mode;
};

struct job_regimes {
    const struct job_regime *regime;    /* ascending */
    uint32_t count;
};

double regimes_length_s(const struct job_modes *modes,
                        const struct job_regimes *regimes);
/* Whole epochs that are done when the job has run so long; in seen[] epochs by
 * mode up to the present one, that included. */
uint32_t regimes_done(const struct job_modes *modes,
                      const struct job_regimes *regimes, double run_s,
                      uint32_t seen[JOB_MODES_MAX]);

#endif
