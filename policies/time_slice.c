/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * time_slice.c - time slicing: while jobs wait, all take turns of one quantum.
 *
 * The suspend-resume of Gandiva (Xiao et al., OSDI 2018), whose quantum is a
 * minute: early feedback for every job at the price of switches.  At the end
 * of a quantum those who have not run for longest go first; in between, what
 * is free goes to the next in turn and nobody is stopped.
 *
 * With `packing`, Gandiva's by trial and error: while the cluster is full, the
 * next in turn goes beside one drawn from those that run alone on as many GPUs.
 * After a quantum it is known how fast both are: if, in parts of their paces
 * alone, they add up to less than 1, the later one stops, and no two jobs of
 * their kinds are tried again (so too Gavel's form of Gandiva, policies/
 * gandiva.py, which draws all pairs at once).  Gandiva prefers partners of low
 * GPU utilization, which jobs of known length do not state.
 *
 * Gandiva also migrates jobs and grows them by profiled progress; neither is
 * here.  Bad for the mean: jobs of like length all end late.
 */
#include <stddef.h>
#include <string.h>

#include "policies/policy.h"

extern const struct cs_policy time_slice_policy;

/* What tells jobs apart that are fast or slow beside each other. */
struct kind {
    const void *form, *rates;
};

struct apart {
    struct kind a, b;
};

struct time_slice {
    int64_t quantum_ns;
    bool packing;
    struct apart *apart;        /* kinds that were slower together */
    uint32_t aparts, apart_room;
    int64_t end_ns;             /* of the present quantum */
    int64_t *ran_ns;            /* by job: when it last ran, or came, + 1 */
    uint32_t room;
};

static const struct cs_param time_slice_param[] = {
    { .key = "quantum", .type = CS_PARAM_TIME,
      .offset = offsetof(struct time_slice, quantum_ns),
      .min = 0.001, .max = 1e9, .fallback = "60s",
      .help = "how long a turn is while jobs wait" },
    { .key = "packing", .type = CS_PARAM_BOOL,
      .offset = offsetof(struct time_slice, packing), .fallback = "false",
      .help = "are two jobs tried on the GPUs of one" },
};

static void time_slice_job_submitted(void *self, struct cs_host *host,
                                     struct job_id job)
{
    struct time_slice *ts = self;

    if (job.i >= ts->room) {
        uint32_t more = ts->room ? ts->room : 256;
        while (more <= job.i)
            more *= 2;
        int64_t *grown = cs_alloc(host, more, sizeof *grown);
        if (ts->room)
            memcpy(grown, ts->ran_ns, ts->room * sizeof *grown);
        ts->ran_ns = grown;
        ts->room = more;
    }
    ts->ran_ns[job.i] = cs_now_ns(host) + 1;
}

static double time_slice_key(const void *self, const struct cs_host *host,
                             struct job_id job)
{
    const struct time_slice *ts = self;

    (void)host;
    return (double)(ts->ran_ns[job.i] - 1);
}

static double time_slice_per_ns(const void *self, const struct cs_host *host,
                                struct job_id job)
{
    (void)self;
    (void)host;
    (void)job;
    return 1;                   /* whoever runs, ran now */
}

static const struct cs_motion time_slice_motion = {
    .key = time_slice_key, .per_ns = time_slice_per_ns, .rises = true,
    .exact = true
};

/* Of a job that has just come the news was not told yet: it is the last. */
static int64_t time_slice_ran(const struct time_slice *ts, uint32_t job)
{
    return job < ts->room && ts->ran_ns[job] > 0 ? ts->ran_ns[job] - 1
                                                 : INT64_MAX;
}

/* Who has not run for longest; it stands still while one waits. */
static bool time_slice_before(const void *self, const struct cs_host *host,
                              struct ask_id a, struct ask_id b)
{
    uint32_t x = cs_ask(host, a)->job.i, y = cs_ask(host, b)->job.i;
    int64_t of_x = time_slice_ran(self, x), of_y = time_slice_ran(self, y);

    return of_x < of_y || (of_x == of_y && x < y);
}

/* ---- two on the GPUs of one ------------------------------------------------ */

static struct kind kind_of(const struct cs_host *host, struct job_id job)
{
    const struct job_request *request = cs_request(host, job);

    return (struct kind) { request->form, request->rates };
}

static bool alike(struct kind a, struct kind b)
{
    return a.form == b.form && a.rates == b.rates;
}

static bool were_apart(const struct time_slice *ts, struct kind a,
                       struct kind b)
{
    for (uint32_t i = 0; i < ts->aparts; i++)
        if ((alike(ts->apart[i].a, a) && alike(ts->apart[i].b, b)) ||
            (alike(ts->apart[i].a, b) && alike(ts->apart[i].b, a)))
            return true;
    return false;
}

static void keep_apart(struct time_slice *ts, struct cs_host *host,
                       struct kind a, struct kind b)
{
    if (ts->aparts == ts->apart_room) {
        uint32_t more = ts->apart_room ? 2 * ts->apart_room : 16;
        struct apart *grown = cs_alloc(host, more, sizeof *grown);

        if (ts->aparts)
            memcpy(grown, ts->apart, ts->aparts * sizeof *grown);
        ts->apart = grown;
        ts->apart_room = more;
    }
    ts->apart[ts->aparts++] = (struct apart) { a, b };
}

/* Both paces over those alone; 0: they cannot be together on these pools. */
static double together(struct cs_host *host, struct job_id a, struct job_id b,
                       uint32_t pools)
{
    uint32_t gpus = cs_job_gpus(host, a);
    double least = 2;

    for (uint32_t p = 0; p < cs_pool_count(host); p++) {
        if (!(pools >> p & 1))
            continue;
        double x = cs_pace_beside(host, a, b, p);
        double y = cs_pace_beside(host, b, a, p);
        if (!(x > 0) || !(y > 0))
            return 0;
        double sum = x / cs_pace(host, a, p, gpus) +
                     y / cs_pace(host, b, p, gpus);
        least = sum < least ? sum : least;
    }
    return least;
}

/* Could they be tried, as far as anybody knows? */
static bool may_try(const struct time_slice *ts, struct cs_host *host,
                    struct job_id job, struct job_id runs)
{
    struct lease_id lease = cs_role_lease(host, runs, 0);

    return lease.i != ID_NONE && cs_beside(host, runs).i == ID_NONE &&
           cs_job_gpus(host, job) == cs_job_gpus(host, runs) &&
           !were_apart(ts, kind_of(host, job), kind_of(host, runs)) &&
           together(host, job, runs, cs_lease_pools(host, lease)) > 0;
}

static void try_beside(struct time_slice *ts, struct cs_host *host,
                       struct ask_id ask)
{
    struct job_id job = cs_ask(host, ask)->job, drawn = { ID_NONE };
    uint32_t count = 0;

    for (uint32_t i = 0; i < cs_running_count(host); i++)
        if (may_try(ts, host, job, cs_running(host, i)) &&
            cs_random(host) * ++count < 1)
            drawn = cs_running(host, i);
    if (drawn.i != ID_NONE && cs_start_beside(host, ask, drawn) == CS_DONE)
        cs_wake_at(host, cs_now_ns(host) + ts->quantum_ns);
}

/* Those that have been together for a quantum. */
static void judge(struct time_slice *ts, struct cs_host *host)
{
    for (uint32_t i = 0; i < cs_running_count(host);) {
        struct job_id job = cs_running(host, i++);
        struct job_id other = cs_beside(host, job);
        if (other.i == ID_NONE || other.i > job.i)
            continue;
        struct lease_id lease = cs_role_lease(host, job, 0);
        int64_t due_ns = cs_lease(host, lease)->since_ns + ts->quantum_ns;
        if (due_ns > cs_now_ns(host)) {
            cs_wake_at(host, due_ns);
        } else if (together(host, job, other, cs_lease_pools(host, lease)) <
                   1) {
            keep_apart(ts, host, kind_of(host, job), kind_of(host, other));
            cs_stop(host, job);
            i = 0;
        }
    }
}

static void time_slice_fill(struct time_slice *ts, struct cs_host *host)
{
    uint32_t i = 0;

    while (cs_free_gpus(host, 0) > 0 || ts->packing) {
        struct cs_filter filter = { .gpus_max = cs_free_gpus(host, 0),
                                    .estimate_max_ns = INT64_MAX,
                                    .startable = true };
        if (!ts->packing)
            i = cs_find_pending(host, i, &filter);
        if (i >= cs_pending_count(host))
            return;
        struct ask_id ask = cs_pending(host, i);
        uint32_t waiting = cs_pending_count(host);
        if (cs_start(host, ask) != CS_DONE && ts->packing)
            try_beside(ts, host, ask);
        /* Who was started leaves: i is the next. */
        i += cs_pending_count(host) == waiting;
    }
}

static void time_slice_decide(void *self, struct cs_host *host)
{
    struct time_slice *ts = self;
    int64_t now = cs_now_ns(host);

    for (uint32_t i = 0; i < cs_running_count(host); i++)
        ts->ran_ns[cs_running(host, i).i] = now + 1;
    if (ts->packing)
        judge(ts, host);
    if (now >= ts->end_ns && ts->packing)
        cs_deal(host, time_slice_key);
    else if (now >= ts->end_ns && cs_pending_count(host) > 0)
        cs_deal_moving(host, &time_slice_motion);
    if (now < ts->end_ns || ts->packing)
        time_slice_fill(ts, host);
    if (cs_pending_count(host) == 0) {
        ts->end_ns = now;       /* the next to come may run at once */
        return;
    }
    if (now >= ts->end_ns)
        ts->end_ns = now + ts->quantum_ns;
    cs_wake_at(host, ts->end_ns);
}

const struct cs_policy time_slice_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "time-slice",
    .summary = "all jobs take turns of one quantum, preempting",
    .flags = CS_PREEMPTS | CS_PACKS,
    .self_bytes = sizeof(struct time_slice),
    .param = time_slice_param,
    .param_count = sizeof time_slice_param / sizeof time_slice_param[0],
    .before = time_slice_before,
    .decide = time_slice_decide,
    .job_submitted = time_slice_job_submitted,
};
