/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stall.c - why a run makes no progress: how far each job got, and which job
 * waits for what, in words.
 *
 * The reasons are tried in this order: a waiting job for which even the empty
 * cluster has no room; a job that power_cap forbids at any size; a job that was
 * set back again and again; a job that power_cap forbids on the GPUs that it asks
 * for; the first waiting job, with the request that the policy makes for it in one
 * more decision.  That decision may start a job, since the run is over.
 */
#include "policies/host/stall.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/cluster/place.h"
#include "models/jobs/job.h"
#include "policies/host/decide.h"
#include "policies/host/empty.h"
#include "policies/leases/time.h"
#include "policies/nodes/supply.h"
#include "policies/nodes/rental.h"
#include "policies/phases.h"
#include "policies/policy.h"
#include "policies/state/decision.h"
#include "policies/state/gpus.h"
#include "policies/state/jobs.h"
#include "policies/state/read.h"
#include "policies/state/state.h"
#include "sim/base/clock.h"

#define TASKS_LOOKED_AT 1000u
#define SET_BACK_OFTEN 10u      /* interruptions; fewer may be chance */

/* ---- progress ----------------------------------------------------------- */

uint32_t host_next_unfinished(const struct cs_host *host, uint32_t from,
                              double *done)
{
    assert(done != NULL);
    for (uint32_t j = host_next_job(host, from); j != ID_NONE; j = host_next_job(host, j + 1)) {
        struct job_id job = { j };
        if (cs_serves(host, job))
            continue;
        *done = host_progress(host, j);
        return j;
    }
    return ID_NONE;
}

/* True after as many decisions in a row as end a trial: nothing runs, and nothing
 * came of them. */
bool host_in_vain(const struct cs_host *host)
{
    assert(host->parts.vain_max > 0);
    return host->decision->idle_decides >= host->parts.vain_max;
}

/* True if some phase that is no service has been running since then: it may just be
 * long. */
bool host_works_since(const struct cs_host *host, int64_t since_ns)
{
    assert(since_ns <= host_now(host));
    for (uint32_t k = 0; k < cs_lease_count(host); k++) {
        struct lease_id lease = cs_lease_at(host, k);
        if (host_lease_runs(host, lease.i) &&
            host_phase_run(host, lease)->start_ns <= since_ns &&
            !cs_serves(host, cs_lease(host, lease)->job))
            return true;
    }
    return false;
}

/* ---- words --------------------------------------------------------------- */

/* A text that is written piece by piece; what does not fit is cut off. */
struct words {
    char *out;
    size_t bytes, used;         /* used < bytes: room for the NUL is always left */
};

/* Appends to a text; cuts off what does not fit. */
static void say(struct words *words, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(struct words *words, const char *format, ...)
{
    va_list args;
    int wrote;

    assert(words->used < words->bytes);
    va_start(args, format);
    wrote = vsnprintf(words->out + words->used, words->bytes - words->used,
                      format, args);
    va_end(args);
    if (wrote > 0)
        words->used += (size_t)wrote;
    if (words->used >= words->bytes)
        words->used = words->bytes - 1;
}

/* "job NAME", or its number if it has no name. */
static void say_job(struct words *words, const struct job_request *job)
{
    assert(job->form != NULL);
    if (job->name != NULL)
        say(words, "job %.40s", job->name);
    else
        say(words, "job %u", job->id.i);
}

/* "8 GPUs", "2.5 cores on one node" (a pod), or "4 cores". */
static void say_want(struct words *words, const struct fit_want *want)
{
    assert(want->core_milli == 0 || want->pod);
    if (want->gpus > 0)
        say(words, "%u GPU%s", want->gpus, want->gpus == 1 ? "" : "s");
    else if (want->pod)
        say(words, "%.3g cores on one node",
            (double)want->core_milli / 1000);
    else
        say(words, "%u core%s", want->cores, want->cores == 1 ? "" : "s");
}

/* ---- room ---------------------------------------------------------------- */

/* May the role use the type of GPU of the group?  Without types, any. */
static bool suits_type(const struct node_group *group,
                       const struct fit_want *want)
{
    assert(group->gpu != NULL);
    for (uint32_t t = 0; t < want->gpu_type_count; t++)
        if (group->gpu->index == want->gpu_types[t])
            return true;
    return want->gpu_type_count == 0;
}

/* Returns how many GPUs of one node have the cores and the host memory that the
 * want asks for each of them.  A pod needs its cores and memory on the node once:
 * all GPUs, or none. */
static int64_t count_served_gpus(const struct node_group *group,
                           const struct fit_want *want)
{
    int64_t gpus = group->gpus;

    assert(gpus > 0 && want->memory_bytes >= 0);
    if (want->pod)
        return (int64_t)group->cores * 1000 < want->core_milli ||
               group->memory_bytes < want->memory_bytes ? 0 : gpus;
    if (want->cores > 0 && group->cores / want->cores < gpus)
        gpus = group->cores / want->cores;
    if (want->memory_bytes > 0 &&
        group->memory_bytes / want->memory_bytes < gpus)
        gpus = group->memory_bytes / want->memory_bytes;
    return gpus;
}

/* Each number of GPUs is a part of the one before. */
struct pool_room {
    int64_t gpus;               /* of the pool */
    int64_t suited;             /* of a type that the role may use */
    int64_t served;             /* with the cores and memory that it needs */
    int64_t had;                /* on nodes that can be rented now */
    int64_t cores;              /* of the largest node */
    double memory_bytes;        /* likewise */
};

/* Counts the GPUs of a pool that a role could use, with the first thing that is
 * short for the others. */
static struct pool_room measure_pool(const struct cs_host *host,
                                     uint32_t pool,
                                     const struct fit_want *want)
{
    struct pool_room room = { 0, 0, 0, 0, 0, 0 };

    assert(pool < host->spec->pool_count);
    for (uint32_t g = 0; g < host->spec->group_count; g++) {
        const struct node_group *group = &host->spec->group[g];
        int64_t all = (int64_t)group->gpus * group->node_count;

        if (group->pool != pool)
            continue;
        room.gpus += all;
        if (group->cores > room.cores)
            room.cores = group->cores;
        if ((double)group->memory_bytes > room.memory_bytes)
            room.memory_bytes = (double)group->memory_bytes;
        if (group->gpus == 0 || !suits_type(group, want))
            continue;
        room.suited += all;
        room.served += count_served_gpus(group, want) * group->node_count;
        room.had += count_served_gpus(group, want) *
                    host_supply_at(group, host_now(host));
    }
    assert(room.had <= room.served && room.served <= room.suited);
    return room;
}

/* Says "own has 16 GPUs", or why the role cannot use them. */
static void say_pool(struct words *words, const struct cs_host *host,
                     uint32_t pool, const struct fit_want *want)
{
    struct pool_room room = measure_pool(host, pool, want);

    assert(host->spec->pool_name[pool] != NULL);
    say(words, "%.30s ", host->spec->pool_name[pool]);
    if (want->pool_mask != 0 && !(want->pool_mask >> pool & 1))
        say(words, "is not its pool");
    else if (want->gpus == 0)
        say(words, "has nodes of %lld cores and %.4g GB",
            (long long)room.cores, room.memory_bytes / 1e9);
    else if (room.gpus == 0)
        say(words, "has no GPUs");
    else if (room.suited == 0)
        say(words, "has no GPU of its types");
    else if (room.served < room.suited)
        say(words, "has cores and memory for %lld of its %lld GPUs",
            (long long)room.served, (long long)room.suited);
    else if (room.had < room.served)
        say(words, "has %lld GPUs, %lld of nodes that can be had now",
            (long long)room.suited, (long long)room.had);
    else
        say(words, "has %lld GPUs", (long long)room.suited);
}

/* One clause a pool, in the order of the file. */
static void say_pools(struct words *words, const struct cs_host *host,
                      const struct fit_want *want)
{
    assert(host->spec->pool_count > 0);
    for (uint32_t p = 0; p < host->spec->pool_count; p++) {
        say(words, "%s", p == 0 ? "" : ", ");
        say_pool(words, host, p, want);
    }
}

/* ---- the reasons -------------------------------------------------------- */

/* Returns the k-th task in the order of the policy. */
static const struct cs_task *task_at(const struct cs_host *host, uint32_t k)
{
    assert(k < cs_pending_count(host));
    return cs_task(host, cs_pending(host, k));
}

/* "job NAME waits since 120 s for 8 GPUs of role train". */
static void say_waits(struct words *what, const struct job_request *job,
                      uint32_t role, const struct fit_want *fit)
{
    assert(role < job->form->role_count);
    say_job(what, job);
    say(what, " waits since %.0f s for ",
        clock_s_from_ns(job->submit_ns));
    say_want(what, fit);
    say(what, " of role %.30s", job->form->role[role].name);
}

/* A waiting task for which even the empty cluster has no room.  It is told apart
 * whether the role alone would fit: then the other roles of the job are in its
 * way.  Only the first TASKS_LOOKED_AT of the queue are looked at, so that an
 * overload is told in seconds.
 *
 * Each of these functions returns whether it found its reason; `what` and `why` are
 * still empty if it did not. */
static bool explain_no_room(struct cs_host *host, struct host_empty *empty,
                            struct words *what, struct words *why)
{
    struct fit_want fit, alone;

    assert(what->used == 0 && why->used == 0);
    for (uint32_t k = 0; k < cs_pending_count(host) && k < TASKS_LOOKED_AT;
         k++) {
        const struct cs_task *task = task_at(host, k);
        const struct job_request *job = cs_request(host, task->job);
        uint32_t role = host_empty_lacks(empty, host, task, NULL, &fit);

        if (role == ID_NONE)
            continue;
        struct cs_task one = { .job = task->job, .role = role };
        say_waits(what, job, role, &fit);
        if (host_empty_lacks(empty, host, &one, NULL, &alone) == ID_NONE)
            say(why, "The empty cluster has room for that role, but not "
                     "beside the job's other roles: ");
        else
            say(why, "The empty cluster has no room for it: ");
        say_pools(why, host, &fit);
        say(why, ".");
        return true;
    }
    return false;
}

/* Does `power_cap` forbid the task in the empty cluster, on the GPUs that it asks for, or
 * `least`, on the fewest that it may have? */
static bool is_capped(struct cs_host *host, struct host_empty *empty,
                      const struct cs_task *task, bool least, struct fit_want *fit)
{
    const struct job_request *job = cs_request(host, task->job);
    struct cs_want want[FORM_ROLES_MAX] = { 0 };
    uint32_t from = task->role == CS_ALL_ROLES ? 0 : task->role;
    uint32_t to = task->role == CS_ALL_ROLES ? job->form->role_count : from + 1;

    assert(to - from <= FORM_ROLES_MAX);
    for (uint32_t r = from; r < to; r++)
        want[r - from] = (struct cs_want) { .role = r, .gpus = job_role_gpus(job, r) };
    return host_empty_lacks(empty, host, task, least ? NULL : want, fit) == ID_NONE &&
           empty->capped;
}

/* The cluster has room, but `power_cap` forbids the job: whatever its size, or, where
 * `asked`, on the GPUs that it asks for. */
static bool explain_power(struct cs_host *host, struct host_empty *empty, bool asked,
                          struct words *what, struct words *why)
{
    struct fit_want fit;

    assert(what->used == 0 && why->used == 0);
    for (uint32_t k = 0; k < cs_pending_count(host) && k < TASKS_LOOKED_AT;
         k++) {
        const struct cs_task *task = task_at(host, k);

        if (!is_capped(host, empty, task, !asked, &fit))
            continue;
        say_waits(what, cs_request(host, task->job),
                  task->role == CS_ALL_ROLES ? 0 : task->role, &fit);
        say(why, "The empty cluster has room for it, but power_cap is %.0f W, "
                 "nodes that stand by draw %.0f W, and %s would draw %.0f W more%s.",
            host->spec->power_cap_w, (double)empty->idle_mw / 1000,
            asked ? "what it asks for" : "its least", (double)empty->more_mw / 1000,
            asked ? ". The policy does not start it on fewer GPUs, which the cap may allow" : "");
        return true;
    }
    return false;
}

/* A job that was interrupted again and again, the one with the most interruptions:
 * it would never end. */
static bool explain_set_back(struct cs_host *host, struct words *what,
                             struct words *why)
{
    const struct host_job *worst = NULL;
    double done;

    assert(what->used == 0 && why->used == 0);
    for (uint32_t j = host_next_unfinished(host, 0, &done); j != ID_NONE;
         j = host_next_unfinished(host, j + 1, &done)) {
        const struct host_job *job = host_job_known(host, j);
        if (job->interruptions >= SET_BACK_OFTEN &&
            (worst == NULL || job->interruptions > worst->interruptions))
            worst = job;
    }
    if (worst == NULL)
        return false;
    say_job(what, &worst->request);
    say(what, " was interrupted %u times and gets no further",
        worst->interruptions);
    say(why, "Failures and reclaims set it back faster than it proceeds: it "
             "needs checkpoints nearer to each other, fewer nodes at a time, "
             "or nodes that stay longer.");
    return true;
}

/* For each rented group, how many of its nodes are here. */
static void say_rented(struct words *why, const struct cs_host *host)
{
    const struct host_rent *rent = host->rent;

    assert((rent != NULL) == host->spec->rents);
    for (uint32_t g = 0; rent != NULL && g < host->spec->group_count; g++)
        if (host->spec->group[g].rent != NULL)
            say(why, " Of rented group %.30s %u of %u nodes are here.",
                host->spec->group[g].name, rent->group[g].here,
                host->spec->group[g].node_count);
}

/* Lets the policy decide once more, and says what it asked for first and what it
 * was answered.  The cluster has room for the job, so it is up to the policy. */
static bool explain_policy(struct cs_host *host, struct host_empty *empty,
                           struct words *what, struct words *why)
{
    assert(what->used == 0 && why->used == 0);
    struct host_tries tries = { .job = ID_NONE, .verdict = CS_DONE };
    struct fit_want fit;

    if (cs_pending_count(host) == 0)
        return false;
    /* While `tries` is set, the first start that the policy asks for is noted (request.c). */
    host->decision->tries = &tries;
    host_decide(host);
    host->decision->tries = NULL;
    if (cs_pending_count(host) == 0)
        return false;
    const struct cs_task *task = task_at(host, 0);
    for (uint32_t k = 0; k < cs_pending_count(host) && k < TASKS_LOOKED_AT;
         k++)
        if (task_at(host, k)->job.i == tries.job)
            task = task_at(host, k);
    const struct job_request *job = cs_request(host, task->job);
    bool tried = tries.job == task->job.i;
    uint32_t role = tried && tries.wants > 0
        ? host_empty_lacks(empty, host, task, tries.want, &fit) : ID_NONE;
    if (role != ID_NONE) {
        say_waits(what, job, role, &fit);
        say(why, "The policy looks for room where the empty cluster has "
                 "none: ");
        say_pools(why, host, &fit);
        say(why, ".");
        return true;
    }
    /* The cluster has room for what was asked: the reason is the policy's own. */
    struct cs_want first = {
        .role = task->role == CS_ALL_ROLES ? 0 : task->role
    };
    host_fit_want(host, host_job_at(host, task->job.i), first.role, &first,
                  &fit);
    say_waits(what, job, first.role, &fit);
    if (!tried && host_free_gpus(host, fit.pool_mask) < fit.gpus)
        say(why, "The empty cluster has room for it, but no more than %u GPUs "
                 "of its pools are free now.",
            host_free_gpus(host, fit.pool_mask));
    else if (!tried)
        say(why, "The empty cluster has room for it, but the policy does not "
                 "ask to start it.");
    else
        say(why, "The empty cluster has room for it, but what the policy "
                 "asks for it is refused (%s) with %u GPUs free.",
            host_verdict_name(tries.verdict), host_free_gpus(host, 0));
    say_rented(why, host);
    return true;
}

/* The last resort: a job that holds leases and whose phase does not end, or no job
 * at all. */
static void explain_unfinished(struct cs_host *host, struct words *what,
                               struct words *why)
{
    double done;
    uint32_t j = host_next_unfinished(host, 0, &done);

    assert(what->used == 0 && why->used == 0);
    if (j == ID_NONE) {
        say(what, "all jobs that came have ended");
        say(why, "The policy is called by its own wake-ups or by a service, and "
                 "starts nothing.");
        return;
    }
    uint32_t leases = host_job_leases(host, j);
    say_job(what, &host_job_known(host, j)->request);
    say(what, " holds %u lease%s and does not go on", leases,
        leases == 1 ? "" : "s");
    say(why, "It waits for no room: a phase of it does not end.");
}

void host_stall_explain(struct cs_host *host, struct host_stall *stall)
{
    struct words what = { stall->what, sizeof stall->what, 0 };
    struct words why = { stall->why, sizeof stall->why, 0 };
    struct host_empty empty;

    assert(host->decision->tries == NULL);
    memset(stall, 0, sizeof *stall);
    host_empty_begin(&empty, host);
    if (!explain_no_room(host, &empty, &what, &why) &&
        !explain_power(host, &empty, false, &what, &why) &&
        !explain_set_back(host, &what, &why) &&
        !explain_power(host, &empty, true, &what, &why) &&
        !explain_policy(host, &empty, &what, &why))
        explain_unfinished(host, &what, &why);
    host_empty_end(&empty);
    assert(host->decision->tries == NULL && stall->what[0] != '\0');
}
