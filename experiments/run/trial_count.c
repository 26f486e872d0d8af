/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trial_count.c - a trial in which GPUs are a count, event by event as the
 * host would run it.
 *
 * A policy that asks for no more than a number of GPUs, of nodes that are all
 * alike, gets any: where they stand changes nothing that is measured.  So
 * there is one number of free GPUs, a queue, and for EASY the expected ends of
 * what runs.  Only rows of phases tell where a job stands, and then that is noted.
 * Events, their order and what they are called by are the host's, and so is the
 * digest of the run.
 *
 * The audit counts GPUs, as the host's does, and checks with whole numbers:
 * GPU-nanoseconds charged are the integral of GPUs held (cost), jobs in the
 * system the sum of their times in it (little).
 */
#include "experiments/run/trial_count.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "experiments/recount/recount.h"
#include "experiments/run/count_places.h"
#include "experiments/run/metrics.h"
#include "experiments/run/timeline.h"
#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/cluster/fabric.h"
#include "models/cluster/power.h"
#include "models/jobs/job.h"
#include "models/laws/phase.h"
#include "models/types/truth.h"
#include "policies/host/host.h"
#include "policies/params.h"
#include "policies/policy.h"
#include "policies/state/terms.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/containers/calendar.h"
#include "sim/containers/demand_count.h"
#include "sim/event/journal.h"
#include "sim/event/loop.h"
#include "sim/flow/flow.h"
#include "sim/text/table.h"
#include "workloads/jobs/birth.h"
#include "workloads/source.h"

#define ARENA_BLOCK_BYTES ((size_t)1 << 16)    /* at first: small trials are many */
#define NAME_BYTES 24u
/* Further down the queue an index is needed: the host has one. */
#define DEPTH_MAX 256

__extension__ typedef __int128 wide;    /* GPUs or jobs x nanoseconds */

struct count_job {
    int64_t submit_ns, duration_ns, estimate_ns, deadline_ns, start_ns;
    const struct job_form *form;
    const char *name;           /* NULL: by number */
    const char *tenant;         /* of the workload; NULL: none */
    int64_t limit_ns;           /* 0: none */
    int32_t priority;
    char name_room[NAME_BYTES];
    uint32_t id, gpus;
};

/* A job that runs, and when it should end. */
struct count_lease {
    uint32_t job;               /* slot; ID_NONE: not in use */
    int64_t end_ns;
};

struct count_audit {
    uint64_t count[AUDIT_CHECK_COUNT];
    uint64_t submitted, ended;
    int64_t last_ns;
    wide held, charged;         /* GPU-nanoseconds */
    wide in_system, sojourn;    /* job-nanoseconds */
    const char *broken;         /* NULL: nothing is */
    enum audit_check kind;
    uint32_t subject;
};

struct count_trial {
    const struct trial_spec *spec;
    const struct node_group *group;
    double gpu_w;               /* of one that works */
    struct arena *arena;
    struct loop *loop;
    struct source *source;
    struct metrics *metrics;
    struct recount *recount;
    struct job_birth next;
    bool source_failed, decide_due;
    struct err *err;
    struct count_audit audit;
    struct host_counts counts;
    struct metrics_count now;           /* what waits and runs */
    int64_t depth_max;          /* of EASY; 0: first come, first served */
    bool unreserved;
    uint32_t free_gpus;
    struct host_job told;       /* made anew for each fact */

    struct count_job *job;              /* slots */
    uint32_t *job_spare, job_spares, jobs, job_room;
    uint32_t *queue;                    /* slots, from first to end */
    uint32_t first, end, queue_room;
    struct count_lease *lease;
    uint32_t *lease_spare, lease_spares, leases, lease_room;
    struct count_places *places;        /* of leases; NULL: nobody asked */
    struct timeline *timeline;          /* or NULL */
    struct calendar *ends;                  /* of leases; NULL: nobody asked */
};

/* ---- which trials ---- */

static const void *param(const struct host_policy *policy, const char *key)
{
    for (uint32_t i = 0; i < policy->policy->param_count; i++)
        if (strcmp(policy->policy->param[i].key, key) == 0)
            return (const char *)policy->params +
                   policy->policy->param[i].offset;
    return NULL;
}

/* Is the policy first come, first served, or EASY with a bounded depth, on GPUs
 * that are a count, asked at every event?  Then this file gives the same results as
 * the host. */
static bool policy_applies(const struct host_policy *policy)
{
    const struct host_rules *rules = &policy->rules;
    bool plain = rules->blocking == HOST_STRICT &&
                 rules->placement == PLACE_COUNT && rules->round_ns == 0 &&
                 rules->tick_ns == 0 && rules->estimate != HOST_NOISY;
    const int64_t *depth;

    if (!plain || policy->weight_count > 0 || policy->then != NULL)
        return false;
    if (strcmp(policy->policy->name, "fcfs") == 0)
        return true;
    if (strcmp(policy->policy->name, "easy") != 0)
        return false;
    depth = param(policy, "depth_max");
    return depth != NULL && *depth <= DEPTH_MAX;
}

/* Is the cluster one group of GPUs that never fail and cost the same at all times? */
static bool cluster_applies(const struct cluster_spec *cluster)
{
    return cluster->group_count == 1 && cluster->group[0].gpus > 0 &&
           !cluster->group[0].billed_held && cluster->failures == NULL &&
           !cluster->rents && !cluster->priced && cluster->carbon == NULL &&
           !(cluster->power_cap_w > 0);
}

/* May a role use that type of GPU? */
static bool runs_on(const struct role_spec *role, const struct gpu_type *gpu)
{
    for (uint32_t i = 0; i < role->gpu_type_count; i++)
        if (role->gpu_types[i] == gpu->index)
            return true;
    return role->gpu_type_count == 0;
}

/* Free GPUs bring all the cores and memory that a job may want beside them. */
static bool form_applies(const struct job_form *form,
                         const struct node_group *group)
{
    const struct role_spec *role = &form->role[0];

    return form->role_count == 1 && form->phase_count == 1 &&
           form->phase[0].law->kind == LAW_FIXED &&
           !(form->phase[0].law->seconds > 0) && !form->paced &&
           !role->pod &&
           role->cores <= group->cores / group->gpus &&
           role->memory_bytes <= group->memory_bytes / group->gpus &&
           runs_on(role, group->gpu) && !(role->load_bytes > 0) && !(role->save_bytes > 0) &&
           !(role->start_s > 0) && !(role->wake_s > 0);
}

bool trial_count_applies(const struct trial_spec *spec,
                         const struct trial_tables *tables)
{
    bool listened = tables->decisions || (tables->timeline && spec->audit_full);

    if (listened || spec->warmup_ns > 0 || spec->by_step ||
        spec->until_ns != CLOCK_NEVER_NS ||
        workload_service_count(spec->workload) > 0 ||
        workload_form_count(spec->workload) == 0 ||
        workload_has_parts(spec->workload))
        return false;
    if (!cluster_applies(spec->cluster) || !policy_applies(spec->policy))
        return false;
    for (size_t i = 0; i < workload_form_count(spec->workload); i++)
        if (!form_applies(workload_form(spec->workload, i),
                          spec->cluster->group))
            return false;
    return true;
}

/* ---- the audit ---- */

/* Counts a check of the audit; the first that does not hold stops the run, and is
 * told at its end. */
static void check(struct count_trial *t, enum audit_check kind, bool holds,
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

    check(t, AUDIT_TIME, past >= 0, "an event is earlier than the one before",
          0);
    if (past == 0)
        return now;
    audit->held += (wide)past * held;
    audit->in_system += (wide)past * (t->now.pending + t->now.running);
    audit->last_ns = now;
    return now;
}

/* The checks that need the whole run.  False, with err: one of all checks did not
 * hold. */
static bool close_audit(struct count_trial *t, struct trial_result *result)
{
    struct count_audit *audit = &t->audit;
    struct err_pos nowhere = { 0 };

    check(t, AUDIT_CAPACITY, t->free_gpus == t->spec->cluster->gpu_count,
          "GPUs are held when all jobs have ended", 0);
    check(t, AUDIT_STATES, audit->submitted == audit->ended,
          "not every job that was submitted ended once", 0);
    check(t, AUDIT_COST, audit->held == audit->charged,
          "jobs are charged something else than was held", 0);
    check(t, AUDIT_LITTLE, audit->in_system == audit->sojourn,
          "jobs in the system do not add up to their times in it", 0);
    memcpy(result->audit_count, audit->count, sizeof audit->count);
    return audit->broken == NULL ||
           err_set(t->err, ERR_BUG, nowhere,
                   "the audit failed: %s: %s (number %u)",
                   audit_check_name(audit->kind), audit->broken,
                   audit->subject);
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

/* Those before it move up: it stands near the front. */
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

/* When so many GPUs are free if all end as expected, and how many more. */
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
    check(t, AUDIT_WORK, ran == job->duration_ns,
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
    check(t, AUDIT_CAPACITY, t->free_gpus <= t->spec->cluster->gpu_count,
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

    check(t, AUDIT_CAPACITY, job->gpus <= t->free_gpus,
          "more GPUs are held than there are", job->id);
    check(t, AUDIT_STATES, job->start_ns == CLOCK_NEVER_NS,
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

/* As policies/backfill/easy.c. */
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

/* ---- the trial ---- */

/* Fails the run: jobs wait, and nothing will happen any more. */
static bool starved(const struct trial_spec *spec, uint32_t left,
                    uint32_t jobs, uint32_t first, struct err *err)
{
    struct err_pos nowhere = { 0 };

    err_set(err, ERR_POLICY, nowhere,
            "policy %s leaves %u of %u jobs waiting for ever, job %u first",
            spec->policy->name, left, jobs, first);
    return err_hint(err,
                    "Its roles may not fit the pools together, or the policy "
                    "refuses to start them; with `until: 14d` they would "
                    "count as unfinished.");
}

/* Runs the loop to its end and judges it.  False, with err. */
static bool run(struct count_trial *t, struct trial_result *result)
{
    struct err_pos nowhere = { 0 };

    if (fetch(t))
        loop_at(t->loop, t->next.request.submit_ns, LOOP_RANK_ARRIVAL,
                arrive, t, 0);
    if (t->source_failed)
        return false;
    enum loop_end end = loop_run(t->loop);
    result->event_count = loop_event_count(t->loop);
    result->digest = loop_digest(t->loop);
    result->interrupted = end == LOOP_CALLED_OFF;
    if (t->source_failed)
        return false;
    if (result->interrupted)
        return err_set(t->err, ERR_INTERRUPTED, nowhere, "interrupted");
    if (end == LOOP_EVENT_LIMIT)
        return err_set(t->err, ERR_LIMIT, nowhere,
                       "event limit reached: %llu (key event_count_max)",
                       (unsigned long long)t->spec->event_count_max);
    if (t->timeline != NULL && !timeline_fits(t->timeline, t->err))
        return false;
    return end != LOOP_DRAINED || t->now.pending == 0 ||
           starved(t->spec, t->now.pending, (uint32_t)t->audit.submitted,
                   waiting(t, 0)->id, t->err);
}

/* Makes all parts of the run.  Memory is of the arena, but for the loop and the
 * net. */
static void open_trial(struct count_trial *t,
                       const struct trial_tables *tables,
                       struct flow_net **net)
{
    const struct trial_spec *spec = t->spec;
    struct loop_limits limits = {
        .until_ns = CLOCK_NEVER_NS - 1,
        .event_count_max = spec->event_count_max, .stop = spec->stop,
    };
    const int64_t *depth = param(spec->policy, "depth_max");
    const int *reservation = param(spec->policy, "reservation");

    t->loop = loop_new(limits);
    *net = flow_new(t->loop);
    struct metrics_parts parts = {
        t->arena, journal_new(t->arena), t->loop, *net,
        fabric_new(t->arena, spec->cluster, *net), spec, tables,
    };
    t->metrics = metrics_new(&parts);
    struct recount_parts again = {
        t->arena, parts.journal, t->loop, *net, parts.fabric, spec, tables->jobs,
        tables->timeline, tables->tenants, NULL,
    };
    if (tables->timeline != NULL)
        t->timeline = timeline_new(&parts);
    t->recount = recount_new(&again);
    metrics_watch_count(t->metrics, &t->now);
    recount_watch_count(t->recount, &t->now.pending, &t->now.running);
    if (t->timeline != NULL)
        timeline_watch_count(t->timeline, &t->now);
    if (tables->phases != NULL)
        t->places = count_places_new(t->arena, &spec->cluster->group[0]);
    t->now.counts = &t->counts;
    t->group = &spec->cluster->group[0];
    t->gpu_w = power_gpu_w(t->group->gpu, 1);
    t->free_gpus = spec->cluster->gpu_count;
    t->depth_max = depth ? *depth : 0;
    t->unreserved = reservation && *reservation == 1;     /* head, none */
}

bool trial_count_run(const struct trial_spec *spec,
                     const struct trial_tables *tables,
                     struct trial_result *result, struct err *err)
{
    struct count_trial t = { .spec = spec, .err = err };
    struct flow_net *net;

    assert(trial_count_applies(spec, tables));
    memset(result, 0, sizeof *result);
    t.arena = arena_new(ARENA_BLOCK_BYTES);
    open_trial(&t, tables, &net);
    t.source = source_open(t.arena, spec->workload, spec->seed,
                           spec->replica);
    bool done = run(&t, result);
    if (done || t.audit.broken) {
        result->end_ns = metrics_stop(t.metrics);
        if (t.timeline != NULL)
            timeline_close(t.timeline, result->end_ns);
        metrics_result(t.metrics, result);
        memcpy(result->status_count, t.counts.ended, sizeof t.counts.ended);
        result->arena_bytes = arena_used_bytes(t.arena);
        done = close_audit(&t, result) && done &&
               recount_close(t.recount, result->value, result->end_ns,
                             &result->audit_count[AUDIT_FIGURES], err);
        metrics_own_result(t.metrics, result);
    }
    flow_free(net);
    loop_free(t.loop);
    arena_free(t.arena);
    return done;
}
