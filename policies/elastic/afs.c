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
 * policies/solve/deal.c deals the GPUs; this file says when, and to which jobs.  Where nothing
 * fails, deal_kept.c says which jobs are to have other GPUs, without a look at each.
 */
#include "policies/params.h"
#include "policies/policy.h"
#include "policies/resize.h"
#include "policies/solve.h"

extern const struct cs_policy afs_policy;

#define WHOLE_MAX 1024u         /* whole deals that follow one which could not be kept */

struct afs_job {
    struct job_id job;          /* its number */
    uint32_t had;               /* GPUs before the deal */
    uint32_t milli;             /* thousandths of each GPU */
    uint32_t dealt;             /* the last deal that named its size */
    bool over;                  /* it has ended */
    bool odd;                   /* a kept deal knows too little of it */
};

/* Parameters first, which the host fills; then the jobs that may be resized, in the
 * order of submission. */
struct afs {
    int64_t interval_ns, last_ns; /* parameter `interval`; when sizes were set last, if `once` */
    struct afs_job *job;        /* `count` of them, with room for `room` */
    struct cs_deal_job *share;  /* of each job: what is left, and what it is to have */
    struct cs_size *size;       /* scratch: what the host is asked for */
    struct cs_deal *deal;       /* the solver; NULL: no job came yet */
    struct cs_kept_deal *kept;  /* what is known of the last deal, if `keeps` */
    uint32_t count, room;       /* jobs; entries that there is room for */
    uint32_t ended;             /* jobs that are over and still in the list */
    uint32_t odd;               /* jobs that are */
    uint32_t deals;             /* so far */
    uint32_t total;             /* GPUs that there were, at the last look */
    uint32_t whole, wholes;     /* whole deals that are to follow; how many did last time */
    bool changed, once;         /* changed: a deal is due; once: there was a deal */
    bool keeps;
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

/* As afs_next_size(), of the job with that number. */
static uint32_t afs_next_size_of(struct cs_host *host, void *self, uint32_t job, uint32_t gpus,
                                 double *speedup)
{
    struct job_id id = { job };
    uint32_t size = cs_size_above(host, id, gpus / GPU_MILLI);

    (void)self;
    *speedup = size > 0 ? cs_best_speedup(host, id, size) : 0;
    return size * GPU_MILLI;
}

/* cs_left_s() of solve.h. */
static double afs_left_s(struct cs_host *host, void *self, uint32_t job)
{
    (void)self;
    return 1e-9 * (double)cs_left_ns(host, (struct job_id) { job });
}

/* Can a kept deal not know of the job what it needs: whole GPUs, and work that falls evenly? */
static bool afs_is_odd(const struct cs_host *host, struct job_id id)
{
    return cs_curve(host, id) == ID_NONE || !cs_is_steady(host, id) ||
           job_role_milli(cs_request(host, id), 0) != GPU_MILLI;
}

/* Keeps a job with what it holds.  A second of work passes in no less than a second of its
 * restart, or at the speed of its size; both at once is a bound. */
static void afs_keep(struct afs *afs, struct cs_host *host, uint32_t i)
{
    const struct afs_job *job = &afs->job[i];
    double speedup = job->had > 0 ? cs_best_speedup(host, job->job, job->had) : 0;
    struct cs_kept_job kept = {
        .job = job->job.i, .curve = afs->share[i].curve, .gpus = job->had * GPU_MILLI,
        .left_s = afs_left_s(host, afs, job->job.i),
        .now_s = 1e-9 * (double)cs_now_ns(host), .per_s = job->had > 0 ? 1 + speedup : 0 };

    cs_keep_job(afs->kept, cs_slot(host, job->job), &kept);
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
    if (afs->deal == NULL) {
        afs->deal = cs_make_deal(host, afs_next_size, afs);
        afs->kept = cs_make_kept_deal(afs->deal, afs_next_size_of, afs_left_s);
    }
    afs->share[afs->count] = (struct cs_deal_job) {
        .left_s = 1e-9 * (double)cs_left_ns(host, id), .curve = cs_curve(host, id) };
    afs->job[afs->count++] = (struct afs_job) {
        .job = id, .milli = job_role_milli(cs_request(host, id), 0),
        .odd = afs_is_odd(host, id) };
    afs->odd += afs->job[afs->count - 1].odd;
    if (afs->keeps && afs->odd == 0)
        afs_keep(afs, host, afs->count - 1);
    afs->changed = true;
}

/* Returns the place of a job, or that of the first one behind it.  Jobs stand in the order of
 * their numbers. */
static uint32_t afs_find(const struct afs *afs, struct job_id id)
{
    uint32_t at = 0, end = afs->count;

    while (at < end) {
        uint32_t middle = at + (end - at) / 2;
        if (afs->job[middle].job.i < id.i)
            at = middle + 1;
        else
            end = middle;
    }
    return at;
}

/* Forgets the jobs that are over, and keeps the order of the others. */
static void afs_forget_ended(struct afs *afs)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < afs->count && afs->ended > 0; i++)
        if (!afs->job[i].over) {
            afs->job[kept] = afs->job[i];
            afs->share[kept++] = afs->share[i];
        }
    if (afs->ended > 0)
        afs->count = kept;
    afs->ended = 0;
}

/* Notes that the job is over.  It is taken out of the list with others, when they are a quarter
 * of it. */
static void afs_ended(void *self, struct cs_host *host, struct job_id id)
{
    struct afs *afs = self;
    uint32_t at = afs_find(afs, id);

    afs->changed = true;
    if (at == afs->count || afs->job[at].job.i != id.i)
        return;
    afs->odd -= afs->job[at].odd;
    if (afs->keeps)
        cs_keep_no_more(afs->kept, cs_slot(host, id));
    afs->job[at].over = true;
    if (++afs->ended > afs->count / 4)
        afs_forget_ended(afs);
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
        if (afs->job[i].had == 0 && afs->share[i].gpus > 0 && afs->job[i].dealt == afs->deals)
            afs->size[sizes++] = (struct cs_size) { afs->job[i].job, afs->share[i].gpus };
    if (sizes == 0)
        return;
    cs_set_sizes(host, afs->size, sizes);
    for (uint32_t i = 0; i < afs->count; i++) {
        if (afs->job[i].had > 0)
            continue;
        afs->job[i].had = cs_size_now(host, afs->job[i].job);
        if (afs->keeps && afs->job[i].had > 0)
            afs_keep(afs, host, i);
    }
}

/* Deals to all jobs.  What a running job has left is asked anew. */
static void afs_deal_whole(struct afs *afs, struct cs_host *host)
{
    for (uint32_t i = 0; i < afs->count; i++) {
        struct afs_job *job = &afs->job[i];
        job->dealt = afs->deals;
        if (job->had == 0)
            continue;
        afs->share[i].left_s = 1e-9 * (double)cs_left_ns(host, job->job);
        job->had = cs_size_now(host, job->job);
    }
    cs_deal_gpus(afs->deal, afs->share, afs->count, (uint64_t)GPU_MILLI * afs->total);
    for (uint32_t i = 0; i < afs->count; i++)
        afs->share[i].gpus /= afs->job[i].milli;
    afs_set_sizes(afs, host);
}

/* Gives the jobs their GPUs whose sizes changed, and keeps what they were granted. */
static void afs_change_sizes(struct afs *afs, struct cs_host *host,
                             const struct cs_kept_change *change, uint32_t changes)
{
    for (uint32_t k = 0; k < changes; k++)
        afs->size[k] = (struct cs_size) { { change[k].job }, change[k].gpus / GPU_MILLI };
    cs_set_sizes(host, afs->size, changes);
    for (uint32_t k = 0; k < changes; k++) {
        uint32_t i = afs_find(afs, (struct job_id) { change[k].job });
        struct afs_job *job = &afs->job[i];
        afs->share[i].gpus = change[k].gpus / GPU_MILLI;
        job->dealt = afs->deals;
        job->had = cs_size_now(host, job->job);
        if (job->had == 0)              /* stopped: as long as it waits */
            afs->share[i].left_s = 1e-9 * (double)cs_left_ns(host, job->job);
        afs_keep(afs, host, i);
    }
}

/* Deals as afs_deal_whole() does, if only few jobs are to have other sizes.  False: it has to be
 * done by that.  A job that finds no place keeps a wish for afs_start_waiting(), until it has
 * what it is to have. */
static bool afs_deal_kept(struct afs *afs, struct cs_host *host)
{
    uint32_t changes;

    if (!afs->keeps)
        return false;
    const struct cs_kept_change *change =
        afs->odd > 0 ? NULL : cs_deal_changes(afs->kept, (uint64_t)GPU_MILLI * afs->total,
                                              1e-9 * (double)cs_now_ns(host), &changes);
    if (change == NULL) {
        afs->keeps = false;
        afs->whole = afs->wholes;
        afs->wholes = afs->wholes < WHOLE_MAX ? 2 * afs->wholes + 1 : WHOLE_MAX;
        return false;
    }
    afs->wholes /= 2;
    afs_change_sizes(afs, host, change, changes);
    return true;
}

/* After a whole deal: keeps all jobs, if that may be of use. */
static void afs_keep_all(struct afs *afs, struct cs_host *host)
{
    afs->keeps = afs->odd == 0 && afs->whole == 0;
    if (afs->whole > 0)
        afs->whole--;
    if (!afs->keeps)
        return;
    cs_keep_none(afs->kept);
    for (uint32_t i = 0; i < afs->count; i++)
        afs_keep(afs, host, i);
}

/* Sizes are computed from nothing, no sooner than an interval after the last time.  A deal that
 * may not be made yet is put off: the host is asked to come back when the interval is over. */
static void afs_decide(void *self, struct cs_host *host)
{
    struct afs *afs = self;
    uint32_t room = cs_total_gpus(host, 0);
    int64_t now = cs_now_ns(host);

    if (room != afs->total)             /* nodes have come or gone */
        afs->changed = true;
    afs->total = room;
    if (afs->count == afs->ended)
        return;
    if (!afs->changed)
        afs_forget_ended(afs);
    if (!afs->changed && (afs->keeps || !afs_lost(afs, host))) {
        afs_start_waiting(afs, host);
        return;
    }
    int64_t due_ns = clock_after(afs->last_ns, afs->interval_ns);
    if (afs->once && now < due_ns) {
        cs_wake_at(host, due_ns);
        return;
    }
    afs->deals++;
    if (!afs_deal_kept(afs, host)) {
        afs_forget_ended(afs);
        afs_deal_whole(afs, host);
        afs_keep_all(afs, host);
    }
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
