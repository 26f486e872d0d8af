/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plain_afs.c - an oracle: AFS-L by the rule of its paper (Hwang, Kim, Kim, Shin
 * and Park, NSDI 2021, section 4).
 *
 * Nobody has a GPU.  Each next step up goes to the job that is left when, in the
 * order of submission, each challenges the winner so far.  Of a pair the one that
 * would end first (a) has it, unless the other (b) gains more of its speed:
 *     (p'_b - p_b) / p'_b > (p'_a - p_a) / p_a.
 * Every speed is asked for whenever it is needed.
 */
#include <assert.h>

#include "policies/policy.h"
#include "policies/resize.h"

extern const struct cs_policy plain_afs_policy;

#define JOBS_MAX 256u

struct plain_afs {
    int64_t interval_ns;        /* stands first, as in afs.c */
    struct cs_size *job;        /* unfinished, as they came; what each was given */
    uint32_t jobs, gpus;
    int64_t next_ns;            /* no deal before */
    bool news;
};

static bool start_empty(void *self, struct cs_host *host)
{
    struct plain_afs *a = self;

    a->job = cs_alloc(host, JOBS_MAX, sizeof *a->job);
    return true;
}

static void note_job(void *self, struct cs_host *host, struct job_id job)
{
    struct plain_afs *a = self;

    (void)host;
    assert(a->jobs < JOBS_MAX);
    a->job[a->jobs++] = (struct cs_size) { job, 0 };
    a->news = true;
}

static void note_end(void *self, struct cs_host *host, struct job_id job)
{
    struct plain_afs *a = self;
    uint32_t at = 0;

    (void)host;
    while (a->job[at].job.i != job.i)
        at++;
    for (a->jobs--; at < a->jobs; at++)
        a->job[at] = a->job[at + 1];
    a->news = true;
}

static double speed(struct cs_host *host, struct cs_size size)
{
    return size.gpus > 0 ? cs_best_speedup(host, size.job, size.gpus) : 0;
}

/* One step larger; as it is, if there is no larger size. */
static struct cs_size step_up(struct cs_host *host, struct cs_size size)
{
    uint32_t more = cs_size_above(host, size.job, size.gpus);

    if (more > 0)
        size.gpus = more;
    return size;
}

static bool can_gain(struct cs_host *host, struct cs_size size, uint32_t room)
{
    struct cs_size more = step_up(host, size);

    return more.gpus > size.gpus && more.gpus - size.gpus <= room &&
           speed(host, more) > speed(host, size);
}

/* Jobs that both run compare the times to their ends, others what is left. */
static bool ends_first(struct cs_host *host, struct cs_size x, struct cs_size y)
{
    double left_x = 1e-9 * (double)cs_left_ns(host, x.job);
    double left_y = 1e-9 * (double)cs_left_ns(host, y.job);

    if (x.gpus > 0 && y.gpus > 0) {
        left_x /= speed(host, x);
        left_y /= speed(host, y);
    }
    return left_x < left_y || (left_x <= left_y && x.job.i < y.job.i);
}

static bool wins(struct cs_host *host, struct cs_size x, struct cs_size y)
{
    bool short_x = ends_first(host, x, y);
    struct cs_size a = short_x ? x : y, b = short_x ? y : x;
    double p_a = speed(host, a), p_b = speed(host, b);
    double p1_a = speed(host, step_up(host, a)), p1_b = speed(host, step_up(host, b));
    bool gains_b = p_a > 0 && (p1_b - p_b) / p1_b > (p1_a - p_a) / p_a;

    return gains_b ? !short_x : short_x;
}

static void give_all(struct plain_afs *a, struct cs_host *host)
{
    uint32_t room = a->gpus, best;

    for (uint32_t i = 0; i < a->jobs; i++)
        a->job[i].gpus = 0;
    do {
        best = a->jobs;
        for (uint32_t i = 0; i < a->jobs; i++)
            if (can_gain(host, a->job[i], room) &&
                (best == a->jobs || wins(host, a->job[i], a->job[best])))
                best = i;
        if (best < a->jobs) {
            struct cs_size more = step_up(host, a->job[best]);
            room -= more.gpus - a->job[best].gpus;
            a->job[best] = more;
        }
    } while (best < a->jobs);
}

static void decide(void *self, struct cs_host *host)
{
    struct plain_afs *a = self;

    a->news |= cs_total_gpus(host, 0) != a->gpus;
    a->gpus = cs_total_gpus(host, 0);
    for (uint32_t i = 0; i < a->jobs; i++)      /* after a failure */
        a->news |= cs_size_now(host, a->job[i].job) < a->job[i].gpus;
    if (!a->news || a->jobs == 0)
        return;
    if (cs_now_ns(host) < a->next_ns) {
        cs_wake_at(host, a->next_ns);
        return;
    }
    give_all(a, host);
    cs_set_sizes(host, a->job, a->jobs);
    for (uint32_t i = 0; i < a->jobs; i++)
        a->job[i].gpus = cs_size_now(host, a->job[i].job);
    a->news = false;
    a->next_ns = cs_now_ns(host) + a->interval_ns;
}

const struct cs_policy plain_afs_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "afs",
    .summary = "each next GPU to the winner of all pairs",
    .flags = CS_PREEMPTS | CS_RESIZES,
    .self_bytes = sizeof(struct plain_afs),
    .init = start_empty,
    .decide = decide,
    .job_submitted = note_job,
    .job_ended = note_end,
};
