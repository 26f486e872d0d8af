/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * elasticflow.c - elastic jobs that keep their deadlines, and only as many as
 * can.
 *
 * Gu et al., "ElasticFlow: An Elastic Serverless Training Platform for
 * Distributed Deep Learning", ASPLOS 2023.  A job's minimum satisfactory share
 * is the least number of GPUs that ends it by its deadline beside those of
 * earlier deadlines, found by progressive filling of time slots in order of
 * deadlines (algorithm 1).  A job is admitted when it comes if all that were
 * admitted, and it, have such a share.  Those get their shares; GPUs that are
 * left go, step by step, to the job whose GPU-time grows least by it (algorithm
 * 2: the marginal return).
 *
 * Jobs that are not admitted, have no deadline or have missed it are served
 * from what is left, the oldest first, instead of being turned away: a job
 * cannot be dropped here.  Speeds and lengths are the host's estimates, where
 * they profile.  A restart is no part of a share: `slack` shortens the time to a
 * deadline to make up for it.
 */
#include <math.h>

#include "policies/params.h"
#include "policies/policy.h"
#include "policies/resize.h"

extern const struct cs_policy elasticflow_policy;

/* A job that waits or runs: what it must have done by when, in seconds of work
 * at speed 1, and the GPUs of this and of the next deal. */
struct ef_job {
    struct job_id job;
    int64_t deadline_ns;
    double left_s;
    uint32_t gpus, next;
    double rise;                /* of its GPU-time, a GPU, by the next step */
    bool admitted, judged;
};

struct ef {
    int64_t slot_ns;
    int64_t slots_max;
    double slack;
    struct ef_job *job;         /* by deadline, then age */
    struct cs_size *size;
    uint32_t *heap;             /* of jobs */
    uint32_t *free;             /* GPUs by slot */
    uint32_t count, room;
    uint32_t total;             /* GPUs that there were, at the last look */
    bool changed;
};

/* Makes the calendar: the free GPUs of each slot. */
static bool ef_init(void *self, struct cs_host *host)
{
    struct ef *ef = self;

    ef->free = cs_alloc(host, (size_t)ef->slots_max, sizeof *ef->free);
    return true;
}

/* By deadline, then by age. */
static bool ef_before(const struct ef_job *a, const struct ef_job *b)
{
    if (a->deadline_ns != b->deadline_ns)
        return a->deadline_ns < b->deadline_ns;
    return a->job.i < b->job.i;
}

/* Inserted by deadline; whether it is admitted is judged at the next
 * decision. */
static void ef_submitted(void *self, struct cs_host *host, struct job_id id)
{
    struct ef *ef = self;
    struct ef_job new_job = {
        .job = id, .deadline_ns = cs_request(host, id)->deadline_ns };
    uint32_t at;

    if (ef->count == ef->room) {
        ef->job = cs_grow(host, ef->job, &ef->room, ef->count, sizeof *ef->job);
        ef->size = cs_alloc(host, ef->room, sizeof *ef->size);
        ef->heap = cs_alloc(host, ef->room, sizeof *ef->heap);
    }
    for (at = ef->count++; at > 0 && ef_before(&new_job, &ef->job[at - 1]);
         at--)
        ef->job[at] = ef->job[at - 1];
    ef->job[at] = new_job;
    ef->changed = true;
}

/* Forgets the job, and keeps the order of the others. */
static void ef_ended(void *self, struct cs_host *host, struct job_id id)
{
    struct ef *ef = self;
    uint32_t kept = 0;

    (void)host;
    for (uint32_t i = 0; i < ef->count; i++)
        if (ef->job[i].job.i != id.i)
            ef->job[kept++] = ef->job[i];
    ef->count = kept;
    ef->changed = true;
}

/* ---- minimum satisfactory shares ----------------------------------------- */

/* Slots until the deadline, by which it has to be over. */
static double ef_slots(const struct ef *ef, struct cs_host *host,
                       const struct ef_job *job)
{
    double ns = (double)(job->deadline_ns - cs_now_ns(host)) *
                (1 - ef->slack);

    double slots = ns / (double)ef->slot_ns;

    if (slots > (double)ef->slots_max)
        cs_limit_reached(host);
    return fmin(slots, (double)ef->slots_max);
}

/* With at most n GPUs in each slot, does it end in time?  If take, they are
 * no longer free; *first: what it has in the first slot. */
static bool ef_ends(struct ef *ef, struct cs_host *host,
                    const struct ef_job *job, uint32_t n, bool take,
                    uint32_t *first)
{
    double slots = ef_slots(ef, host, job), left_s = job->left_s;
    double slot_s = 1e-9 * (double)ef->slot_ns, speedup = 0;
    uint32_t last_room = UINT32_MAX, gpus = 0;

    for (uint32_t t = 0; t < slots && left_s > 0; t++) {
        uint32_t room = ef->free[t] < n ? ef->free[t] : n;
        if (room != last_room) {
            gpus = cs_size_below(host, job->job, room);
            speedup = gpus ? cs_best_speedup(host, job->job, gpus) : 0;
            last_room = room;
        }
        left_s -= speedup * slot_s * fmin(1, slots - t);
        if (take)
            ef->free[t] -= gpus;
        if (t == 0)
            *first = gpus;
    }
    return left_s <= 0;
}

/* The share of a job beside those that were taken; false: there is none. */
static bool ef_fill(struct ef *ef, struct cs_host *host, struct ef_job *job)
{
    uint32_t first = 0;

    for (uint32_t n = cs_size_least(host, job->job); n > 0;
         n = cs_size_above(host, job->job, n)) {
        if (!ef_ends(ef, host, job, n, false, &first))
            continue;
        ef_ends(ef, host, job, n, true, &first);
        job->gpus = first;
        return true;
    }
    return false;
}

/* All GPUs are free in all slots. */
static void ef_clear(struct ef *ef, const struct cs_host *host)
{
    uint32_t all = cs_total_gpus(host, 0);

    for (int64_t t = 0; t < ef->slots_max; t++)
        ef->free[t] = all;
}

/* All that are admitted, and one that asks to be. */
static bool ef_all_fit(struct ef *ef, struct cs_host *host,
                       const struct ef_job *tasks)
{
    ef_clear(ef, host);
    for (uint32_t i = 0; i < ef->count; i++)
        if ((ef->job[i].admitted || &ef->job[i] == tasks) &&
            !ef_fill(ef, host, &ef->job[i]))
            return false;
    return true;
}

/* The oldest first, of those that came since the last time. */
static void ef_admit(struct ef *ef, struct cs_host *host)
{
    for (;;) {
        struct ef_job *next = NULL;
        for (uint32_t i = 0; i < ef->count; i++)
            if (!ef->job[i].judged &&
                (!next || ef->job[i].job.i < next->job.i))
                next = &ef->job[i];
        if (!next)
            return;
        next->judged = true;
        next->admitted = next->deadline_ns < INT64_MAX &&
                         ef_all_fit(ef, host, next);
    }
}

/* ---- what is left ----------------------------------------------------------- */

/* What the next size costs more: GPU-time to the end there, less that at the
 * present size, over the GPUs of the step. */
static void ef_look_ahead(struct ef_job *job, struct cs_host *host)
{
    job->next = cs_size_above(host, job->job, job->gpus);
    job->rise = INFINITY;
    if (job->next == 0 || job->gpus == 0)
        return;
    double speedup = cs_best_speedup(host, job->job, job->gpus);
    double next = cs_best_speedup(host, job->job, job->next);
    if (next > speedup)
        job->rise = job->left_s * (job->next / next - job->gpus / speedup) /
                    (job->next - job->gpus);
}

/* Of two jobs, which stands before the other in a heap? */
typedef bool ef_order(const struct ef *ef, uint32_t a, uint32_t b);

static bool ef_older(const struct ef *ef, uint32_t a, uint32_t b)
{
    return ef->job[a].job.i < ef->job[b].job.i;
}

/* Whose GPU-time rises less by its next step; of equals the first by deadline. */
static bool ef_cheaper(const struct ef *ef, uint32_t a, uint32_t b)
{
    double x = ef->job[a].rise, y = ef->job[b].rise;

    return x != y ? x < y : a < b;
}

/* Moves a job down a heap. */
static void ef_sink(struct ef *ef, uint32_t count, uint32_t hole, ef_order *before)
{
    uint32_t item = ef->heap[hole], child;

    while ((child = 2 * hole + 1) < count) {
        if (child + 1 < count && before(ef, ef->heap[child + 1], ef->heap[child]))
            child++;
        if (before(ef, item, ef->heap[child]))
            break;
        ef->heap[hole] = ef->heap[child];
        hole = child;
    }
    ef->heap[hole] = item;
}

static void ef_heapify(struct ef *ef, uint32_t count, ef_order *before)
{
    for (uint32_t i = count / 2; i-- > 0;)
        ef_sink(ef, count, i, before);
}

/* Jobs without GPUs take their least, the oldest first; returns what is left
 * of the room. */
static uint32_t ef_start_oldest(struct ef *ef, struct cs_host *host,
                                uint32_t room)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < ef->count; i++)
        if (ef->job[i].gpus == 0)
            ef->heap[count++] = i;
    ef_heapify(ef, count, ef_older);
    while (count > 0 && room > 0) {
        struct ef_job *job = &ef->job[ef->heap[0]];
        uint32_t least = cs_size_least(host, job->job);
        if (least > 0 && least <= room) {
            job->gpus = least;
            room -= least;
        }
        ef->heap[0] = ef->heap[--count];
        ef_sink(ef, count, 0, ef_older);
    }
    return room;
}

/* First jobs without GPUs start, then those that run grow, step by step, the
 * cheapest step first.  A step that is larger than the room will never fit. */
static void ef_give_rest(struct ef *ef, struct cs_host *host, uint32_t room)
{
    uint32_t count = 0;

    room = ef_start_oldest(ef, host, room);
    for (uint32_t i = 0; room > 0 && i < ef->count; i++) {
        ef_look_ahead(&ef->job[i], host);
        if (isfinite(ef->job[i].rise))
            ef->heap[count++] = i;
    }
    ef_heapify(ef, count, ef_cheaper);
    while (count > 0 && room > 0) {
        struct ef_job *job = &ef->job[ef->heap[0]];
        if (job->next - job->gpus <= room) {
            room -= job->next - job->gpus;
            job->gpus = job->next;
            ef_look_ahead(job, host);
        } else {
            job->rise = INFINITY;
        }
        if (!isfinite(job->rise))
            ef->heap[0] = ef->heap[--count];
        ef_sink(ef, count, 0, ef_cheaper);
    }
}

/* Did a failure take GPUs of a job? */
static bool ef_lost(const struct ef *ef, const struct cs_host *host)
{
    for (uint32_t i = 0; i < ef->count; i++)
        if (cs_size_now(host, ef->job[i].job) < ef->job[i].gpus)
            return true;
    return false;
}

/* Admits, fills the shares of all that are admitted by deadline, and deals out
 * the rest. */
static void ef_decide(void *self, struct cs_host *host)
{
    struct ef *ef = self;
    uint32_t room = cs_total_gpus(host, 0);

    if (room != ef->total)              /* nodes have come or gone */
        ef->changed = true;
    ef->total = room;
    if (ef->count == 0 || (!ef->changed && !ef_lost(ef, host)))
        return;
    for (uint32_t i = 0; i < ef->count; i++)
        ef->job[i].left_s = 1e-9 * (double)cs_left_ns(host, ef->job[i].job);
    ef_admit(ef, host);
    ef_clear(ef, host);
    for (uint32_t i = 0; i < ef->count; i++) {
        struct ef_job *job = &ef->job[i];
        job->gpus = 0;
        /* One that can no longer be on time has lost its claim. */
        if (job->admitted && !ef_fill(ef, host, job))
            job->admitted = false;
        room -= job->gpus;
    }
    ef_give_rest(ef, host, room);
    for (uint32_t i = 0; i < ef->count; i++)
        ef->size[i] = (struct cs_size) { ef->job[i].job, ef->job[i].gpus };
    cs_set_sizes(host, ef->size, ef->count);
    for (uint32_t i = 0; i < ef->count; i++)
        ef->job[i].gpus = cs_size_now(host, ef->job[i].job);
    ef->changed = false;
}

static const struct cs_param params[] = {
    { "slot", CS_PARAM_TIME, offsetof(struct ef, slot_ns), 1, 1e6, "60s",
      "shares are planned in slots of this length" },
    { "slots_max", CS_PARAM_INT, offsetof(struct ef, slots_max), 1, 1000000,
      "2000", "so many slots ahead: later deadlines count as the last" },
    { "slack", CS_PARAM_FRACTION, offsetof(struct ef, slack), 0, 0.9, "5%",
      "of the time to a deadline that is kept for restarts" },
};

const struct cs_policy elasticflow_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),
    .name = "elasticflow",
    .cites = "gu2023elasticflow",
    .summary = "elastic: least shares that keep deadlines, then what gains most",
    .flags = CS_PREEMPTS | CS_RESIZES | CS_ASKS_ESTIMATES | CS_ONE_ROLE | CS_NEEDS_GPUS,
    .param_count = 3, .param = params,
    .self_bytes = sizeof(struct ef), .init = ef_init, .decide = ef_decide,
    .limits = "slots_max",
    .job_submitted = ef_submitted, .job_ended = ef_ended,
};
