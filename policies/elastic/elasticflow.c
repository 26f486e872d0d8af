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
#include <assert.h>
#include <math.h>
#include <string.h>

#include "policies/params.h"
#include "policies/policy.h"
#include "policies/resize.h"

extern const struct cs_policy elasticflow_policy;

/* SLOTS_CLEAR: of more slots than this it is not said in advance when a job ends. */
#define CLOSE 1e-9              /* far above what sums are rounded by */
#define SLOTS_CLEAR 1e6

/* A job that waits or runs: what it must have done by when, in seconds of work
 * at speed 1, and its GPUs.  All jobs are read at each decision, so this is small. */
struct ef_job {
    int64_t deadline_ns;        /* INT64_MAX: none */
    double left_s;              /* seconds of work at speed 1 */
    struct job_id job;
    uint32_t curve;             /* cs_curve(): jobs with one number have equal sizes and
                                 * speeds; ID_NONE: asked job by job */
    uint32_t milli;             /* thousandths of each GPU that it takes */
    uint32_t had, gpus;         /* GPUs before this deal, and by it */
    uint32_t ahead;             /* scratch: GPUs with all steps that are cheap for sure */
    uint32_t tried;             /* the size from which its last share was sought, by index */
    bool admitted;              /* its deadline is kept as far as is known */
};

/* The sizes of jobs that are alike, the smallest first, and the speed on each. */
struct ef_curve {
    uint32_t *size;             /* GPUs, rising */
    double *speedup;            /* by index of the size */
    double *gpu_s;              /* GPU-seconds of a second of work */
    double *cost;               /* the most that a step up to it costs a GPU, or slightly more */
    uint32_t *below;            /* by GPUs: how many sizes are no larger */
    uint32_t count, most;       /* sizes, 0: not made yet; the largest size */
    bool rises;                 /* no size is slower than a smaller one */
    uint32_t steps;             /* sizes up to the first one that is no faster than that before */
};

/* A job in a heap, of which the least key is on top, and of equal keys the first job. */
struct ef_item {
    double key;                 /* what it is ordered by */
    uint32_t job, size;         /* size: that it is to have next */
};

/* How far a fill has come. */
struct ef_fill {
    uint32_t none;              /* slots from the first one on that have no free GPU */
    bool rises;                 /* no slot has fewer free GPUs than one before it */
};

struct ef {
    int64_t slot_ns;            /* parameter `slot` */
    int64_t slots_max;          /* parameter: slots in the calendar */
    double slack;               /* parameter: part of the time to a deadline */
    int64_t now_ns;             /* of this decision */
    struct ef_job *job;         /* by deadline, then age */
    struct cs_size *size;       /* scratch: what the host is asked for */
    struct ef_item *heap;       /* scratch; room for all jobs */
    struct job_id *unjudged;    /* jobs that came since the last decision, by age */
    uint64_t *free, *kept;      /* thousandths of GPUs by slot; kept: before a trial */
    struct ef_fill at, kept_at; /* of `free` and of `kept` */
    struct ef_curve *curve;     /* by number */
    uint32_t curve_room;
    uint32_t count, room, unjudged_count, unjudged_room; /* of job and of unjudged */
    uint32_t total;             /* GPUs that there were, at the last look */
    double dearest;             /* key of the last step that a job took by ef_give_rest() */
    bool changed;               /* a job came or ended, or nodes did, since the last deal */
};

/* Makes the calendar: the free GPUs of each slot.  Slot 0 begins at each decision anew. */
static bool ef_init(void *self, struct cs_host *host)
{
    struct ef *ef = self;

    ef->free = cs_alloc(host, (size_t)ef->slots_max, sizeof *ef->free);
    ef->kept = cs_alloc(host, (size_t)ef->slots_max, sizeof *ef->kept);
    return true;
}

/* By deadline, then by age. */
static bool ef_before(const struct ef_job *a, int64_t deadline_ns, struct job_id job)
{
    return a->deadline_ns != deadline_ns ? a->deadline_ns < deadline_ns : a->job.i < job.i;
}

/* Returns how many jobs go before one.  Binary search: jobs stand by deadline, then age. */
static uint32_t ef_find(const struct ef *ef, int64_t deadline_ns, struct job_id job)
{
    uint32_t at = 0, end = ef->count;

    while (at < end) {
        uint32_t middle = at + (end - at) / 2;
        if (ef_before(&ef->job[middle], deadline_ns, job))
            at = middle + 1;
        else
            end = middle;
    }
    return at;
}

/* Finds how many steps lead from the first size on, each to a faster one, and bounds their costs:
 * by more than sums are rounded by. */
static void ef_find_steps(struct ef_curve *curve, struct cs_host *host)
{
    double most = -INFINITY;

    curve->cost = cs_alloc(host, (size_t)curve->count + 1, sizeof *curve->cost);
    curve->steps = curve->count > 0 && curve->speedup[0] > 0;
    while (curve->steps > 0 && curve->steps < curve->count &&
           curve->speedup[curve->steps] > curve->speedup[curve->steps - 1])
        curve->steps++;
    for (uint32_t i = 1; i < curve->steps; i++) {
        double cost = (curve->gpu_s[i] - curve->gpu_s[i - 1]) /
                      (curve->size[i] - curve->size[i - 1]);
        most = fmax(most, cost + CLOSE * fabs(cost));
        curve->cost[i] = most;
    }
}

/* Lists the sizes of a curve by asking for one of its jobs.  The three arrays grow together.
 * `below` tells in O(1) which is the largest size up to a number of GPUs. */
static void ef_make_curve(struct ef_curve *curve, struct cs_host *host, struct job_id job)
{
    uint32_t room = 0;

    curve->rises = true;
    for (uint32_t g = cs_size_least(host, job); g > 0; g = cs_size_above(host, job, g)) {
        if (curve->count == room) {
            uint32_t before = room;
            curve->size = cs_grow(host, curve->size, &room, before, sizeof *curve->size);
            uint32_t also = before;
            curve->speedup = cs_grow(host, curve->speedup, &before, curve->count,
                                     sizeof *curve->speedup);
            curve->gpu_s = cs_grow(host, curve->gpu_s, &also, curve->count,
                                   sizeof *curve->gpu_s);
        }
        double speedup = cs_best_speedup(host, job, g);
        curve->rises &= curve->count == 0 || speedup >= curve->speedup[curve->count - 1];
        curve->size[curve->count] = g;
        curve->gpu_s[curve->count] = g / speedup;
        curve->speedup[curve->count++] = speedup;
        curve->most = g;
    }
    ef_find_steps(curve, host);
    curve->below = cs_alloc(host, (size_t)curve->most + 1, sizeof *curve->below);
    for (uint32_t i = 0; i < curve->count; i++)
        for (uint32_t g = curve->size[i]; g <= curve->most; g++)
            curve->below[g] = i + 1;
}

/* Makes room for one more job.  The scratch arrays have room for all jobs too. */
static void ef_make_room(struct ef *ef, struct cs_host *host)
{
    if (ef->unjudged_count == ef->unjudged_room)
        ef->unjudged = cs_grow(host, ef->unjudged, &ef->unjudged_room, ef->unjudged_count,
                               sizeof *ef->unjudged);
    if (ef->count < ef->room)
        return;
    ef->job = cs_grow(host, ef->job, &ef->room, ef->count, sizeof *ef->job);
    ef->size = cs_alloc(host, ef->room, sizeof *ef->size);
    ef->heap = cs_alloc(host, ef->room, sizeof *ef->heap);
}

/* Notes that a job is to be judged, after all that are older. */
static void ef_add_unjudged(struct ef *ef, struct job_id id)
{
    uint32_t at = ef->unjudged_count++;

    for (; at > 0 && ef->unjudged[at - 1].i > id.i; at--)
        ef->unjudged[at] = ef->unjudged[at - 1];
    ef->unjudged[at] = id;
}

/* Inserted by deadline; whether it is admitted is judged at the next
 * decision.  What is left of a job without GPUs stays so. */
static void ef_submitted(void *self, struct cs_host *host, struct job_id id)
{
    struct ef *ef = self;
    struct ef_job new_job = {
        .job = id, .deadline_ns = cs_request(host, id)->deadline_ns,
        .left_s = 1e-9 * (double)cs_left_ns(host, id), .curve = cs_curve(host, id),
        .milli = job_role_milli(cs_request(host, id), 0) };

    ef_make_room(ef, host);
    if (new_job.curve != ID_NONE) {
        if (new_job.curve >= ef->curve_room)
            ef->curve = cs_grow(host, ef->curve, &ef->curve_room, new_job.curve,
                                sizeof *ef->curve);
        if (ef->curve[new_job.curve].count == 0)
            ef_make_curve(&ef->curve[new_job.curve], host, id);
    }
    uint32_t at = ef_find(ef, new_job.deadline_ns, id);
    memmove(&ef->job[at + 1], &ef->job[at], (ef->count - at) * sizeof *ef->job);
    ef->job[at] = new_job;
    ef->count++;
    ef_add_unjudged(ef, id);
    ef->changed = true;
}

/* Forgets the job, and keeps the order of the others. */
static void ef_ended(void *self, struct cs_host *host, struct job_id id)
{
    struct ef *ef = self;
    uint32_t at = ef_find(ef, cs_request(host, id)->deadline_ns, id), kept = 0;

    ef->changed = true;
    if (at == ef->count || ef->job[at].job.i != id.i)
        return;
    for (uint32_t i = 0; i < ef->unjudged_count; i++)
        if (ef->unjudged[i].i != id.i)
            ef->unjudged[kept++] = ef->unjudged[i];
    ef->unjudged_count = kept;
    ef->count--;
    memmove(&ef->job[at], &ef->job[at + 1], (ef->count - at) * sizeof *ef->job);
}

/* ---- sizes ---- */

/* The largest size up to `gpus`, and the speed on it; 0: there is none. */
static uint32_t ef_size_below(const struct ef *ef, struct cs_host *host,
                              const struct ef_job *job, uint32_t gpus, double *speedup)
{
    if (job->curve == ID_NONE) {
        uint32_t size = cs_size_below(host, job->job, gpus);
        *speedup = size ? cs_best_speedup(host, job->job, size) : 0;
        return size;
    }
    const struct ef_curve *curve = &ef->curve[job->curve];
    uint32_t i = curve->below[gpus < curve->most ? gpus : curve->most];
    *speedup = i ? curve->speedup[i - 1] : 0;
    return i ? curve->size[i - 1] : 0;
}

/* The next size above `gpus`, and the speed on it; 0: there is none. */
static uint32_t ef_size_above(const struct ef *ef, struct cs_host *host,
                              const struct ef_job *job, uint32_t gpus, double *speedup)
{
    if (job->curve == ID_NONE) {
        uint32_t size = cs_size_above(host, job->job, gpus);
        *speedup = size ? cs_best_speedup(host, job->job, size) : 0;
        return size;
    }
    const struct ef_curve *curve = &ef->curve[job->curve];
    uint32_t i = curve->below[gpus < curve->most ? gpus : curve->most];
    *speedup = i < curve->count ? curve->speedup[i] : 0;
    return i < curve->count ? curve->size[i] : 0;
}

/* ---- minimum satisfactory shares ----------------------------------------- */

/* Slots until the deadline, by which it has to be over.  A fraction of a slot counts as such.
 * A deadline beyond the calendar counts as its end, and the host notes that a limit was
 * reached. */
static double ef_slots(const struct ef *ef, struct cs_host *host,
                       const struct ef_job *job)
{
    double ns = (double)(job->deadline_ns - ef->now_ns) * (1 - ef->slack);
    double slots = ns / (double)ef->slot_ns;

    if (slots > (double)ef->slots_max)
        cs_limit_reached(host);
    return slots < (double)ef->slots_max ? slots : (double)ef->slots_max;
}

/* Takes thousandths of GPUs in the slots [from, to), and notes whether free GPUs still rise.
 * The caller has seen that they are free. */
static void ef_take(struct ef *ef, uint32_t from, uint32_t to, uint64_t milli)
{
    for (uint32_t t = from; t < to; t++)
        ef->free[t] -= milli;
    if (from > 0 && ef->free[from - 1] > ef->free[from])
        ef->at.rises = false;
    if (to < ef->slots_max && ef->free[to - 1] > ef->free[to])
        ef->at.rises = false;
}

/* Has a job with that speed in all of `slots` slots ended, and in which?  False: that
 * is too close to the end of a slot to be known without adding slot by slot.  For example, 250
 * s of work at 60 a slot end after 4.17 slots: not close to 4 or 5, and known in one step. 240
 * s would be added slot by slot, as rounding decides there. */
static bool ef_is_clear(double left_s, double slot_s, double slots, double *ends)
{
    assert(left_s > 0 && slot_s >= 0);
    *ends = left_s / slot_s;            /* infinite where it does nothing */
    if (!(*ends < SLOTS_CLEAR))
        return false;
    double whole = (double)(uint32_t)(*ends + 0.5);
    return fabs(*ends - slots) > CLOSE * (1 + slots) &&
           fabs(*ends - whole) > CLOSE * (1 + *ends);
}

/* With at most n GPUs in each slot, does a job end in time?  n is a size of its, on which
 * its speed is `full`.  If *take, they are no longer free; *first: what it has in the first
 * slot.  Once n are free, they are free in all slots that follow if free GPUs rise.  If it
 * has n in all its slots and ends in time, they are taken and *take is set.  For example, with
 * 4 GPUs that are free in slots 0 and 1 and 8 later, n = 8: the job runs on 4, 4, 8, 8 ...
 * until its work is done. */
static bool ef_ends(struct ef *ef, struct cs_host *host,
                    const struct ef_job *job, double slots, uint32_t n, double full,
                    bool *take, uint32_t *first)
{
    bool apart = false;
    double left_s = job->left_s, slot_s = 1e-9 * (double)ef->slot_ns, speedup = 0, ends;
    uint32_t last_room = UINT32_MAX, gpus = 0, t = ef->at.none;

    if (slots > 0)
        *first = 0;
    for (; t < slots && left_s > 0; t++) {
        uint64_t free = ef->free[t];
        uint32_t room = free >= (uint64_t)n * job->milli ? n : (uint32_t)(free / job->milli);
        if (room != last_room) {
            gpus = room == n ? n : ef_size_below(ef, host, job, room, &speedup);
            speedup = room == n ? full : speedup;
            last_room = room;
        }
        if (t == 0)
            *first = gpus;
        if (room == n && ef->at.rises &&
            ef_is_clear(left_s, speedup * slot_s, slots - t, &ends)) {
            *take |= !apart && ends < slots - t;
            if (*take)
                ef_take(ef, t, t + (uint32_t)ends + 1, (uint64_t)gpus * job->milli);
            return ends < slots - t;
        }
        left_s -= speedup * slot_s * (slots - t < 1 ? slots - t : 1);
        if (*take)
            ef_take(ef, t, t + 1, (uint64_t)gpus * job->milli);
        apart |= gpus > 0;
    }
    return left_s <= 0;
}

/* Returns the least size that may be in time, with its speed, and 0 if there is none.  Where
 * a larger size is no slower, those below are too slow in all slots, whatever is free.  The
 * search begins with the size of the last fill: work and time go by together. */
static uint32_t ef_first_size(const struct ef *ef, struct cs_host *host, struct ef_job *job,
                              double slots, double *speedup)
{
    if (job->curve == ID_NONE || !ef->curve[job->curve].rises || !(job->left_s > 0))
        return ef_size_above(ef, host, job, 0, speedup);
    const struct ef_curve *curve = &ef->curve[job->curve];
    double most_s = 1e-9 * (double)ef->slot_ns * slots * (1 + CLOSE);
    uint32_t i = job->tried;
    assert(i <= curve->count);
    while (i > 0 && job->left_s <= curve->speedup[i - 1] * most_s)
        i--;
    while (i < curve->count && job->left_s > curve->speedup[i] * most_s)
        i++;
    job->tried = i;
    *speedup = i < curve->count ? curve->speedup[i] : 0;
    return i < curve->count ? curve->size[i] : 0;
}

/* The share of a job beside those that were taken; false: there is none.  Algorithm 1 tries
 * each size from the smallest on, and takes the first that is in time.  `gpus` is what the job
 * gets now, in slot 0. */
static bool ef_fill(struct ef *ef, struct cs_host *host, struct ef_job *job)
{
    double slots = ef_slots(ef, host, job), speedup;
    uint32_t first = 0;

    for (uint32_t n = ef_first_size(ef, host, job, slots, &speedup); n > 0;
         n = ef_size_above(ef, host, job, n, &speedup)) {
        bool take = false;
        if (!ef_ends(ef, host, job, slots, n, speedup, &take, &first))
            continue;
        if (!take) {
            take = true;
            ef_ends(ef, host, job, slots, n, speedup, &take, &first);
        }
        while (ef->at.none < ef->slots_max && ef->free[ef->at.none] == 0)
            ef->at.none++;
        job->gpus = first;
        return true;
    }
    return false;
}

/* All GPUs are free in all slots. */
static void ef_clear(struct ef *ef)
{
    for (int64_t t = 0; t < ef->slots_max; t++)
        ef->free[t] = (uint64_t)GPU_MILLI * ef->total;
    ef->at = (struct ef_fill) { .rises = true };
}

/* Fills the shares of the jobs from one on that are admitted.  One that can no longer
 * be on time has lost its claim.  In order of deadlines, so that an earlier one never suffers
 * by a later one. */
static void ef_fill_from(struct ef *ef, struct cs_host *host, uint32_t from)
{
    for (uint32_t i = from; i < ef->count; i++) {
        struct ef_job *job = &ef->job[i];
        job->gpus = 0;
        if (job->admitted && !ef_fill(ef, host, job))
            job->admitted = false;
    }
}

/* Do the jobs of [from, to) that are admitted have shares? */
static bool ef_all_fit(struct ef *ef, struct cs_host *host, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        ef->job[i].gpus = 0;
        if (ef->job[i].admitted && !ef_fill(ef, host, &ef->job[i]))
            return false;
    }
    return true;
}

/* Admits a job if all that are admitted, and it, have shares.  True: the shares are
 * filled then as they are to be; if the job is not the last to be judged, only where it is
 * admitted.  Those before the job are the same with and without it.  What is free before the
 * new job is kept aside: if it is not admitted, the calendar is set back to that, and only the
 * jobs behind it are filled again. */
static bool ef_judge(struct ef *ef, struct cs_host *host, uint32_t at, bool last)
{
    ef_clear(ef);
    if (!ef_all_fit(ef, host, 0, at))
        return false;
    memcpy(ef->kept, ef->free, (size_t)ef->slots_max * sizeof *ef->free);
    ef->kept_at = ef->at;
    ef->job[at].admitted = true;
    if (ef_all_fit(ef, host, at, ef->count))
        return true;
    ef->job[at].admitted = false;
    if (!last)
        return false;
    memcpy(ef->free, ef->kept, (size_t)ef->slots_max * sizeof *ef->free);
    ef->at = ef->kept_at;
    ef_fill_from(ef, host, at);
    return true;
}

/* Judges those that came since the last time, the oldest first, and fills the shares of
 * all that are admitted.  A job without a deadline is never admitted, and so gets GPUs by
 * ef_start_oldest() alone. */
static void ef_admit(struct ef *ef, struct cs_host *host)
{
    bool filled = false;

    for (uint32_t i = 0; i < ef->unjudged_count; i++) {
        struct job_id id = ef->unjudged[i];
        int64_t deadline_ns = cs_request(host, id)->deadline_ns;
        if (deadline_ns < INT64_MAX)
            filled = ef_judge(ef, host, ef_find(ef, deadline_ns, id),
                              i + 1 == ef->unjudged_count);
    }
    ef->unjudged_count = 0;
    if (filled)
        return;
    ef_clear(ef);
    ef_fill_from(ef, host, 0);
}

/* ---- what is left ----------------------------------------------------------- */

/* Returns the next size of a job, and in *more the GPU-seconds that a second of work costs
 * more on it than on the present one; 0: there is none, or the job is no faster on it.  For
 * example, 4 GPUs at speed 3 cost 1.33 GPU-seconds for a second of work, 8 at speed 5 cost
 * 1.6: *more is 0.27. */
static uint32_t ef_next_size(const struct ef *ef, struct cs_host *host,
                             const struct ef_job *job, double *more)
{
    double speedup, next;

    if (job->gpus == 0)
        return 0;
    if (job->curve == ID_NONE) {
        uint32_t size = ef_size_above(ef, host, job, job->gpus, &next);
        ef_size_below(ef, host, job, job->gpus, &speedup);
        *more = size / next - job->gpus / speedup;
        return next > speedup ? size : 0;
    }
    const struct ef_curve *curve = &ef->curve[job->curve];
    uint32_t i = curve->below[job->gpus];
    assert(i > 0 && curve->size[i - 1] == job->gpus);
    if (i == curve->count || !(curve->speedup[i] > curve->speedup[i - 1]))
        return 0;
    *more = curve->gpu_s[i] - curve->gpu_s[i - 1];
    return curve->size[i];
}

/* Sets the next size of a job, and as key how much its GPU-time to the end rises by it, a
 * GPU.  False: nothing is gained. */
static bool ef_look_ahead(const struct ef *ef, struct cs_host *host, const struct ef_job *job,
                          struct ef_item *item)
{
    double more = 0;

    item->size = ef_next_size(ef, host, job, &more);
    item->key = job->left_s * more / (item->size - job->gpus);
    return item->size > 0 && isfinite(item->key);
}

/* Does one stand before the other in a heap?  Of equal keys the job that stands first. */
static bool ef_goes_first(const struct ef_item *a, const struct ef_item *b)
{
    return a->key != b->key ? a->key < b->key : a->job < b->job;
}

/* Moves an item down a heap.  The item at `hole` goes to its place; all below is a heap
 * already. */
static void ef_sink(struct ef_item *heap, uint32_t count, uint32_t hole)
{
    struct ef_item item = heap[hole];
    uint32_t child;

    while ((child = 2 * hole + 1) < count) {
        if (child + 1 < count && ef_goes_first(&heap[child + 1], &heap[child]))
            child++;
        if (ef_goes_first(&item, &heap[child]))
            break;
        heap[hole] = heap[child];
        hole = child;
    }
    heap[hole] = item;
}

/* Makes a heap of items in any order, in O(n). */
static void ef_heapify(struct ef_item *heap, uint32_t count)
{
    for (uint32_t i = count / 2; i-- > 0;)
        ef_sink(heap, count, i);
}

/* Jobs without GPUs take their least, the oldest first; returns what is left of the
 * room, in thousandths of GPUs.  A job whose least does not fit is passed over. */
static uint64_t ef_start_oldest(struct ef *ef, struct cs_host *host,
                                uint64_t room)
{
    struct ef_item *heap = ef->heap;
    uint32_t count = 0;
    double speedup;

    for (uint32_t i = 0; room > 0 && i < ef->count; i++)
        if (ef->job[i].gpus == 0)
            heap[count++] = (struct ef_item) { .key = ef->job[i].job.i, .job = i };
    ef_heapify(heap, count);
    while (count > 0 && room > 0) {
        struct ef_job *job = &ef->job[heap[0].job];
        uint32_t least = ef_size_above(ef, host, job, 0, &speedup);
        if (least > 0 && (uint64_t)least * job->milli <= room) {
            job->gpus = least;
            room -= (uint64_t)least * job->milli;
        }
        heap[0] = heap[--count];
        ef_sink(heap, count, 0);
    }
    return room;
}

/* Returns the size of a job with all steps up to the first whose key is not below a limit.  The
 * search begins at what the job had: most jobs come as far again. */
static uint32_t ef_size_ahead(const struct ef_curve *curve, const struct ef_job *job, double limit)
{
    uint32_t least = curve->below[job->gpus] - 1;
    uint32_t i = curve->below[job->had < curve->most ? job->had : curve->most];

    i = i > curve->steps ? curve->steps : i;
    i = i > least + 1 ? i - 1 : least;
    while (i > least && !(job->left_s * curve->cost[i] < limit))
        i--;
    while (i + 1 < curve->count && curve->speedup[i] > 0 &&
           curve->speedup[i + 1] > curve->speedup[i] &&
           job->left_s * (curve->gpu_s[i + 1] - curve->gpu_s[i]) /
                   (curve->size[i + 1] - curve->size[i]) < limit)
        i++;
    return curve->size[i];
}

/* Do all steps with keys below a limit fit?  Then all jobs take them before any dearer one, and
 * *room is what is left.  False: none is taken; or it is not known which these are. */
static bool ef_take_cheap(struct ef *ef, double limit, uint64_t *room)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < ef->count; i++) {
        struct ef_job *job = &ef->job[i];
        if (job->gpus == 0)
            continue;
        if (job->curve == ID_NONE)
            return false;
        job->ahead = ef_size_ahead(&ef->curve[job->curve], job, limit);
        sum += (uint64_t)(job->ahead - job->gpus) * job->milli;
        if (sum > *room)
            return false;
    }
    for (uint32_t i = 0; i < ef->count; i++)
        if (ef->job[i].gpus > 0)
            ef->job[i].gpus = ef->job[i].ahead;
    *room -= sum;
    return true;
}

/* First jobs without GPUs start, then those that run grow, step by step, the
 * cheapest step first.  A step that is larger than the room will never fit.  A job that has
 * grown goes back into the heap with its next step.  Most steps are far cheaper than the
 * dearest one of the last deal: they are taken at once. */
static void ef_give_rest(struct ef *ef, struct cs_host *host, uint64_t room)
{
    struct ef_item *heap = ef->heap;
    uint32_t count = 0;

    room = ef_start_oldest(ef, host, room);
    if (room > 0 && ef->dearest > 0 && !ef_take_cheap(ef, 0.98 * ef->dearest, &room) &&
        !ef_take_cheap(ef, 0.8 * ef->dearest, &room))
        ef->dearest /= 2;
    for (uint32_t i = 0; room > 0 && i < ef->count; i++) {
        heap[count].job = i;
        count += ef_look_ahead(ef, host, &ef->job[i], &heap[count]);
    }
    ef_heapify(heap, count);
    while (count > 0 && room > 0) {
        struct ef_job *job = &ef->job[heap[0].job];
        uint64_t step = (uint64_t)(heap[0].size - job->gpus) * job->milli;
        bool grows = step <= room;
        if (grows) {
            room -= step;
            job->gpus = heap[0].size;
            ef->dearest = heap[0].key;
            grows = ef_look_ahead(ef, host, job, &heap[0]);
        }
        if (!grows)
            heap[0] = heap[--count];
        ef_sink(heap, count, 0);
    }
}

/* Did a failure take GPUs of a job? */
static bool ef_lost(const struct ef *ef, const struct cs_host *host)
{
    for (uint32_t i = 0; i < ef->count; i++)
        if (ef->job[i].had > 0 && cs_size_now(host, ef->job[i].job) < ef->job[i].had)
            return true;
    return false;
}

/* The host may grant fewer GPUs; what it granted is remembered. */
static void ef_set_sizes(struct ef *ef, struct cs_host *host)
{
    uint32_t sizes = 0;

    for (uint32_t i = 0; i < ef->count; i++)
        if (ef->job[i].gpus != ef->job[i].had) {
            ef->heap[sizes].job = i;
            ef->size[sizes++] = (struct cs_size) { ef->job[i].job, ef->job[i].gpus };
        }
    cs_set_sizes(host, ef->size, sizes);
    for (uint32_t i = 0; i < sizes; i++) {
        struct ef_job *job = &ef->job[ef->heap[i].job];
        job->had = cs_size_now(host, job->job);
        if (job->had == 0)              /* stopped: as long as it waits */
            job->left_s = 1e-9 * (double)cs_left_ns(host, job->job);
    }
}

/* Tries jobs again that were given GPUs and found no place for them.  No new deal: sizes stay
 * as they were dealt. */
static void ef_start_waiting(struct ef *ef, struct cs_host *host)
{
    uint32_t sizes = 0;

    for (uint32_t i = 0; i < ef->count && cs_free_gpus(host, 0) > 0; i++)
        if (ef->job[i].had == 0 && ef->job[i].gpus > 0)
            ef->size[sizes++] = (struct cs_size) { ef->job[i].job, ef->job[i].gpus };
    if (sizes == 0)
        return;
    cs_set_sizes(host, ef->size, sizes);
    for (uint32_t i = 0; i < ef->count; i++)
        if (ef->job[i].had == 0)
            ef->job[i].had = cs_size_now(host, ef->job[i].job);
}

/* Admits, fills the shares of all that are admitted by deadline, and deals out
 * the rest. */
static void ef_decide(void *self, struct cs_host *host)
{
    struct ef *ef = self;
    uint32_t total = cs_total_gpus(host, 0);
    uint64_t room = (uint64_t)GPU_MILLI * total;

    if (total != ef->total)             /* nodes have come or gone */
        ef->changed = true;
    ef->total = total;
    ef->now_ns = cs_now_ns(host);
    if (ef->count == 0)
        return;
    if (!ef->changed && !ef_lost(ef, host)) {
        ef_start_waiting(ef, host);
        return;
    }
    for (uint32_t i = 0; i < ef->count; i++) {
        struct ef_job *job = &ef->job[i];
        if (job->had == 0)
            continue;
        job->left_s = 1e-9 * (double)cs_left_ns(host, job->job);
        job->had = cs_size_now(host, job->job);
    }
    ef_admit(ef, host);
    for (uint32_t i = 0; i < ef->count; i++)
        room -= (uint64_t)ef->job[i].gpus * ef->job[i].milli;
    ef_give_rest(ef, host, room);
    ef_set_sizes(ef, host);
    ef->changed = false;
}

static const struct cs_param params[] = {
    { "slot", CS_PARAM_TIME, offsetof(struct ef, slot_ns), 1, 1e6, "60s",
      "shares are planned in slots of this length" },
    { "slots_max", CS_PARAM_INT, offsetof(struct ef, slots_max), 1, 1000000,
      "2000", "slots that are planned ahead: later deadlines count as the last" },
    { "slack", CS_PARAM_FRACTION, offsetof(struct ef, slack), 0, 0.9, "5%",
      "of the time to a deadline that is kept for restarts" },
};

const struct cs_policy elasticflow_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),
    .name = "elasticflow",
    .cites = "gu2023elasticflow",
    .summary = "elastic: least shares that keep deadlines, then what gains most",
    .flags = CS_PREEMPTS | CS_RESIZES | CS_ASKS_ESTIMATES | CS_ONE_ROLE | CS_NEEDS_GPUS |
             CS_ONE_KIND,
    .param_count = 3, .param = params,
    .self_bytes = sizeof(struct ef), .init = ef_init, .decide = ef_decide,
    .limits = "slots_max",
    .job_submitted = ef_submitted, .job_ended = ef_ended,
};
