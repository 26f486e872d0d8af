/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stall.c - why a run stands still: how far each job got, and which job
 * waits for what, in words.
 *
 * A reason is looked for in this order: a waiting job for which the whole
 * cluster, empty, has no room; a job that was set back again and again; and
 * the first waiting job, with what the policy asks for it when it is asked
 * once more.  That last question may start something: the run is over then.
 */
#include "policies/host/stall.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/jobs/job.h"
#include "models/cluster/place.h"
#include "policies/host/commit.h"
#include "policies/host/rent.h"
#include "policies/host/rental.h"
#include "policies/leases/power.h"
#include "policies/leases/time.h"
#include "policies/phases.h"
#include "policies/state/slots.h"
#include "policies/state/waiting.h"
#include "policies/state/decision.h"
#include "policies/state/nodes.h"
#include "policies/state/state.h"
#include "policies/policy.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/containers/rank_tree.h"

#define TASKS_LOOKED_AT 1000u
#define SET_BACK_OFTEN 10u      /* interruptions that are no accident */

/* ---- progress ----------------------------------------------------------- */

static bool is_replica(const struct host_job_slot *job)
{
    return host_form_of(job)->phase[0].law->kind == LAW_SERVE;
}

uint32_t host_next_unfinished(const struct cs_host *host, uint32_t from,
                              double *done)
{
    for (uint32_t j = from; j < host->slots->job_count; j++) {
        if (host_job_over(host, j))
            continue;
        const struct host_job_slot *job = host_job_slot(host, j);
        if (is_replica(job))
            continue;
        *done = host->slots->form[job->form].fixed
                    ? clock_s_from_ns(host_done_ns(host, job))
                    : job->pub.work_done_s - job->pub.work_lost_s +
                          job->stopped_part + job->kept;
        return j;
    }
    return ID_NONE;
}

bool host_in_vain(const struct cs_host *host)
{
    return host->decision->idle_decides >= host->parts.vain_max;
}

bool host_works_since(const struct cs_host *host, int64_t since_ns)
{
    const struct host_list *held = host_held(host);

    for (uint32_t k = 0; k < held->count; k++) {
        const struct host_lease_slot *lease = &host->slots->lease[held->item[k]];
        if (lease->running && lease->phase_start_ns <= since_ns &&
            !is_replica(host_job_slot(host, lease->pub.job.i)))
            return true;
    }
    return false;
}

/* ---- words --------------------------------------------------------------- */

struct words {
    char *out;
    size_t bytes, used;
};

static void say(struct words *words, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(struct words *words, const char *format, ...)
{
    va_list args;
    int wrote;

    va_start(args, format);
    wrote = vsnprintf(words->out + words->used, words->bytes - words->used,
                      format, args);
    va_end(args);
    if (wrote > 0)
        words->used += (size_t)wrote;
    if (words->used >= words->bytes)
        words->used = words->bytes - 1;
}

static void say_job(struct words *words, const struct host_job_slot *job)
{
    if (job->pub.request.name != NULL)
        say(words, "job %.40s", job->pub.request.name);
    else
        say(words, "job %u", job->pub.request.id.i);
}

static void say_want(struct words *words, const struct fit_want *want)
{
    if (want->gpus > 0)
        say(words, "%u GPU%s", want->gpus, want->gpus == 1 ? "" : "s");
    else if (want->pod)
        say(words, "%.3g cores on one node",
            (double)want->core_milli / 1000);
    else
        say(words, "%u core%s", want->cores, want->cores == 1 ? "" : "s");
}

/* ---- room ---------------------------------------------------------------- */

static bool type_suits(const struct node_group *group,
                       const struct fit_want *want)
{
    for (uint32_t t = 0; t < want->gpu_type_count; t++)
        if (group->gpu->index == want->gpu_types[t])
            return true;
    return want->gpu_type_count == 0;
}

/* GPUs of one node that have the cores and the memory that are wanted. */
static int64_t served_gpus(const struct node_group *group,
                           const struct fit_want *want)
{
    int64_t gpus = group->gpus;

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

struct pool_room {
    int64_t gpus, suited, served, had;  /* all; of a type it may use; with its
                                           cores and memory; of these, of nodes
                                           that can be had */
    int64_t cores;                      /* of the largest node */
    double memory_bytes;
};

static struct pool_room room_of(const struct cs_host *host, uint32_t pool,
                                const struct fit_want *want)
{
    struct pool_room room = { 0, 0, 0, 0, 0, 0 };

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
        if (group->gpus == 0 || !type_suits(group, want))
            continue;
        room.suited += all;
        room.served += served_gpus(group, want) * group->node_count;
        room.had += served_gpus(group, want) *
                    host_rent_had(host, g);
    }
    return room;
}

/* "own 16 GPUs", with what stands in the way. */
static void say_pool(struct words *words, const struct cs_host *host,
                     uint32_t pool, const struct fit_want *want)
{
    struct pool_room room = room_of(host, pool, want);

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

static void say_pools(struct words *words, const struct cs_host *host,
                      const struct fit_want *want)
{
    for (uint32_t p = 0; p < host->spec->pool_count; p++) {
        say(words, "%s", p == 0 ? "" : ", ");
        say_pool(words, host, p, want);
    }
}

/* All that the cluster could have now, and nothing taken of it. */
struct empty {
    struct arena *arena;
    struct cluster *cluster;
    struct placer *placer;
    struct share *share;        /* by role and node */
    int64_t more_mw;            /* of the task that was looked at, and whether */
    bool capped;                /* power_cap forbids it */
};

static void empty_begin(struct empty *empty, const struct cs_host *host)
{
    const struct cluster_spec *spec = host->spec;

    empty->arena = arena_new(1 << 16);
    empty->cluster = cluster_new(empty->arena, spec);
    struct placer_parts parts = {
        empty->arena, empty->cluster, host->rules->placement, false,
        host->parts.seed, host->parts.replica, host->parts.demand,
        host->parts.demand_count,
    };
    empty->placer = placer_new(&parts);
    empty->share = arena_alloc(empty->arena,
                               (size_t)spec->node_count * FORM_ROLES_MAX,
                               sizeof *empty->share);
    if (host->waiting->has_parts)
        cluster_split(empty->cluster);
    for (uint32_t g = 0; g < spec->group_count; g++) {
        const struct node_group *group = &spec->group[g];

        for (uint32_t k = host_rent_had(host, g); k < group->node_count;
             k++) {
            uint32_t n = group->first_node + k;
            struct share all = {
                .node = n, .gpu_mask = empty->cluster->free_mask[n],
                .cores = empty->cluster->free_cores[n],
                .memory_bytes = empty->cluster->free_memory[n],
            };
            struct placement away = { .share = &all, .share_count = 1 };
            cluster_take(empty->cluster, &away);
        }
    }
}

/* The least that a role may get. */
static uint32_t least_gpus(const struct cs_host *host,
                           const struct host_job_slot *job, uint32_t role)
{
    uint32_t asked = job_role_gpus(&job->pub.request, role), gpus = 1;

    while (gpus < asked && !host_shape_ok(host, job, role, gpus))
        gpus++;
    return gpus < asked ? gpus : asked;
}

/* The first role of a task that finds no room beside the others of the same
 * ask; ID_NONE: all find it.  wants: NULL, as the job's owner asked. */
static uint32_t role_without_room(struct empty *empty,
                                  const struct cs_host *host,
                                  const struct cs_task *task,
                                  const struct cs_want *wants,
                                  struct fit_want *fit)
{
    const struct host_job_slot *job = host_job_slot(host, task->job.i);
    bool whole = task->role == CS_ALL_ROLES;
    uint32_t from = whole ? 0 : task->role, r = from;
    uint32_t to = whole ? host_form_of(job)->role_count : from + 1;
    struct placement place[FORM_ROLES_MAX];
    uint32_t placed = 0, without = ID_NONE;

    empty->more_mw = 0;
    empty->capped = false;
    for (; r < to && without == ID_NONE; r++) {
        struct cs_want want = wants != NULL ? wants[r - from]
                                            : (struct cs_want) { .role = r };
        if (wants == NULL)
            want.gpus = least_gpus(host, job, r);
        bool any = host_fit_want(host, job, r, &want, fit);
        fit->relaxed = true;
        if (any && placer_look(empty->placer, fit,
                               empty->share + r * host->spec->node_count,
                               host->spec->node_count, &place[placed])) {
            empty->capped = !host_power_allows(host, &place[placed],
                                               &empty->more_mw);
            cluster_take(empty->cluster, &place[placed++]);
        } else
            without = r;
    }
    while (placed > 0)
        cluster_release(empty->cluster, &place[--placed]);
    return without;
}

/* ---- the reasons ---------------------------------------------------------- */

static void say_waits(struct words *what, const struct host_job_slot *job,
                      uint32_t role, const struct fit_want *fit)
{
    say_job(what, job);
    say(what, " waits since %.0f s for ",
        clock_s_from_ns(job->pub.request.submit_ns));
    say_want(what, fit);
    say(what, " of role %.30s", host_form_of(job)->role[role].name);
}

static bool explain_no_room(struct cs_host *host, struct empty *empty,
                            struct words *what, struct words *why)
{
    struct fit_want fit, alone;

    for (uint32_t k = 0; k < host_order_count(host) && k < TASKS_LOOKED_AT;
         k++) {
        const struct cs_task *task = &host->slots->task[rank_tree_at(host->waiting->order, k)].pub;
        const struct host_job_slot *job = host_job_slot(host, task->job.i);
        uint32_t role = role_without_room(empty, host, task, NULL, &fit);

        if (role == ID_NONE)
            continue;
        struct cs_task one = { .job = task->job, .role = role };
        say_waits(what, job, role, &fit);
        if (role_without_room(empty, host, &one, NULL, &alone) == ID_NONE)
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

/* Room there is, but not under `power_cap`. */
static bool explain_power(struct cs_host *host, struct empty *empty,
                          struct words *what, struct words *why)
{
    struct fit_want fit;

    for (uint32_t k = 0; k < host_order_count(host) && k < TASKS_LOOKED_AT;
         k++) {
        const struct cs_task *task = &host->slots->task[rank_tree_at(host->waiting->order, k)].pub;

        if (role_without_room(empty, host, task, NULL, &fit) != ID_NONE ||
            !empty->capped)
            continue;
        say_waits(what, host_job_slot(host, task->job.i),
                  task->role == CS_ALL_ROLES ? 0 : task->role, &fit);
        say(why, "The empty cluster has room for it, but power_cap is %.0f W, "
                 "%.0f W are drawn already, and its least would draw %.0f W "
                 "more.", host->spec->power_cap_w,
            (double)host->nodes->power_mw / 1000, (double)empty->more_mw / 1000);
        return true;
    }
    return false;
}

static bool explain_set_back(struct cs_host *host, struct words *what,
                             struct words *why)
{
    const struct host_job_slot *worst = NULL;
    double done;

    for (uint32_t j = host_next_unfinished(host, 0, &done); j != ID_NONE;
         j = host_next_unfinished(host, j + 1, &done)) {
        const struct host_job_slot *job = host_job_slot(host, j);
        if (job->pub.interruptions >= SET_BACK_OFTEN &&
            (worst == NULL ||
             job->pub.interruptions > worst->pub.interruptions))
            worst = job;
    }
    if (worst == NULL)
        return false;
    say_job(what, worst);
    say(what, " was interrupted %u times and gets no further",
        worst->pub.interruptions);
    say(why, "Failures and reclaims set it back faster than it proceeds: it "
             "needs checkpoints nearer to each other, fewer nodes at a time, "
             "or nodes that stay longer.");
    return true;
}

static void say_rented(struct words *why, const struct cs_host *host)
{
    for (uint32_t g = 0; host->nodes->rent != NULL && g < host->spec->group_count;
         g++)
        if (host->spec->group[g].rent != NULL)
            say(why, " Of rented group %.30s %u of %u nodes are here; they "
                     "are ordered for a role that its nodes alone can hold.",
                host->spec->group[g].name, host->nodes->rent->group[g].here,
                host->spec->group[g].node_count);
}

/* Asks for the policy's word on what waits. */
static bool explain_policy(struct cs_host *host, struct empty *empty,
                           struct words *what, struct words *why)
{
    struct host_tries tries = { .job = ID_NONE, .verdict = CS_DONE };
    struct fit_want fit;

    if (host_order_count(host) == 0)
        return false;
    host->decision->tries = &tries;
    host_decide(host);
    host->decision->tries = NULL;
    if (host_order_count(host) == 0)
        return false;
    const struct cs_task *task = &host->slots->task[rank_tree_at(host->waiting->order, 0)].pub;
    for (uint32_t k = 0; k < host_order_count(host) && k < TASKS_LOOKED_AT;
         k++)
        if (host->slots->task[rank_tree_at(host->waiting->order, k)].pub.job.i == tries.job)
            task = &host->slots->task[rank_tree_at(host->waiting->order, k)].pub;
    const struct host_job_slot *job = host_job_slot(host, task->job.i);
    bool tried = tries.job == task->job.i;
    uint32_t role = tried && tries.wants > 0
        ? role_without_room(empty, host, task, tries.want, &fit) : ID_NONE;
    if (role != ID_NONE) {
        say_waits(what, job, role, &fit);
        say(why, "The policy looks for room where the empty cluster has "
                 "none: ");
        say_pools(why, host, &fit);
        say(why, ".");
        return true;
    }
    struct cs_want first = {
        .role = task->role == CS_ALL_ROLES ? 0 : task->role
    };
    host_fit_want(host, job, first.role, &first, &fit);
    say_waits(what, job, first.role, &fit);
    if (!tried && cs_free_gpus(host, fit.pool_mask) < fit.gpus)
        say(why, "The empty cluster has room for it, but no more than %u GPUs "
                 "of its pools are free now.",
            cs_free_gpus(host, fit.pool_mask));
    else if (!tried)
        say(why, "The empty cluster has room for it, but the policy does not "
                 "ask to start it.");
    else
        say(why, "The empty cluster has room for it, but what the policy "
                 "asks for it is refused (%s) with %u GPUs free.",
            cs_verdict_name(tries.verdict), cs_free_gpus(host, 0));
    say_rented(why, host);
    return true;
}

static void explain_unfinished(struct cs_host *host, struct words *what,
                               struct words *why)
{
    double done;
    uint32_t j = host_next_unfinished(host, 0, &done);

    if (j == ID_NONE) {
        say(what, "a service waits");
        return;
    }
    const struct host_job_slot *job = host_job_slot(host, j);
    say_job(what, job);
    say(what, " holds %u lease%s and does not go on", job->leases,
        job->leases == 1 ? "" : "s");
    say(why, "It waits for no room: a phase of it does not end.");
}

void host_stall_explain(struct cs_host *host, struct host_stall *stall)
{
    struct words what = { stall->what, sizeof stall->what, 0 };
    struct words why = { stall->why, sizeof stall->why, 0 };
    struct empty empty;

    memset(stall, 0, sizeof *stall);
    empty_begin(&empty, host);
    if (!explain_no_room(host, &empty, &what, &why) &&
        !explain_power(host, &empty, &what, &why) &&
        !explain_set_back(host, &what, &why) &&
        !explain_policy(host, &empty, &what, &why))
        explain_unfinished(host, &what, &why);
    arena_free(empty.arena);
}
