/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * linear_fair_share.c - an oracle: fair-share that
 * walks the queue for each tenant.
 */
#include <math.h>
#include <string.h>

#include "policies/phases.h"
#include "policies/policy.h"

extern const struct cs_policy linear_fair_share_policy;

struct fair_share {
    const char **tenant;
    double *ended_gpu_s;        /* of jobs that have ended */
    double *gpu_s;              /* and of those that run */
    uint32_t tenants, tenant_room;
    uint32_t *of_job;
    uint32_t job_room;
};

static void *fair_share_grow(struct cs_host *host, const void *old,
                             uint32_t room, uint32_t more, size_t item_bytes)
{
    void *grown = cs_alloc(host, more, item_bytes);

    if (room)
        memcpy(grown, old, room * item_bytes);
    return grown;
}

static uint32_t fair_share_tenant(struct fair_share *fair,
                                  struct cs_host *host, const char *name)
{
    for (uint32_t i = 0; i < fair->tenants; i++)
        if (strcmp(fair->tenant[i], name) == 0)
            return i;
    if (fair->tenants == fair->tenant_room) {
        uint32_t room = fair->tenant_room, more = room ? 2 * room : 16;
        fair->tenant = fair_share_grow(host, fair->tenant, room, more,
                                       sizeof *fair->tenant);
        fair->ended_gpu_s = fair_share_grow(host, fair->ended_gpu_s, room,
                                            more, sizeof(double));
        fair->gpu_s = fair_share_grow(host, fair->gpu_s, room, more,
                                      sizeof(double));
        fair->tenant_room = more;
    }
    fair->tenant[fair->tenants] = name;
    return fair->tenants++;
}

static void fair_share_job_submitted(void *self, struct cs_host *host,
                                     struct job_id job)
{
    struct fair_share *fair = self;
    const char *name = cs_request(host, job)->tenant;

    if (job.i >= fair->job_room) {
        uint32_t more = fair->job_room ? fair->job_room : 256;
        while (more <= job.i)
            more *= 2;
        fair->of_job = fair_share_grow(host, fair->of_job, fair->job_room,
                                       more, sizeof *fair->of_job);
        fair->job_room = more;
    }
    fair->of_job[job.i] = fair_share_tenant(fair, host, name ? name : "");
}

static void fair_share_job_ended(void *self, struct cs_host *host,
                                 struct job_id job)
{
    struct fair_share *fair = self;

    fair->ended_gpu_s[fair->of_job[job.i]] += cs_attained_gpu_s(host, job);
}

/* What each tenant has used up to now. */
static void fair_share_count(struct fair_share *fair,
                             const struct cs_host *host)
{
    for (uint32_t t = 0; t < fair->tenants; t++)
        fair->gpu_s[t] = fair->ended_gpu_s[t];
    for (uint32_t i = 0; i < cs_running_count(host); i++) {
        struct job_id job = cs_running(host, i);
        fair->gpu_s[fair->of_job[job.i]] += cs_attained_gpu_s(host, job);
    }
}

/* Starts what waits of the tenants that have used so much, in the order it
 * came; false if that ends the decision. */
static bool fair_share_serve(const struct fair_share *fair,
                             struct cs_host *host, double gpu_s)
{
    for (uint32_t i = 0; i < cs_pending_count(host);) {
        struct task_id task = cs_pending(host, i);
        uint32_t tenant = fair->of_job[cs_task(host, task)->job.i];

        if (fair->gpu_s[tenant] < gpu_s || fair->gpu_s[tenant] > gpu_s)
            i++;
        else if (cs_start(host, task) != CS_DONE) {
            if (!cs_skips(host))
                return false;
            i++;
        }
    }
    return true;
}

static void fair_share_decide(void *self, struct cs_host *host)
{
    struct fair_share *fair = self;
    double level = -1;

    fair_share_count(fair, host);
    while (cs_pending_count(host) > 0) {
        double next = INFINITY;
        for (uint32_t t = 0; t < fair->tenants; t++)
            if (fair->gpu_s[t] > level)
                next = fmin(next, fair->gpu_s[t]);
        if (!(next < INFINITY) || !fair_share_serve(fair, host, next))
            return;
        level = next;
    }
}

const struct cs_policy linear_fair_share_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "fair-share",
    .summary = "jobs of the tenant that used least GPU-time first",
    .flags = CS_ASKS_BLOCKING,
    .self_bytes = sizeof(struct fair_share),
    .decide = fair_share_decide,
    .job_submitted = fair_share_job_submitted,
    .job_ended = fair_share_job_ended,
};
