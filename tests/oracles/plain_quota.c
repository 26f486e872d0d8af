/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plain_quota.c - an oracle: quotas of tenants by a look at all leases for each question.
 * For jobs of one role and whole GPUs.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "policies/phases.h"
#include "policies/policy.h"

extern const struct cs_policy plain_quota_policy;

#define STOPS_MAX 200u

struct plain_quota {
    const char *quotas;         /* parameters, as quota.c has them */
    bool borrow, reclaim;
};

static bool goes_before(const void *self, const struct cs_host *host, struct task_id a,
                        struct task_id b)
{
    (void)self;
    return cs_task(host, b)->priority < cs_task(host, a)->priority;
}

static const char *tenant_of(const struct cs_host *host, struct job_id job)
{
    const char *name = cs_request(host, job)->tenant;

    return name != NULL ? name : "";
}

/* GPUs that a tenant may call its own; -1: it has no entry. */
static double own_gpus(const struct plain_quota *q, const struct cs_host *host,
                       const char *tenant)
{
    char name[48], unit[8];
    double all = 0, amount;
    int n;

    for (uint32_t i = 0; i < cs_node_count(host); i++)
        all += cs_node(host, i).gpus;
    for (const char *at = q->quotas;
         unit[0] = '\0', sscanf(at, " %47[^= ]=%lf%7[%]%n", name, &amount, unit, &n) == 3 ||
         sscanf(at, " %47[^= ]=%lf%n", name, &amount, &n) == 2; at += n)
        if (strcmp(name, tenant) == 0)
            return unit[0] == '%' ? amount * all / 100 : amount;
    return -1;
}

static uint32_t held_by(const struct cs_host *host, struct job_id job)
{
    struct lease_id lease = cs_role_lease(host, job, 0);

    return lease.i != ID_NONE ? cs_lease(host, lease)->gpus : 0;
}

/* GPUs of all jobs of a tenant, without those of a list. */
static double tenant_holds(const struct cs_host *host, const char *tenant,
                           const struct job_id *without, uint32_t count)
{
    double sum = 0;

    for (uint32_t i = 0; i < cs_running_count(host); i++) {
        struct job_id job = cs_running(host, i);
        bool out = strcmp(tenant_of(host, job), tenant) != 0;
        for (uint32_t k = 0; k < count; k++)
            out |= without[k].i == job.i;
        sum += out ? 0 : held_by(host, job);
    }
    return sum;
}

static bool is_within(const struct plain_quota *q, const struct cs_host *host,
                      const struct cs_task *task)
{
    const char *tenant = tenant_of(host, task->job);
    double own = own_gpus(q, host, tenant);

    return own >= 0 && tenant_holds(host, tenant, NULL, 0) + task->gpus <= own + 1e-9;
}

/* Those that began last go first, while their tenants hold more than their own, if there
 * is room for the task in the end. */
static bool make_room(const struct plain_quota *q, struct cs_host *host, struct task_id task)
{
    uint32_t pools = cs_task_pools(host, task), count = 0;
    struct job_id stop[STOPS_MAX];

    for (uint32_t i = cs_running_count(host); i-- > 0;) {
        struct job_id job = cs_running(host, i);
        const char *tenant = tenant_of(host, job);
        double own = own_gpus(q, host, tenant);
        if (!(cs_lease_pools(host, cs_role_lease(host, job, 0)) & pools) ||
            held_by(host, job) == 0 ||
            tenant_holds(host, tenant, stop, count) <= (own > 0 ? own + 1e-9 : 0))
            continue;
        assert(count < STOPS_MAX);
        stop[count++] = job;
        if (!cs_fits_without(host, task, stop, count))
            continue;
        for (uint32_t k = 0; k < count; k++)
            cs_stop(host, stop[k]);
        return true;
    }
    return false;
}

/* Its place among those that wait; cs_pending_count(): it does not. */
static uint32_t place_of(const struct cs_host *host, struct task_id task)
{
    uint32_t i = 0;

    while (i < cs_pending_count(host) && cs_pending(host, i).i != task.i)
        i++;
    return i;
}

/* In order, each once; jobs that are stopped before the place where one looks wait. */
static void decide(void *self, struct cs_host *host)
{
    struct plain_quota *q = self;
    bool waits = false;

    for (uint32_t i = 0; i < cs_pending_count(host);) {
        struct task_id task = cs_pending(host, i);
        bool within = is_within(q, host, cs_task(host, task));
        if (within && cs_start(host, task) == CS_DONE)
            continue;
        if (within && q->reclaim && make_room(q, host, task)) {
            i = place_of(host, task);
            if (cs_start(host, task) == CS_DONE)
                continue;
        }
        waits = waits || within;
        i++;
    }
    for (uint32_t i = 0; q->borrow && !waits && i < cs_pending_count(host);)
        i += cs_start(host, cs_pending(host, i)) != CS_DONE;
}

const struct cs_policy plain_quota_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "quota",
    .summary = "GPUs for each tenant, added up for each question",
    .flags = CS_ASKS_PRIORITY | CS_PREEMPTS,
    .self_bytes = sizeof(struct plain_quota),
    .before = goes_before,
    .decide = decide,
};
