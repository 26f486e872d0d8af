/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plain_conservative.c - an oracle: conservative backfill by its definition
 * (Mu'alem and Feitelson, TPDS 2001).
 *
 * Every job, whether it runs or waits, is promised a time from its start to its
 * end.  A promise can be given for a start if the GPUs that other promises take
 * leave enough at that instant and at each later one, up to its end, at which
 * another promise begins.  The first such start is now or where another promise
 * ends.  There is no profile of free GPUs: each question adds up all promises.
 */
#include <assert.h>

#include "policies/policy.h"

extern const struct cs_policy plain_conservative_policy;

#define JOBS_MAX 1000u
#define NEVER INT64_MAX

struct promise {
    int64_t start_ns, end_ns;   /* NEVER: none was given */
    uint32_t gpus;              /* 0: it does not count */
};

struct plain_conservative {
    struct promise *promise;    /* by job */
    uint32_t jobs, gpus;        /* promises count on so many GPUs */
    bool early;                 /* a job ended before its promise did */
};

static bool start_empty(void *self, struct cs_host *host)
{
    struct plain_conservative *c = self;

    c->promise = cs_alloc(host, JOBS_MAX, sizeof *c->promise);
    c->gpus = cs_total_gpus(host, 0);
    return true;
}

static void withdraw(struct plain_conservative *c, uint32_t job)
{
    c->promise[job] = (struct promise) { NEVER, NEVER, 0 };
}

static void note_job(void *self, struct cs_host *host, struct job_id job)
{
    struct plain_conservative *c = self;

    (void)host;
    assert(job.i < JOBS_MAX);
    c->jobs = job.i + 1;
    withdraw(c, job.i);
}

static void note_end(void *self, struct cs_host *host, struct job_id job)
{
    struct plain_conservative *c = self;

    c->early = c->early || c->promise[job.i].end_ns > cs_now_ns(host);
    withdraw(c, job.i);
}

static uint64_t promised_at(const struct plain_conservative *c, int64_t at_ns)
{
    uint64_t gpus = 0;

    for (uint32_t j = 0; j < c->jobs; j++)
        if (c->promise[j].start_ns <= at_ns && at_ns < c->promise[j].end_ns)
            gpus += c->promise[j].gpus;
    return gpus;
}

static bool can_promise(const struct plain_conservative *c, const struct promise *p)
{
    bool can = promised_at(c, p->start_ns) + p->gpus <= c->gpus;

    for (uint32_t j = 0; can && j < c->jobs; j++) {
        int64_t at_ns = c->promise[j].start_ns;
        if (c->promise[j].gpus > 0 && at_ns > p->start_ns && at_ns < p->end_ns)
            can = promised_at(c, at_ns) + p->gpus <= c->gpus;
    }
    return can;
}

/* Gives the earliest promise that can be given.  The job has none. */
static void give_promise(struct plain_conservative *c, int64_t now_ns,
                         const struct cs_task *task)
{
    int64_t run_ns = task->estimate_ns > 0 ? task->estimate_ns : 1;
    struct promise first = { NEVER, NEVER, task->gpus };

    for (uint32_t j = 0; j <= c->jobs; j++) {
        int64_t start_ns = j == c->jobs ? now_ns : c->promise[j].end_ns;
        struct promise next = { start_ns, NEVER, task->gpus };
        if (run_ns < NEVER - start_ns)
            next.end_ns = start_ns + run_ns;
        if (start_ns >= now_ns && start_ns < first.start_ns && can_promise(c, &next))
            first = next;
    }
    c->promise[task->job.i] = first;
}

/* A job runs longer than was promised, or could not start when it was, or nodes
 * have come or gone: all that wait lose their promises. */
static bool break_promises(struct plain_conservative *c, const struct cs_host *host)
{
    int64_t now_ns = cs_now_ns(host);
    bool broken = cs_total_gpus(host, 0) != c->gpus;

    for (uint32_t i = 0; i < cs_running_count(host); i++)
        broken |= c->promise[cs_running(host, i).i].end_ns <= now_ns;
    for (uint32_t i = 0; i < cs_pending_count(host); i++)
        broken |= c->promise[cs_task(host, cs_pending(host, i))->job.i].start_ns < now_ns;
    if (!broken)
        return false;
    c->gpus = cs_total_gpus(host, 0);
    for (uint32_t i = 0; i < cs_running_count(host); i++) {
        struct promise *p = &c->promise[cs_running(host, i).i];
        if (p->end_ns <= now_ns)
            p->end_ns = now_ns + 1;
    }
    for (uint32_t i = 0; i < cs_pending_count(host); i++)
        withdraw(c, cs_task(host, cs_pending(host, i))->job.i);
    return true;
}

static void decide(void *self, struct cs_host *host)
{
    struct plain_conservative *c = self;
    int64_t now_ns = cs_now_ns(host), next_ns = NEVER;
    bool all = break_promises(c, host) || c->early, soon = false;

    for (uint32_t i = 0; i < cs_pending_count(host); i++) {
        const struct cs_task *task = cs_task(host, cs_pending(host, i));
        if (!all && c->promise[task->job.i].start_ns != NEVER)
            continue;
        withdraw(c, task->job.i);
        give_promise(c, now_ns, task);
    }
    c->early = false;
    for (uint32_t i = 0; i < cs_pending_count(host);) {
        struct task_id task = cs_pending(host, i);
        int64_t start_ns = c->promise[cs_task(host, task)->job.i].start_ns;
        if (start_ns <= now_ns && cs_start(host, task) == CS_DONE)
            continue;
        next_ns = start_ns < next_ns ? start_ns : next_ns;
        i++;
    }
    for (uint32_t i = 0; i < cs_running_count(host); i++)
        soon |= c->promise[cs_running(host, i).i].end_ns <= next_ns;
    if (next_ns > now_ns && next_ns < NEVER && !soon)
        cs_wake_at(host, next_ns);
}

const struct cs_policy plain_conservative_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "conservative",
    .summary = "conservative backfill by sums over all promises",
    .self_bytes = sizeof(struct plain_conservative),
    .init = start_empty,
    .decide = decide,
    .job_submitted = note_job,
    .job_ended = note_end,
};
