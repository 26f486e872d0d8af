/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plain_time_slice.c - an oracle: turns by a stamp of each job, without lists.
 *
 * At each decision every job that runs is stamped with the instant.  At the end of a
 * quantum GPUs go to the oldest stamps; within one only what is free does.  Pairs are
 * tried, and those that are too slow together are told apart by their kinds' names.
 */
#include <assert.h>
#include <string.h>

#include "policies/pack.h"
#include "policies/policy.h"
#include "policies/rank.h"
#include "policies/resize.h"

extern const struct cs_policy plain_time_slice_policy;

#define JOBS_MAX 600u
#define KINDS_MAX 16u

struct state {
    int64_t stamp_ns[JOBS_MAX]; /* by job; -1: it is not known yet */
    const void *kind[KINDS_MAX];        /* forms of jobs */
    bool slow[KINDS_MAX][KINDS_MAX];
    int64_t over_ns;            /* the end of the quantum */
};

struct plain_time_slice {
    int64_t quantum_ns;         /* parameters, as time_slice.c has them */
    bool packing;
    struct state *state;
};

static bool init(void *self, struct cs_host *host)
{
    struct plain_time_slice *s = self;

    s->state = cs_alloc(host, 1, sizeof *s->state);
    memset(s->state->stamp_ns, -1, sizeof s->state->stamp_ns);
    return true;
}

static void job_submitted(void *self, struct cs_host *host, struct job_id job)
{
    assert(job.i < JOBS_MAX);
    ((struct plain_time_slice *)self)->state->stamp_ns[job.i] = cs_now_ns(host);
}

static double stamp_of(const void *self, const struct cs_host *host, struct job_id job)
{
    int64_t at = ((const struct plain_time_slice *)self)->state->stamp_ns[job.i];

    (void)host;
    return at < 0 ? 1e300 : (double)at;
}

static bool goes_before(const void *self, const struct cs_host *host, struct task_id a,
                        struct task_id b)
{
    struct job_id x = cs_task(host, a)->job, y = cs_task(host, b)->job;

    if (stamp_of(self, host, x) == stamp_of(self, host, y))
        return x.i < y.i;
    return stamp_of(self, host, x) < stamp_of(self, host, y);
}

/* ---- pairs ---- */

static uint32_t kind_of(struct state *s, const struct cs_host *host, struct job_id job)
{
    uint32_t k = 0;

    while (s->kind[k] != NULL && s->kind[k] != cs_request(host, job)->form)
        k++;
    assert(k < KINDS_MAX - 1);
    s->kind[k] = cs_request(host, job)->form;
    return k;
}

static bool are_slow(struct state *s, const struct cs_host *host, struct job_id a,
                     struct job_id b)
{
    return s->slow[kind_of(s, host, a)][kind_of(s, host, b)];
}

/* How much two do together on the GPUs of the second, 1 being what each does alone; 0:
 * they cannot be there. */
static double together(struct cs_host *host, struct job_id a, struct job_id b)
{
    uint32_t pools = cs_lease_pools(host, cs_role_lease(host, b, 0));
    double worst = 2;

    for (uint32_t p = 0; p < 32; p++)
        if ((pools & 1u << p) != 0) {
            double x = cs_speedup_co_located(host, a, b, p);
            double y = cs_speedup_co_located(host, b, a, p);
            if (x <= 0 || y <= 0)
                return 0;
            x /= cs_speedup(host, a, p, cs_job_gpus(host, a));
            y /= cs_speedup(host, b, p, cs_job_gpus(host, b));
            worst = x + y < worst ? x + y : worst;
        }
    return worst;
}

/* One of all that could be its neighbour, each by the same chance: the n-th takes the
 * place of the one before it with chance 1/n. */
static void seek_neighbour(struct plain_time_slice *s, struct cs_host *host, struct task_id task)
{
    struct job_id job = cs_task(host, task)->job, found = { ID_NONE };
    double seen = 0;

    for (uint32_t i = 0; i < cs_running_count(host); i++) {
        struct job_id other = cs_running(host, i);
        if (cs_job_gpus(host, job) != cs_job_gpus(host, other) ||
            cs_co_located(host, other).i != ID_NONE || are_slow(s->state, host, job, other) ||
            together(host, job, other) == 0)
            continue;
        seen++;
        if (cs_random(host) < 1 / seen)
            found = other;
    }
    if (found.i != ID_NONE && cs_start_co_located(host, task, found) == CS_DONE)
        cs_wake_at(host, cs_now_ns(host) + s->quantum_ns);
}

/* The first pair, by the younger of the two in the order in which jobs began, that has had
 * its time and is too slow. */
static bool part_one(struct plain_time_slice *s, struct cs_host *host)
{
    for (uint32_t i = 0; i < cs_running_count(host); i++) {
        struct job_id job = cs_running(host, i), other = cs_co_located(host, job);
        if (other.i == ID_NONE || job.i < other.i)
            continue;
        int64_t since = cs_lease(host, cs_role_lease(host, job, 0))->since_ns;
        if (cs_now_ns(host) - since < s->quantum_ns) {
            cs_wake_at(host, since + s->quantum_ns);
            continue;
        }
        if (together(host, other, job) >= 1)
            continue;
        uint32_t a = kind_of(s->state, host, job), b = kind_of(s->state, host, other);
        s->state->slow[a][b] = s->state->slow[b][a] = true;
        cs_stop(host, job);
        return true;
    }
    return false;
}

/* ---- turns ---- */

static void stamp_all(struct plain_time_slice *s, struct cs_host *host)
{
    for (uint32_t i = 0; i < cs_running_count(host); i++)
        s->state->stamp_ns[cs_running(host, i).i] = cs_now_ns(host);
}

static void decide(void *self, struct cs_host *host)
{
    struct plain_time_slice *s = self;
    int64_t now = cs_now_ns(host);
    bool over = now >= s->state->over_ns;

    stamp_all(s, host);
    while (s->packing && part_one(s, host))
        ;
    if (over && cs_pending_count(host) > 0)
        cs_reallocate(host, stamp_of);
    if (!over || s->packing)
        for (uint32_t i = 0; i < cs_pending_count(host);) {
            struct task_id task = cs_pending(host, i);
            if (cs_start(host, task) != CS_DONE && s->packing)
                seek_neighbour(s, host, task);
            i += i < cs_pending_count(host) && cs_pending(host, i).i == task.i;
        }
    if (cs_pending_count(host) == 0)
        s->state->over_ns = now;
    else if (over)
        s->state->over_ns = now + s->quantum_ns;
    if (cs_pending_count(host) > 0)
        cs_wake_at(host, s->state->over_ns);
}

const struct cs_policy plain_time_slice_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "time-slice",
    .summary = "all jobs take turns, by a stamp of each",
    .flags = CS_PREEMPTS | CS_PACKS | CS_DRAWS,
    .self_bytes = sizeof(struct plain_time_slice),
    .init = init,
    .before = goes_before,
    .decide = decide,
    .job_submitted = job_submitted,
};
