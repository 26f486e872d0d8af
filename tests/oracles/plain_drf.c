/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plain_drf.c - an oracle: dominant resource fairness by a look at all that runs.
 *
 * What a tenant holds is added up anew before each start.  Ghodsi et al. (NSDI 2011),
 * algorithm 1, with jobs for tasks.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "policies/policy.h"

extern const struct cs_policy plain_drf_policy;

#define TENANTS_MAX 32u

struct plain_drf {
    const char **name;          /* as they came; NULL: of jobs without one */
    uint32_t names;
};

static bool init(void *self, struct cs_host *host)
{
    ((struct plain_drf *)self)->name = cs_alloc(host, TENANTS_MAX, sizeof(const char *));
    return true;
}

static uint32_t number_of(struct plain_drf *drf, const struct cs_host *host, struct job_id job)
{
    const char *name = cs_request(host, job)->tenant;

    for (uint32_t t = 0; t < drf->names; t++)
        if (name == NULL || drf->name[t] == NULL ? name == drf->name[t]
                                                 : strcmp(name, drf->name[t]) == 0)
            return t;
    assert(drf->names < TENANTS_MAX);
    drf->name[drf->names] = name;
    return drf->names++;
}

static void job_submitted(void *self, struct cs_host *host, struct job_id job)
{
    number_of(self, host, job);
}

/* GPUs, cores and bytes of all that a tenant's jobs hold. */
static void add_up(struct plain_drf *drf, const struct cs_host *host, uint32_t tenant,
                   double held[3])
{
    held[0] = held[1] = held[2] = 0;
    for (uint32_t i = 0; i < cs_lease_count(host); i++) {
        const struct cs_lease *lease = cs_lease(host, cs_lease_at(host, i));
        const struct role_spec *role = &cs_request(host, lease->job)->form->role[lease->role];
        double gpus = lease->gpus * lease->gpu_milli / 1000.0;
        double each = lease->gpus > 0 ? gpus : 1;

        if (number_of(drf, host, lease->job) != tenant)
            continue;
        held[0] += gpus;
        if (role->pod) {
            held[1] += (double)role->core_milli / 1000;
            held[2] += (double)role->memory_bytes;
        } else if (lease->gpus == 0 && role->gpus > 0) {
            held[1] += role->on_cores.cores;
            held[2] += (double)role->on_cores.memory_bytes;
        } else {
            held[1] += each * role->cores;
            held[2] += floor(each * (double)role->memory_bytes);
        }
    }
}

static double dominant_share(struct plain_drf *drf, const struct cs_host *host, uint32_t tenant)
{
    double held[3], all[3] = { cs_total_gpus(host, 0), 0, 0 }, most = 0;

    for (uint32_t n = 0; n < cs_node_count(host); n++) {
        all[1] += cs_node(host, n).cores;
        all[2] += cs_node(host, n).memory_bytes;
    }
    add_up(drf, host, tenant, held);
    for (int i = 0; i < 3; i++)
        most = all[i] > 0 ? fmax(most, held[i] / all[i]) : most;
    return most;
}

static void decide(void *self, struct cs_host *host)
{
    struct plain_drf *drf = self;
    bool out[TENANTS_MAX] = { false };

    for (;;) {
        struct task_id first[TENANTS_MAX];
        uint32_t best = TENANTS_MAX;
        double least = INFINITY;
        for (uint32_t t = 0; t < TENANTS_MAX; t++)
            first[t].i = ID_NONE;
        for (uint32_t i = cs_pending_count(host); i-- > 0;) {
            struct task_id task = cs_pending(host, i);
            first[number_of(drf, host, cs_task(host, task)->job)] = task;
        }
        for (uint32_t t = drf->names; t-- > 0;) {
            double share = dominant_share(drf, host, t);
            if (first[t].i == ID_NONE || out[t] || share > least)
                continue;
            least = share;
            best = t;
        }
        if (best == TENANTS_MAX)
            return;
        if (cs_start(host, first[best]) == CS_DONE)
            continue;
        if (!cs_skips(host))
            return;
        out[best] = true;
    }
}

const struct cs_policy plain_drf_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "drf",
    .summary = "the smallest dominant share first, added up before each start",
    .flags = CS_ASKS_BLOCKING,
    .self_bytes = sizeof(struct plain_drf),
    .init = init,
    .decide = decide,
    .job_submitted = job_submitted,
};
