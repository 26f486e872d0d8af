/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * conservative.c - conservative backfill: every waiting job has a reservation,
 * and no later one may delay it.
 *
 * After Mu'alem and Feitelson (TPDS 2001).  The plan is the free GPUs over
 * time, less what runs (up to its estimate) and what is reserved.  A job that
 * comes is given the earliest place in it; a job that ends early makes the
 * plan looser, and then all reservations are moved forward in order of
 * arrival, none back.  So with estimates that are never too short nobody
 * starts later than he was promised on submission.  A job that outlives its
 * estimate breaks promises: all are made anew.  More predictable than easy,
 * with fewer holes to fill.  The plan counts GPUs, not nodes: where whole nodes
 * are needed it may not hold.
 *
 * What is due is found in a tree over the jobs by id, which is their order of
 * arrival, and a hole in the plan by cs_plan_find(): no decision looks at the
 * whole queue or along the plan but where a job ended early or broke its
 * promise.  Where one did, all reservations are tried, and one in five to three
 * moves as a rule: with a long queue and estimates that are too long that is
 * where the time goes.
 */
#include <string.h>

#include "policies/phases.h"
#include "policies/plan.h"
#include "policies/policy.h"

extern const struct cs_policy conservative_policy;

#define NEVER INT64_MAX
#define NONE UINT32_MAX

struct con_job {
    int64_t start_ns, end_ns;   /* planned; NEVER: no place in the plan */
    int64_t run_ns;             /* what it asks for: so long, */
    uint32_t gpus;              /* so many */
    uint32_t before, after;     /* among those that wait, by id */
    bool waits, runs;
};

struct con {
    struct cs_plan *plan;
    struct con_job *job;        /* by id */
    uint32_t job_room;
    int64_t *start_ns, *due_ns; /* trees of minima over the jobs, leaves from
                                   job_room on: when those that wait are to
                                   start, when those that run are due */
    uint32_t first, last, waiting;      /* those that wait */
    uint32_t fresh;             /* from here on they have no place yet */
    bool early;                 /* something ended before its plan */
    uint32_t total;             /* GPUs that the plan is made for */
};

static int64_t con_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- what is due ---- */

static void con_set(int64_t *tree, uint32_t at, int64_t due_ns)
{
    tree[at] = due_ns;
    for (at /= 2; at > 0; at /= 2) {
        due_ns = con_least(tree[2 * at], tree[2 * at + 1]);
        if (due_ns == tree[at])
            return;
        tree[at] = due_ns;
    }
}

/* A job that runs is due at the instant before its end: it breaks its promise
 * if it is there after that. */
static void con_due(struct con *con, uint32_t id)
{
    const struct con_job *job = &con->job[id];

    con_set(con->start_ns, id + con->job_room,
            job->waits ? job->start_ns : NEVER);
    con_set(con->due_ns, id + con->job_room,
            job->runs && !job->waits ? job->end_ns - 1 : NEVER);
}

/* The first job from an id on that is to start; NONE. */
static uint32_t con_next_due(const struct con *con, uint32_t id,
                             int64_t now_ns)
{
    uint32_t at = id + con->job_room;

    if (id >= con->job_room)
        return NONE;
    while (con->start_ns[at] > now_ns) {
        while (at % 2 == 1)     /* up, until there is more to the right */
            at /= 2;
        if (at == 0)
            return NONE;
        at++;
    }
    while (at < con->job_room)
        at = 2 * at + (con->start_ns[2 * at] > now_ns);
    return at - con->job_room;
}

/* The tree with more leaves. */
static int64_t *con_wider(struct cs_host *host, const int64_t *tree,
                          uint32_t leaves, uint32_t room)
{
    int64_t *wider = cs_alloc(host, (size_t)2 * room, sizeof *wider);

    for (uint32_t i = 0; i < room; i++)
        wider[room + i] = i < leaves ? tree[leaves + i] : NEVER;
    for (uint32_t i = room - 1; i > 0; i--)
        wider[i] = con_least(wider[2 * i], wider[2 * i + 1]);
    return wider;
}

static void con_grow(struct con *con, struct cs_host *host, uint32_t id)
{
    uint32_t room = con->job_room ? con->job_room : 256;

    while (room <= id)
        room *= 2;
    struct con_job *job = cs_alloc(host, room, sizeof *job);
    if (con->job_room)
        memcpy(job, con->job, con->job_room * sizeof *job);
    con->start_ns = con_wider(host, con->start_ns, con->job_room, room);
    con->due_ns = con_wider(host, con->due_ns, con->job_room, room);
    con->job = job;
    con->job_room = room;
}

/* ---- who waits ---- */

static void con_join(struct con *con, uint32_t id)
{
    struct con_job *job = &con->job[id];

    job->waits = true;
    job->before = con->waiting > 0 ? con->last : NONE;
    job->after = NONE;
    if (con->waiting++ > 0)
        con->job[con->last].after = id;
    else
        con->first = id;
    con->last = id;
    if (con->fresh == NONE)
        con->fresh = id;
}

static void con_part(struct con *con, uint32_t id)
{
    struct con_job *job = &con->job[id];

    if (job->before != NONE)
        con->job[job->before].after = job->after;
    else
        con->first = job->after;
    if (job->after != NONE)
        con->job[job->after].before = job->before;
    else
        con->last = job->before;
    if (con->fresh == id)
        con->fresh = job->after;
    job->waits = false;
    con->waiting--;
}

/* ---- the plan ---- */

static void con_reset(struct con *con, struct cs_host *host)
{
    con->total = cs_total_gpus(host, 0);
    if (con->plan == NULL) {
        con->plan = cs_plan_new(host);
        con->first = con->last = con->fresh = NONE;
    }
    cs_plan_clear(con->plan, cs_now_ns(host), con->total);
}

static int64_t con_end(int64_t start_ns, int64_t run_ns)
{
    return clock_after(start_ns, run_ns);
}

static void con_reserve(struct con *con, uint32_t id)
{
    struct con_job *job = &con->job[id];

    job->start_ns = cs_plan_find(con->plan, job->gpus, job->run_ns, NEVER);
    job->end_ns = con_end(job->start_ns, job->run_ns);
    cs_plan_take(con->plan, job->start_ns, job->end_ns, job->gpus);
    con_due(con, id);
}

/* What a job asks for; it has no place. */
static void con_task(struct con *con, const struct cs_task *task)
{
    struct con_job *job = &con->job[task->job.i];

    job->gpus = task->gpus;
    job->run_ns = task->estimate_ns > 0 ? task->estimate_ns : 1;
    job->start_ns = job->end_ns = NEVER;
}

static void con_job_submitted(void *self, struct cs_host *host,
                              struct job_id job)
{
    struct con *con = self;

    if (con->plan == NULL)
        con_reset(con, host);
    if (job.i >= con->job_room)
        con_grow(con, host, job.i);
    struct task_id task = cs_job_task(host, job, CS_ALL_ROLES);
    if (task.i == ID_NONE)
        return;
    con_task(con, cs_task(host, task));
    con_join(con, job.i);
}

static void con_job_ended(void *self, struct cs_host *host, struct job_id id)
{
    struct con *con = self;
    struct con_job *job = &con->job[id.i];

    if (job->runs && job->end_ns > cs_now_ns(host)) {
        cs_plan_take(con->plan, cs_now_ns(host), job->end_ns,
                 -(int64_t)job->gpus);
        con->early = true;
    }
    job->runs = false;
    if (job->waits)
        con_part(con, id.i);
    con_due(con, id.i);
}

/* Jobs that were interrupted wait again, at their old place. */
static void con_list_anew(struct con *con, struct cs_host *host)
{
    con->first = con->last = con->fresh = NONE;
    con->waiting = 0;
    for (uint32_t i = 0; i < cs_pending_count(host); i++) {
        const struct cs_task *task = cs_task(host, cs_pending(host, i));
        con_join(con, task->job.i);
        con_due(con, task->job.i);
    }
}

/* All anew: what runs, at least for an instant more, then what waits. */
static void con_replan(struct con *con, struct cs_host *host)
{
    int64_t now_ns = cs_now_ns(host);

    con_reset(con, host);
    for (uint32_t i = 0; i < cs_running_count(host); i++) {
        uint32_t id = cs_running(host, i).i;
        struct con_job *job = &con->job[id];
        if (job->end_ns <= now_ns)
            job->end_ns = clock_after(now_ns, 1);
        cs_plan_take(con->plan, now_ns, job->end_ns, job->gpus);
        con_due(con, id);
    }
    for (uint32_t i = 0; i < cs_pending_count(host); i++) {
        const struct cs_task *task = cs_task(host, cs_pending(host, i));
        con_task(con, task);
        con_reserve(con, task->job.i);
    }
}

/* A reservation moves forward if there is room: its own place counts as free,
 * so that room that reaches up to it is enough. */
static void con_advance(struct con *con, uint32_t id)
{
    struct con_job *job = &con->job[id];
    int64_t start_ns = cs_plan_find(con->plan, job->gpus, job->run_ns,
                                    job->start_ns);

    if (start_ns == job->start_ns)
        return;
    int64_t end_ns = con_end(start_ns, job->run_ns);
    int64_t meet_ns = con_least(end_ns, job->start_ns);
    cs_plan_take(con->plan, start_ns, meet_ns, job->gpus);
    cs_plan_take(con->plan, end_ns > job->start_ns ? end_ns : job->start_ns,
             job->end_ns, -(int64_t)job->gpus);
    job->start_ns = start_ns;
    job->end_ns = end_ns;
    con_due(con, id);
}

/* Moves reservations forward, and makes those of new jobs. */
static void con_compress(struct con *con)
{
    uint32_t id = con->early ? con->first : con->fresh;

    for (; id != NONE; id = con->job[id].after)
        if (con->job[id].start_ns < NEVER)
            con_advance(con, id);
        else
            con_reserve(con, id);
}

/* Did something outlive its plan, or miss its reservation?  Have nodes come or
 * gone? */
static bool con_broken(struct con *con, struct cs_host *host)
{
    if (cs_pending_count(host) != con->waiting)
        con_list_anew(con, host);
    return cs_total_gpus(host, 0) != con->total ||
           (con->job_room > 0 &&
            con_least(con->start_ns[1], con->due_ns[1]) < cs_now_ns(host));
}

static void con_decide(void *self, struct cs_host *host)
{
    struct con *con = self;
    int64_t now_ns = cs_now_ns(host);

    if (con->plan == NULL)
        con_reset(con, host);
    cs_plan_forget(con->plan, now_ns);
    if (con_broken(con, host))
        con_replan(con, host);
    else
        con_compress(con);
    con->early = false;
    con->fresh = NONE;
    uint32_t id = con_next_due(con, 0, now_ns);
    for (; id != NONE; id = con_next_due(con, id + 1, now_ns)) {
        struct job_id job = { id };
        if (cs_start(host, cs_job_task(host, job, CS_ALL_ROLES)) != CS_DONE)
            continue;
        con_part(con, id);
        con->job[id].runs = true;
        con_due(con, id);
    }
    /* Nothing ends there, where what was to end has been moved forward.  Who
     * outlives his plan ends an instant from now by it: that is no alarm. */
    if (con->job_room > 0 && con->start_ns[1] > now_ns &&
        con->start_ns[1] < NEVER && con->start_ns[1] <= con->due_ns[1])
        cs_wake_at(host, con->start_ns[1]);
}

const struct cs_policy conservative_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "conservative",
    .summary = "conservative backfill: every waiting job has a reservation",
    .flags = CS_RESERVES | CS_ASKS_ESTIMATES,
    .self_bytes = sizeof(struct con),
    .decide = con_decide,
    .job_submitted = con_job_submitted,
    .job_ended = con_job_ended,
};
