/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * regimes.h - jobs whose batch size changes while they train.
 *
 * The time of an epoch depends on the batch size.  The owner knows which batch
 * sizes the job may have (modes), and the time of an epoch with each.  Which
 * epochs have which batch size (regimes) becomes known only during training; it
 * is ground truth (models/types/truth.h).
 */
#ifndef MODELS_JOBS_REGIMES_H
#define MODELS_JOBS_REGIMES_H

#include <stdint.h>

#define JOB_MODES_MAX 8u        /* batch sizes of a job */

/* What the owner knows: how long an epoch takes with each batch size. */
struct job_modes {
    uint32_t epochs;
    uint32_t count;             /* of batch sizes, <= JOB_MODES_MAX */
    const uint32_t *batch;
    const double *epoch_s;      /* by mode, on the GPUs that it requests */
};

/* The mode from epoch `from` until the next regime; the first has from = 0. */
struct job_regime {
    uint32_t from, mode;
};

/* What the batch sizes of a job will be; ground truth. */
struct job_regimes {
    const struct job_regime *regime;    /* ascending */
    uint32_t count;
};

/* Returns the seconds of all epochs. */
double regimes_length_s(const struct job_modes *modes,
                        const struct job_regimes *regimes);
/* Returns the number of whole epochs that are done after run_s seconds.  Stores
 * in seen[] the epochs of each mode so far, the present epoch included. */
uint32_t regimes_done(const struct job_modes *modes,
                      const struct job_regimes *regimes, double run_s,
                      uint32_t seen[JOB_MODES_MAX]);

#endif
