/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plain_elastic_hybrid.c - an oracle: the GPUs of a job change between its roles, each task
 * looked at in order, whatever is alike.
 */
#include <math.h>

#include "policies/phases.h"
#include "policies/policy.h"

extern const struct cs_policy plain_elastic_hybrid_policy;

struct plain_elastic {
    double gain_min;            /* the parameter */
};

/* GPUs that other roles of the job have at work. */
static uint32_t at_work(const struct cs_host *host, const struct cs_task *of)
{
    uint32_t sum = 0;

    for (uint32_t i = 0; i < cs_lease_count(host); i++) {
        const struct cs_lease *lease = cs_lease(host, cs_lease_at(host, i));
        if (lease->job.i == of->job.i && lease->role != of->role &&
            lease->state != CS_LEASE_IDLE)
            sum += lease->gpus;
    }
    return sum;
}

static bool another_waits(const struct cs_host *host, const struct cs_task *of)
{
    for (uint32_t i = 0; i < cs_pending_count(host); i++) {
        const struct cs_task *other = cs_task(host, cs_pending(host, i));
        if (other->job.i == of->job.i && other->role != of->role &&
            cs_request(host, of->job)->form->role[other->role].gpus > 0)
            return true;
    }
    return false;
}

/* What else the job does in a step takes so long on `rest` GPUs. */
static double rest_s(const struct cs_host *host, const struct cs_task *of, uint32_t rest)
{
    const struct job_form *form = cs_request(host, of->job)->form;
    double sum = 0;

    if (form->lag == 0)
        return 0;
    for (uint32_t p = 0; p < form->phase_count; p++) {
        const struct role_spec *role = &form->role[form->phase[p].role];
        if (form->phase[p].role != of->role && role->gpus > 0)
            sum += rest < role->gpus_min
                       ? 1e300 : cs_phase_s(host, of->job, p) * role->gpus / rest;
    }
    return fmin(sum, 1e300);
}

static void release_idle(struct cs_host *host, struct job_id job, uint32_t but)
{
    for (uint32_t r = 0; r < cs_request(host, job)->form->role_count; r++) {
        struct lease_id id = cs_role_lease(host, job, r);
        if (r == but || id.i == ID_NONE)
            continue;
        if (cs_lease(host, id)->gpus > 0 && cs_lease(host, id)->state == CS_LEASE_IDLE &&
            cs_job_task(host, job, r).i == ID_NONE)
            cs_release(host, id);
    }
}

/* Sizes that are tried: the largest, then eight less each, from eight on the half each, and
 * what was asked for. */
static uint32_t sizes_of(uint32_t most, uint32_t least, uint32_t asked, uint32_t size[64])
{
    uint32_t count = 0;

    for (uint32_t g = most; g >= least && g > 0;) {
        size[count++] = g;
        uint32_t next = g > 8 ? g - 8 : g / 2;
        if (g > asked && asked > next)
            next = asked;
        g = next;
    }
    return count;
}

static void try_one(const struct plain_elastic *e, struct cs_host *host, struct task_id task)
{
    const struct cs_task *of = cs_task(host, task);
    const struct role_spec *role = &cs_request(host, of->job)->form->role[of->role];
    uint32_t all = cs_job_gpus(host, of->job), used = at_work(host, of), size[64];
    uint32_t may = used < all ? all - used : 0;
    uint32_t most = cs_most_gpus(host, task);
    uint32_t unit = role->gpus_multiple > 0 ? role->gpus_multiple : 1;
    double best_s = 1e300, held_s = 1e300;
    struct cs_want best = { 0 };
    struct cs_forecast f;

    if (another_waits(host, of) && may > of->gpus)
        may = of->gpus;
    if (cs_forecast_held(host, task, &f))
        held_s = fmax(f.run_s, rest_s(host, of, all - f.gpus));
    uint32_t count = sizes_of(most > of->gpus ? most : of->gpus,
                              role->gpus_min < of->gpus ? role->gpus_min : of->gpus, of->gpus,
                              size);
    for (uint32_t i = 0; i < count; i++) {
        struct cs_want want = { .role = of->role, .gpus = size[i] / unit * unit,
                                .take_idle = true };
        if (want.gpus == 0 || want.gpus > may || !cs_forecast_best(host, task, &want, &f))
            continue;
        double s = fmax(f.run_s + f.switch_s, rest_s(host, of, all - want.gpus));
        if (s < best_s) {
            best_s = s;
            best = want;
        }
    }
    if (of->held.i != ID_NONE && held_s <= e->gain_min * best_s)
        cs_continue(host, task);
    else if (best.gpus > 0) {
        release_idle(host, of->job, of->role);
        cs_start_want(host, task, &best);
    }
}

static void decide(void *self, struct cs_host *host)
{
    do {
        uint32_t i = 0;
        while (i < cs_pending_count(host)) {
            struct task_id task = cs_pending(host, i);
            const struct cs_task *of = cs_task(host, task);
            struct cs_want want = { .role = of->role };
            if (of->gpus > 0)
                try_one(self, host, task);
            else if (of->held.i != ID_NONE)
                cs_continue(host, task);
            else
                cs_start_want(host, task, &want);
            i += i < cs_pending_count(host) && cs_pending(host, i).i == task.i;
        }
    } while (cs_relieve_power(host));
}

const struct cs_policy plain_elastic_hybrid_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "elastic-hybrid",
    .summary = "the GPUs of a job change between its roles, looked at one by one",
    .flags = CS_ASKS_PRIORITY | CS_PER_PHASE | CS_FORECASTS | CS_GROWS | CS_SHRINKS,
    .self_bytes = sizeof(struct plain_elastic),
    .before = cs_by_priority,
    .decide = decide,
};
