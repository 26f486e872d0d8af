/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * elastic_hybrid.c - GPUs change between generating and training, so that
 * neither waits for the other.
 *
 * For jobs whose rollouts and training run in turn (sync) or at the same time
 * (one step off), on one kind of GPU.  Every job may hold as many GPUs as its
 * roles ask for together.  In turn, a phase takes the size within its role's
 * range, and within what the other roles use of that sum, at which it is over
 * soonest; at the same time, the size at which both should last alike.  A simple
 * form of what Libra and elastic trainers do for one job; other jobs' GPUs are
 * not touched.
 */
#include "policies/params.h"
#include "policies/phases.h"
#include "policies/policy.h"

extern const struct cs_policy elastic_hybrid_policy;

struct elastic {
    double gain_min;            /* parameter */
};

static const struct cs_param elastic_param[] = {
    { .key = "gain_min", .type = CS_PARAM_REAL,
      .offset = offsetof(struct elastic, gain_min), .min = 1, .max = 100,
      .fallback = "1.05",
      .help = "a phase changes its size where it is over this many times sooner" },
};

/* Returns the GPUs that the other roles of the job hold and use now.  Idle leases
 * do not count: they can be given up. */
static uint32_t elastic_used(const struct cs_host *host,
                             const struct cs_task *task)
{
    const struct job_form *form = cs_request(host, task->job)->form;
    uint32_t used = 0;

    for (uint32_t r = 0; r < form->role_count; r++) {
        struct lease_id id = cs_role_lease(host, task->job, r);
        if (r == task->role || id.i == ID_NONE)
            continue;
        if (cs_lease(host, id)->state != CS_LEASE_IDLE)
            used += cs_lease(host, id)->gpus;
    }
    return used;
}

/* Gives up the idle leases of the other roles of the job, so that their GPUs are
 * free for this task.  A role whose next phase waits already keeps its lease. */
static void elastic_give(struct cs_host *host, const struct cs_task *task)
{
    struct job_id job = task->job;
    uint32_t role = task->role;
    uint32_t roles = cs_request(host, job)->form->role_count;

    for (uint32_t r = 0; r < roles; r++) {
        struct lease_id id = cs_role_lease(host, job, r);
        if (r != role && id.i != ID_NONE && cs_lease(host, id)->gpus > 0 &&
            cs_lease(host, id)->state == CS_LEASE_IDLE &&
            cs_job_task(host, job, r).i == ID_NONE)
            cs_release(host, id);
    }
}

/* Does another role of the job with GPUs wait too?  Then that role will want its
 * part of the GPUs of the job. */
static bool elastic_both(const struct cs_host *host, const struct cs_task *task)
{
    const struct job_form *form = cs_request(host, task->job)->form;

    for (uint32_t r = 0; r < form->role_count; r++)
        if (r != task->role && form->role[r].gpus > 0 &&
            cs_job_task(host, task->job, r).i != ID_NONE)
            return true;
    return false;
}

/* Returns how many seconds the other phases of the job with GPUs take if they get
 * `left` GPUs, by linear speedup from what they asked for.  1e300: `left` is too
 * few for one of them. */
static double elastic_others_s(const struct cs_host *host,
                               const struct cs_task *task, uint32_t left)
{
    const struct job_form *form = cs_request(host, task->job)->form;
    double s = 0;

    for (uint32_t p = 0; p < form->phase_count; p++) {
        uint32_t r = form->phase[p].role;
        if (r == task->role || form->role[r].gpus == 0)
            continue;
        if (left < form->role[r].gpus_min)
            return 1e300;
        s += cs_phase_s(host, task->job, p) * form->role[r].gpus / left;
    }
    return s;
}

/* Returns the next smaller size to try: 8 less, below 8 the half.  The size that
 * was asked for is never skipped, nor is the least one. */
static uint32_t elastic_below(uint32_t asked, uint32_t least, uint32_t gpus)
{
    uint32_t next = gpus > 8 ? gpus - 8 : gpus / 2;

    if (gpus > asked && next < asked)
        return asked;
    return gpus > least && next < least ? least : next;
}

/* Starts a task at the size at which it is over soonest, or continues its lease if
 * no other size gains a factor of gain_min.  Returns which tasks need not be tried
 * after it.
 *
 * With `schedule: one-step-off` (lag above 0) the other phases run at the same
 * time, so that the longer of the two counts: GPUs that one side gains are lost to
 * the other.
 *
 * CS_ALIKE_ALL only if the job may take all GPUs that it may hold: then it has
 * tried every size that another job of its form would. */
static enum cs_alike elastic_start(const struct elastic *self,
                                   struct cs_host *host, struct task_id id)
{
    const struct cs_task *task = cs_task(host, id);
    const struct role_spec *role =
        &cs_request(host, task->job)->form->role[task->role];
    uint32_t all = cs_job_gpus(host, task->job);
    uint32_t used = elastic_used(host, task);
    uint32_t left = all > used ? all - used : 0;
    uint32_t step = role->gpus_multiple ? role->gpus_multiple : 1;
    struct cs_want best = { 0 };
    struct cs_forecast f;
    double held_s = 1e300, best_s = 1e300, others_s = 0;
    bool beside = cs_request(host, task->job)->form->lag > 0;
    uint32_t asked = task->gpus;     /* a trace job's own, beyond its role's */
    uint32_t most = cs_most_gpus(host, id);
    if (most < asked)
        most = asked;
    uint32_t least = role->gpus_min < asked ? role->gpus_min : asked;

    if (elastic_both(host, task) && left > task->gpus)
        left = task->gpus;
    enum cs_alike alike = left == all ? CS_ALIKE_ALL : CS_ALIKE_NONE;
    if (cs_forecast_held(host, id, &f)) {
        if (beside)
            others_s = elastic_others_s(host, task, all - f.gpus);
        held_s = f.run_s > others_s ? f.run_s : others_s;
    }
    for (uint32_t g = most; g >= least && g > 0; g = elastic_below(asked, least, g)) {
        struct cs_want want = { .role = task->role, .gpus = g - g % step,
                                .take_idle = true };
        if (want.gpus == 0 || want.gpus > left ||
            !cs_forecast_best(host, id, &want, &f))
            continue;
        if (beside)
            others_s = elastic_others_s(host, task, all - want.gpus);
        double s = f.run_s + f.switch_s > others_s ? f.run_s + f.switch_s
                                                   : others_s;
        if (s >= best_s)
            continue;
        best_s = s;
        best = want;
    }
    if (task->held.i != ID_NONE && held_s <= best_s * self->gain_min) {
        cs_continue(host, id);
        return CS_ALIKE_NONE;
    }
    if (best.gpus == 0)
        return alike;
    elastic_give(host, task);
    cs_start_want(host, id, &best);
    return CS_ALIKE_NONE;
}

/* Starts or continues one task.  A role without GPUs goes where there are cores;
 * all others are decided by elastic_start(). */
static enum cs_alike elastic_try(const struct elastic *self,
                                 struct cs_host *host, struct task_id task)
{
    const struct cs_task *pub = cs_task(host, task);
    struct cs_want want = { .role = pub->role };

    if (pub->gpus > 0)
        return elastic_start(self, host, task);
    if (pub->held.i != ID_NONE)
        cs_continue(host, task);
    else
        cs_start_want(host, task, &want);
    return CS_ALIKE_ALL;
}

/* Tries every candidate once, in the order of the queue. */
static void elastic_try_all(const struct elastic *self, struct cs_host *host)
{
    struct task_id task;

    cs_try_anew(host);
    while ((task = cs_next_candidate(host)).i != ID_NONE)
        cs_tried(host, task, elastic_try(self, host, task));
}

/* Where the power cap holds tasks back, the host makes room, and all are tried again. */
static void elastic_decide(void *self, struct cs_host *host)
{
    do
        elastic_try_all(self, host);
    while (cs_relieve_power(host));
}

const struct cs_policy elastic_hybrid_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "elastic-hybrid",
    .summary = "a job's GPUs change between generating and training",
    .flags = CS_ASKS_PRIORITY | CS_PER_PHASE | CS_FORECASTS | CS_GROWS | CS_SHRINKS |
             CS_TAKES_OVER,
    .self_bytes = sizeof(struct elastic),
    .param = elastic_param,
    .param_count = sizeof elastic_param / sizeof elastic_param[0],
    .before = cs_by_priority,
    .decide = elastic_decide,
};
