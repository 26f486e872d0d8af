/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fair_share.c - fair share: first the jobs of the tenant that has used least
 * GPU-time so far, its own in the order they came.
 *
 * The order of Kay and Lauder's Share (CACM 1988) with equal shares and usage
 * that never decays.  Nothing is preempted, so that fairness is only as quick
 * as jobs end, and a tenant who comes late goes before all until he has caught
 * up.  Jobs without a tenant count as one tenant.
 */
#include <math.h>
#include <string.h>

#include "policies/policy.h"

extern const struct cs_policy fair_share_policy;

struct fair_share {
    double *ended_gpu_s;        /* by tenant: of jobs that have ended */
    double *gpu_s;              /* and of those that run */
    struct ask_id *next;        /* what it asks for next */
    uint32_t tenants;           /* for which there is room */
};

static void fair_share_grow(struct fair_share *fair, struct cs_host *host)
{
    uint32_t more = fair->tenants ? fair->tenants : 16;

    while (more < cs_tenant_count(host))
        more *= 2;
    if (more == fair->tenants)
        return;
    double *grown = cs_alloc(host, more, sizeof *grown);
    if (fair->tenants)
        memcpy(grown, fair->ended_gpu_s, fair->tenants * sizeof *grown);
    fair->ended_gpu_s = grown;
    fair->gpu_s = cs_alloc(host, more, sizeof *fair->gpu_s);
    fair->next = cs_alloc(host, more, sizeof *fair->next);
    fair->tenants = more;
}

static void fair_share_job_ended(void *self, struct cs_host *host,
                                 struct job_id job)
{
    struct fair_share *fair = self;

    uint32_t tenant = cs_tenant(host, job);

    fair_share_grow(fair, host);
    fair->ended_gpu_s[tenant] += cs_attained_gpu_s(host, job);
}

/* What each tenant has used up to now. */
static void fair_share_count(struct fair_share *fair, struct cs_host *host)
{
    for (uint32_t t = 0; t < fair->tenants; t++)
        fair->gpu_s[t] = fair->ended_gpu_s[t];
    for (uint32_t i = 0; i < cs_running_count(host); i++) {
        struct job_id job = cs_running(host, i);
        fair->gpu_s[cs_tenant(host, job)] += cs_attained_gpu_s(host, job);
    }
}

/* Could anything start? */
static bool fair_share_fits(struct cs_host *host)
{
    uint32_t free = cs_free_gpus(host, 0);
    struct cs_filter filter = { .gpus_max = free > 0 ? free : 1,
                                .estimate_max_ns = INT64_MAX,
                                .startable = true };

    return cs_find_pending(host, 0, &filter) < cs_pending_count(host);
}

/* The tenant of those that have used so much whose next ask came first; the
 * count of tenants if none waits. */
static uint32_t fair_share_next(const struct fair_share *fair,
                                struct cs_host *host, double gpu_s)
{
    uint32_t tenants = cs_tenant_count(host), best = tenants, job = 0;

    for (uint32_t t = 0; t < tenants; t++) {
        if (fair->next[t].i == ID_NONE || fair->gpu_s[t] < gpu_s ||
            fair->gpu_s[t] > gpu_s)
            continue;
        uint32_t its = cs_ask(host, fair->next[t])->job.i;
        if (best == tenants || its < job) {
            best = t;
            job = its;
        }
    }
    return best;
}

/* Starts what waits of the tenants that have used so much, in the order it
 * came; false if that ends the decision. */
static bool fair_share_serve(struct fair_share *fair, struct cs_host *host,
                             double gpu_s)
{
    uint32_t t;

    while ((t = fair_share_next(fair, host, gpu_s)) < cs_tenant_count(host)) {
        struct ask_id ask = fair->next[t];
        uint32_t free = cs_free_gpus(host, 0);
        fair->next[t] = cs_tenant_next(host, ask);
        if (cs_skips(host) && cs_ask(host, ask)->gpus > (free > 0 ? free : 1))
            continue;
        bool started = cs_start(host, ask) == CS_DONE;
        if (cs_skips(host) ? started && !fair_share_fits(host) : !started)
            return false;
    }
    return true;
}

static void fair_share_decide(void *self, struct cs_host *host)
{
    struct fair_share *fair = self;
    uint32_t tenants = cs_tenant_count(host);
    double level = -1;

    if (cs_pending_count(host) == 0 ||
        (cs_skips(host) && !fair_share_fits(host)))
        return;
    fair_share_grow(fair, host);
    fair_share_count(fair, host);
    for (uint32_t t = 0; t < tenants; t++)
        fair->next[t] = cs_tenant_first(host, t);
    for (;;) {
        double next = INFINITY;
        for (uint32_t t = 0; t < tenants; t++)
            if (fair->next[t].i != ID_NONE && fair->gpu_s[t] > level)
                next = fmin(next, fair->gpu_s[t]);
        if (!(next < INFINITY) || !fair_share_serve(fair, host, next))
            return;
        level = next;
    }
}

const struct cs_policy fair_share_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "fair-share",
    .summary = "jobs of the tenant that used least GPU-time first",
    .flags = CS_ASKS_BLOCKING,
    .self_bytes = sizeof(struct fair_share),
    .decide = fair_share_decide,
    .job_ended = fair_share_job_ended,
};
