/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * job.c - names of phases and of what becomes of jobs; in which steps a phase runs.
 *
 * Steps count from 0.  A phase runs in each every-th step, counted from the first
 * step of the job, so `skip_first` leaves such steps out and does not shift them.
 */
#include "models/jobs/job.h"

#include <assert.h>
#include <stddef.h>


static const char *const phase_kind_names[PHASE_KIND_COUNT] = {
    [PHASE_PREPROCESS] = "preprocess",
    [PHASE_LOAD] = "load",
    [PHASE_TRAIN] = "train",
    [PHASE_ROLLOUT] = "rollout",
    [PHASE_REWARD] = "reward",
    [PHASE_SYNC] = "sync",
    [PHASE_CHECKPOINT] = "checkpoint",
    [PHASE_VALIDATE] = "validate",
    [PHASE_INFER] = "infer",
    [PHASE_SERVE] = "serve",
};

static const char *const job_status_names[JOB_STATUS_COUNT] = {
    [JOB_PENDING] = "pending",
    [JOB_RUNNING] = "running",
    [JOB_DONE] = "done",
    [JOB_FAILED] = "failed",
    [JOB_UNFINISHED] = "unfinished",
    [JOB_DROPPED] = "dropped",
};

const char *phase_kind_name(enum phase_kind kind)
{
    assert(kind < PHASE_KIND_COUNT);
    return phase_kind_names[kind];
}

const char *job_status_name(enum job_status status)
{
    assert(status < JOB_STATUS_COUNT);
    return job_status_names[status];
}


const struct phase_law *phase_law_at(const struct phase_spec *phase,
                                     uint32_t step)
{
    assert(phase != NULL);
    return phase->later != NULL && step >= phase->later_from ? phase->later
                                                             : phase->law;
}

const struct phase_law *phase_law_usual(const struct phase_spec *phase)
{
    assert(phase != NULL);
    return phase->later != NULL ? phase->later : phase->law;
}

bool phase_due(const struct phase_spec *phase, uint32_t step, uint32_t steps)
{
    assert(phase != NULL && phase->every > 0 && step < steps);
    if (step < phase->skip_first || step + phase->skip_last >= steps)
        return false;
    return phase->every == 1 || (step - phase->skip_first + 1) % phase->every == 0;
}

uint32_t phase_runs(const struct phase_spec *phase, uint32_t steps)
{
    assert(phase != NULL && phase->every > 0);
    if (steps <= phase->skip_first + phase->skip_last)
        return 0;
    return (steps - phase->skip_last - phase->skip_first) / phase->every;
}

uint64_t job_steps_done(const struct job_form *form, uint32_t rounds)
{
    assert(form != NULL);
    uint64_t trained = rounds > form->lag ? rounds - form->lag : 0;

    return trained * (form->round_steps > 0 ? form->round_steps : 1);
}

struct role_load job_role_load(const struct role_spec *role, bool first, bool gpus,
                               uint32_t nodes)
{
    bool fewer = first && role->first_bytes > 0;
    double bytes = fewer ? role->first_bytes : role->load_bytes;
    double copy = nodes * (fewer ? role->first_copy_bytes : role->copy_bytes);

    assert(bytes >= 0 && copy >= 0 && nodes > 0);
    if (!gpus)
        return (struct role_load) { role->on_cores.load_bytes, 1 };
    return (struct role_load) { bytes, copy > 0 && copy < bytes ? copy / bytes : 1 };
}

double job_role_start_s(const struct role_spec *role, bool later, bool gpus)
{
    assert(role->start_s >= 0 && role->on_cores.start_s >= 0);
    if (!gpus && role->on_cores.cores > 0)
        return later ? role->on_cores.wake_s : role->on_cores.start_s;
    return later ? role->wake_s : role->start_s;
}

bool job_role_is_up_at_once(const struct role_spec *role)
{
    assert(role->wake_s >= 0 && role->on_cores.wake_s >= 0);
    return !(role->start_s > 0) && !(role->wake_s > 0) &&
           !(role->on_cores.start_s > 0) && !(role->on_cores.wake_s > 0);
}
