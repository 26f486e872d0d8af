/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plain_elasticflow.c - an oracle: ElasticFlow by algorithms 1 and 2 of its paper (Gu
 * et al., ASPLOS 2023).
 *
 * Whenever a job came or ended all shares are filled from nothing, slot by slot, and
 * once more for each job that asks to be admitted.  Then GPUs that are left go one
 * step at a time, and all jobs are looked at for each step.
 */
#include <assert.h>
#include <math.h>

#include "policies/policy.h"
#include "policies/resize.h"

extern const struct cs_policy plain_elasticflow_policy;

#define JOBS_MAX 256u

struct plain_job {
    struct cs_size size;        /* what the deal gives it */
    int64_t due_ns;
    uint32_t held;              /* GPUs after the last deal */
    bool admitted, judged;
};

struct plain_elasticflow {
    int64_t slot_ns, slots_max; /* stand first, as in elasticflow.c */
    double slack;
    struct plain_job *job;      /* as they came */
    uint32_t *free;
    uint32_t jobs, all;
    bool news;
};

static bool start_empty(void *self, struct cs_host *host)
{
    struct plain_elasticflow *e = self;

    e->job = cs_alloc(host, JOBS_MAX, sizeof *e->job);
    e->free = cs_alloc(host, (size_t)e->slots_max, sizeof *e->free);
    return true;
}

static void note_job(void *self, struct cs_host *host, struct job_id job)
{
    struct plain_elasticflow *e = self;

    assert(e->jobs < JOBS_MAX);
    e->job[e->jobs++] = (struct plain_job) {
        .size = { job, 0 }, .due_ns = cs_request(host, job)->deadline_ns };
    e->news = true;
}

static void note_end(void *self, struct cs_host *host, struct job_id job)
{
    struct plain_elasticflow *e = self;
    uint32_t at = 0;

    (void)host;
    while (e->job[at].size.job.i != job.i)
        at++;
    for (e->jobs--; at < e->jobs; at++)
        e->job[at] = e->job[at + 1];
    e->news = true;
}

/* ---- shares ---- */

/* With at most n GPUs a slot; the job has size.gpus in the first one. */
static bool is_on_time(struct plain_elasticflow *e, struct cs_host *host,
                       struct plain_job *job, uint32_t n, bool takes)
{
    double slot_s = 1e-9 * (double)e->slot_ns;
    double left_s = 1e-9 * (double)cs_left_ns(host, job->size.job);
    double slots = (double)(job->due_ns - cs_now_ns(host)) * (1 - e->slack) /
                   (double)e->slot_ns;

    slots = slots < (double)e->slots_max ? slots : (double)e->slots_max;
    job->size.gpus = 0;
    for (uint32_t t = 0; t < slots && left_s > 0; t++) {
        uint32_t most = e->free[t] < n ? e->free[t] : n;
        uint32_t gpus = cs_size_below(host, job->size.job, most);
        double speed = gpus > 0 ? cs_best_speedup(host, job->size.job, gpus) : 0;
        left_s -= speed * slot_s * (slots - t < 1 ? slots - t : 1);
        e->free[t] -= takes ? gpus : 0;
        job->size.gpus = t == 0 ? gpus : job->size.gpus;
    }
    return left_s <= 0;
}

static bool has_share(struct plain_elasticflow *e, struct cs_host *host,
                      struct plain_job *job)
{
    uint32_t n = 0;

    while ((n = cs_size_above(host, job->size.job, n)) > 0)
        if (is_on_time(e, host, job, n, false))
            return is_on_time(e, host, job, n, true);
    job->size.gpus = 0;
    return false;
}

/* The next by deadline, of equals the older; NULL: it was the last.  NULL before the
 * first. */
static struct plain_job *find_next_due(struct plain_elasticflow *e,
                                       const struct plain_job *last)
{
    struct plain_job *next = NULL;

    for (uint32_t i = 0; i < e->jobs; i++) {
        struct plain_job *job = &e->job[i];
        bool later = last == NULL || job->due_ns > last->due_ns ||
                     (job->due_ns == last->due_ns && job > last);
        if (later && (next == NULL || job->due_ns < next->due_ns))
            next = job;
    }
    return next;
}

/* Fills all shares; false: a job that is admitted has none, or the newcomer.  With
 * `drops` such a job is admitted no more. */
static bool fill_all(struct plain_elasticflow *e, struct cs_host *host,
                     const struct plain_job *newcomer, bool drops)
{
    bool all = true;

    for (int64_t t = 0; t < e->slots_max; t++)
        e->free[t] = e->all;
    for (struct plain_job *job = NULL; (job = find_next_due(e, job)) != NULL;) {
        job->size.gpus = 0;
        if ((job->admitted || job == newcomer) && !has_share(e, host, job)) {
            all = false;
            job->admitted = job->admitted && !drops;
        }
    }
    return all;
}

/* ---- what is left ---- */

/* What the next step costs, as GPU-time for each GPU of it; the least is best. */
static double find_price(struct cs_host *host, struct cs_size size, uint32_t room,
                         uint32_t *to)
{
    *to = cs_size_above(host, size.job, size.gpus);
    if (size.gpus == 0 || *to == 0 || *to - size.gpus > room)
        return INFINITY;
    double left_s = 1e-9 * (double)cs_left_ns(host, size.job);
    double now = cs_best_speedup(host, size.job, size.gpus);
    double then = cs_best_speedup(host, size.job, *to);

    return then > now ? left_s * (*to / then - size.gpus / now) / (*to - size.gpus)
                      : INFINITY;
}

static void give_rest(struct plain_elasticflow *e, struct cs_host *host, uint32_t room)
{
    for (uint32_t i = 0; i < e->jobs; i++) {
        uint32_t least = cs_size_least(host, e->job[i].size.job);
        if (e->job[i].size.gpus > 0 || least == 0 || least > room)
            continue;
        e->job[i].size.gpus = least;
        room -= least;
    }
    for (;;) {
        struct plain_job *best = NULL;
        double least = INFINITY;
        uint32_t to, size = 0;
        for (struct plain_job *job = NULL; (job = find_next_due(e, job)) != NULL;) {
            double price = find_price(host, job->size, room, &to);
            if (price < least) {
                least = price;
                best = job;
                size = to;
            }
        }
        if (best == NULL)
            return;
        room -= size - best->size.gpus;
        best->size.gpus = size;
    }
}

static void deal(void *self, struct cs_host *host)
{
    struct plain_elasticflow *e = self;
    struct cs_size size[JOBS_MAX];
    uint32_t all = cs_total_gpus(host, 0), room = all, count = 0;

    for (uint32_t i = 0; i < e->jobs; i++)
        e->news |= cs_size_now(host, e->job[i].size.job) < e->job[i].held;
    if (e->jobs == 0 || (!e->news && all == e->all))
        return;
    e->all = all;
    e->news = false;
    for (uint32_t i = 0; i < e->jobs; i++) {
        struct plain_job *job = &e->job[i];
        if (job->judged)
            continue;
        job->judged = true;
        job->admitted = job->due_ns < INT64_MAX && fill_all(e, host, job, false);
    }
    fill_all(e, host, NULL, true);
    for (uint32_t i = 0; i < e->jobs; i++)
        room -= e->job[i].size.gpus;
    give_rest(e, host, room);
    for (struct plain_job *job = NULL; (job = find_next_due(e, job)) != NULL;)
        size[count++] = job->size;
    cs_set_sizes(host, size, count);
    for (uint32_t i = 0; i < e->jobs; i++)
        e->job[i].held = cs_size_now(host, e->job[i].size.job);
}

const struct cs_policy plain_elasticflow_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),
    .name = "elasticflow", .summary = "by its paper, slot by slot",
    .flags = CS_PREEMPTS | CS_RESIZES,
    .self_bytes = sizeof(struct plain_elasticflow),
    .init = start_empty, .job_submitted = note_job, .job_ended = note_end, .decide = deal,
};
