/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * host_epochs.c - what a policy sees of a job whose batch size changes: epochs
 * that are done, and the batch sizes that it had in them, not those to come.
 */
#include <assert.h>

#include "models/regimes.h"
#include "policies/host_state.h"
#include "sim/clock.h"

bool cs_epochs(const struct cs_host *host, struct job_id id,
               struct cs_epochs *out)
{
    assert(id.i < host->job_count);
    const struct host_job_slot *job = host_job_slot(host, id.i);
    const struct job_modes *modes = job->pub.request.modes;

    if (modes == NULL || !host->form[job->form].fixed)
        return false;
    assert(CS_MODES_MAX == JOB_MODES_MAX && job->truth.regimes != NULL);
    int64_t left_ns = host_left_ns(host, job, true) -
                      host_restart_ns(host, job);
    *out = (struct cs_epochs) { .count = modes->epochs, .modes = modes->count,
                                .epoch_s = modes->epoch_s };
    out->done = regimes_done(modes, job->truth.regimes,
                             clock_s_from_ns(job->truth.duration_ns -
                                             left_ns),
                             out->seen);
    return true;
}
