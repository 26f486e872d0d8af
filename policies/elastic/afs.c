/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * afs.c - apathetic future share: GPUs one by one, to the shorter job unless
 * the longer gains so much more that both are better off.
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
 * Who wins against all others is found by a contest in the order of submission,
 * as the rule is not transitive.  While no job with GPUs would get twice as fast by
 * its next step, those without win against all that have some, and the shortest
 * wins among them: such first steps are dealt from a heap.
 */
#include "policies/params.h"
#include "policies/policy.h"
#include "policies/resize.h"

extern const struct cs_policy afs_policy;

struct afs_job {
    struct job_id job;
    double left_s;
    double speedup, next_speedup;     /* 0 with no GPU */
    uint32_t gpus, next;        /* next 0: no more */
    double end_s;               /* time to the end, of a job with GPUs */
};

/* Parameters first, which the host fills; then the jobs that may be resized,
 * and what the last deal knew. */
struct afs {
    int64_t interval_ns, last_ns;
    struct afs_job *job;
    struct cs_size *size;
    uint32_t *won;              /* who won against all before it, in turn */
    uint32_t *heap;             /* of jobs without GPUs */
    uint32_t count, room;
    uint32_t total;             /* GPUs that there were, at the last look */
    bool changed, once;
};

/* Jobs stand in the order of submission. */
static void afs_submitted(void *self, struct cs_host *host, struct job_id id)
{
    struct afs *afs = self;

    if (afs->count == afs->room) {
        afs->job = cs_grow(host, afs->job, &afs->room, afs->count, sizeof *afs->job);
        afs->size = cs_alloc(host, afs->room, sizeof *afs->size);
        afs->won = cs_alloc(host, afs->room, sizeof *afs->won);
        afs->heap = cs_alloc(host, afs->room, sizeof *afs->heap);
    }
    afs->job[afs->count++] = (struct afs_job) { .job = id };
    afs->changed = true;
}

/* Forgets the job, and keeps the order of the others. */
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

/* The job's next size and its speed there; a size that is no faster is none. */
static void afs_look_ahead(struct afs_job *job, struct cs_host *host)
{
    job->next = cs_size_above(host, job->job, job->gpus);
    job->next_speedup = job->next ? cs_best_speedup(host, job->job, job->next) : 0;
    if (!(job->next_speedup > job->speedup))
        job->next = 0;
    if (job->next == 0 || job->gpus == 0)
        return;
    job->end_s = job->left_s / job->speedup;
}

/* The larger of a step in GPUs and the widest one so far. */
static uint32_t find_widest(const struct afs_job *job, uint32_t widest)
{
    uint32_t step = job->next ? job->next - job->gpus : 0;

    return step > widest ? step : widest;
}

/* Time to the end at the speed now; jobs that have none go by what is left. */
static inline bool afs_ends_first(const struct afs_job *x, const struct afs_job *y)
{
    bool both = x->gpus > 0 && y->gpus > 0;
    double a = both ? x->end_s : x->left_s, b = both ? y->end_s : y->left_s;

    return a != b ? a < b : x->job.i < y->job.i;
}

/* Does x get the next GPU rather than y?  By the inequality above; of two
 * without GPUs the one that would end first. */
static inline bool afs_wins(const struct afs_job *x, const struct afs_job *y)
{
    bool first = afs_ends_first(x, y);
    if (!(x->speedup > 0) && !(y->speedup > 0))
        return first;
    const struct afs_job *a = first ? x : y, *b = first ? y : x;
    bool to_b = (b->next_speedup - b->speedup) * a->speedup >
                (a->next_speedup - a->speedup) * b->next_speedup;

    return to_b != first;
}

/* ---- first GPUs ---- */

/* Of two jobs without GPUs. */
static bool afs_shorter(const struct afs *afs, uint32_t a, uint32_t b)
{
    return afs_ends_first(&afs->job[a], &afs->job[b]);
}

static void afs_sink(struct afs *afs, uint32_t count, uint32_t hole)
{
    uint32_t item = afs->heap[hole], child;

    while ((child = 2 * hole + 1) < count) {
        if (child + 1 < count && afs_shorter(afs, afs->heap[child + 1], afs->heap[child]))
            child++;
        if (afs_shorter(afs, item, afs->heap[child]))
            break;
        afs->heap[hole] = afs->heap[child];
        hole = child;
    }
    afs->heap[hole] = item;
}

/* Jobs take their first GPUs, the shortest first, as long as that is what the
 * contest would do; returns what is left of the room. */
static uint32_t afs_deal_first(struct afs *afs, struct cs_host *host, uint32_t room)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < afs->count; i++)
        if (afs->job[i].next > 0)
            afs->heap[count++] = i;
    for (uint32_t i = count / 2; i-- > 0;)
        afs_sink(afs, count, i);
    while (count > 0 && room > 0) {
        struct afs_job *job = &afs->job[afs->heap[0]];
        afs->heap[0] = afs->heap[--count];
        afs_sink(afs, count, 0);
        if (job->next > room)
            continue;
        room -= job->next;
        job->gpus = job->next;
        job->speedup = job->next_speedup;
        afs_look_ahead(job, host);
        /* Twice as fast by the next step, up to rounding. */
        if (job->next > 0 && job->next_speedup > 1.999999999 * job->speedup)
            break;
    }
    return room;
}

/* ---- the contest ---- */

/* Goes on with the contest from a job. */
static void afs_contest(struct afs *afs, uint32_t from, uint32_t room,
                        uint32_t *winners)
{
    const struct afs_job *best = *winners > 0 ? &afs->job[afs->won[*winners - 1]] : NULL;

    for (uint32_t i = from; i < afs->count; i++) {
        const struct afs_job *job = &afs->job[i];
        if (job->next == 0 || job->next - job->gpus > room)
            continue;
        if (best != NULL && !afs_wins(job, best))
            continue;
        afs->won[(*winners)++] = i;
        best = job;
    }
}

/* Gives GPUs one by one.  The winner among the jobs before one still wins after
 * that one got a GPU, unless one of them could have taken more than is left; so
 * the contest goes on from there, and not from the first job. */
static void afs_deal(struct afs *afs, struct cs_host *host, uint32_t room)
{
    uint32_t winners = 0, from = 0, widest = 0;

    room = afs_deal_first(afs, host, room);
    for (uint32_t i = 0; room > 0 && i < afs->count; i++)
        widest = find_widest(&afs->job[i], widest);
    while (room > 0) {
        afs_contest(afs, from, room, &winners);
        if (winners == 0)
            return;
        from = afs->won[--winners];
        struct afs_job *job = &afs->job[from];
        room -= job->next - job->gpus;
        job->gpus = job->next;
        job->speedup = job->next_speedup;
        afs_look_ahead(job, host);
        widest = find_widest(job, widest);
        if (widest > room)
            winners = from = 0;
    }
}

/* A failure took the GPUs of a job. */
static bool afs_lost(const struct afs *afs, const struct cs_host *host)
{
    for (uint32_t i = 0; i < afs->count; i++)
        if (cs_size_now(host, afs->job[i].job) < afs->job[i].gpus)
            return true;
    return false;
}

/* Sizes are computed from nothing, then set all at once; the host may grant
 * fewer, and what it granted is remembered. */
static void afs_decide(void *self, struct cs_host *host)
{
    struct afs *afs = self;
    uint32_t room = cs_total_gpus(host, 0);
    int64_t now = cs_now_ns(host);

    if (room != afs->total)             /* nodes have come or gone */
        afs->changed = true;
    afs->total = room;
    if (afs->count == 0 || (!afs->changed && !afs_lost(afs, host)))
        return;
    int64_t due_ns = clock_after(afs->last_ns, afs->interval_ns);
    if (afs->once && now < due_ns) {
        cs_wake_at(host, due_ns);
        return;
    }
    for (uint32_t i = 0; i < afs->count; i++) {
        struct afs_job *job = &afs->job[i];
        job->left_s = 1e-9 * (double)cs_left_ns(host, job->job);
        job->gpus = 0;
        job->speedup = 0;
        afs_look_ahead(job, host);
    }
    afs_deal(afs, host, room);
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

const struct cs_policy afs_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),
    .name = "afs",
    .cites = "hwang2021elastic",
    .summary = "elastic: GPUs to the shorter job, or where both gain by it",
    .flags = CS_PREEMPTS | CS_RESIZES | CS_ASKS_ESTIMATES | CS_ONE_ROLE | CS_NEEDS_GPUS,
    .param_count = 1, .param = params,
    .self_bytes = sizeof(struct afs), .decide = afs_decide,
    .job_submitted = afs_submitted, .job_ended = afs_ended,
};
