/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fair_share.c - fair share: first the jobs of the tenant that has used least
 * GPU-time so far, its own in the order they came.
 *
 * The order of Kay and Lauder's Share (CACM 1988) with equal shares and usage
 * that never decays.  Nothing is preempted, so that fairness is only as quick
 * as jobs end, and a tenant that comes late goes before all others until it has
 * caught up.  Jobs without a tenant count as one tenant.
 *
 * What a tenant has used grows by the GPUs that it holds; how much it is, but
 * for rounding, is known without a look at its jobs.  They are summed up, one
 * by one in the order in which they began, only where two tenants may have used
 * as much.  A decision looks at every tenant with a waiting job.
 */
#include <math.h>

#include "policies/phases.h"
#include "policies/policy.h"
#include "policies/rank.h"

extern const struct cs_policy fair_share_policy;

/* Of a job that runs: its neighbours (seats) among those of its tenant, in the
 * order in which they began to; what it has used is base + per_s x the time. */
struct fair_job {
    struct job_id id;
    uint32_t before, after, tenant; /* seats, ID_NONE: none; the number of its tenant */
    bool runs;                  /* it is in its tenant's list */
    double base_gpu_s, per_s;
    double counted_gpu_s;       /* had before it was interrupted: its tenant's already */
};

struct fair_tenant {
    double ended_gpu_s;         /* of jobs that have ended, or were interrupted */
    double base_gpu_s, per_s;   /* GPU-seconds that it would have had at time 0; GPU-seconds a
                                 * second */
    double off_gpu_s, off_per_s;        /* and how far sums may be off */
    uint32_t first, last, runs; /* jobs that run */
};

/* What a tenant has used is from low to high. */
struct fair_next {
    double low, high;           /* GPU-seconds; equal: known exactly */
    uint32_t tenant;
    struct task_id task;        /* in `serves`: its next task */
};

struct fair_heap {
    struct fair_next *item;     /* item[0] is the first */
    uint32_t count;             /* of items; there is room for every tenant */
};

struct fair_share {
    struct fair_tenant *tenant;
    uint32_t tenants;           /* for which there is room */
    struct fair_job *job;       /* by seat */
    uint32_t job_room;          /* seats */
    struct fair_heap waits;     /* tenants, by what they have used */
    struct fair_heap serves;    /* those that used equally little, by the age of
                                   their next task */
};

/* Asks the host to tell which jobs start and stop. */
static bool fair_share_init(void *self, struct cs_host *host)
{
    (void)self;
    cs_turned(host);            /* from now on it is told */
    return true;
}

/* Room for all tenants, in the heaps too, so that pushing cannot fail. */
static void fair_share_grow(struct fair_share *fair, struct cs_host *host)
{
    uint32_t before = fair->tenants, t = before;

    fair->tenant = cs_grow(host, fair->tenant, &fair->tenants, cs_tenant_count(host),
                           sizeof *fair->tenant);
    if (fair->tenants == before)
        return;
    for (; t < fair->tenants; t++)
        fair->tenant[t].first = fair->tenant[t].last = ID_NONE;
    fair->waits.item = cs_alloc(host, fair->tenants, sizeof *fair->waits.item);
    fair->serves.item = cs_alloc(host, fair->tenants, sizeof *fair->serves.item);
}

/* Adds the job to its tenant.  Entries are by slot, so that memory follows the jobs
 * in the system. */
static void fair_share_job_submitted(void *self, struct cs_host *host,
                                     struct job_id job)
{
    struct fair_share *fair = self;
    uint32_t seat = cs_slot(host, job);

    fair->job = cs_grow(host, fair->job, &fair->job_room, seat, sizeof *fair->job);
    fair->job[seat] =
        (struct fair_job) { .id = job, .tenant = cs_tenant(host, job) };
    fair_share_grow(fair, host);
}

/* ---- what each tenant has used --------------------------------------------- */

/* GPU-seconds of a job that its tenant has not been charged for. */
static double fair_share_new(const struct cs_host *host, const struct fair_job *job)
{
    return cs_attained_gpu_s(host, job->id) - job->counted_gpu_s;
}

/* What the job has had stays with its tenant, also while it waits to begin again. */
static void fair_share_charge(struct fair_share *fair, const struct cs_host *host,
                              struct fair_job *job)
{
    double gpu_s = fair_share_new(host, job);

    fair->tenant[job->tenant].ended_gpu_s += gpu_s;
    job->counted_gpu_s += gpu_s;
}

#define FAIR_ROUNDING 0x1p-51   /* more than that of a sum, of its size */

/* Adds what a job that runs uses to that of its tenant, sign +1 or -1.  Each addition may be
 * off by a rounding of its result, which is added to the bound. */
static void fair_share_add(struct fair_tenant *tenant,
                           const struct fair_job *job, double sign)
{
    tenant->base_gpu_s += sign * job->base_gpu_s;
    tenant->per_s += sign * job->per_s;
    tenant->off_gpu_s += (fabs(tenant->base_gpu_s) + fabs(job->base_gpu_s)) *
                         FAIR_ROUNDING;
    tenant->off_per_s += (fabs(tenant->per_s) + job->per_s) * FAIR_ROUNDING;
}

/* A job does not run any more: it leaves its tenant's list, and its use the
 * sum.  A tenant without running jobs has sums of exactly 0 again. */
static void fair_share_leave(struct fair_share *fair, struct fair_job *job)
{
    struct fair_tenant *tenant = &fair->tenant[job->tenant];

    if (!job->runs)
        return;
    job->runs = false;
    if (job->before == ID_NONE)
        tenant->first = job->after;
    else
        fair->job[job->before].after = job->after;
    if (job->after == ID_NONE)
        tenant->last = job->before;
    else
        fair->job[job->after].before = job->before;
    fair_share_add(tenant, job, -1);
    tenant->runs--;
    if (tenant->runs == 0) {
        tenant->base_gpu_s = tenant->per_s = 0;
        tenant->off_gpu_s = tenant->off_per_s = 0;
    }
}

/* A job runs: it is the last of its tenant's list, and its use joins the
 * sum. */
static void fair_share_join(struct fair_share *fair, struct cs_host *host,
                            struct fair_job *job)
{
    uint32_t seat = cs_slot(host, job->id);
    struct fair_tenant *tenant = &fair->tenant[job->tenant];

    job->runs = true;
    job->before = tenant->last;
    job->after = ID_NONE;
    if (tenant->last == ID_NONE)
        tenant->first = seat;
    else
        fair->job[tenant->last].after = seat;
    tenant->last = seat;
    tenant->runs++;
    job->per_s = cs_attained_per_s(host, job->id);
    job->base_gpu_s = fair_share_new(host, job) -
                      job->per_s * ((double)cs_now_ns(host) / 1e9);
    fair_share_add(tenant, job, 1);
}

static void fair_share_job_ended(void *self, struct cs_host *host,
                                 struct job_id id)
{
    struct fair_share *fair = self;
    struct fair_job *job = &fair->job[cs_slot(host, id)];

    fair_share_leave(fair, job);
    fair_share_charge(fair, host, job);
}

/* Who runs: in the order in which they began to, as cs_running() has them.  One that stopped
 * and runs again leaves the list and joins it at the end. */
static void fair_share_listen(struct fair_share *fair, struct cs_host *host)
{
    struct job_id id;

    while ((id = cs_turned(host)).i != ID_NONE) {
        struct fair_job *job = &fair->job[cs_slot(host, id)];
        fair_share_leave(fair, job);
        if (cs_job_task(host, id, CS_ALL_ROLES).i == ID_NONE)
            fair_share_join(fair, host, job);
        else
            fair_share_charge(fair, host, job);
    }
}

/* Without a look at its jobs: from low to high.  The bound grows with the jobs that run, as
 * the exact sum rounds once for each. */
static struct fair_next fair_share_about(const struct fair_share *fair,
                                         struct cs_host *host, uint32_t t)
{
    const struct fair_tenant *tenant = &fair->tenant[t];
    double now_s = (double)cs_now_ns(host) / 1e9;
    double run = tenant->per_s * now_s;
    double used = tenant->ended_gpu_s + (tenant->base_gpu_s + run);
    double size = tenant->ended_gpu_s + fabs(tenant->base_gpu_s) + fabs(run);
    double off = tenant->off_gpu_s + tenant->off_per_s * now_s +
                 size * (tenant->runs + 8) * FAIR_ROUNDING;

    if (tenant->runs == 0)
        off = 0;
    return (struct fair_next) { .low = used - off, .high = used + off,
                                .tenant = t };
}

/* Exactly, job by job in the order of the list, as rounding depends on it.  O(jobs of the
 * tenant that run). */
static double fair_share_used(const struct fair_share *fair,
                              struct cs_host *host, uint32_t t)
{
    double gpu_s = fair->tenant[t].ended_gpu_s;

    for (uint32_t i = fair->tenant[t].first; i != ID_NONE;
         i = fair->job[i].after)
        gpu_s += fair_share_new(host, &fair->job[i]);
    return gpu_s;
}

/* ---- heaps ----------------------------------------------------------------- */

/* Of those as low, the tenant that is not known to the end comes first. */
static bool fair_share_sooner(const struct fair_next *a,
                              const struct fair_next *b)
{
    if (a->low < b->low || b->low < a->low)
        return a->low < b->low;
    if (a->high < b->high || b->high < a->high)
        return a->high > b->high;
    return a->tenant < b->tenant;
}

/* Adds to a heap; it has room for every tenant. */
static void fair_share_push(struct fair_heap *heap, struct fair_next next)
{
    uint32_t at = heap->count++;

    while (at > 0 && fair_share_sooner(&next, &heap->item[(at - 1) / 2])) {
        heap->item[at] = heap->item[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap->item[at] = next;
}

/* Removes the first of a heap. */
static struct fair_next fair_share_pop(struct fair_heap *heap)
{
    struct fair_next first = heap->item[0];
    struct fair_next last = heap->item[--heap->count];
    uint32_t at = 0;

    for (uint32_t next = 1; next < heap->count; next = 2 * at + 1) {
        if (next + 1 < heap->count &&
            fair_share_sooner(&heap->item[next + 1], &heap->item[next]))
            next++;
        if (!fair_share_sooner(&heap->item[next], &last))
            break;
        heap->item[at] = heap->item[next];
        at = next;
    }
    if (heap->count > 0)
        heap->item[at] = last;
    return first;
}

/* ---- decisions ------------------------------------------------------------- */

/* With `blocking: skip`: what could start.  Returns the GPUs that are free.  At least 1,
 * because tasks that need a part of a GPU, or none, may fit where none is free. */
static uint32_t fair_share_room(struct cs_host *host)
{
    uint32_t free = cs_free_gpus(host, 0);

    return free > 0 ? free : 1;
}

/* Could anything start? */
static bool fair_share_fits(struct cs_host *host)
{
    struct cs_filter filter = { .gpus_max = fair_share_room(host),
                                .estimate_max_ns = INT64_MAX,
                                .startable = true };

    return cs_find_pending(host, 0, &filter) < cs_pending_count(host);
}

/* A tenant is served from a task on, in the order in which its next came.  With `blocking:
 * skip`, from the first of its tasks that fits; the others are not looked at again in this
 * decision. */
static void fair_share_enter(struct fair_share *fair, struct cs_host *host,
                             uint32_t tenant, struct task_id task)
{
    if (cs_skips(host))
        task = cs_tenant_fits(host, task, fair_share_room(host));
    if (task.i == ID_NONE)
        return;
    double came = cs_task(host, task)->job.i;
    fair_share_push(&fair->serves, (struct fair_next) {
        .low = came, .high = came, .tenant = tenant, .task = task,
    });
}

/* Those that have used least, and as much as each other, leave the tenants that
 * wait to be served.  Only where two may have used as much is it summed up.  For example, of
 * three tenants with 10, 10 and 25 GPU-seconds the first two are served together, by the age
 * of their tasks; the third waits for the next level. */
static void fair_share_level(struct fair_share *fair, struct cs_host *host)
{
    struct fair_heap *waits = &fair->waits;
    double level = INFINITY;

    fair->serves.count = 0;
    while (waits->count > 0 &&
           (isinf(level) || waits->item[0].low <= level)) {
        struct fair_next next = fair_share_pop(waits);
        bool alone = waits->count == 0 || waits->item[0].low > next.high;
        if (next.low < next.high && !alone) {
            next.low = next.high = fair_share_used(fair, host, next.tenant);
            fair_share_push(waits, next);
            continue;
        }
        level = next.high;
        fair_share_enter(fair, host, next.tenant,
                         cs_tenant_first(host, next.tenant));
    }
}

/* Starts what waits of them, in the order it came; false if that ends the
 * decision.  A task that has become too large is passed over for the next one of its tenant
 * that fits. */
static bool fair_share_serve(struct fair_share *fair, struct cs_host *host)
{
    while (fair->serves.count > 0) {
        struct fair_next next = fair_share_pop(&fair->serves);
        struct task_id task = next.task;
        if (cs_skips(host) &&
            cs_tenant_fits(host, task, fair_share_room(host)).i != task.i) {
            fair_share_enter(fair, host, next.tenant, task);
            continue;
        }
        struct task_id after = cs_tenant_next(host, task);
        bool started = cs_start(host, task) == CS_DONE;
        if (cs_skips(host) ? started && !fair_share_fits(host) : !started)
            return false;
        fair_share_enter(fair, host, next.tenant, after);
    }
    return true;
}

/* Tenants are served level by level, from those that have used least. */
static void fair_share_decide(void *self, struct cs_host *host)
{
    struct fair_share *fair = self;

    fair_share_listen(fair, host);
    if (cs_pending_count(host) == 0 ||
        (cs_skips(host) && !fair_share_fits(host)))
        return;
    fair->waits.count = 0;
    for (uint32_t t = 0; t < cs_tenant_count(host); t++)
        if (cs_tenant_first(host, t).i != ID_NONE)
            fair_share_push(&fair->waits, fair_share_about(fair, host, t));
    while (fair->waits.count > 0) {
        fair_share_level(fair, host);
        if (!fair_share_serve(fair, host))
            return;
    }
}

const struct cs_policy fair_share_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "fair-share",
    .cites = "kay1988fair",
    .summary = "jobs of the tenant that used least GPU-time first",
    .flags = CS_ASKS_BLOCKING,
    .self_bytes = sizeof(struct fair_share),
    .init = fair_share_init,
    .decide = fair_share_decide,
    .job_submitted = fair_share_job_submitted,
    .job_ended = fair_share_job_ended,
};
