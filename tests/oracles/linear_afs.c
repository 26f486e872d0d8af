/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * linear_afs.c - an oracle: afs that holds its
 * contests anew for each GPU.
 */
#include <string.h>

#include "policies/params.h"
#include "policies/policy.h"
#include "policies/resize.h"

extern const struct cs_policy linear_afs_policy;

struct afs_job {
    struct job_id job;
    double left_s;
    double speedup, next_speedup;     /* 0 with no GPU */
    uint32_t gpus, next;        /* next 0: no more */
};

struct afs {
    int64_t interval_ns, last_ns;
    struct afs_job *job;
    struct cs_size *size;
    uint32_t count, room;
    bool changed, once;
};

static void afs_submitted(void *self, struct cs_host *host, struct job_id id)
{
    struct afs *afs = self;

    if (afs->count == afs->room) {
        uint32_t room = afs->room ? 2 * afs->room : 64;
        struct afs_job *old = afs->job;

        afs->job = cs_alloc(host, room, sizeof *afs->job);
        if (old)
            memcpy(afs->job, old, afs->count * sizeof *old);
        afs->size = cs_alloc(host, room, sizeof *afs->size);
        afs->room = room;
    }
    afs->job[afs->count++] = (struct afs_job) { .job = id };
    afs->changed = true;
}

static void afs_ended(void *self, struct cs_host *host, struct job_id id)
{
    struct afs *afs = self;
    uint32_t kept = 0;

    (void)host;
    for (uint32_t i = 0; i < afs->count; i++)
        if (afs->job[i].job.i != id.i)
            afs->job[kept++] = afs->job[i];
    afs->count = kept;
    afs->changed = true;
}

static void afs_look_ahead(struct afs_job *job, struct cs_host *host)
{
    job->next = cs_size_above(host, job->job, job->gpus);
    job->next_speedup = job->next ? cs_best_speedup(host, job->job, job->next) : 0;
    if (!(job->next_speedup > job->speedup))
        job->next = 0;
}

/* Time to the end at the speed now; jobs that have none go by what is left. */
static bool afs_ends_first(const struct afs_job *x, const struct afs_job *y)
{
    double a = x->speedup > 0 && y->speedup > 0 ? x->left_s / x->speedup : x->left_s;
    double b = x->speedup > 0 && y->speedup > 0 ? y->left_s / y->speedup : y->left_s;

    return a != b ? a < b : x->job.i < y->job.i;
}

static bool afs_wins(const struct afs_job *x, const struct afs_job *y)
{
    bool first = afs_ends_first(x, y);
    const struct afs_job *a = first ? x : y, *b = first ? y : x;
    bool to_b = (b->next_speedup - b->speedup) * a->speedup >
                (a->next_speedup - a->speedup) * b->next_speedup;

    return to_b != first;
}

/* afs->count: nobody can have more. */
static uint32_t afs_top(const struct afs *afs, uint32_t room)
{
    uint32_t top = afs->count;

    for (uint32_t i = 0; i < afs->count; i++) {
        const struct afs_job *job = &afs->job[i];
        if (job->next == 0 || job->next - job->gpus > room)
            continue;
        if (top == afs->count || afs_wins(job, &afs->job[top]))
            top = i;
    }
    return top;
}

/* A failure took the GPUs of a job. */
static bool afs_lost(const struct afs *afs, const struct cs_host *host)
{
    for (uint32_t i = 0; i < afs->count; i++)
        if (cs_size_now(host, afs->job[i].job) < afs->job[i].gpus)
            return true;
    return false;
}

static void afs_decide(void *self, struct cs_host *host)
{
    struct afs *afs = self;
    uint32_t room = cs_total_gpus(host, 0), top;
    int64_t now = cs_now_ns(host);

    if (afs->count == 0 || (!afs->changed && !afs_lost(afs, host)))
        return;
    if (afs->once && now < afs->last_ns + afs->interval_ns) {
        cs_wake_at(host, afs->last_ns + afs->interval_ns);
        return;
    }
    for (uint32_t i = 0; i < afs->count; i++) {
        struct afs_job *job = &afs->job[i];
        job->left_s = 1e-9 * (double)cs_left_ns(host, job->job);
        job->gpus = 0;
        job->speedup = 0;
        afs_look_ahead(job, host);
    }
    while ((top = afs_top(afs, room)) < afs->count) {
        struct afs_job *job = &afs->job[top];
        room -= job->next - job->gpus;
        job->gpus = job->next;
        job->speedup = job->next_speedup;
        afs_look_ahead(job, host);
    }
    for (uint32_t i = 0; i < afs->count; i++)
        afs->size[i] = (struct cs_size) { afs->job[i].job, afs->job[i].gpus };
    cs_set_sizes(host, afs->size, afs->count);
    for (uint32_t i = 0; i < afs->count; i++)
        afs->job[i].gpus = cs_size_now(host, afs->job[i].job);
    afs->changed = false;
    afs->once = true;
    afs->last_ns = now;
}

static const struct cs_param params[] = {
    { "interval", CS_PARAM_TIME, offsetof(struct afs, interval_ns), 0, 1e6,
      "0s", "sizes are set no sooner after they were set" },
};

const struct cs_policy linear_afs_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),
    .name = "afs",
    .summary = "elastic: GPUs to the shorter job, or where both gain by it",
    .flags = CS_PREEMPTS | CS_RESIZES, .param_count = 1, .param = params,
    .self_bytes = sizeof(struct afs), .decide = afs_decide,
    .job_submitted = afs_submitted, .job_ended = afs_ended,
};
