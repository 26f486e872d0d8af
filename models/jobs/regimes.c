/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * regimes.c - time and epochs of a job, regime after regime.
 *
 * A job's epochs lie in regimes one after the other; each regime has one mode,
 * and an epoch takes the time of its mode.  Regimes are few, so they are
 * walked.
 */
#include "models/jobs/regimes.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>

/* Returns the epoch at which a regime ends. */
static uint32_t end_epoch_of(const struct job_modes *modes,
                             const struct job_regimes *regimes, uint32_t r)
{
    assert(r < regimes->count);
    return r + 1 < regimes->count ? regimes->regime[r + 1].from
                                  : modes->epochs;
}

double regimes_length_s(const struct job_modes *modes,
                        const struct job_regimes *regimes)
{
    double s = 0;

    assert(modes != NULL && regimes->count > 0 && regimes->regime[0].from == 0);
    for (uint32_t r = 0; r < regimes->count; r++) {
        const struct job_regime *regime = &regimes->regime[r];
        assert(regime->mode < modes->count);
        s += (end_epoch_of(modes, regimes, r) - regime->from) *
             modes->epoch_s[regime->mode];
    }
    return s;
}

/* 1e-9 of an epoch is the noise of a division: an epoch that is done to within
 * it counts. */
uint32_t regimes_done(const struct job_modes *modes,
                      const struct job_regimes *regimes, double run_s,
                      uint32_t seen[JOB_MODES_MAX])
{
    uint32_t done = 0;

    assert(modes->count <= JOB_MODES_MAX && run_s >= 0);
    for (uint32_t m = 0; m < JOB_MODES_MAX; m++)
        seen[m] = 0;
    for (uint32_t r = 0; r < regimes->count; r++) {
        uint32_t mode = regimes->regime[r].mode;
        uint32_t epochs = end_epoch_of(modes, regimes, r) - regimes->regime[r].from;
        double s = modes->epoch_s[mode];
        double part = floor(run_s / s + 1e-9);

        if (part < epochs) {
            done += (uint32_t)part;
            seen[mode] += (uint32_t)part + 1;
            return done;
        }
        done += epochs;
        seen[mode] += epochs;
        run_s = fmax(0, run_s - epochs * s);
    }
    return done;
}
