/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plain_qssf.c - an oracle: quasi-shortest service first with the rolling mean of Helios (Hu et
 * al., SC 2021).
 *
 * Of all that waits, the job with the least predicted GPU-time goes first; of two alike, the one
 * that came first.  The prediction is made when a job comes, by a walk over all jobs that have
 * ended: those of its tenant with as many GPUs, else those of its tenant, else all.
 */
#include <assert.h>
#include <string.h>

#include "policies/policy.h"

extern const struct cs_policy plain_qssf_policy;

#define JOBS_MAX 1000u

struct ran {
    const char *tenant;
    uint32_t gpus;
    double run_s;
};

struct plain_qssf {
    struct ran *ended;          /* jobs, in the order in which they ended */
    double *predicted;          /* GPU-seconds, by job */
    uint32_t endeds;
};

static const char *tenant_of(const struct cs_host *host, struct job_id job)
{
    const char *tenant = cs_request(host, job)->tenant;

    return tenant != NULL ? tenant : "";
}

static bool start_empty(void *self, struct cs_host *host)
{
    struct plain_qssf *q = self;

    q->ended = cs_alloc(host, JOBS_MAX, sizeof *q->ended);
    q->predicted = cs_alloc(host, JOBS_MAX, sizeof *q->predicted);
    return true;
}

static void note_end(void *self, struct cs_host *host, struct job_id job)
{
    struct plain_qssf *q = self;
    uint32_t gpus = cs_job_gpus(host, job);

    if (cs_attained_gpu_s(host, job) == 0)
        return;                 /* it gave up before it began */
    assert(q->endeds < JOBS_MAX);
    q->ended[q->endeds++] = (struct ran) { tenant_of(host, job), gpus,
                                           cs_attained_gpu_s(host, job) / gpus };
}

/* Returns the mean run time of the jobs that have ended, of one tenant (NULL: of all) and of one
 * size (0: of all).  -1: no such job has ended. */
static double mean_of(const struct plain_qssf *q, const char *tenant, uint32_t gpus)
{
    double sum = 0, count = 0;

    for (const struct ran *r = q->ended; r < q->ended + q->endeds; r++)
        if ((tenant == NULL || strcmp(r->tenant, tenant) == 0) &&
            (gpus == 0 || r->gpus == gpus)) {
            sum += r->run_s;
            count += 1;
        }
    return count > 0 ? sum / count : -1;
}

static void predict(void *self, struct cs_host *host, struct job_id job)
{
    struct plain_qssf *q = self;
    uint32_t gpus = cs_job_gpus(host, job);
    double mean = mean_of(q, tenant_of(host, job), gpus);

    if (mean < 0)
        mean = mean_of(q, tenant_of(host, job), 0);
    if (mean < 0)
        mean = mean_of(q, NULL, 0);
    q->predicted[job.i] = mean < 0 ? 0 : mean * gpus;
}

static void decide(void *self, struct cs_host *host)
{
    const struct plain_qssf *q = self;
    struct { struct task_id task; double service; bool tried; } waits[JOBS_MAX];
    uint32_t count = cs_pending_count(host);

    assert(count <= JOBS_MAX);
    for (uint32_t i = 0; i < count; i++) {
        waits[i].task = cs_pending(host, i);
        waits[i].service = q->predicted[cs_task(host, waits[i].task)->job.i];
        waits[i].tried = false;
    }
    for (uint32_t turn = 0; turn < count; turn++) {
        uint32_t least = count;
        for (uint32_t i = count; i-- > 0;)
            if (!waits[i].tried && (least == count || waits[i].service <= waits[least].service))
                least = i;
        waits[least].tried = true;
        if (cs_start(host, waits[least].task) != CS_DONE && !cs_skips(host))
            return;
    }
}

const struct cs_policy plain_qssf_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "qssf",
    .summary = "least predicted GPU-time first, predicted by a walk",
    .flags = CS_ASKS_BLOCKING,
    .self_bytes = sizeof(struct plain_qssf),
    .init = start_empty,
    .decide = decide,
    .job_submitted = predict,
    .job_ended = note_end,
};
