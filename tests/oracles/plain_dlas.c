/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plain_dlas.c - an oracle: Tiresias-L (Gu et al., NSDI 2019) with the three
 * queues of its simulator, as lists.
 *
 * A job that runs and has reached the limit of its queue goes to the end of the
 * next one; a job that has waited `promotion` times as long as it has run goes to
 * the end of the first.  GPUs are given out along the first queue, the second and
 * the third, past jobs that do not fit.  Then, in each queue, jobs that run stand
 * before jobs that wait.  All is looked at in each decision.
 */
#include <assert.h>
#include <math.h>

#include "policies/policy.h"
#include "policies/rank.h"

extern const struct cs_policy plain_dlas_policy;

#define JOBS_MAX 1000u
#define LAST_QUEUE 2u

struct account {                /* of a job since it was last promoted */
    double before_gpu_s;        /* attained by then */
    int64_t waited_ns;          /* in waits that are over, once it had run */
    int64_t waits_from_ns;      /* -1: it runs */
};

struct spot {
    uint32_t queue, at;
};

struct plain_dlas {
    int64_t limit_ns[LAST_QUEUE];       /* the parameters stand as in dlas.c */
    int demotion, service;
    int64_t promotion;
    uint32_t *queue[LAST_QUEUE + 1];    /* jobs */
    uint32_t length[LAST_QUEUE + 1];
    struct account *account;    /* by job */
    uint32_t came;              /* jobs so far */
    int64_t alarm_ns;
    uint32_t free, waiting;     /* at the end of the last deal */
    bool news;
};

static bool start_empty(void *self, struct cs_host *host)
{
    struct plain_dlas *d = self;

    for (uint32_t q = 0; q <= LAST_QUEUE; q++)
        d->queue[q] = cs_alloc(host, JOBS_MAX, sizeof **d->queue);
    d->account = cs_alloc(host, JOBS_MAX, sizeof *d->account);
    return true;
}

static void append(struct plain_dlas *d, uint32_t queue, uint32_t job)
{
    assert(d->length[queue] < JOBS_MAX);
    d->queue[queue][d->length[queue]++] = job;
}

/* Where it stands, or past the end of the last queue. */
static struct spot find_spot(const struct plain_dlas *d, uint32_t job)
{
    struct spot spot = { 0, 0 };

    for (; spot.queue <= LAST_QUEUE; spot.queue++)
        for (spot.at = 0; spot.at < d->length[spot.queue]; spot.at++)
            if (d->queue[spot.queue][spot.at] == job)
                return spot;
    return spot;
}

static void take_out(struct plain_dlas *d, struct spot spot)
{
    uint32_t *queue = d->queue[spot.queue];

    for (d->length[spot.queue]--; spot.at < d->length[spot.queue]; spot.at++)
        queue[spot.at] = queue[spot.at + 1];
}

static void note_job(void *self, struct cs_host *host, struct job_id job)
{
    struct plain_dlas *d = self;

    assert(job.i < JOBS_MAX);
    d->account[job.i].waits_from_ns = cs_now_ns(host);
    d->came = job.i + 1;
    d->news = true;
    append(d, 0, job.i);
}

static void note_end(void *self, struct cs_host *host, struct job_id job)
{
    struct plain_dlas *d = self;

    (void)host;
    take_out(d, find_spot(d, job.i));
    d->news = true;
}

static bool runs(const struct cs_host *host, uint32_t job)
{
    return cs_job_task(host, (struct job_id) { job }, CS_ALL_ROLES).i == ID_NONE;
}

static double gpus_of(const struct cs_host *host, uint32_t job)
{
    double gpus = cs_job_gpus(host, (struct job_id) { job });

    return gpus > 0 ? gpus : 1;
}

/* Whole GPU-nanoseconds: what the host measures is rounded in its last digits. */
static double service_ns(const struct plain_dlas *d, const struct cs_host *host, uint32_t job)
{
    double had_s = cs_attained_gpu_s(host, (struct job_id) { job });

    return floor((had_s - d->account[job].before_gpu_s) * 1e9 + 0.5);
}

static void keep_clocks(struct plain_dlas *d, const struct cs_host *host)
{
    for (uint32_t q = 0; q <= LAST_QUEUE; q++)
        for (uint32_t i = 0; i < d->length[q]; i++) {
            uint32_t job = d->queue[q][i];
            struct account *a = &d->account[job];
            bool ran = a->waits_from_ns < 0;
            if (ran && !runs(host, job))
                a->waits_from_ns = cs_now_ns(host);
            if (ran || !runs(host, job))
                continue;
            if (service_ns(d, host, job) > 0)
                a->waited_ns += cs_now_ns(host) - a->waits_from_ns;
            a->waits_from_ns = -1;
        }
}

/* Nanoseconds until it is promoted, if it waits on. */
static double promotion_in_ns(const struct plain_dlas *d, const struct cs_host *host,
                              uint32_t queue, uint32_t job)
{
    const struct account *a = &d->account[job];
    double ran_gpu_ns = service_ns(d, host, job);
    double due_ns = (double)d->promotion * ran_gpu_ns / gpus_of(host, job);

    if (d->promotion == 0 || queue == 0 || ran_gpu_ns <= 0)
        return INFINITY;
    return ceil(due_ns - (double)a->waited_ns) -
           (double)(cs_now_ns(host) - a->waits_from_ns);
}

static bool is_at_limit(const struct plain_dlas *d, const struct cs_host *host,
                        uint32_t queue, uint32_t job)
{
    double each = d->service == 1 ? gpus_of(host, job) : 1;

    return queue < LAST_QUEUE &&
           service_ns(d, host, job) >= (double)d->limit_ns[queue] * each;
}

/* Nanoseconds until it may be at its limit: by time, as their simulator has it, or
 * by GPU-time. */
static double limit_in_ns(const struct plain_dlas *d, const struct cs_host *host,
                          uint32_t queue, uint32_t job)
{
    double gpus = gpus_of(host, job), ran_ns = service_ns(d, host, job) / gpus;
    double limit_ns = (double)d->limit_ns[queue];

    if (d->service == 1)
        return ceil(limit_ns - ran_ns);
    if (d->demotion == 1)
        return 1e9 * fmax(floor((limit_ns - ran_ns) / gpus / 1e9), 1);
    return ceil((limit_ns - ran_ns * gpus) / gpus);
}

/* The oldest job moves first. */
static void change_queues(struct plain_dlas *d, struct cs_host *host)
{
    for (uint32_t job = 0; job < d->came; job++) {
        struct spot spot = find_spot(d, job);
        if (spot.queue > LAST_QUEUE)
            continue;
        if (runs(host, job) && is_at_limit(d, host, spot.queue, job)) {
            take_out(d, spot);
            append(d, spot.queue + 1, job);
        } else if (!runs(host, job) && promotion_in_ns(d, host, spot.queue, job) <= 0) {
            take_out(d, spot);
            append(d, 0, job);
            d->account[job] = (struct account) {
                cs_attained_gpu_s(host, (struct job_id) { job }), 0, cs_now_ns(host)
            };
        }
    }
}

static double place_key(const void *self, const struct cs_host *host, struct job_id job)
{
    struct spot spot = find_spot(self, job.i);

    (void)host;
    return spot.queue * (double)JOBS_MAX + spot.at;
}

/* Those that wait go behind those that run; both keep their order. */
static void part_queues(struct plain_dlas *d, const struct cs_host *host)
{
    for (uint32_t q = 0; q <= LAST_QUEUE; q++) {
        uint32_t waits[JOBS_MAX], count = 0, kept = 0;
        for (uint32_t i = 0; i < d->length[q]; i++)
            if (runs(host, d->queue[q][i]))
                d->queue[q][kept++] = d->queue[q][i];
            else
                waits[count++] = d->queue[q][i];
        for (uint32_t i = 0; i < count; i++)
            d->queue[q][kept++] = waits[i];
    }
}

/* Returns the nanoseconds until a job may change its queue.  A promotion that is
 * due was passed over in this decision. */
static double next_change_ns(const struct plain_dlas *d, const struct cs_host *host)
{
    double soonest_ns = INFINITY;

    for (uint32_t q = 0; q <= LAST_QUEUE; q++)
        for (uint32_t i = 0; i < d->length[q]; i++) {
            uint32_t job = d->queue[q][i];
            double in_ns = INFINITY;
            if (!runs(host, job))
                in_ns = promotion_in_ns(d, host, q, job);
            else if (q < LAST_QUEUE)
                in_ns = fmax(limit_in_ns(d, host, q, job), 1);
            if (in_ns > 0)
                soonest_ns = fmin(soonest_ns, in_ns);
        }
    return soonest_ns;
}

/* Queues change with news, at the alarm, and where nodes or jobs have failed. */
static void decide(void *self, struct cs_host *host)
{
    struct plain_dlas *d = self;
    bool failed = cs_free_gpus(host, 0) != d->free || cs_pending_count(host) != d->waiting;

    if (!d->news && !failed && cs_now_ns(host) != d->alarm_ns)
        return;
    keep_clocks(d, host);
    change_queues(d, host);
    cs_reallocate(host, place_key);
    keep_clocks(d, host);
    part_queues(d, host);
    d->news = false;
    d->free = cs_free_gpus(host, 0);
    d->waiting = cs_pending_count(host);
    d->alarm_ns = 0;
    double in_ns = next_change_ns(d, host);
    if (in_ns < 9e18) {
        d->alarm_ns = cs_now_ns(host) + (int64_t)in_ns;
        cs_wake_at(host, d->alarm_ns);
    }
}

const struct cs_policy plain_dlas_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "dlas",
    .summary = "three queues as lists, looked at in each decision",
    .flags = CS_PREEMPTS,
    .self_bytes = sizeof(struct plain_dlas),
    .init = start_empty,
    .decide = decide,
    .job_submitted = note_job,
    .job_ended = note_end,
};
