/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plain_fair_share.c - an oracle: fair-share as Kay and Lauder's Share orders
 * jobs (CACM 1988), with equal shares and usage that never decays.
 *
 * Of all that waits, the job whose tenant has used least GPU-time goes first; of
 * two alike, the one that came first.  What a tenant has used is added up anew
 * from all its jobs at each decision: those that have ended, run, or were interrupted and wait.
 */
#include <assert.h>
#include <string.h>

#include "policies/policy.h"

extern const struct cs_policy plain_fair_share_policy;

#define JOBS_MAX 1000u

struct used {
    const char *tenant;
    double gpu_s;
};

struct plain_fair_share {
    struct used *ended;         /* jobs, in the order in which they ended */
    uint32_t endeds;
};

static const char *tenant_of(const struct cs_host *host, struct job_id job)
{
    return cs_request(host, job)->tenant;
}

static bool start_empty(void *self, struct cs_host *host)
{
    struct plain_fair_share *f = self;

    f->ended = cs_alloc(host, JOBS_MAX, sizeof *f->ended);
    return true;
}

static void note_end(void *self, struct cs_host *host, struct job_id job)
{
    struct plain_fair_share *f = self;

    assert(f->endeds < JOBS_MAX);
    f->ended[f->endeds++] =
        (struct used) { tenant_of(host, job), cs_attained_gpu_s(host, job) };
}

static double add_usage(const struct plain_fair_share *f,
                        const struct cs_host *host, const char *tenant)
{
    double sum = 0;

    for (const struct used *u = f->ended; u < f->ended + f->endeds; u++)
        sum += strcmp(u->tenant, tenant) == 0 ? u->gpu_s : 0;
    for (uint32_t r = 0; r < cs_running_count(host); r++)
        if (strcmp(tenant_of(host, cs_running(host, r)), tenant) == 0)
            sum += cs_attained_gpu_s(host, cs_running(host, r));
    for (uint32_t i = 0; i < cs_pending_count(host); i++) {
        struct job_id job = cs_task(host, cs_pending(host, i))->job;
        sum += strcmp(tenant_of(host, job), tenant) == 0 ? cs_attained_gpu_s(host, job) : 0;
    }
    return sum;
}

static void decide(void *self, struct cs_host *host)
{
    struct { struct task_id task; double usage; bool tried; } waits[JOBS_MAX];
    uint32_t count = cs_pending_count(host);

    assert(count <= JOBS_MAX);
    for (uint32_t i = 0; i < count; i++) {
        waits[i].task = cs_pending(host, i);
        waits[i].usage = add_usage(self, host,
                                   tenant_of(host, cs_task(host, waits[i].task)->job));
        waits[i].tried = false;
    }
    for (uint32_t turn = 0; turn < count; turn++) {
        uint32_t least = count;
        for (uint32_t i = count; i-- > 0;)
            if (!waits[i].tried && (least == count || waits[i].usage <= waits[least].usage))
                least = i;
        waits[least].tried = true;
        if (cs_start(host, waits[least].task) != CS_DONE && !cs_skips(host))
            return;
    }
}

const struct cs_policy plain_fair_share_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "fair-share",
    .summary = "the tenant that has used least first, added up at each decision",
    .flags = CS_ASKS_BLOCKING,
    .self_bytes = sizeof(struct plain_fair_share),
    .init = start_empty,
    .decide = decide,
    .job_ended = note_end,
};
