/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * optimus.c - GPUs one by one to the job whose end comes nearest by it.
 *
 * Peng, Bao, Chen, Wu and Guo, "Optimus: An Efficient Dynamic Resource
 * Scheduler for Deep Learning Clusters", EuroSys 2018, section 4.1.  Every
 * `interval` each job first gets its least size, the oldest first; then, while
 * GPUs are left, the job of the largest marginal gain takes a step: the time to
 * its end that the step saves, over its GPUs.  A step that saves nothing is not
 * taken.
 *
 * Their convergence curves and speed functions are fitted online; here what is
 * left is the host's estimate, and speeds are the laws' or the user's.  Workers
 * and parameter servers are not told apart.
 */
#include "policies/due.h"
#include "policies/params.h"
#include "policies/phases.h"
#include "policies/policy.h"
#include "policies/resize.h"

extern const struct cs_policy optimus_policy;

struct optimus_job {
    struct job_id job;
    double left_s, time_s;      /* seconds of work left at speed 1; seconds to its end at its
                                 * size now */
    double gain;                /* of the next step; < 0: there is none */
    uint32_t gpus, next;        /* its size in this deal; the size of its next step, 0: none */
    uint32_t milli;             /* thousandths of each GPU */
};

/* The parameter, and the jobs of a deal with their sizes. */
struct optimus {
    int64_t interval_ns;        /* sizes are set at its multiples */
    struct optimus_job *job;
    struct cs_size *size;       /* scratch: what the host is asked for */
    uint32_t count, room;       /* jobs of this deal; entries that there is room for */
};

/* Adds a job to those of this decision; the array doubles. */
static void optimus_add(struct optimus *o, struct cs_host *host,
                        struct job_id job)
{
    if (o->count == o->room) {
        uint32_t room = o->room ? 2 * o->room : 64;
        struct optimus_job *old = o->job;

        o->job = cs_alloc(host, room, sizeof *o->job);
        for (uint32_t i = 0; i < o->count; i++)
            o->job[i] = old[i];
        o->size = cs_alloc(host, room, sizeof *o->size);
        o->room = room;
    }
    o->job[o->count++].job = job;
}

/* All jobs that have not ended, the oldest first.  Insertion sort by number, which is age. */
static void optimus_list(struct optimus *o, struct cs_host *host)
{
    o->count = 0;
    for (uint32_t i = 0; i < cs_running_count(host); i++)
        optimus_add(o, host, cs_running(host, i));
    for (uint32_t i = 0; i < cs_pending_count(host); i++)
        optimus_add(o, host, cs_task(host, cs_pending(host, i))->job);
    for (uint32_t i = 1; i < o->count; i++)
        for (uint32_t j = i; j > 0 && o->job[j].job.i < o->job[j - 1].job.i;
             j--) {
            struct optimus_job swap = o->job[j];
            o->job[j] = o->job[j - 1];
            o->job[j - 1] = swap;
        }
}

/* The gain of the next size: seconds that it saves, over its GPUs.  For example, 600 s of work
 * at speed 2 on 2 GPUs end in 300 s, at speed 3 on 4 GPUs in 200 s: the gain is 100 s over 2
 * GPUs, 50. */
static void optimus_look_ahead(struct optimus_job *job, struct cs_host *host)
{
    double speedup = cs_best_speedup(host, job->job, job->gpus), next;

    job->next = cs_size_above(host, job->job, job->gpus);
    job->time_s = job->left_s / speedup;
    job->gain = -1;
    if (job->next == 0)
        return;
    next = cs_best_speedup(host, job->job, job->next);
    if (next > speedup)
        job->gain = (job->time_s - job->left_s / next) /
                    (job->next - job->gpus);
}

/* Thousandths of GPUs that the next size takes more. */
static uint64_t optimus_step(const struct optimus_job *job)
{
    return (uint64_t)(job->next - job->gpus) * job->milli;
}

/* The job of the largest gain whose step fits; o->count: none.  O(jobs) for each step.  Of
 * equal gains the oldest job. */
static uint32_t optimus_best(const struct optimus *o, uint64_t room)
{
    uint32_t best = o->count;

    for (uint32_t i = 0; i < o->count; i++) {
        const struct optimus_job *job = &o->job[i];
        if (job->gpus > 0 && job->gain > 0 && optimus_step(job) <= room &&
            (best == o->count || job->gain > o->job[best].gain))
            best = i;
    }
    return best;
}

/* Only at multiples of the interval; in between sizes stay.  The room is counted in
 * thousandths of GPUs, as jobs may ask for a part of one.  A job whose least size does not fit
 * gets none, and the younger ones may have theirs. */
static void optimus_decide(void *self, struct cs_host *host)
{
    struct optimus *o = self;
    int64_t now = cs_now_ns(host);
    uint64_t room = (uint64_t)GPU_MILLI * cs_total_gpus(host, 0);
    uint32_t best;

    if (cs_pending_count(host) + cs_running_count(host) == 0)
        return;
    cs_wake_at(host, clock_tick_after(now, o->interval_ns));
    if (!cs_is_due(host, o->interval_ns))
        return;
    optimus_list(o, host);
    for (uint32_t i = 0; i < o->count; i++) {
        struct optimus_job *job = &o->job[i];
        uint64_t least = cs_size_least(host, job->job);
        job->milli = job_role_milli(cs_request(host, job->job), 0);
        job->left_s = 1e-9 * (double)cs_left_ns(host, job->job);
        job->gpus = least * job->milli <= room ? (uint32_t)least : 0;
        room -= (uint64_t)job->gpus * job->milli;
        if (job->gpus > 0)
            optimus_look_ahead(job, host);
    }
    while ((best = optimus_best(o, room)) < o->count) {
        struct optimus_job *job = &o->job[best];
        room -= optimus_step(job);
        job->gpus = job->next;
        optimus_look_ahead(job, host);
    }
    for (uint32_t i = 0; i < o->count; i++)
        o->size[i] = (struct cs_size) { o->job[i].job, o->job[i].gpus };
    cs_set_sizes(host, o->size, o->count);
}

static const struct cs_param params[] = {
    { "interval", CS_PARAM_TIME, offsetof(struct optimus, interval_ns), 1,
      1e6, "600s", "sizes are set at its multiples" },
};

const struct cs_policy optimus_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),
    .name = "optimus",
    .cites = "peng2018optimus",
    .summary = "elastic: GPUs to the job whose end comes nearest by them",
    .flags = CS_PREEMPTS | CS_RESIZES | CS_ASKS_ESTIMATES | CS_ONE_ROLE | CS_NEEDS_GPUS |
             CS_ONE_KIND,
    .param_count = 1, .param = params,
    .self_bytes = sizeof(struct optimus), .decide = optimus_decide,
};
