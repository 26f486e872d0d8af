/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * qssf.c - quasi-shortest service first: least predicted GPU-time first.
 *
 * After Helios (Hu et al., SC 2021): what a job will need is predicted from
 * what its owner's jobs needed before, since users run the same things again.
 * The prediction is made once, at submission: the mean run time of the ended
 * jobs of the same tenant and number of GPUs, else of the tenant, else of all.
 * That is the rolling half of Helios's estimate; its other half, a gradient-
 * boosted tree over job names, is not here.  It uses no `estimate`.
 *
 * Bad for tenants whose jobs differ much, and for the first jobs of all.
 */
#include <string.h>

#include "policies/phases.h"
#include "policies/policy.h"

extern const struct cs_policy qssf_policy;

struct qssf_history {
    const char *tenant;         /* NULL: all tenants */
    uint32_t gpus;              /* 0: all sizes */
    double sum_s, count;        /* run times of ended jobs */
};

struct qssf {
    struct qssf_history *history;       /* sorted */
    uint32_t count, room;
    double *service_s;          /* by job: predicted GPU-seconds */
    uint32_t job_room;
};

/* In order of tenants, then of GPUs; all tenants come first. */
static int qssf_compare(const struct qssf_history *h, const char *tenant,
                        uint32_t gpus)
{
    if (h->tenant == NULL || tenant == NULL) {
        if (h->tenant != tenant)
            return h->tenant == NULL ? -1 : 1;
    } else if (strcmp(h->tenant, tenant) != 0) {
        return strcmp(h->tenant, tenant);
    }
    return h->gpus < gpus ? -1 : h->gpus > gpus;
}

/* Made if it is not there. */
static struct qssf_history *qssf_of(struct qssf *q, struct cs_host *host,
                                    const char *tenant, uint32_t gpus)
{
    uint32_t low = 0, high = q->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (qssf_compare(&q->history[middle], tenant, gpus) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < q->count && qssf_compare(&q->history[low], tenant, gpus) == 0)
        return &q->history[low];
    q->history = cs_grow(host, q->history, &q->room, q->count, sizeof *q->history);
    memmove(&q->history[low + 1], &q->history[low],
            (q->count++ - low) * sizeof *q->history);
    q->history[low] = (struct qssf_history) { tenant, gpus, 0, 0 };
    return &q->history[low];
}

/* Jobs without a tenant count as those of one. */
static const char *qssf_tenant(const struct cs_host *host, struct job_id job)
{
    const char *tenant = cs_request(host, job)->tenant;

    return tenant ? tenant : "";
}

/* The most special history that has any job is taken; without one the
 * prediction is 0, and the job goes first. */
static void qssf_job_submitted(void *self, struct cs_host *host,
                               struct job_id job)
{
    struct qssf *q = self;
    const char *tenant = qssf_tenant(host, job);
    uint32_t gpus = cs_job_gpus(host, job);
    const struct qssf_history *h = qssf_of(q, host, tenant, gpus);

    if (!(h->count > 0))
        h = qssf_of(q, host, tenant, 0);
    if (!(h->count > 0))
        h = qssf_of(q, host, NULL, 0);
    q->service_s = cs_grow(host, q->service_s, &q->job_room, job.i,
                           sizeof *q->service_s);
    q->service_s[job.i] = h->count > 0 ? h->sum_s / h->count * gpus : 0;
}

/* Counts the run time of a job that ended. */
static void qssf_add(struct qssf_history *h, double run_s)
{
    h->sum_s += run_s;
    h->count += 1;
}

/* Run time is attained GPU-time over the GPUs, and counts for all three
 * predictions.  A job that never ran has none, as a replica that is let go while it waits. */
static void qssf_job_ended(void *self, struct cs_host *host,
                           struct job_id job)
{
    struct qssf *q = self;
    const char *tenant = qssf_tenant(host, job);
    uint32_t gpus = cs_job_gpus(host, job);
    double run_s = cs_attained_gpu_s(host, job) / (gpus ? gpus : 1);

    if (!(run_s > 0))
        return;
    qssf_add(qssf_of(q, host, tenant, gpus), run_s);
    qssf_add(qssf_of(q, host, tenant, 0), run_s);
    qssf_add(qssf_of(q, host, NULL, 0), run_s);
}

/* A task is put in order before the news of it is told; until then it is 0. */
static double qssf_service(const struct qssf *q, const struct cs_host *host,
                           struct task_id task)
{
    uint32_t job = cs_task(host, task)->job.i;

    return job < q->job_room ? q->service_s[job] : 0;
}

/* The less predicted GPU time first. */
static bool qssf_before(const void *self, const struct cs_host *host,
                        struct task_id a, struct task_id b)
{
    const struct qssf *q = self;

    return qssf_service(q, host, a) < qssf_service(q, host, b);
}

const struct cs_policy qssf_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "qssf",
    .cites = "hu2021helios",
    .summary = "least GPU-time first, predicted from the tenant's past jobs",
    .flags = CS_ORDER_AT_NEWS,
    .self_bytes = sizeof(struct qssf),
    .before = qssf_before,
    .job_submitted = qssf_job_submitted,
    .job_ended = qssf_job_ended,
};
