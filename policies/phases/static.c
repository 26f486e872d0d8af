/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * static.c - resources divided in advance: every role has its pool, every
 * kind of job its largest share, and a lease lasts for the job's life.
 *
 * A role is placed in its home (`home:` of the role; else the pool it is bound
 * to, or the one that bears its name); without one, anywhere.  Easy to foresee
 * and free of switches; GPUs stand idle whenever their role waits for another,
 * and one pool can be full while the next is empty.
 */
#include "policies/params.h"
#include "policies/phases.h"
#include "policies/policy.h"

extern const struct cs_policy static_policy;

struct divided {
    double share_max;           /* of a pool's GPUs, for one kind of job */
};

static const struct cs_param static_param[] = {
    { .key = "share_max", .type = CS_PARAM_FRACTION,
      .offset = offsetof(struct divided, share_max),
      .min = 0.01, .max = 1, .fallback = "100%",
      .help = "largest share of the GPUs that one kind of job may hold" },
};

/* Returns the GPUs that all jobs of a form hold together.  O(leases). */
static uint32_t static_held(const struct cs_host *host,
                            const struct job_form *form)
{
    uint32_t gpus = 0;

    for (uint32_t i = 0; i < cs_lease_count(host); i++) {
        const struct cs_lease *lease = cs_lease(host, cs_lease_at(host, i));
        if (cs_request(host, lease->job)->form == form)
            gpus += lease->gpus;
    }
    return gpus;
}

/* Starts all roles of a job at once, each in its home pool, or none of them.
 * CS_NO_ROOM: a home is too full, or the kind of job would hold more than its share
 * of all GPUs.  A kind whose single job is larger than its share may still run one. */
static enum cs_verdict static_start(const struct divided *divided,
                                    struct cs_host *host, struct task_id id)
{
    const struct cs_task *task = cs_task(host, id);
    const struct job_form *form = cs_request(host, task->job)->form;
    struct cs_want want[FORM_ROLES_MAX] = { 0 };
    uint32_t most = cs_share_down(divided->share_max, cs_total_gpus(host, 0));

    /* A kind whose single job is larger than its share may run one. */
    if (divided->share_max < 1 && static_held(host, form) > 0 &&
        static_held(host, form) + task->gpus > most)
        return CS_NO_ROOM;
    for (uint32_t r = 0; r < form->role_count; r++) {
        want[r].role = r;
        want[r].pool_mask = cs_home_pools(host, id, r);
    }
    return cs_start_wants(host, id, want, form->role_count);
}

/* Starts jobs in order.  With `blocking: strict` the first job that does not fit
 * stops the decision; else later jobs may pass it, and a job that found no room
 * stands for all that are alike. */
static void static_decide(void *self, struct cs_host *host)
{
    struct task_id task;

    while (!cs_skips(host))
        if (cs_pending_count(host) == 0 ||
            static_start(self, host, cs_pending(host, 0)) != CS_DONE)
            return;
    cs_try_anew(host);
    while ((task = cs_next_candidate(host)).i != ID_NONE) {
        static_start(self, host, task);
        cs_tried(host, task, CS_ALIKE_ALL);
    }
}

const struct cs_policy static_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "static",
    .summary = "each role in its own pool, leases for a job's life",
    .flags = CS_ASKS_BLOCKING | CS_HOMES | CS_CONFINES | CS_TAKES_OVER,
    .self_bytes = sizeof(struct divided),
    .param = static_param,
    .param_count = sizeof static_param / sizeof static_param[0],
    .decide = static_decide,
};
