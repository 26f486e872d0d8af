/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plain_optimus.c - an oracle: optimus by all steps of all jobs, each time one is taken.
 */
#include <assert.h>
#include <stdlib.h>

#include "policies/policy.h"
#include "policies/resize.h"

extern const struct cs_policy plain_optimus_policy;

#define JOBS_MAX 500u

struct plain_optimus {
    int64_t interval_ns;        /* the parameter */
};

static int by_age(const void *a, const void *b)
{
    const struct cs_size *x = a, *y = b;

    return (x->job.i > y->job.i) - (x->job.i < y->job.i);
}

static uint32_t list_all(const struct cs_host *host, struct cs_size *all)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < cs_pending_count(host); i++)
        all[count++].job = cs_task(host, cs_pending(host, i))->job;
    for (uint32_t i = 0; i < cs_running_count(host); i++)
        all[count++].job = cs_running(host, i);
    assert(count <= JOBS_MAX);
    qsort(all, count, sizeof *all, by_age);
    return count;
}

/* Parts of a GPU count as such. */
static double gpus_of(const struct cs_host *host, struct job_id job, uint32_t gpus)
{
    return gpus * job_role_milli(cs_request(host, job), 0) / 1000.0;
}

static double end_s(struct cs_host *host, struct job_id job, uint32_t gpus)
{
    return 1e-9 * (double)cs_left_ns(host, job) / cs_best_speedup(host, job, gpus);
}

static void deal(struct cs_host *host)
{
    struct cs_size all[JOBS_MAX];
    uint32_t count = list_all(host, all), best;
    double room = cs_total_gpus(host, 0);

    for (uint32_t i = 0; i < count; i++) {
        all[i].gpus = cs_size_least(host, all[i].job);
        if (gpus_of(host, all[i].job, all[i].gpus) > room)
            all[i].gpus = 0;
        room -= gpus_of(host, all[i].job, all[i].gpus);
    }
    do {
        double most = 0;
        best = count;
        for (uint32_t i = 0; i < count; i++) {
            struct job_id job = all[i].job;
            uint32_t gpus = all[i].gpus, next = cs_size_above(host, job, gpus);
            if (gpus == 0 || next == 0 || gpus_of(host, job, next - gpus) > room)
                continue;
            double saves_s = end_s(host, job, gpus) - end_s(host, job, next);
            if (saves_s / (next - gpus) > most) {
                most = saves_s / (next - gpus);
                best = i;
            }
        }
        if (best < count) {
            uint32_t next = cs_size_above(host, all[best].job, all[best].gpus);
            room -= gpus_of(host, all[best].job, next - all[best].gpus);
            all[best].gpus = next;
        }
    } while (best < count);
    cs_set_sizes(host, all, count);
}

static void decide(void *self, struct cs_host *host)
{
    int64_t every = ((struct plain_optimus *)self)->interval_ns, now = cs_now_ns(host);

    if (cs_pending_count(host) == 0 && cs_running_count(host) == 0)
        return;
    if (now % every == 0)
        deal(host);
    cs_wake_at(host, now - now % every + every);
}

const struct cs_policy plain_optimus_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "optimus",
    .summary = "GPUs to the job whose end comes nearest, all steps looked at",
    .flags = CS_PREEMPTS | CS_RESIZES | CS_ASKS_ESTIMATES | CS_ONE_ROLE | CS_NEEDS_GPUS |
             CS_ONE_KIND,
    .self_bytes = sizeof(struct plain_optimus),
    .decide = decide,
};
