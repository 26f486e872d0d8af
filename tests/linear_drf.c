/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * linear_drf.c - an oracle: drf that
 * walks the queue for each start.
 */
#include <string.h>

#include "policies/phases.h"
#include "policies/policy.h"

extern const struct cs_policy linear_drf_policy;

struct drf_use {
    double gpus, cores, memory_bytes;
};

struct drf_tenant {
    const char *name;
    struct drf_use use;
    bool blocked;               /* its next job does not fit now */
};

struct drf {
    struct drf_tenant *tenant;
    uint32_t tenants, tenant_room;
    uint32_t *of_job;
    uint32_t job_room;
};

static void *drf_grow(struct cs_host *host, const void *old, uint32_t room,
                      uint32_t more, size_t item_bytes)
{
    void *grown = cs_alloc(host, more, item_bytes);

    if (room)
        memcpy(grown, old, room * item_bytes);
    return grown;
}

static uint32_t drf_tenant_of(struct drf *drf, struct cs_host *host,
                              const char *name)
{
    for (uint32_t t = 0; t < drf->tenants; t++)
        if (strcmp(drf->tenant[t].name, name) == 0)
            return t;
    if (drf->tenants == drf->tenant_room) {
        uint32_t more = drf->tenant_room ? 2 * drf->tenant_room : 16;

        drf->tenant = drf_grow(host, drf->tenant, drf->tenant_room, more,
                               sizeof *drf->tenant);
        drf->tenant_room = more;
    }
    drf->tenant[drf->tenants].name = name;
    return drf->tenants++;
}

static void drf_job_submitted(void *self, struct cs_host *host,
                              struct job_id job)
{
    struct drf *drf = self;
    const char *name = cs_request(host, job)->tenant;

    if (job.i >= drf->job_room) {
        uint32_t more = drf->job_room ? drf->job_room : 256;
        while (more <= job.i)
            more *= 2;
        drf->of_job = drf_grow(host, drf->of_job, drf->job_room, more,
                               sizeof *drf->of_job);
        drf->job_room = more;
    }
    drf->of_job[job.i] = drf_tenant_of(drf, host, name ? name : "");
}

/* What a job holds while it runs: cores and memory are per GPU where a role
 * has any. */
static void drf_add(struct drf_use *use, const struct cs_host *host,
                    struct job_id job)
{
    const struct job_request *request = cs_request(host, job);

    for (uint32_t r = 0; r < request->form->role_count; r++) {
        const struct role_spec *role = &request->form->role[r];
        uint32_t gpus = r == 0 && request->gpus ? request->gpus : role->gpus;
        double times = gpus > 0 ? gpus : 1;

        use->gpus += gpus;
        use->cores += times * role->cores;
        use->memory_bytes += times * (double)role->memory_bytes;
    }
}

static double drf_share(const struct drf_use *use, const struct cs_host *host)
{
    double gpus = cs_total_gpus(host, 0), cores = cs_total_cores(host);
    double memory = cs_total_memory_bytes(host), share = 0;

    if (gpus > 0)
        share = use->gpus / gpus;
    if (cores > 0 && use->cores / cores > share)
        share = use->cores / cores;
    if (memory > 0 && use->memory_bytes / memory > share)
        share = use->memory_bytes / memory;
    return share;
}

static void drf_count(struct drf *drf, const struct cs_host *host)
{
    for (uint32_t t = 0; t < drf->tenants; t++) {
        drf->tenant[t].use = (struct drf_use) { 0, 0, 0 };
        drf->tenant[t].blocked = false;
    }
    for (uint32_t i = 0; i < cs_running_count(host); i++) {
        struct job_id job = cs_running(host, i);
        drf_add(&drf->tenant[drf->of_job[job.i]].use, host, job);
    }
}

/* The oldest ask of the tenant with the smallest share; ID_NONE: no tenant
 * that is not blocked has one. */
static struct task_id drf_next(const struct drf *drf,
                               const struct cs_host *host, uint32_t *tenant)
{
    struct task_id best = { ID_NONE };
    double least = 0;

    for (uint32_t i = 0; i < cs_pending_count(host); i++) {
        struct task_id task = cs_pending(host, i);
        uint32_t t = drf->of_job[cs_task(host, task)->job.i];
        double share = drf_share(&drf->tenant[t].use, host);

        if (drf->tenant[t].blocked)
            continue;
        if (best.i == ID_NONE || share < least ||
            (!(share > least) && t < *tenant)) {
            best = task;
            least = share;
            *tenant = t;
        }
    }
    return best;
}

static void drf_decide(void *self, struct cs_host *host)
{
    struct drf *drf = self;
    struct task_id task;
    uint32_t t = 0;

    drf_count(drf, host);
    while ((task = drf_next(drf, host, &t)).i != ID_NONE) {
        struct job_id job = cs_task(host, task)->job;

        if (cs_start(host, task) == CS_DONE)
            drf_add(&drf->tenant[t].use, host, job);
        else if (cs_skips(host))
            drf->tenant[t].blocked = true;
        else
            return;
    }
}

const struct cs_policy linear_drf_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "drf",
    .summary = "the tenant with the smallest dominant share first",
    .flags = CS_ASKS_BLOCKING,
    .self_bytes = sizeof(struct drf),
    .decide = drf_decide,
    .job_submitted = drf_job_submitted,
};
