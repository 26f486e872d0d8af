/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * linear_dlas.c - an oracle: dlas that
 * deals after a look at every job.
 */
#include <math.h>
#include <string.h>

#include "policies/params.h"
#include "policies/policy.h"
#include "policies/rank.h"

extern const struct cs_policy linear_dlas_policy;

#define DLAS_QUEUES 3u

struct dlas_job {
    struct job_id id;
    uint32_t queue;
    uint64_t place;             /* in its queue; smaller goes first */
    double had_gpu_s;           /* before it was last promoted */
    int64_t waited_ns;          /* since then, once it had something */
    int64_t wait_from_ns;       /* INT64_MAX: it runs */
};

struct dlas {
    int64_t limit_ns[DLAS_QUEUES - 1];      /* GPU-time */
    int demotion, service;
    int64_t promotion;                      /* 0: never */
    struct dlas_job *job;                   /* unfinished, as they came */
    uint32_t count, room;
    uint32_t *index;                        /* by job: where in the above */
    uint32_t index_room;
    uint64_t places;
    int64_t look_ns;                        /* the next demotion is due */
    uint32_t free_gpus, pending;            /* after the last deal */
    bool tiresias, by_time, news;
};

static const struct cs_param dlas_param[] = {
    { .key = "limit_1", .type = CS_PARAM_TIME,
      .offset = offsetof(struct dlas, limit_ns[0]),
      .max = 1e9, .fallback = "3250s",
      .help = "service at which a job leaves the first queue" },
    { .key = "limit_2", .type = CS_PARAM_TIME,
      .offset = offsetof(struct dlas, limit_ns[1]),
      .max = 1e9, .fallback = "7200s",
      .help = "service at which a job leaves the second queue" },
    { .key = "demotion", .type = CS_PARAM_CHOICE,
      .offset = offsetof(struct dlas, demotion), .fallback = "corrected",
      .help = "when to look for demotions: corrected, or tiresias as that "
              "simulator computes it" },
    { .key = "service", .type = CS_PARAM_CHOICE,
      .offset = offsetof(struct dlas, service), .fallback = "gpu-time",
      .help = "what the limits are of: gpu-time, or time" },
    { .key = "promotion", .type = CS_PARAM_INT,
      .offset = offsetof(struct dlas, promotion),
      .max = 1e6, .fallback = "0",
      .help = "a job that has waited so many times as long as it has run "
              "goes back to the first queue; 0: never" },
};

static bool dlas_init(void *self, struct cs_host *host)
{
    struct dlas *dlas = self;

    (void)host;
    dlas->tiresias = dlas->demotion == 1;
    dlas->by_time = dlas->service == 1;
    return true;
}

static void *dlas_grow(struct cs_host *host, const void *old, uint32_t *room,
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

static void dlas_job_submitted(void *self, struct cs_host *host,
                               struct job_id job)
{
    struct dlas *dlas = self;

    if (dlas->count == dlas->room)
        dlas->job = dlas_grow(host, dlas->job, &dlas->room, dlas->count,
                              sizeof *dlas->job);
    if (job.i >= dlas->index_room)
        dlas->index = dlas_grow(host, dlas->index, &dlas->index_room, job.i,
                                sizeof *dlas->index);
    dlas->index[job.i] = dlas->count;
    dlas->job[dlas->count++] =
        (struct dlas_job) { .id = job, .place = dlas->places++,
                            .wait_from_ns = cs_now_ns(host) };
    dlas->news = true;
}

static void dlas_job_ended(void *self, struct cs_host *host,
                           struct job_id job)
{
    struct dlas *dlas = self;
    uint32_t at = dlas->index[job.i];

    (void)host;
    for (dlas->count--; at < dlas->count; at++) {
        dlas->job[at] = dlas->job[at + 1];
        dlas->index[dlas->job[at].id.i] = at;
    }
    dlas->news = true;
}

static bool dlas_runs(const struct cs_host *host, struct job_id job)
{
    return cs_job_task(host, job, CS_ALL_ROLES).i == ID_NONE;
}

static double dlas_gpus(const struct cs_host *host, struct job_id job)
{
    uint32_t asked = cs_job_gpus(host, job);
    int64_t milli = cs_request(host, job)->gpu_milli;

    return milli > 0 ? (double)milli / 1000 : asked > 0 ? asked : 1;
}

/* GPU-seconds since it was last promoted. */
static double dlas_had_s(const struct cs_host *host,
                         const struct dlas_job *job)
{
    return cs_attained_gpu_s(host, job->id) - job->had_gpu_s;
}

/* GPU-nanoseconds at which it leaves its queue, which is not the last. */
static double dlas_limit_ns(const struct dlas *dlas,
                            const struct cs_host *host,
                            const struct dlas_job *job)
{
    double limit_ns = (double)dlas->limit_ns[job->queue];

    return dlas->by_time ? limit_ns * dlas_gpus(host, job->id) : limit_ns;
}

/* When it goes back to the first queue if it waits on; INT64_MAX: never. */
static int64_t dlas_promotion_ns(const struct dlas *dlas,
                                 const struct cs_host *host,
                                 const struct dlas_job *job)
{
    double had_s = dlas_had_s(host, job);
    double wait_ns = (double)dlas->promotion * had_s * 1e9 /
                     dlas_gpus(host, job->id) - (double)job->waited_ns;

    if (dlas->promotion == 0 || job->queue == 0 || !(had_s > 0) ||
        wait_ns > 4e18)
        return INT64_MAX;
    return job->wait_from_ns + (int64_t)ceil(wait_ns);
}

static void dlas_promote(struct dlas_job *job, const struct cs_host *host)
{
    job->queue = 0;
    job->had_gpu_s = cs_attained_gpu_s(host, job->id);
    job->waited_ns = 0;
    job->wait_from_ns = cs_now_ns(host);
}

/* It starts: waits before it had anything do not count. */
static void dlas_waited(struct dlas_job *job, const struct cs_host *host)
{
    if (job->wait_from_ns != INT64_MAX && dlas_had_s(host, job) > 0)
        job->waited_ns += cs_now_ns(host) - job->wait_from_ns;
    job->wait_from_ns = INT64_MAX;
}

/* Who runs and did not, and the other way round. */
static void dlas_clocks(struct dlas *dlas, const struct cs_host *host)
{
    for (uint32_t i = 0; i < dlas->count; i++) {
        struct dlas_job *job = &dlas->job[i];
        if (dlas_runs(host, job->id))
            dlas_waited(job, host);
        else if (job->wait_from_ns == INT64_MAX)
            job->wait_from_ns = cs_now_ns(host);
    }
}

/* One queue down at most, as there, or to the first; at its end, in the order
 * they came. */
static void dlas_demote(struct dlas *dlas, const struct cs_host *host)
{
    for (uint32_t i = 0; i < dlas->count; i++) {
        struct dlas_job *job = &dlas->job[i];
        bool runs = dlas_runs(host, job->id);
        if (!runs && dlas_promotion_ns(dlas, host, job) <= cs_now_ns(host))
            dlas_promote(job, host);
        else if (runs && job->queue + 1 < DLAS_QUEUES &&
                 dlas_had_s(host, job) * 1e9 >=
                     dlas_limit_ns(dlas, host, job))
            job->queue++;
        else
            continue;
        job->place = dlas->places++;
    }
}

static double dlas_key(const void *self, const struct cs_host *host,
                       struct job_id id)
{
    const struct dlas *dlas = self;
    const struct dlas_job *job = &dlas->job[dlas->index[id.i]];

    (void)host;
    return job->queue * 0x1p50 + (double)job->place;
}

/* Nanoseconds until a running job may have reached its limit. */
static double dlas_due_ns(const struct dlas *dlas, const struct cs_host *host,
                          const struct dlas_job *job)
{
    double gpus = dlas_gpus(host, job->id);
    double run_s = dlas_had_s(host, job) / gpus;
    double limit_s = (double)dlas->limit_ns[job->queue] / 1e9;

    if (dlas->by_time)
        return ceil((limit_s - run_s) * 1e9);
    if (dlas->tiresias)             /* it would look for ever, at 0 s */
        return fmax(1, floor((limit_s - run_s) / gpus)) * 1e9;
    return ceil((limit_s / gpus - run_s) * 1e9);
}

static void dlas_look_again(struct dlas *dlas, struct cs_host *host)
{
    double due_ns = INFINITY;

    dlas->look_ns = 0;
    for (uint32_t i = 0; i < dlas->count; i++) {
        const struct dlas_job *job = &dlas->job[i];
        bool runs = dlas_runs(host, job->id);
        int64_t at_ns = runs ? INT64_MAX : dlas_promotion_ns(dlas, host, job);
        if (runs && job->queue + 1 < DLAS_QUEUES)
            due_ns = fmin(due_ns, dlas_due_ns(dlas, host, job));
        if (at_ns != INT64_MAX && at_ns > cs_now_ns(host))
            due_ns = fmin(due_ns, (double)(at_ns - cs_now_ns(host)));
    }
    if (due_ns > 9e18)
        return;
    dlas->look_ns = cs_now_ns(host) + (int64_t)fmax(1, due_ns);
    cs_wake_at(host, dlas->look_ns);
}

/* Those that wait go behind those that run, in order. */
static void dlas_put_back(struct dlas *dlas, struct cs_host *host)
{
    struct job_id *list = cs_alloc(host, dlas->count + 1, sizeof *list);

    for (uint32_t i = 0; i < dlas->count; i++)
        list[i] = dlas->job[i].id;
    cs_sort(host, list, dlas->count, dlas_key);
    for (uint32_t i = 0; i < dlas->count; i++)
        if (!dlas_runs(host, list[i]))
            dlas->job[dlas->index[list[i].i]].place = dlas->places++;
}

static void dlas_decide(void *self, struct cs_host *host)
{
    struct dlas *dlas = self;

    /* An alarm that a later decision made void changes nothing; nodes that
     * fail or come back do. */
    if (!dlas->news && cs_now_ns(host) != dlas->look_ns &&
        cs_free_gpus(host, 0) == dlas->free_gpus &&
        cs_pending_count(host) == dlas->pending)
        return;
    dlas->news = false;
    dlas_clocks(dlas, host);
    dlas_demote(dlas, host);
    cs_reallocate(host, dlas_key);
    dlas_clocks(dlas, host);
    dlas_put_back(dlas, host);
    dlas->free_gpus = cs_free_gpus(host, 0);
    dlas->pending = cs_pending_count(host);
    dlas_look_again(dlas, host);
}

const struct cs_policy linear_dlas_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "dlas",
    .summary = "discretized least attained GPU-time: three FIFO queues",
    .flags = CS_PREEMPTS,
    .self_bytes = sizeof(struct dlas),
    .param = dlas_param,
    .param_count = sizeof dlas_param / sizeof dlas_param[0],
    .init = dlas_init,
    .decide = dlas_decide,
    .job_submitted = dlas_job_submitted,
    .job_ended = dlas_job_ended,
};
