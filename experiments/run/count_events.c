/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * count_events.c - what happens in a trial in which GPUs are a count: jobs come, wait,
 * start and end.
 *
 * Three kinds of events, in the host's ranks within an instant: a job is over, jobs
 * arrive, and a decision behind both.  The digest of the run is of these events, so they
 * have the host's order.
 */
#include "experiments/run/count_state.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "experiments/measure/metrics.h"
#include "experiments/measure/timeline.h"
#include "experiments/recount/recount.h"
#include "experiments/run/count_places.h"
#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/jobs/job.h"
#include "policies/host/host.h"
#include "policies/params.h"
#include "policies/policy.h"
#include "policies/state/terms.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/containers/calendar.h"
#include "sim/containers/demand_count.h"
#include "sim/event/loop.h"
#include "workloads/jobs/birth.h"
#include "workloads/source.h"

void count_check(struct count_trial *t, enum audit_check kind, bool holds,
                 const char *what, uint32_t subject)
{
    struct count_audit *audit = &t->audit;

    audit->count[kind]++;
    if (holds || audit->broken)
        return;
    audit->broken = what;
    audit->kind = kind;
    audit->subject = subject;
    loop_stop(t->loop);
}

/* Whatever changes from now on was as it is until now. */
static int64_t settle(struct count_trial *t)
{
    struct count_audit *audit = &t->audit;
    int64_t now = loop_now_ns(t->loop), past = now - audit->last_ns;
    uint32_t held = t->spec->cluster->gpu_count - t->free_gpus;

    count_check(t, AUDIT_TIME, past >= 0, "an event is earlier than the one before",
                0);
    if (past == 0)
        return now;
    audit->held += (wide)past * held;
    audit->in_system += (wide)past * (t->now.pending + t->now.running);
    audit->last_ns = now;
    return now;
}

/* ---- slots and the queue ---- */

/* Returns a slot for a job.  Slots of jobs that ended are used again, so memory
 * follows the jobs in the system; the array may move. */
static uint32_t job_make(struct count_trial *t)
{
    if (t->job_spares > 0)
        return t->job_spare[--t->job_spares];
    if (t->jobs == t->job_room) {
        uint32_t old = t->job_room, room = old;
        ARENA_REACH(t->arena, t->job, room, t->jobs);
        ARENA_REACH(t->arena, t->job_spare, t->job_room, t->jobs);
        /* A short name stands in its slot, which has moved. */
        for (uint32_t i = 0; i < old; i++)
            if (t->job[i].name_room[0] != '\0')
                t->job[i].name = t->job[i].name_room;
    }
    return t->jobs++;
}

/* Returns a slot for a job that runs. */
static uint32_t lease_make(struct count_trial *t)
{
    if (t->lease_spares > 0)
        return t->lease_spare[--t->lease_spares];
    uint32_t room = t->lease_room;
    ARENA_REACH(t->arena, t->lease, room, t->leases);
    ARENA_REACH(t->arena, t->lease_spare, t->lease_room, t->leases);
    return t->leases++;
}

/* Appends a job to the queue.  Its beginning moves as jobs start; half of the room
 * being empty there, the rest is moved down. */
static void queue_add(struct count_trial *t, uint32_t job)
{
    if (t->end == t->queue_room && t->first > t->queue_room / 2) {
        t->end -= t->first;
        memmove(t->queue, t->queue + t->first, t->end * sizeof *t->queue);
        t->first = 0;
    }
    ARENA_ADD(t->arena, t->queue, t->end, t->queue_room, job);
    t->now.pending++;
    demand_count_add(&t->now.waits, t->job[job].gpus, +1);
}

/* Returns the i-th job of the queue. */
static const struct count_job *waiting(const struct count_trial *t,
                                       uint32_t i)
{
    return &t->job[t->queue[t->first + i]];
}

/* Takes the i-th job out of the queue.  Those before it move up by one, since it stands near the
 * front. */
static uint32_t queue_take(struct count_trial *t, uint32_t i)
{
    uint32_t *front = t->queue + t->first, job = front[i];

    memmove(front + 1, front, i * sizeof *front);
    t->first++;
    t->now.pending--;
    demand_count_add(&t->now.waits, t->job[job].gpus, -1);
    return job;
}

/* ---- expected ends, for EASY ---- */

/* Makes the calendar of expected ends of all that runs.  Only a reservation needs
 * it, so it is made at the first. */
static void ends_begin(struct count_trial *t)
{
    t->ends = calendar_new(t->arena);
    for (uint32_t i = 0; i < t->leases; i++)
        if (t->lease[i].job != ID_NONE)
            calendar_add(t->ends, t->lease[i].end_ns, i,
                         t->job[t->lease[i].job].gpus);
}

/* When that many GPUs are free if all end as expected, and how many more. */
static int64_t promise(struct count_trial *t, uint32_t gpus, uint32_t *spare)
{
    int64_t now = loop_now_ns(t->loop), at = now;

    if (t->ends == NULL)
        ends_begin(t);
    if (gpus > t->spec->cluster->gpu_count)
        return CLOCK_NEVER_NS;
    if (t->free_gpus < gpus)
        at = calendar_when(t->ends, gpus - t->free_gpus);
    at = at > now ? at : now;
    *spare = t->free_gpus + (uint32_t)calendar_by(t->ends, at) - gpus;
    return at;
}

/* ---- what happens ---- */

static void decide(struct loop *loop, void *self, uint64_t arg);

/* Schedules a decision behind all events of this instant, if there is none yet. */
static void wake(struct count_trial *t)
{
    if (t->decide_due)
        return;
    t->decide_due = true;
    loop_at(t->loop, loop_now_ns(t->loop), LOOP_RANK_DECIDE, decide, t, 0);
}

/* What metrics are told of a job; what no job here has stays 0. */
static struct host_job *told(struct count_trial *t,
                             const struct count_job *job)
{
    struct host_job *out = &t->told;
    struct job_request *request = &out->request;

    request->id.i = job->id;
    request->name = job->name;
    request->tenant = job->tenant;
    request->form = job->form;
    request->submit_ns = job->submit_ns;
    request->deadline_ns = job->deadline_ns;
    request->steps = 1;
    request->gpus = job->gpus;
    out->start_ns = job->start_ns;
    out->end_ns = CLOCK_NEVER_NS;
    out->step = 0;
    out->gpu_seconds = out->core_seconds = 0;
    out->usd = out->usd_compute = out->usd_wait = out->joules = 0;
    out->ideal_s = clock_s_from_ns(job->duration_ns);
    out->gpu_type = t->group->gpu->name;
    return out;
}

/* A job has run its length: it is charged, checked and counted as done, and its
 * GPUs are free. */
static void over(struct loop *loop, void *self, uint64_t lease)
{
    struct count_trial *t = self;
    uint32_t slot = t->lease[lease].job;
    const struct count_job *job = &t->job[slot];
    int64_t now = settle(t), ran = now - job->start_ns;
    double s = clock_s_from_ns(ran);
    struct host_job *out = told(t, job);

    (void)loop;
    count_check(t, AUDIT_WORK, ran == job->duration_ns,
                "a job is done with another amount of work than it asks for",
                job->id);
    out->end_ns = now;
    out->request.limit_ns = job->limit_ns;
    out->request.priority = job->priority;
    out->step = 1;
    out->gpu_seconds = s * job->gpus;
    out->core_seconds = s * (double)(job->form->role[0].cores *
                                    UINT64_C(1000) * job->gpus) / 1000.0;
    if (!t->spec->cluster->unpriced && t->group->usd_per_h > 0)
        out->usd = s / 3600 * (job->gpus * (double)GPU_MILLI /
                              ((double)GPU_MILLI * t->group->gpus) *
                              t->group->usd_per_h);
    struct host_phase_run run = { .busy_fraction = 1, .part = 1 };
    if (out->usd > 0) {
        run.rate_max = 1 / out->ideal_s;
        out->usd_compute = out->usd * host_busy_s(&run, s) / s;
    }
    out->joules = s * job->gpus * t->gpu_w;
    t->audit.charged += (wide)ran * job->gpus;
    t->audit.sojourn += (wide)(now - job->submit_ns);
    t->audit.ended++;
    t->free_gpus += job->gpus;
    t->now.working_gpus -= job->gpus;
    count_check(t, AUDIT_CAPACITY, t->free_gpus <= t->spec->cluster->gpu_count,
                "GPUs are given back that were not held", job->id);
    if (t->ends != NULL)
        calendar_drop(t->ends, t->lease[lease].end_ns, (uint32_t)lease);
    t->lease[lease].job = ID_NONE;
    t->lease_spare[t->lease_spares++] = (uint32_t)lease;
    t->now.running--;
    t->counts.ended[JOB_DONE]++;
    metrics_count_ended(t->metrics, out, t->places == NULL ? NULL
                            : count_places_of(t->places, (uint32_t)lease));
    if (t->places != NULL)
        count_places_drop(t->places, (uint32_t)lease);
    recount_count_ended(t->recount, out, now);
    t->job_spare[t->job_spares++] = slot;
    wake(t);
}

/* Starts the i-th job of the queue on free GPUs, of which there are enough. */
static void start(struct count_trial *t, uint32_t i)
{
    uint32_t slot = queue_take(t, i), lease = lease_make(t);
    struct count_job *job = &t->job[slot];
    int64_t now = loop_now_ns(t->loop);

    count_check(t, AUDIT_CAPACITY, job->gpus <= t->free_gpus,
                "more GPUs are held than there are", job->id);
    count_check(t, AUDIT_STATES, job->start_ns == CLOCK_NEVER_NS,
                "a job starts twice", job->id);
    job->start_ns = now;
    t->free_gpus -= job->gpus;
    t->now.working_gpus += job->gpus;
    t->now.running++;
    t->lease[lease] = (struct count_lease) {
        .job = slot,
        .end_ns = job->estimate_ns < CLOCK_NEVER_NS - now
                      ? clock_after(now, job->estimate_ns) : CLOCK_NEVER_NS,
    };
    if (t->ends != NULL)
        calendar_add(t->ends, t->lease[lease].end_ns, lease, job->gpus);
    if (t->places != NULL)
        count_places_take(t->places, lease, job->gpus);
    t->counts.decisions++;
    metrics_count_started(t->metrics, told(t, job));
    loop_at(t->loop, clock_after(now, job->duration_ns), LOOP_RANK_FINISH, over, t,
            lease);
}

/* The rule of policies/backfill/easy.c.  A job behind the first one may start if it should end
 * before the first has its GPUs, or if it needs no more than the GPUs that the first leaves
 * over. */
static void backfill(struct count_trial *t)
{
    uint32_t spare = 0, i = 1;
    int64_t left = t->depth_max;
    int64_t in_time_ns = promise(t, waiting(t, 0)->gpus, &spare) -
                         loop_now_ns(t->loop);

    if (t->unreserved)
        in_time_ns = INT64_MAX;
    for (; t->free_gpus > 0 && i < t->now.pending; left--) {
        const struct count_job *job = waiting(t, i);
        bool in_time = job->estimate_ns <= in_time_ns;
        if (job->gpus > t->free_gpus || !(in_time || job->gpus <= spare)) {
            i++;
            continue;
        }
        if (left <= 0) {
            t->counts.limited++;
            return;
        }
        if (!in_time)
            spare -= job->gpus;
        start(t, i);            /* it left the queue: i is the next */
    }
}

/* Starts jobs in order as long as the first one fits; then those behind it may
 * pass, if the policy is EASY. */
static void decide(struct loop *loop, void *self, uint64_t arg)
{
    struct count_trial *t = self;

    (void)loop;
    (void)arg;
    settle(t);
    t->decide_due = false;
    t->counts.decide++;
    while (t->now.pending > 0 && waiting(t, 0)->gpus <= t->free_gpus)
        start(t, 0);
    if (t->depth_max > 0 && t->now.pending > 1)
        backfill(t);
    t->now.first_gpus = t->now.pending > 0 ? waiting(t, 0)->gpus : 0;
    metrics_count_told(t->metrics);
}

/* Takes in the job that comes now.  A short name lies within its slot. */
static void submit(struct count_trial *t)
{
    const struct job_request *request = &t->next.request;
    uint32_t slot = job_make(t);
    struct count_job *job = &t->job[slot];
    size_t bytes = request->name ? strlen(request->name) + 1 : 0;
    int64_t exact = t->next.truth.duration_ns;

    *job = (struct count_job) {
        .form = request->form,
        .submit_ns = request->submit_ns, .duration_ns = exact,
        .estimate_ns = exact, .deadline_ns = request->deadline_ns,
        .start_ns = CLOCK_NEVER_NS, .id = (uint32_t)t->audit.submitted,
        .tenant = request->tenant, .limit_ns = request->limit_ns,
        .priority = request->priority,
        .gpus = job_role_gpus(request, 0),
    };
    if (t->spec->policy->rules.estimate == HOST_REQUESTED &&
        request->limit_ns > 0)
        job->estimate_ns = request->limit_ns;
    if (bytes > NAME_BYTES || bytes == 1)
        job->name = arena_text(t->arena, request->name);
    else if (bytes > 0)
        job->name = memcpy(job->name_room, request->name, bytes);
    settle(t);
    t->audit.submitted++;
    metrics_count_submitted(t->metrics, told(t, job));
    if (t->timeline != NULL)
        timeline_job_came(t->timeline);
    recount_count_submitted(t->recount, &t->told.request, job->submit_ns);
    queue_add(t, slot);
}

/* Takes the next job of the source; false: there is none, or it failed, which ends
 * the run. */
static bool fetch(struct count_trial *t)
{
    enum source_step step = source_next(t->source, &t->next, t->err);

    if (step == SOURCE_ERROR) {
        t->source_failed = true;
        loop_stop(t->loop);
    }
    return step == SOURCE_JOB;
}

/* Submits all jobs of this instant, and schedules itself at the next arrival. */
static void arrive(struct loop *loop, void *self, uint64_t arg)
{
    struct count_trial *t = self;
    bool more = true;

    (void)arg;
    while (more && t->next.request.submit_ns == loop_now_ns(loop)) {
        submit(t);
        more = fetch(t);
    }
    wake(t);
    if (more)
        loop_at(loop, t->next.request.submit_ns, LOOP_RANK_ARRIVAL, arrive,
                t, 0);
}

void count_begin(struct count_trial *t)
{
    if (fetch(t))
        loop_at(t->loop, t->next.request.submit_ns, LOOP_RANK_ARRIVAL,
                arrive, t, 0);
}

uint32_t count_first_waiting(const struct count_trial *t)
{
    assert(t->now.pending > 0);
    return waiting(t, 0)->id;
}
