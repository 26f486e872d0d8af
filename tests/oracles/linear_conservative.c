/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * linear_conservative.c - an oracle: conservative that
 * plans by a walk of the queue and of the plan.
 */
#include <string.h>

#include "policies/phases.h"
#include "policies/policy.h"

extern const struct cs_policy linear_conservative_policy;

#define NEVER INT64_MAX

struct con_step {               /* so many are free from then on */
    int64_t time_ns;
    int64_t free;
};

struct con_job {
    int64_t start_ns, end_ns;   /* planned; NEVER: no place in the plan */
    uint32_t gpus;
    bool runs;
};

struct con {
    struct con_step *step;
    uint32_t steps, step_room;
    struct con_job *job;        /* by id */
    uint32_t job_room;
    bool early;                 /* something ended before its plan */
    uint32_t total;             /* GPUs that the plan is made for */
};

static void *con_grow(struct cs_host *host, const void *old, uint32_t *room,
                      uint32_t need, size_t item_bytes)
{
    uint32_t more = *room ? *room : 256;

    while (more <= need)
        more *= 2;
    void *grown = cs_alloc(host, more, item_bytes);
    if (*room)
        memcpy(grown, old, *room * item_bytes);
    *room = more;
    return grown;
}

static void con_reset(struct con *con, struct cs_host *host)
{
    if (con->step_room < 2)
        con->step = con_grow(host, con->step, &con->step_room, 2,
                             sizeof *con->step);
    con->steps = 1;
    con->total = cs_total_gpus(host, 0);
    con->step[0] = (struct con_step) { 0, con->total };
}

/* The last step that is not after a time. */
static uint32_t con_at(const struct con *con, int64_t time_ns)
{
    uint32_t low = 0, high = con->steps;

    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (con->step[middle].time_ns <= time_ns)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The step that begins at a time, made if need be. */
static uint32_t con_cut(struct con *con, struct cs_host *host,
                        int64_t time_ns)
{
    uint32_t at = con_at(con, time_ns);

    if (con->step[at].time_ns == time_ns)
        return at;
    if (con->steps == con->step_room)
        con->step = con_grow(host, con->step, &con->step_room, con->steps,
                             sizeof *con->step);
    memmove(&con->step[at + 2], &con->step[at + 1],
            (con->steps - at - 1) * sizeof *con->step);
    con->step[at + 1] = (struct con_step) { time_ns, con->step[at].free };
    con->steps++;
    return at + 1;
}

/* Takes GPUs out of the plan for a time, or puts them back (negative). */
static void con_take(struct con *con, struct cs_host *host, int64_t start_ns,
                     int64_t end_ns, int64_t gpus)
{
    if (start_ns >= end_ns || gpus == 0)
        return;
    uint32_t from = con_cut(con, host, start_ns);
    uint32_t to = end_ns < NEVER ? con_cut(con, host, end_ns) : con->steps;
    for (uint32_t i = from; i < to; i++)
        con->step[i].free -= gpus;
}

/* Drops the past and steps that do not step. */
static void con_tidy(struct con *con, int64_t now_ns)
{
    uint32_t first = con_at(con, now_ns), kept = 0;

    for (uint32_t i = first; i < con->steps; i++)
        if (kept == 0 || con->step[i].free != con->step[kept - 1].free)
            con->step[kept++] = con->step[i];
    con->steps = kept;
}

static int64_t con_end(int64_t start_ns, int64_t run_ns)
{
    return run_ns < NEVER - start_ns ? start_ns + run_ns : NEVER;
}

/* The earliest time from now on at which so many GPUs stay free for so long;
 * NEVER if the cluster is too small. */
static int64_t con_find(const struct con *con, int64_t now_ns, int64_t gpus,
                        int64_t run_ns)
{
    int64_t start_ns = NEVER;

    for (uint32_t i = con_at(con, now_ns); i < con->steps; i++) {
        const struct con_step *step = &con->step[i];
        if (start_ns < NEVER && step->time_ns >= con_end(start_ns, run_ns))
            break;
        if (step->free < gpus)
            start_ns = NEVER;
        else if (start_ns == NEVER)
            start_ns = step->time_ns > now_ns ? step->time_ns : now_ns;
    }
    return start_ns;
}

static void con_reserve(struct con *con, struct cs_host *host,
                        const struct cs_task *task)
{
    struct con_job *job = &con->job[task->job.i];
    int64_t run_ns = task->estimate_ns > 0 ? task->estimate_ns : 1;

    job->gpus = task->gpus;
    job->start_ns = con_find(con, cs_now_ns(host), task->gpus, run_ns);
    job->end_ns = con_end(job->start_ns, run_ns);
    con_take(con, host, job->start_ns, job->end_ns, job->gpus);
}

static void con_job_submitted(void *self, struct cs_host *host,
                              struct job_id job)
{
    struct con *con = self;

    if (!con->steps)
        con_reset(con, host);
    if (job.i >= con->job_room)
        con->job = con_grow(host, con->job, &con->job_room, job.i,
                            sizeof *con->job);
    con->job[job.i].start_ns = con->job[job.i].end_ns = NEVER;
}

static void con_job_ended(void *self, struct cs_host *host, struct job_id id)
{
    struct con *con = self;
    struct con_job *job = &con->job[id.i];

    if (job->runs && job->end_ns > cs_now_ns(host)) {
        con_take(con, host, cs_now_ns(host), job->end_ns,
                 -(int64_t)job->gpus);
        con->early = true;
    }
    job->runs = false;
}

/* All anew: what runs, at least for an instant more, then what waits. */
static void con_replan(struct con *con, struct cs_host *host)
{
    int64_t now_ns = cs_now_ns(host);

    con_reset(con, host);
    for (uint32_t i = 0; i < cs_running_count(host); i++) {
        struct con_job *job = &con->job[cs_running(host, i).i];
        if (job->end_ns <= now_ns)
            job->end_ns = now_ns + 1;
        con_take(con, host, now_ns, job->end_ns, job->gpus);
    }
    for (uint32_t i = 0; i < cs_pending_count(host); i++)
        con_reserve(con, host, cs_task(host, cs_pending(host, i)));
}

/* Moves reservations forward, and makes those of new jobs. */
static void con_compress(struct con *con, struct cs_host *host)
{
    for (uint32_t i = 0; i < cs_pending_count(host); i++) {
        const struct cs_task *task = cs_task(host, cs_pending(host, i));
        struct con_job *job = &con->job[task->job.i];
        if (job->start_ns < NEVER && !con->early)
            continue;
        con_take(con, host, job->start_ns, job->end_ns,
                 -(int64_t)job->gpus);
        con_reserve(con, host, task);
    }
}

/* Did something outlive its plan, or miss its reservation?  Have nodes come or
 * gone? */
static bool con_broken(const struct con *con, const struct cs_host *host)
{
    int64_t now_ns = cs_now_ns(host);

    if (cs_total_gpus(host, 0) != con->total)
        return true;
    for (uint32_t i = 0; i < cs_running_count(host); i++)
        if (con->job[cs_running(host, i).i].end_ns <= now_ns)
            return true;
    for (uint32_t i = 0; i < cs_pending_count(host); i++)
        if (con->job[cs_task(host, cs_pending(host, i))->job.i].start_ns <
            now_ns)
            return true;
    return false;
}

static void con_decide(void *self, struct cs_host *host)
{
    struct con *con = self;
    int64_t now_ns = cs_now_ns(host);

    if (!con->steps)
        con_reset(con, host);
    con_tidy(con, now_ns);
    if (con_broken(con, host))
        con_replan(con, host);
    else
        con_compress(con, host);
    con->early = false;
    for (uint32_t i = 0; i < cs_pending_count(host);) {
        struct task_id task = cs_pending(host, i);
        struct con_job *job = &con->job[cs_task(host, task)->job.i];
        if (job->start_ns <= now_ns && cs_start(host, task) == CS_DONE)
            job->runs = true;
        else
            i++;
    }
    int64_t wake_ns = NEVER;
    for (uint32_t i = 0; i < cs_pending_count(host); i++) {
        uint32_t id = cs_task(host, cs_pending(host, i))->job.i;
        if (con->job[id].start_ns < wake_ns)
            wake_ns = con->job[id].start_ns;
    }
    bool ends = false;
    for (uint32_t i = 0; i < cs_running_count(host); i++)
        ends = ends || con->job[cs_running(host, i).i].end_ns <= wake_ns;
    if (wake_ns > now_ns && wake_ns < NEVER && !ends)
        cs_wake_at(host, wake_ns);
}

const struct cs_policy linear_conservative_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "conservative",
    .summary = "conservative backfill: every waiting job has a reservation",
    .self_bytes = sizeof(struct con),
    .decide = con_decide,
    .job_submitted = con_job_submitted,
    .job_ended = con_job_ended,
};
