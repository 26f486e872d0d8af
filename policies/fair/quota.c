/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * quota.c - every tenant has GPUs of its own; what it does not use may be
 * borrowed, and is taken back when its tenant asks for it.
 *
 * As queues with a guaranteed and a larger most capacity in YARN's Capacity
 * Scheduler, or Kueue's cohorts.  By priority, then first come: a task within
 * its tenant's quota starts if there is room; if there is none, jobs of tenants
 * above their quota in the pools that it may use are stopped, those that began last
 * first, until there is (`reclaim`); none is stopped if that would make no room.  A gang that is
 * only in part above the quota is stopped as a whole.
 * Then, if nobody within a quota waits, others start on what is free (`borrow`).
 * Tenants that `quotas` does not name have a quota of 0.  Where nothing may be
 * borrowed, a task above its tenant's quota could never start: that ends the run.
 */
#include <string.h>

#include "policies/params.h"
#include "policies/phases.h"
#include "policies/policy.h"
#include "policies/quotas.h"

extern const struct cs_policy quota_policy;

#define EVERY_POOL UINT32_MAX

struct quota_tenant {
    struct cs_quota own;        /* its name, and its GPUs or share */
    uint64_t used;              /* thousandths of GPUs, at this decision */
    uint64_t left, held;        /* while one looks for what to take back: of used, and
                                   in the pools of the task */
};

/* Parameters, and the tenants that they name. */
struct quota {
    const char *quotas;         /* parameter: the text, as the user wrote it */
    bool borrow, reclaim;       /* parameters */
    struct quota_tenant tenant[CS_QUOTAS_MAX]; /* in the order of the text */
    uint32_t tenants;           /* of them */
    uint32_t gpus;              /* that there can be: with nodes that are out of
                                   service, or not rented */
    struct job_id *stop;        /* what would be taken back */
    uint32_t stop_room;
};

static const struct cs_param quota_param[] = {
    { .key = "quotas", .type = CS_PARAM_TEXT,
      .offset = offsetof(struct quota, quotas), .fallback = "",
      .help = "GPUs of each tenant, or its share of all: \"a=16 b=25%\"; a name "
              "with blanks in quotes: \"'my team'=4\"" },
    { .key = "borrow", .type = CS_PARAM_BOOL,
      .offset = offsetof(struct quota, borrow), .fallback = "true",
      .help = "may a tenant hold more than its quota while others do not "
              "need theirs" },
    { .key = "reclaim", .type = CS_PARAM_BOOL,
      .offset = offsetof(struct quota, reclaim), .fallback = "true",
      .help = "are jobs of tenants above their quota stopped for an ask within "
              "another's" },
};

/* NULL: it has no quota. */
static struct quota_tenant *quota_named(struct quota *quota, const char *name)
{
    for (uint32_t t = 0; name != NULL && t < quota->tenants; t++)
        if (strcmp(quota->tenant[t].own.name, name) == 0)
            return &quota->tenant[t];
    return NULL;
}

/* What is wrong with the text; NULL: it was read.  The experiment was refused for it, if
 * it was read with this table.  Sets the number of tenants as well. */
static const char *quota_read(struct quota *quota)
{
    const char *at = quota->quotas != NULL ? quota->quotas : "";
    struct cs_quota own[CS_QUOTAS_MAX];

    if (cs_quotas_read(&at, own, &quota->tenants) != CS_QUOTAS_GOOD)
        return "quotas must be GPUs or a share of each tenant, as \"a=16 b=25%\"";
    for (uint32_t t = 0; t < quota->tenants; t++)
        quota->tenant[t] = (struct quota_tenant) { .own = own[t] };
    return NULL;
}

/* Reads the quotas.  False: the trial fails with what is wrong about them. */
static bool quota_init(void *self, struct cs_host *host)
{
    const char *wrong = quota_read(self);
    struct quota *quota = self;

    quota->gpus = 0;
    for (uint32_t n = 0; n < cs_node_count(host); n++)
        quota->gpus += cs_node(host, n).gpus;
    if (wrong != NULL)
        cs_fail(host, wrong);
    return wrong == NULL;
}

/* By priority; equal ones in the order they came. */
static bool quota_before(const void *self, const struct cs_host *host,
                         struct task_id a, struct task_id b)
{
    (void)self;
    return cs_task(host, a)->priority > cs_task(host, b)->priority;
}

/* The quota of a job's tenant; NULL: it has none. */
static struct quota_tenant *quota_of(struct quota *quota,
                                     const struct cs_host *host,
                                     struct job_id job)
{
    return quota_named(quota, cs_request(host, job)->tenant);
}

/* Returns a quota in whole thousandths of GPUs, of `gpus` in all: a number, or a share.
 * 29% of 100 GPUs are 29, though a product of doubles may be less by its rounding.  `gpus` is
 * the number of GPUs that there can be.  An amount that no cluster has is cut, so that it fits
 * into 64 bits. */
static uint64_t quota_amount(const struct quota_tenant *tenant, uint32_t gpus)
{
    double milli;

    if (tenant == NULL)
        return 0;
    milli = tenant->own.amount * GPU_MILLI * (tenant->own.share ? gpus / 100.0 : 1);
    return milli < 1e15 ? (uint64_t)(milli + 1e-6) : UINT64_C(1000000000000000);
}

/* Returns the quota of a tenant in this cluster. */
static uint64_t quota_milli(const struct quota *quota, const struct quota_tenant *tenant)
{
    return quota_amount(tenant, quota->gpus);
}

/* Returns what a task asks for, in thousandths of GPUs. */
static uint64_t task_milli(const struct cs_task *task)
{
    return (uint64_t)task->gpus * task->gpu_milli;
}

/* Quotas that cannot be read end each trial.  Where nothing may be borrowed, a job above its
 * tenant's quota waits for ever. */
static const char *quota_bars(const void *self,
                              const struct job_request *request, uint32_t gpus)
{
    struct quota own = *(const struct quota *)self;
    uint64_t asked = 0;

    const char *wrong = quota_read(&own);

    if (own.borrow || wrong != NULL)
        return wrong;
    for (uint32_t r = 0; r < request->form->role_count; r++)
        asked += (uint64_t)job_role_gpus(request, r) * job_role_milli(request, r);
    return asked > quota_amount(quota_named(&own, request->tenant), gpus)
               ? "it asks for more GPUs than the quota of its tenant, and "
                 "nothing may be borrowed" : NULL;
}

/* Returns what a job holds in some pools, in thousandths of GPUs. */
static uint64_t quota_held(const struct cs_host *host, struct job_id job, uint32_t pools)
{
    uint32_t roles = cs_request(host, job)->form->role_count;
    uint64_t milli = 0;

    for (uint32_t r = 0; r < roles; r++) {
        struct lease_id lease = cs_role_lease(host, job, r);
        if (lease.i != ID_NONE && (cs_lease_pools(host, lease) & pools))
            milli += (uint64_t)cs_lease(host, lease)->gpus * cs_lease(host, lease)->gpu_milli;
    }
    return milli;
}

/* Counts what each tenant with a quota holds.  O(jobs that run x tenants), at each decision. */
static void quota_count(struct quota *quota, const struct cs_host *host)
{
    for (uint32_t t = 0; t < quota->tenants; t++)
        quota->tenant[t].used = 0;
    for (uint32_t i = 0; i < cs_running_count(host); i++) {
        struct job_id job = cs_running(host, i);
        struct quota_tenant *tenant = quota_of(quota, host, job);
        if (tenant != NULL)
            tenant->used += quota_held(host, job, EVERY_POOL);
    }
}

/* Could what a task asks for be had in these pools by stopping what was borrowed there?
 * For a part of a GPU that is known only when it is tried.  A bound, that spares a search: a
 * tenant that is above its quota, be it by a part of a gang, may lose all jobs that it has there,
 * as a tenant without a quota may. */
static bool quota_can(struct quota *quota, const struct cs_host *host, uint32_t pools,
                      const struct cs_task *task)
{
    uint64_t room = (uint64_t)cs_free_gpus(host, pools) * GPU_MILLI;

    for (uint32_t t = 0; t < quota->tenants; t++)
        quota->tenant[t].held = 0;
    for (uint32_t i = 0; i < cs_running_count(host); i++) {
        struct job_id job = cs_running(host, i);
        struct quota_tenant *tenant = quota_of(quota, host, job);
        uint64_t held = quota_held(host, job, pools);
        if (tenant != NULL)
            tenant->held += held;
        else
            room += held;
    }
    for (uint32_t t = 0; t < quota->tenants; t++) {
        struct quota_tenant *tenant = &quota->tenant[t];
        if (tenant->used > quota_milli(quota, tenant))
            room += tenant->held;
        tenant->left = tenant->used;
    }
    return task->gpu_milli < GPU_MILLI || room >= task_milli(task);
}

/* Lists what was borrowed in the pools of a task, the last first, until the task would
 * fit without it.  Returns how many jobs; 0: it would not.  A tenant's jobs are chosen only
 * while it is above its quota, counted without those that were chosen before. */
static uint32_t quota_choose(struct quota *quota, struct cs_host *host, struct task_id task,
                             uint32_t pools)
{
    uint64_t asked = task_milli(cs_task(host, task)), held;
    uint64_t room = (uint64_t)cs_free_gpus(host, pools) * GPU_MILLI;
    uint32_t count = 0;

    if (asked < GPU_MILLI)
        asked = 0;              /* parts that are free beside others are not in `room` */

    for (uint32_t i = cs_running_count(host); i-- > 0;) {
        struct job_id job = cs_running(host, i);
        struct quota_tenant *tenant = quota_of(quota, host, job);
        held = quota_held(host, job, pools);
        if (held == 0 || (tenant != NULL && tenant->left <= quota_milli(quota, tenant)))
            continue;
        if (tenant != NULL)
            tenant->left -= quota_held(host, job, EVERY_POOL);
        quota->stop = cs_grow(host, quota->stop, &quota->stop_room, count,
                              sizeof *quota->stop);
        quota->stop[count++] = job;
        room += held;
        if (room >= asked && cs_fits_without(host, task, quota->stop, count))
            return count;
    }
    return 0;
}

/* Stops what was borrowed so that a task may start; false: nothing was stopped.  The jobs go
 * back to the queue. */
static bool quota_reclaim(struct quota *quota, struct cs_host *host, struct task_id task)
{
    uint32_t pools = cs_task_pools(host, task), count = 0;

    if (pools != 0 && quota_can(quota, host, pools, cs_task(host, task)))
        count = quota_choose(quota, host, task, pools);
    for (uint32_t i = 0; i < count; i++) {
        struct quota_tenant *tenant = quota_of(quota, host, quota->stop[i]);
        uint64_t has = quota_held(host, quota->stop[i], EVERY_POOL);
        if (cs_stop(host, quota->stop[i]) == CS_DONE && tenant != NULL)
            tenant->used -= has;
    }
    return count > 0;
}

#define QUOTA_WHY 200u

/* Appends to the reason, cut where it is full. */
static void append_text(char *why, const char *part)
{
    size_t at = strlen(why), bytes = strlen(part);

    if (bytes > QUOTA_WHY - 1 - at)
        bytes = QUOTA_WHY - 1 - at;
    memcpy(why + at, part, bytes);
    why[at + bytes] = '\0';
}

/* Ends the run: says which job could never start. */
static void quota_never(struct cs_host *host, const char *tenant, bool named)
{
    char why[QUOTA_WHY] = "borrow is false, and an ask would wait for ever: ";

    if (tenant == NULL)
        append_text(why, "a job belongs to no tenant");
    else {
        append_text(why, named ? "the quota is smaller than a job of tenant "
                               : "quotas does not name tenant ");
        append_text(why, tenant);
    }
    cs_fail(host, why);
}

/* Is there none that waits for more than its tenant may ever have?  With `borrow` every job
 * can start at some time. */
static bool quota_sane(struct quota *quota, struct cs_host *host)
{
    for (uint32_t i = 0; i < cs_pending_count(host) && !quota->borrow; i++) {
        const struct cs_task *task = cs_task(host, cs_pending(host, i));
        const struct quota_tenant *tenant = quota_of(quota, host, task->job);
        if (tenant != NULL && task_milli(task) <= quota_milli(quota, tenant))
            continue;
        quota_never(host, cs_request(host, task->job)->tenant, tenant != NULL);
        return false;
    }
    return true;
}

/* Two passes over the queue: tasks within their quotas, by taking back if need
 * be; then, unless one of those still waits, all others on what is free.  After jobs were
 * stopped the queue is longer, and the task has another place in it, which is looked for. */
static void quota_decide(void *self, struct cs_host *host)
{
    struct quota *quota = self;
    bool waits = false;

    if (!quota_sane(quota, host))
        return;
    quota_count(quota, host);
    for (uint32_t i = 0; i < cs_pending_count(host);) {
        struct task_id task = cs_pending(host, i);
        uint64_t asked = task_milli(cs_task(host, task));
        struct job_id job = cs_task(host, task)->job;
        struct quota_tenant *tenant = quota_of(quota, host, job);
        bool within = tenant != NULL &&
                      tenant->used + asked <= quota_milli(quota, tenant);
        bool starts = within && cs_start(host, task) == CS_DONE;
        if (within && !starts && quota->reclaim && quota_reclaim(quota, host, task)) {
            for (i = 0; cs_pending(host, i).i != task.i; i++)
                ;               /* what was stopped waits, too */
            starts = cs_start(host, task) == CS_DONE;
        }
        if (starts) {
            tenant->used += asked;
            continue;
        }
        waits |= within;
        i++;
    }
    for (uint32_t i = 0; quota->borrow && !waits &&
                         i < cs_pending_count(host);) {
        struct task_id task = cs_pending(host, i);
        if ((cs_task(host, task)->gpu_milli == GPU_MILLI &&
             cs_task(host, task)->gpus > cs_free_gpus(host, 0)) ||
            cs_start(host, task) != CS_DONE)
            i++;
    }
}

static const struct cs_words words[] = { { "quotas", CS_GPUS_OF_TENANTS } };

static const struct cs_need needs[] = {
    { "preemption", "reclaim: true" },
    { "preemption", "borrow: true" },
    { "reclaim", "borrow: true" },
};

const struct cs_policy quota_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "quota",
    .summary = "GPUs for each tenant, lent while it does not use them",
    .flags = CS_ASKS_PRIORITY | CS_PREEMPTS | CS_TAKES_OVER,
    .self_bytes = sizeof(struct quota),
    .param = quota_param,
    .param_count = sizeof quota_param / sizeof quota_param[0],
    .init = quota_init,
    .before = quota_before,
    .decide = quota_decide,
    .never = quota_bars,
    .need_count = sizeof needs / sizeof needs[0], .need = needs,
    .words_count = sizeof words / sizeof words[0], .words = words,
};
