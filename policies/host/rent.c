/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rent.c - how many nodes are rented: ordered for what waits, as many as
 * can be had; rental.c is what then happens to each.
 *
 * What waits is counted in nodes, in the order of the policy, for the first
 * group in the order of the file that takes it and has room.  While no job is
 * left nothing is ordered, so that a run can end.
 */
#include "policies/host/rent.h"

#include <assert.h>
#include <math.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/time_series.h"
#include "models/jobs/job.h"
#include "policies/host/rental.h"
#include "policies/phases.h"
#include "policies/state/slots.h"
#include "policies/state/waiting.h"
#include "policies/state/decision.h"
#include "policies/state/nodes.h"
#include "policies/state/state.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/event/loop.h"
#include "sim/containers/rank_tree.h"
#include "sim/base/rng.h"

#define CHOICE_STREAM 105       /* of rng_at, beside that of reclaims */

/* ---- what waits -------------------------------------------------------- */

uint32_t host_rent_had(const struct cs_host *host, uint32_t g)
{
    const struct node_group *group = &host->spec->group[g];
    const struct time_series *available = group->rent != NULL
                                         ? group->rent->available : NULL;

    if (available == NULL)
        return group->node_count;
    double nodes = time_series_at(available, host_now(host));
    return nodes < group->node_count ? (uint32_t)nodes : group->node_count;
}

/* Nodes that could still be ordered. */
static uint32_t room_left(const struct cs_host *host, uint32_t g)
{
    const struct rent_group *group = &host->nodes->rent->group[g];
    uint32_t most = host_rent_had(host, g);
    uint32_t used = group->here + group->coming + group->leaving;

    return most > used ? most - used : 0;
}

static void order_some(struct cs_host *host, uint32_t g, uint32_t count)
{
    const struct node_group *spec = &host->spec->group[g];
    struct rent_group *group = &host->nodes->rent->group[g];

    while (count > 0 && group->first_away < spec->node_count) {
        uint32_t n = spec->first_node + group->first_away++;
        if (host->nodes->rent->node[n].state == RENT_AWAY) {
            host_rental_order(host, n, spec->rent->start_ns);
            count--;
        }
    }
}

/* Are there nodes without GPUs?  Cores are looked for there first. */
static bool bare_nodes(const struct cs_host *host, uint32_t mask)
{
    for (uint32_t g = 0; g < host->spec->group_count; g++)
        if (host->spec->group[g].gpus == 0 &&
            (mask == 0 || mask >> host->spec->group[g].pool & 1))
            return true;
    return false;
}

/* May a role have nodes of that group, if they are large enough? */
static bool suits(const struct cs_host *host, uint32_t g,
                  const struct host_job_slot *job, uint32_t r)
{
    const struct node_group *group = &host->spec->group[g];
    const struct role_spec *role = &host_form_of(job)->role[r];
    uint32_t mask = host->slots->form[job->form].pool_mask[r];

    if (group->rent == NULL || group->rent->scale != RENT_QUEUE ||
        (mask != 0 && !(mask >> group->pool & 1)))
        return false;
    if (job_role_gpus(&job->pub.request, r) == 0)
        return group->gpus == 0 || !bare_nodes(host, mask);
    for (uint32_t t = 0; t < role->gpu_type_count; t++)
        if (group->gpus > 0 && group->gpu->index == role->gpu_types[t])
            return true;
    return group->gpus > 0 && role->gpu_type_count == 0;
}

/* GPUs of one node that have the cores and the memory a role wants of each. */
static int64_t gpus_served(const struct node_group *group,
                           const struct role_spec *role)
{
    int64_t gpus = group->gpus;

    if (role->cores > 0 && group->cores / role->cores < gpus)
        gpus = group->cores / role->cores;
    if (role->memory_bytes > 0 &&
        group->memory_bytes / role->memory_bytes < gpus)
        gpus = group->memory_bytes / role->memory_bytes;
    return gpus;
}

/* Nodes that a role takes, as a fraction: gangs of a node and more take whole
 * ones.  INFINITY: it cannot run on such nodes. */
static double nodes_for(const struct node_group *group,
                        const struct job_request *request, uint32_t r)
{
    const struct role_spec *role = &request->form->role[r];
    double gpus = job_role_amount(request, r), nodes;
    double cores = role->pod ? (double)role->core_milli / 1000
                              : role->cores;

    if (gpus > 0 && !role->pod) {       /* cores and memory are per GPU */
        nodes = gpus / (double)gpus_served(group, role);
        return nodes > 1 ? ceil(nodes) : nodes;
    }
    nodes = fmax(cores / group->cores,
                 (double)role->memory_bytes / (double)group->memory_bytes);
    if (gpus > 0)
        nodes = fmax(nodes, gpus / group->gpus);
    if (nodes <= 1)
        return nodes;
    return role->pod ? INFINITY : ceil(nodes);
}

static bool open_for_more(const struct cs_host *host, uint32_t g)
{
    const struct rent_group *group = &host->nodes->rent->group[g];

    return host->spec->group[g].rent != NULL &&
           group->wanted < group->room + group->coming + group->idle;
}

/* Of the first group in the order of the file that takes it and has room;
 * returns when it will have waited enough for one, if it has not. */
static int64_t want_role(struct cs_host *host, const struct cs_task *task,
                         const struct host_job_slot *job, uint32_t r)
{
    int64_t next = CLOCK_NEVER_NS;

    for (uint32_t g = 0; g < host->spec->group_count; g++) {
        const struct node_group *group = &host->spec->group[g];
        if (!open_for_more(host, g) || !suits(host, g, job, r))
            continue;
        double nodes = nodes_for(group, &job->pub.request, r);
        if (nodes > group->node_count)
            continue;
        int64_t due = clock_after(task->ready_ns, group->rent->wait_ns);
        if (due > host_now(host)) {
            next = due < next ? due : next;
            continue;
        }
        host->nodes->rent->group[g].wanted += nodes;
        break;
    }
    return next;
}

/* What waits, in order; the instant at which more will have waited enough. */
static int64_t want_all(struct cs_host *host)
{
    int64_t next = CLOCK_NEVER_NS, due;

    for (uint32_t k = 0; k < host_order_count(host); k++) {
        const struct cs_task *task =
            &host->slots->task[rank_tree_at(host->waiting->order, k)].pub;
        const struct host_job_slot *job = host_job_slot(host, task->job.i);
        bool any = false;
        for (uint32_t g = 0; g < host->spec->group_count && !any; g++)
            any = open_for_more(host, g);
        if (!any)
            break;
        if (task->held.i != ID_NONE)
            continue;
        bool whole = task->role == CS_ALL_ROLES;
        uint32_t from = whole ? 0 : task->role;
        uint32_t to = whole ? host_form_of(job)->role_count : from + 1;
        for (uint32_t r = from; r < to; r++)
            if ((due = want_role(host, task, job, r)) < next)
                next = due;
    }
    return next;
}

static void look_again(struct loop *loop, void *self, uint64_t arg)
{
    (void)loop;
    (void)arg;
    host_rent_scale(self);
}

static uint32_t least(const struct rent_spec *spec)
{
    return spec->scale == RENT_ALWAYS ? UINT32_MAX : spec->nodes_min;
}

/* Up to the least that is kept; returns what could be ordered beyond that. */
static uint32_t order_least(struct cs_host *host, uint32_t g)
{
    const struct rent_spec *spec = host->spec->group[g].rent;
    const struct rent_group *group = &host->nodes->rent->group[g];
    uint32_t room = room_left(host, g), have = group->here + group->coming;

    if (have < least(spec)) {
        uint32_t more = least(spec) - have;
        more = more < room ? more : room;
        order_some(host, g, more);
        room -= more;
    }
    return room;
}

void host_rent_scale(struct cs_host *host)
{
    uint32_t groups = host->spec->group_count;

    if (host->nodes->rent == NULL || host->decision->jobs_left == 0 || host->decision->closing)
        return;
    for (uint32_t g = 0; g < groups; g++) {
        const struct rent_spec *spec = host->spec->group[g].rent;
        host->nodes->rent->group[g].wanted = 0;
        host->nodes->rent->group[g].room = spec != NULL ? order_least(host, g) : 0;
    }
    loop_cancel(host->parts.loop, host->nodes->rent->look);
    int64_t next = want_all(host);
    for (uint32_t g = 0; g < groups; g++) {
        const struct rent_group *group = &host->nodes->rent->group[g];
        double more = ceil(group->wanted) - group->coming - group->idle;
        if (host->spec->group[g].rent != NULL && more > 0)
            order_some(host, g, more < group->room ? (uint32_t)more
                                                   : group->room);
    }
    if (next != CLOCK_NEVER_NS)
        host->nodes->rent->look = loop_at(host->parts.loop, next, LOOP_RANK_SETTLE,
                                   look_again, host, 0);
}

/* ---- what can be had --------------------------------------------------- */

/* One that is here or coming, by lot; those that come go first. */
static uint32_t draw_one(struct cs_host *host, uint32_t g)
{
    const struct node_group *group = &host->spec->group[g];
    enum rent_state state = host->nodes->rent->group[g].coming > 0 ? RENT_COMING
                                                            : RENT_HERE;
    uint32_t among = state == RENT_COMING ? host->nodes->rent->group[g].coming
                                          : host->nodes->rent->group[g].here;
    double u = rng_at(host->parts.seed, host->nodes->rent->choices++,
                      host->parts.replica, CHOICE_STREAM);
    uint32_t k = (uint32_t)(u * among), n = group->first_node;

    assert(among > 0);
    for (; host->nodes->rent->node[n].state != state || k > 0; n++)
        k -= host->nodes->rent->node[n].state == state;
    return n;
}

static void change_due(struct loop *loop, void *self, uint64_t arg);

/* Takes away what is beyond what can be had, and waits for the next change. */
static void follow(struct cs_host *host)
{
    int64_t next = CLOCK_NEVER_NS;

    for (uint32_t g = 0; g < host->spec->group_count; g++) {
        const struct rent_spec *spec = host->spec->group[g].rent;
        const struct rent_group *group = &host->nodes->rent->group[g];
        if (spec == NULL || spec->available == NULL)
            continue;
        while (group->here + group->coming > host_rent_had(host, g))
            host_rental_notice(host, draw_one(host, g));
        int64_t at = time_series_next_ns(spec->available, host_now(host));
        if (at < next)
            next = at;
    }
    loop_cancel(host->parts.loop, host->nodes->rent->change);
    if (next != CLOCK_NEVER_NS && host->decision->jobs_left > 0)
        host->nodes->rent->change = loop_at(host->parts.loop, next,
                                     LOOP_RANK_OUTAGE, change_due, host, 0);
    host->hooks.wake(host);
}

static void change_due(struct loop *loop, void *self, uint64_t arg)
{
    struct cs_host *host = self;

    (void)loop;
    (void)arg;
    if (host->decision->jobs_left > 0)
        follow(host);
}

void host_rent_wake(struct cs_host *host)
{
    if (host->nodes->rent != NULL && host->decision->jobs_left == 1 && !host->decision->closing)
        follow(host);
}

/* Nodes that are there from the beginning. */
static void begin_group(struct cs_host *host, uint32_t g)
{
    const struct node_group *group = &host->spec->group[g];
    uint32_t here = least(group->rent), had = host_rent_had(host, g);

    for (uint32_t k = 0; k < group->node_count; k++)
        host_rental_block(host, group->first_node + k);
    here = here < had ? here : had;
    for (uint32_t k = 0; k < here; k++)
        host_rental_order(host, group->first_node +
                                    host->nodes->rent->group[g].first_away++, 0);
}

void host_rent_begin(struct cs_host *host)
{
    const struct cluster_spec *spec = host->spec;
    struct arena *arena = host->parts.arena;
    struct host_rent *rent;

    if (!spec->rents)
        return;
    rent = arena_alloc(arena, 1, sizeof *rent);
    rent->node = arena_alloc(arena, spec->node_count, sizeof *rent->node);
    rent->group = arena_alloc(arena, spec->group_count, sizeof *rent->group);
    rent->leaving = arena_alloc(arena, spec->node_count,
                                sizeof *rent->leaving);
    host->nodes->rent = rent;
    host->nodes->leaving = rent->leaving;
    for (uint32_t g = 0; g < spec->group_count; g++)
        if (spec->group[g].rent != NULL)
            begin_group(host, g);
}
