/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * drf.c - dominant resource fairness: next goes the tenant whose largest share
 * of any resource (GPUs, cores, host memory) is smallest.
 *
 * Ghodsi et al. (NSDI 2011): no tenant is better off with the lot of another,
 * and none gains by asking for more than it needs, as long as tasks are small.
 * Gangs are not, and nothing is preempted: a share can stand above its fair
 * part until jobs end.  A tenant's own jobs go in the order they came; equal
 * shares go to the tenant that came first.  Jobs without a tenant count as
 * those of one.
 */
#include <math.h>
#include <string.h>

#include "policies/phases.h"
#include "policies/policy.h"
#include "policies/rank.h"

extern const struct cs_policy drf_policy;

/* Whole numbers, so that what is added can be taken away again. */
struct drf_use {
    double gpu_milli, core_milli, memory_bytes; /* thousandths of GPUs and of cores, and bytes;
                                                 * whole */
};

/* What a job that runs was counted as. */
struct drf_job {
    struct drf_use use;         /* what was added to its tenant */
    bool counts;                /* it is part of its tenant's use */
};

struct drf {
    struct drf_use *use;        /* by tenant */
    bool *blocked;              /* its next job does not fit now */
    struct drf_job *job;        /* by slot */
    uint32_t tenants, jobs;     /* for which there is room */
    uint32_t running;           /* jobs that are counted */
};

/* Makes room for all tenants that there are by now.  `blocked` has no content to keep: it is
 * set at each decision. */
static void drf_grow(struct drf *drf, struct cs_host *host)
{
    uint32_t before = drf->tenants;

    drf->use = cs_grow(host, drf->use, &drf->tenants, cs_tenant_count(host),
                       sizeof *drf->use);
    if (drf->tenants > before)
        drf->blocked = cs_alloc(host, drf->tenants, sizeof *drf->blocked);
}

/* What a job holds that runs: cores and memory are per GPU where a role has any, but those of a
 * pod are in all.  A role that went on cores in the place of GPUs holds none. */
static struct drf_use drf_held(const struct cs_host *host, struct job_id job)
{
    const struct job_form *form = cs_request(host, job)->form;
    struct drf_use use = { 0, 0, 0 };

    for (uint32_t r = 0; r < form->role_count; r++) {
        const struct role_spec *role = &form->role[r];
        struct lease_id id = cs_role_lease(host, job, r);
        if (id.i == ID_NONE)
            continue;
        const struct cs_lease *lease = cs_lease(host, id);
        double milli = (double)((uint64_t)lease->gpus * lease->gpu_milli);
        bool on_cores = lease->gpus == 0 && role->gpus > 0;

        use.gpu_milli += milli;
        if (role->pod) {
            use.core_milli += (double)role->core_milli;
            use.memory_bytes += (double)role->memory_bytes;
            continue;
        }
        if (lease->gpus == 0)
            milli = GPU_MILLI;
        use.core_milli += milli * (on_cores ? role->on_cores.cores : role->cores);
        use.memory_bytes += floor(milli / GPU_MILLI *
                                  (double)(on_cores ? role->on_cores.memory_bytes
                                                    : role->memory_bytes));
    }
    return use;
}

/* Adds a job that runs to its tenant.  A slot may have belonged to a job that has ended. */
static void drf_add(struct drf *drf, struct cs_host *host, struct job_id id)
{
    uint32_t slot = cs_slot(host, id);
    struct drf_use *use = &drf->use[cs_tenant(host, id)];

    drf->job = cs_grow(host, drf->job, &drf->jobs, slot, sizeof *drf->job);
    struct drf_job *job = &drf->job[slot];
    *job = (struct drf_job) { drf_held(host, id), true };
    use->gpu_milli += job->use.gpu_milli;
    use->core_milli += job->use.core_milli;
    use->memory_bytes += job->use.memory_bytes;
}

/* The largest share of GPUs, cores and memory; resources that the cluster has
 * not do not count.  For example, 2 of 16 GPUs and 64 of 256 cores: the shares are 0.125 and
 * 0.25, and 0.25 is the dominant one. */
static double drf_share(const struct drf_use *use, const struct cs_host *host)
{
    double gpus = cs_total_gpus(host, 0), cores = cs_total_cores(host);
    double memory = cs_total_memory_bytes(host), share = 0;

    if (gpus > 0)
        share = use->gpu_milli / (GPU_MILLI * gpus);
    if (cores > 0 && use->core_milli / (GPU_MILLI * cores) > share)
        share = use->core_milli / (GPU_MILLI * cores);
    if (memory > 0 && use->memory_bytes / memory > share)
        share = use->memory_bytes / memory;
    return share;
}

/* A job that was interrupted holds nothing, and nobody said so.  So all is counted anew when
 * the number of jobs that run is not as expected. */
static void drf_count(struct drf *drf, struct cs_host *host)
{
    drf->running = cs_running_count(host);
    for (uint32_t t = 0; t < drf->tenants; t++)
        drf->use[t] = (struct drf_use) { 0, 0, 0 };
    for (uint32_t j = 0; j < drf->jobs; j++)
        drf->job[j].counts = false;
    for (uint32_t i = 0; i < drf->running; i++)
        drf_add(drf, host, cs_running(host, i));
}

/* A job that is not counted holds nothing to give back. */
static void drf_job_ended(void *self, struct cs_host *host, struct job_id id)
{
    struct drf *drf = self;
    uint32_t slot = cs_slot(host, id);

    drf_grow(drf, host);
    if (slot >= drf->jobs || !drf->job[slot].counts)
        return;
    struct drf_job *job = &drf->job[slot];
    struct drf_use *use = &drf->use[cs_tenant(host, id)];
    use->gpu_milli -= job->use.gpu_milli;
    use->core_milli -= job->use.core_milli;
    use->memory_bytes -= job->use.memory_bytes;
    job->counts = false;
    drf->running--;
}

/* The oldest ask of the tenant with the smallest share; ID_NONE: no tenant
 * that is not blocked has one.  O(tenants) for each task that is started. */
static struct task_id drf_next(const struct drf *drf, struct cs_host *host,
                               uint32_t *tenant)
{
    struct task_id best = { ID_NONE };
    uint32_t tenants = cs_tenant_count(host);
    double least = 0;

    for (uint32_t t = 0; t < tenants; t++) {
        struct task_id task = cs_tenant_first(host, t);
        if (task.i == ID_NONE || drf->blocked[t])
            continue;
        double share = drf_share(&drf->use[t], host);
        if (best.i == ID_NONE || share < least) {
            best = task;
            least = share;
            *tenant = t;
        }
    }
    return best;
}

/* With `blocking: skip` a tenant whose next job does not fit is passed over
 * until the next decision; else its job blocks all others. */
static void drf_decide(void *self, struct cs_host *host)
{
    struct drf *drf = self;
    struct task_id task;
    uint32_t t = 0;

    drf_grow(drf, host);
    memset(drf->blocked, 0, drf->tenants * sizeof *drf->blocked);
    if (cs_running_count(host) != drf->running)
        drf_count(drf, host);
    while ((task = drf_next(drf, host, &t)).i != ID_NONE) {
        struct job_id job = cs_task(host, task)->job;

        if (cs_start(host, task) == CS_DONE) {
            drf_add(drf, host, job);
            drf->running++;
        } else if (cs_skips(host)) {
            drf->blocked[t] = true;
        } else {
            return;
        }
    }
}

const struct cs_policy drf_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "drf",
    .cites = "ghodsi2011drf",
    .summary = "the tenant with the smallest dominant share first",
    .flags = CS_ASKS_BLOCKING | CS_TAKES_OVER,
    .self_bytes = sizeof(struct drf),
    .decide = drf_decide,
    .job_ended = drf_job_ended,
};
