/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dlas.c - discretized least attained service in GPU-time, three FIFO queues.
 *
 * Tiresias-L (Gu et al., NSDI 2019) as its simulator has it.  A job starts in
 * the first queue and moves to the end of the next when its GPU-time reaches
 * the queue's limit.  At every decision the queues are dealt GPUs in order,
 * passing over what does not fit; then, in each queue, those that wait move
 * behind those that run, so that a running job is not stopped by its equals.
 * No promotion: long jobs can starve.  A queue is therefore three lists: those
 * that run, those that wait, and, for one decision, those that were demoted
 * into it; only who starts, stops or is demoted goes from one to another.
 *
 * When to look again: `corrected` at the instant a running job reaches its
 * limit; `tiresias` as that simulator computes it, floor((limit - seconds run)
 * / GPUs) seconds from now, where limit / GPUs - seconds run was meant, so
 * that a job of several GPUs that has run before is looked at, and moved, too
 * late.
 */
#include <math.h>
#include <string.h>

#include "policies/policy.h"

extern const struct cs_policy dlas_policy;

#define DLAS_QUEUES 3u

enum dlas_list { DLAS_RUN, DLAS_WAIT, DLAS_TAIL };

struct dlas_job {
    int64_t place;              /* in its list; smaller goes first */
    int64_t bound_ns;           /* while it runs: before, it does not reach the
                                   limit; 0: not known */
    uint32_t queue;
    enum dlas_list list;
    bool over;
};

struct dlas {
    int64_t limit_ns[DLAS_QUEUES - 1];      /* GPU-time */
    const char *demotion;
    struct dlas_job *job;                   /* by id */
    uint32_t job_room;
    uint32_t *run, runs, run_room;          /* not in a list of those that wait */
    uint32_t *moved;                        /* scratch, as many */
    int64_t first, last;                    /* places that were given */
    int64_t look_ns;                        /* the next demotion is due */
    uint32_t free_gpus, pending;            /* after the last deal */
    bool tiresias, news;
};

static const struct cs_param dlas_param[] = {
    { .key = "limit_1", .type = CS_PARAM_TIME,
      .offset = offsetof(struct dlas, limit_ns[0]),
      .max = 1e9, .fallback = "3250s",
      .help = "GPU-time at which a job leaves the first queue" },
    { .key = "limit_2", .type = CS_PARAM_TIME,
      .offset = offsetof(struct dlas, limit_ns[1]),
      .max = 1e9, .fallback = "7200s",
      .help = "GPU-time at which a job leaves the second queue" },
    { .key = "demotion", .type = CS_PARAM_TEXT,
      .offset = offsetof(struct dlas, demotion), .fallback = "corrected",
      .help = "when to look for demotions: corrected, or tiresias as that "
              "simulator computes it" },
};

static bool dlas_init(void *self, struct cs_host *host)
{
    struct dlas *dlas = self;

    dlas->tiresias = strcmp(dlas->demotion, "tiresias") == 0;
    if (dlas->tiresias || strcmp(dlas->demotion, "corrected") == 0)
        return true;
    cs_fail(host, "demotion must be corrected or tiresias");
    return false;
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

static void dlas_put(struct dlas *dlas, uint32_t id, enum dlas_list list,
                     bool first)
{
    dlas->job[id].list = list;
    dlas->job[id].place = first ? --dlas->first : ++dlas->last;
}

static void dlas_job_submitted(void *self, struct cs_host *host,
                               struct job_id job)
{
    struct dlas *dlas = self;

    if (job.i >= dlas->job_room)
        dlas->job = dlas_grow(host, dlas->job, &dlas->job_room, job.i,
                              sizeof *dlas->job);
    dlas_put(dlas, job.i, DLAS_WAIT, false);
    dlas->news = true;
}

static void dlas_job_ended(void *self, struct cs_host *host,
                           struct job_id job)
{
    struct dlas *dlas = self;

    (void)host;
    dlas->job[job.i].over = true;
    dlas->news = true;
}

static bool dlas_runs(const struct cs_host *host, struct job_id job)
{
    return cs_job_ask(host, job, CS_ALL_ROLES).i == ID_NONE;
}

static double dlas_key(const void *self, const struct cs_host *host,
                       struct job_id id)
{
    const struct dlas *dlas = self;
    const struct dlas_job *job = &dlas->job[id.i];

    (void)host;
    return job->queue * 0x1p50 + job->list * 0x1p48 + (double)job->place;
}

static double dlas_per_ns(const void *self, const struct cs_host *host,
                          struct job_id job)
{
    (void)self;
    (void)host;
    (void)job;
    return 0;
}

/* Should job a be moved before job b?  In the order they came, or as they
 * stand. */
static bool dlas_sooner(const struct dlas *dlas, const struct cs_host *host,
                        uint32_t a, uint32_t b, bool came)
{
    struct job_id x = { a }, y = { b };

    return came ? a < b : dlas_key(dlas, host, x) < dlas_key(dlas, host, y);
}

/* Puts a job among the first `count` of those to be moved. */
static void dlas_sort_in(struct dlas *dlas, const struct cs_host *host,
                         uint32_t count, uint32_t id, bool came)
{
    uint32_t i = count;

    for (; i > 0 && dlas_sooner(dlas, host, id, dlas->moved[i - 1], came);
         i--)
        dlas->moved[i] = dlas->moved[i - 1];
    dlas->moved[i] = id;
}

static double dlas_gpus(const struct cs_host *host, struct job_id job)
{
    uint32_t asked = cs_job_gpus(host, job);
    int64_t milli = cs_request(host, job)->gpu_milli;

    return milli > 0 ? (double)milli / 1000 : asked > 0 ? asked : 1;
}

/* More than rounding can make of a time. */
#define DLAS_MARGIN_NS 10000

static void dlas_bound(struct dlas *dlas, const struct cs_host *host,
                       struct job_id id)
{
    struct dlas_job *job = &dlas->job[id.i];
    double held = cs_attained_per_s(host, id), asked = dlas_gpus(host, id);

    job->bound_ns = 0;
    if (job->queue + 1 == DLAS_QUEUES)
        job->bound_ns = INT64_MAX;
    if (job->queue + 1 == DLAS_QUEUES || dlas->tiresias || !(held > 0) ||
        held < asked || held > asked)
        return;
    double left_ns = ((double)dlas->limit_ns[job->queue] -
                      cs_attained_gpu_s(host, id) * 1e9) / held;
    if (left_ns > 2 * DLAS_MARGIN_NS && left_ns < 4e18)
        job->bound_ns = cs_now_ns(host) + (int64_t)left_ns - DLAS_MARGIN_NS;
}

/* One queue down at most, as there; at the end, in the order they came. */
static void dlas_demote(struct dlas *dlas, struct cs_host *host)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < dlas->runs; i++) {
        struct job_id id = { dlas->run[i] };
        const struct dlas_job *job = &dlas->job[id.i];
        if (!job->over && job->queue + 1 < DLAS_QUEUES &&
            job->bound_ns <= cs_now_ns(host) && dlas_runs(host, id) &&
            cs_attained_gpu_s(host, id) * 1e9 >=
                (double)dlas->limit_ns[job->queue])
            dlas_sort_in(dlas, host, count++, id.i, true);
    }
    for (uint32_t i = 0; i < count; i++) {
        struct job_id id = { dlas->moved[i] };
        dlas->job[id.i].queue++;
        dlas_put(dlas, id.i, DLAS_TAIL, false);
        cs_deal_note(host, id);
    }
}

/* ---- after a deal ---- */

/* Who was stopped waits before those that wait, who had been demoted behind
 * them. */
static void dlas_part(struct dlas *dlas, struct cs_host *host)
{
    uint32_t kept = 0, count = 0;

    for (uint32_t i = 0; i < dlas->runs; i++) {
        struct job_id id = { dlas->run[i] };
        if (dlas->job[id.i].over)
            continue;
        if (dlas_runs(host, id))
            dlas->run[kept++] = id.i;
        else
            dlas_sort_in(dlas, host, count++, id.i, false);
    }
    dlas->runs = kept;
    for (uint32_t i = count; i-- > 0;)
        if (dlas->job[dlas->moved[i]].list == DLAS_RUN)
            dlas_put(dlas, dlas->moved[i], DLAS_WAIT, true);
    for (uint32_t i = 0; i < count; i++)
        if (dlas->job[dlas->moved[i]].list == DLAS_TAIL)
            dlas_put(dlas, dlas->moved[i], DLAS_WAIT, false);
}

/* Who was started, or runs though demoted, runs behind those that run. */
static void dlas_join(struct dlas *dlas, struct cs_host *host)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < cs_running_count(host); i++) {
        struct job_id id = cs_running(host, i);
        if (dlas->job[id.i].list == DLAS_RUN || !dlas_runs(host, id))
            continue;
        if (dlas->job[id.i].list == DLAS_WAIT)
            dlas->run[dlas->runs++] = id.i;
        dlas_sort_in(dlas, host, count++, id.i, false);
    }
    for (uint32_t i = 0; i < count; i++) {
        struct job_id id = { dlas->moved[i] };
        dlas_put(dlas, id.i, DLAS_RUN, false);
        dlas_bound(dlas, host, id);
        cs_deal_note(host, id);
    }
}

/* Nanoseconds until a running job may have reached its limit. */
static double dlas_due_ns(const struct dlas *dlas, const struct cs_host *host,
                          struct job_id job)
{
    double gpus = dlas_gpus(host, job);
    double run_s = cs_attained_gpu_s(host, job) / gpus;
    double limit_s = (double)dlas->limit_ns[dlas->job[job.i].queue] / 1e9;

    if (dlas->tiresias)             /* it would look for ever, at 0 s */
        return fmax(1, floor((limit_s - run_s) / gpus)) * 1e9;
    return ceil((limit_s / gpus - run_s) * 1e9);
}

/* Until the first of the running jobs may have reached its limit, of those
 * that may by then. */
static double dlas_least_ns(const struct dlas *dlas,
                            const struct cs_host *host, int64_t upto_ns)
{
    double due_ns = INFINITY;

    for (uint32_t i = 0; i < dlas->runs; i++) {
        struct job_id job = { dlas->run[i] };
        int64_t bound_ns = dlas->job[job.i].bound_ns;
        if (bound_ns < INT64_MAX &&
            bound_ns - 3 * DLAS_MARGIN_NS <= upto_ns)
            due_ns = fmin(due_ns, dlas_due_ns(dlas, host, job));
    }
    return due_ns;
}

static void dlas_look_again(struct dlas *dlas, struct cs_host *host)
{
    int64_t upto_ns = INT64_MAX;
    double due_ns;

    dlas->look_ns = 0;
    for (uint32_t i = 0; i < dlas->runs; i++) {
        int64_t bound_ns = dlas->job[dlas->run[i]].bound_ns;
        if (bound_ns > 0 && bound_ns < upto_ns)
            upto_ns = bound_ns;
    }
    due_ns = dlas_least_ns(dlas, host, upto_ns);
    if (due_ns > 9e18)
        return;
    if (due_ns > (double)(upto_ns - cs_now_ns(host)))
        due_ns = dlas_least_ns(dlas, host,
                               cs_now_ns(host) + (int64_t)due_ns);
    dlas->look_ns = cs_now_ns(host) + (int64_t)fmax(1, due_ns);
    cs_wake_at(host, dlas->look_ns);
}

static void dlas_decide(void *self, struct cs_host *host)
{
    static const struct cs_motion motion = {
        .key = dlas_key, .per_ns = dlas_per_ns, .still = true
    };
    struct dlas *dlas = self;

    /* An alarm that a later decision made void changes nothing; nodes that
     * fail or come back do. */
    if (!dlas->news && cs_now_ns(host) != dlas->look_ns &&
        cs_free_gpus(host, 0) == dlas->free_gpus &&
        cs_pending_count(host) == dlas->pending)
        return;
    dlas->news = false;
    uint32_t room = dlas->runs + cs_running_count(host) +
                    cs_pending_count(host);
    if (room >= dlas->run_room) {
        uint32_t moved_room = dlas->run_room;
        dlas->moved = dlas_grow(host, dlas->moved, &moved_room, room,
                                sizeof *dlas->moved);
        dlas->run = dlas_grow(host, dlas->run, &dlas->run_room, room,
                              sizeof *dlas->run);
    }
    dlas_demote(dlas, host);
    cs_deal_moving(host, &motion);
    dlas_part(dlas, host);
    dlas_join(dlas, host);
    dlas->free_gpus = cs_free_gpus(host, 0);
    dlas->pending = cs_pending_count(host);
    dlas_look_again(dlas, host);
}

const struct cs_policy dlas_policy = {
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
