/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * afs.c - apathetic future share: GPUs one by one, to the shorter job unless
 * the longer gains enough that both are better off.
 *
 * Hwang, Kim, Kim, Shin and Park, "Elastic Resource Sharing for Distributed
 * Deep Learning", NSDI 2021 (AFS-L).  Of two jobs a, b of which a would end
 * first, let p and p' be their speeds without and with the next GPU.  To give
 * it to b shortens the sum of their completion times if
 *     (p'_b - p_b) / p'_b > (p'_a - p_a) / p_a,
 * as b will have the GPU anyway when a is gone.  From nothing, every GPU goes to
 * the job that wins against all others, one after another.  Done anew when a
 * job came or ended, and no sooner than `interval` after the last time.
 *
 * Lengths are the host's estimates, as AFS-L knows them.  Where a job cannot
 * have every number of GPUs, its next step counts as one GPU.
 *
 * policies/solve/deal.c deals the GPUs; this file says when, and to which jobs.
 */
#include <string.h>

#include "policies/params.h"
#include "policies/policy.h"
#include "policies/resize.h"
#include "policies/solve.h"

extern const struct cs_policy afs_policy;

struct afs_job {
    struct job_id job;          /* its number */
    uint32_t had;               /* GPUs before the deal */
    uint32_t milli;             /* thousandths of each GPU */
};

/* Parameters first, which the host fills; then the jobs that may be resized, in the
 * order of submission. */
struct afs {
    int64_t interval_ns, last_ns; /* parameter `interval`; when sizes were set last, if `once` */
    struct afs_job *job;        /* `count` of them, with room for `room` */
    struct cs_deal_job *share;  /* of each job: what is left, and what it is to have */
    struct cs_size *size;       /* scratch: what the host is asked for */
    struct cs_deal *deal;       /* the solver; NULL: no job came yet */
    uint32_t count, room;       /* jobs that have not ended; entries that there is room for */
    uint32_t total;             /* GPUs that there were, at the last look */
    bool changed, once;         /* changed: a deal is due; once: there was a deal */
};

/* cs_next_size() of solve.h, in thousandths of GPUs: a job may ask for a part of one.
 * self: the policy; i: a place in afs->job.
 * Returns 0 if there is no larger size; *speedup is the speed on it. */
static uint32_t afs_next_size(struct cs_host *host, void *self, uint32_t i, uint32_t gpus,
                              double *speedup)
{
    struct afs *afs = self;
    const struct afs_job *job = &afs->job[i];
    uint32_t size = cs_size_above(host, job->job, gpus / job->milli);

    *speedup = size > 0 ? cs_best_speedup(host, job->job, size) : 0;
    return size * job->milli;
}

/* The remaining work of a job without GPUs does not change. */
static void afs_submitted(void *self, struct cs_host *host, struct job_id id)
{
    struct afs *afs = self;
    uint32_t room = afs->room;

    if (afs->count == afs->room) {
        afs->job = cs_grow(host, afs->job, &afs->room, afs->count, sizeof *afs->job);
        afs->share = cs_grow(host, afs->share, &room, afs->count, sizeof *afs->share);
        afs->size = cs_alloc(host, afs->room, sizeof *afs->size);
    }
    if (afs->deal == NULL)
        afs->deal = cs_make_deal(host, afs_next_size, afs);
    afs->share[afs->count] = (struct cs_deal_job) {
        .left_s = 1e-9 * (double)cs_left_ns(host, id), .curve = cs_curve(host, id) };
    afs->job[afs->count++] = (struct afs_job) {
        .job = id, .milli = job_role_milli(cs_request(host, id), 0) };
    afs->changed = true;
}

/* Forgets the job, and keeps the order of the others.  Jobs stand in the order of their
 * numbers, so that the job is found in O(log n).  Moving the others up is O(n). */
static void afs_ended(void *self, struct cs_host *host, struct job_id id)
{
    struct afs *afs = self;
    uint32_t at = 0, end = afs->count;

    (void)host;
    while (at < end) {
        uint32_t middle = at + (end - at) / 2;
        if (afs->job[middle].job.i < id.i)
            at = middle + 1;
        else
            end = middle;
    }
    afs->changed = true;
    if (at == afs->count || afs->job[at].job.i != id.i)
        return;
    afs->count--;
    memmove(&afs->job[at], &afs->job[at + 1], (afs->count - at) * sizeof *afs->job);
    memmove(&afs->share[at], &afs->share[at + 1],
            (afs->count - at) * sizeof *afs->share);
}

/* A failure took GPUs of a job.  O(jobs), at each decision: nobody tells a policy that a lease
 * became smaller. */
static bool afs_lost(const struct afs *afs, const struct cs_host *host)
{
    for (uint32_t i = 0; i < afs->count; i++)
        if (afs->job[i].had > 0 && cs_size_now(host, afs->job[i].job) < afs->job[i].had)
            return true;
    return false;
}

/* Sets the sizes all at once; the host may grant fewer, and what it granted is
 * remembered. */
static void afs_set_sizes(struct afs *afs, struct cs_host *host)
{
    uint32_t sizes = 0;

    for (uint32_t i = 0; i < afs->count; i++)
        if (afs->share[i].gpus != afs->job[i].had)
            afs->size[sizes++] = (struct cs_size) { afs->job[i].job, afs->share[i].gpus };
    cs_set_sizes(host, afs->size, sizes);
    for (uint32_t i = 0; i < afs->count; i++) {
        struct afs_job *job = &afs->job[i];
        if (afs->share[i].gpus == job->had)
            continue;
        job->had = cs_size_now(host, job->job);
        if (job->had == 0)              /* stopped: as long as it waits */
            afs->share[i].left_s = 1e-9 * (double)cs_left_ns(host, job->job);
    }
}

/* Tries jobs again that were given GPUs and found no place for them.  Between two deals sizes
 * stay; a job whose place was not free gets another try. */
static void afs_start_waiting(struct afs *afs, struct cs_host *host)
{
    uint32_t sizes = 0;

    for (uint32_t i = 0; i < afs->count && cs_free_gpus(host, 0) > 0; i++)
        if (afs->job[i].had == 0 && afs->share[i].gpus > 0)
            afs->size[sizes++] = (struct cs_size) { afs->job[i].job, afs->share[i].gpus };
    if (sizes == 0)
        return;
    cs_set_sizes(host, afs->size, sizes);
    for (uint32_t i = 0; i < afs->count; i++)
        if (afs->job[i].had == 0)
            afs->job[i].had = cs_size_now(host, afs->job[i].job);
}

/* Sizes are computed from nothing, no sooner than an interval after the last time.  What a
 * running job has left is asked anew.  A deal that may not be made yet is put off: the host is
 * asked to come back when the interval is over. */
static void afs_decide(void *self, struct cs_host *host)
{
    struct afs *afs = self;
    uint32_t room = cs_total_gpus(host, 0);
    int64_t now = cs_now_ns(host);

    if (room != afs->total)             /* nodes have come or gone */
        afs->changed = true;
    afs->total = room;
    if (afs->count == 0)
        return;
    if (!afs->changed && !afs_lost(afs, host)) {
        afs_start_waiting(afs, host);
        return;
    }
    int64_t due_ns = clock_after(afs->last_ns, afs->interval_ns);
    if (afs->once && now < due_ns) {
        cs_wake_at(host, due_ns);
        return;
    }
    for (uint32_t i = 0; i < afs->count; i++) {
        struct afs_job *job = &afs->job[i];
        if (job->had == 0)
            continue;
        afs->share[i].left_s = 1e-9 * (double)cs_left_ns(host, job->job);
        job->had = cs_size_now(host, job->job);
    }
    cs_deal_gpus(afs->deal, afs->share, afs->count, (uint64_t)GPU_MILLI * room);
    for (uint32_t i = 0; i < afs->count; i++)
        afs->share[i].gpus /= afs->job[i].milli;
    afs_set_sizes(afs, host);
    afs->changed = false;
    afs->once = true;
    afs->last_ns = now;
}

static const struct cs_param params[] = {
    { "interval", CS_PARAM_TIME, offsetof(struct afs, interval_ns), 0, 1e6,
      "0s", "sizes are set no sooner after they were set" },
};

const struct cs_policy afs_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),
    .name = "afs",
    .cites = "hwang2021elastic",
    .summary = "elastic: GPUs to the shorter job, or where both gain by it",
    .flags = CS_PREEMPTS | CS_RESIZES | CS_ASKS_ESTIMATES | CS_ONE_ROLE | CS_NEEDS_GPUS |
             CS_ONE_KIND,
    .param_count = 1, .param = params,
    .self_bytes = sizeof(struct afs), .decide = afs_decide,
    .job_submitted = afs_submitted, .job_ended = afs_ended,
};
