/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rent.c - how many nodes are rented: as many as the waiting tasks need, and those
 * ahead of them (demand.h), if the provider has them.  rental.c says what then
 * happens to each node.
 *
 * Tasks are counted in the order of the policy.  Each adds the nodes that it
 * needs to the first group, in the order of the file, that suits it and may
 * still order nodes.  When the run could end, nothing is ordered.
 *
 * Under a power cap a node that stands by takes power that GPUs lack.  So nodes for a task
 * are ordered if what is left then lets it run, and all tasks before it, too; any other node
 * if a GPU could run besides.
 */
#include "policies/nodes/rent.h"

#include <assert.h>
#include <math.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/cluster/power.h"
#include "models/cluster/time_series.h"
#include "models/jobs/job.h"
#include "models/types/placement.h"
#include "policies/leases/lease.h"
#include "policies/leases/power.h"
#include "policies/nodes/demand.h"
#include "policies/nodes/rental.h"
#include "policies/phases.h"
#include "policies/policy.h"
#include "policies/state/decision.h"
#include "policies/state/nodes.h"
#include "policies/state/read.h"
#include "policies/state/state.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/rng.h"
#include "sim/event/loop.h"

#define CHOICE_STREAM 105       /* of rng_at, beside that of reclaims */

/* ---- tasks that wait --------------------------------------------------- */

uint32_t host_rent_had(const struct node_group *group, int64_t at_ns)
{
    const struct time_series *available = group->rent != NULL
                                         ? group->rent->available : NULL;

    assert(at_ns >= 0);
    if (available == NULL)
        return group->node_count;
    double nodes = time_series_at(available, at_ns);
    assert(nodes >= 0);
    return nodes < group->node_count ? (uint32_t)nodes : group->node_count;
}

/* Returns the number of nodes that could still be ordered if they drew nothing but what they
 * draw standing by. */
static uint32_t nodes_left(const struct cs_host *host, uint32_t g)
{
    const struct rent_group *group = &host->nodes->rent->group[g];
    uint32_t most = host_rent_had(&host->spec->group[g], host_now(host));
    uint32_t used = group->here + group->coming + group->leaving;

    assert(used <= host->spec->group[g].node_count);
    return host_power_nodes(host->nodes, host->spec, &host->spec->group[g], 0,
                            most > used ? most - used : 0);
}

/* Orders `count` nodes of a group, or all that are away; none beyond the power cap, which
 * nodes of other groups may have reached. */
static void order_some(struct cs_host *host, uint32_t g, uint32_t count)
{
    const struct node_group *spec = &host->spec->group[g];
    struct rent_group *group = &host->nodes->rent->group[g];

    assert(spec->rent != NULL && group->first_away <= spec->node_count);
    count = host_power_nodes(host->nodes, host->spec, spec, 0, count);
    while (count > 0 && group->first_away < spec->node_count) {
        uint32_t n = spec->first_node + group->first_away++;
        if (host->nodes->rent->node[n].state == RENT_AWAY) {
            host_rental_order(host, n, spec->rent->start_ns);
            count--;
        }
    }
}

/* Is there a group without GPUs in the pools of the mask (0: in any)?  Roles
 * without GPUs go there first. */
static bool has_bare_nodes(const struct cs_host *host, uint32_t mask)
{
    assert(host->spec->pool_count <= 32);
    for (uint32_t g = 0; g < host->spec->group_count; g++)
        if (host->spec->group[g].gpus == 0 &&
            (mask == 0 || mask >> host->spec->group[g].pool & 1))
            return true;
    return false;
}

/* May nodes of the group be ordered when tasks wait? */
static bool is_scaled(const struct node_group *group)
{
    assert(group->node_count > 0);
    return group->rent != NULL && group->rent->scale != RENT_ALWAYS;
}

/* May role r run on nodes of group g, if they are large enough? */
static bool suits_role(const struct cs_host *host, uint32_t g,
                       struct job_id job, uint32_t r)
{
    const struct job_request *request = cs_request(host, job);
    const struct node_group *group = &host->spec->group[g];
    const struct role_spec *role = &request->form->role[r];
    uint32_t mask = host_role_pools(host, job.i, r);

    assert(r < request->form->role_count);

    if (mask != 0 && !(mask >> group->pool & 1))
        return false;
    if (job_role_gpus(request, r) == 0)
        return group->gpus == 0 || !has_bare_nodes(host, mask);
    return group->gpus > 0 &&
           job_role_takes_type(role, group->gpu != NULL ? group->gpu->index : ID_NONE);
}

/* Returns how many GPUs of one node have the cores and the host memory that a
 * role needs per GPU. */
static int64_t count_gpus_served(const struct node_group *group,
                                 const struct role_spec *role)
{
    int64_t gpus = group->gpus;

    assert(group->memory_bytes >= 0);
    if (role->cores > 0 && group->cores / role->cores < gpus)
        gpus = group->cores / role->cores;
    if (role->memory_bytes > 0 &&
        group->memory_bytes / role->memory_bytes < gpus)
        gpus = group->memory_bytes / role->memory_bytes;
    return gpus;
}

/* Returns how many nodes a role takes.  Less than one node is a fraction, more
 * than one is rounded up.  INFINITY: the role cannot run on such nodes. */
static double count_nodes_for(const struct node_group *group,
                              const struct job_request *request, uint32_t r)
{
    assert(group->cores > 0);
    const struct role_spec *role = &request->form->role[r];
    double gpus = job_role_amount(request, r), nodes;
    double cores = role->pod ? (double)role->core_milli / 1000
                              : role->cores;

    if (gpus > 0 && !role->pod) {       /* cores and memory are per GPU */
        nodes = gpus / (double)count_gpus_served(group, role);
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

/* Could more nodes than are counted for now come into use? */
static bool wants_more(const struct cs_host *host, uint32_t g)
{
    const struct rent_group *group = &host->nodes->rent->group[g];

    assert(group->wanted >= 0);
    return is_scaled(&host->spec->group[g]) &&
           group->wanted + HOST_RENTAL_SLACK <
               group->room + group->coming + group->idle;
}

/* ---- power of tasks that wait ------------------------------------------- */

static int64_t draw_mw(const struct cs_host *host, struct job_id job, uint32_t r, bool least,
                       uint32_t g)
{
    assert(g < host->spec->group_count);
    return host_lease_draw_mw(host, host_job_at(host, job.i), r, least, &host->spec->group[g]);
}

/* Would the cap allow what a role adds as it asks on nodes of a group, if nothing else ran? */
static bool is_allowed_alone(const struct cs_host *host, struct job_id job, uint32_t r, uint32_t g)
{
    const struct node_group *group = &host->spec->group[g];
    double nodes = count_nodes_for(group, cs_request(host, job), r);
    int64_t mw = host->nodes->rent->owned_mw + draw_mw(host, job, r, false, g);

    assert(nodes >= 0);
    if (nodes > group->node_count)
        return false;
    if (group->rent != NULL)
        mw += (int64_t)host_rental_whole(nodes) * power_standby_mw(host->spec, group);
    return (double)mw <= 1000 * host->spec->power_cap_w;
}

/* Returns what a role adds where it adds least, on the GPUs that it asks for; or, which sets
 * *least, on the fewest that it may have, if the cap never allows as many. */
static int64_t find_least_mw(const struct cs_host *host, struct job_id job, uint32_t r,
                             bool *least)
{
    int64_t least_mw = INT64_MAX;
    bool as_asked = false;

    assert(host->spec->power_cap_w > 0);
    for (uint32_t g = 0; g < host->spec->group_count && !as_asked; g++)
        as_asked = suits_role(host, g, job, r) && is_allowed_alone(host, job, r, g);
    *least = !as_asked;
    for (uint32_t g = 0; g < host->spec->group_count; g++) {
        int64_t mw = suits_role(host, g, job, r) ? draw_mw(host, job, r, *least, g)
                                                 : INT64_MAX;
        least_mw = mw < least_mw ? mw : least_mw;
    }
    return least_mw < INT64_MAX ? least_mw : 0;
}

/* ---- nodes for tasks that wait ------------------------------------------ */

/* What a role is counted for. */
struct count {
    bool least;                 /* with the fewest GPUs that it may have */
    int64_t least_mw;           /* what it then adds where it adds least */
    uint32_t group, planned;    /* group ID_NONE: for no nodes */
    double wanted;              /* nodes of the group before */
    int64_t more_mw;            /* what it adds there beyond least_mw */
};

/* Counts nodes of a group for a role that adds more_mw there beyond what is counted for it;
 * false: the cap leaves no power for it or for a task before it. */
static bool count_nodes(struct cs_host *host, uint32_t g, double nodes, int64_t more_mw,
                        struct count *count)
{
    struct host_rent *rent = host->nodes->rent;
    struct rent_group *group = &rent->group[g];
    assert(nodes >= 0 && more_mw + count->least_mw >= 0);
    double wants = host_rental_whole(group->wanted + nodes) - group->coming - group->idle -
                   group->planned;
    uint32_t planned = wants > 0 ? (uint32_t)wants : 0;
    int64_t standby_mw = planned * power_standby_mw(host->spec, &host->spec->group[g]);
    int64_t mw = host->nodes->power_mw + rent->planned_mw + rent->drawn_mw;

    if (host->spec->power_cap_w > 0 && planned > 0 &&
        (double)(mw + standby_mw + more_mw) > 1000 * host->spec->power_cap_w)
        return false;
    count->group = g;
    count->planned = planned;
    count->wanted = group->wanted;
    count->more_mw = more_mw;
    group->wanted += nodes;
    group->planned += planned;
    rent->planned_mw += standby_mw;
    rent->drawn_mw += more_mw;
    return true;
}

/* Takes back what count_nodes() did last. */
static void uncount_nodes(struct cs_host *host, const struct count *count)
{
    struct host_rent *rent = host->nodes->rent;
    struct rent_group *group = &rent->group[count->group];

    assert(group->planned >= count->planned);
    group->wanted = count->wanted;
    group->planned -= count->planned;
    rent->planned_mw -= count->planned *
                        power_standby_mw(host->spec, &host->spec->group[count->group]);
    rent->drawn_mw -= count->more_mw;
}

/* Returns the free GPUs of owned nodes of the type of group g that suit a role. */
static uint32_t count_owned_gpus(const struct cs_host *host, struct job_id job, uint32_t r,
                                 uint32_t g)
{
    uint32_t gpus = 0;

    assert(host->spec->group[g].gpu != NULL);
    for (uint32_t o = 0; o < host->spec->group_count; o++) {
        const struct node_group *group = &host->spec->group[o];
        if (group->rent != NULL || group->gpu != host->spec->group[g].gpu ||
            !suits_role(host, o, job, r))
            continue;
        for (uint32_t n = group->first_node; n < group->first_node + group->node_count; n++)
            gpus += mask_count(host->cluster->free_mask[n]);
    }
    return gpus;
}

/* Returns how many nodes of group g a gang takes beside the owned GPUs that are free, if
 * these are fewer than it takes alone; else 0. */
static double count_nodes_beside(const struct cs_host *host, struct job_id job, uint32_t r,
                                 uint32_t g, double nodes)
{
    const struct role_spec *role = &cs_request(host, job)->form->role[r];
    uint32_t asked = job_role_gpus(cs_request(host, job), r);

    assert(nodes >= 0);
    if (nodes <= 1 || role->pod || host->spec->group[g].gpu == NULL)
        return 0;
    uint32_t owned = count_owned_gpus(host, job, r, g);
    double left = asked > owned ? asked - owned : 0;
    double beside = ceil(left / (double)count_gpus_served(&host->spec->group[g], role));
    return beside < nodes ? beside : 0;
}

/* Adds the nodes of a role to the first group that suits it and may order more.
 * A group passes over a task that has not waited for its `wait` yet; *next becomes
 * the earliest end of such a wait, if it is earlier.  The power of `count` is counted
 * already.  False: there is such a group, but not the power. */
static bool count_role(struct cs_host *host, const struct cs_task *task, uint32_t r,
                       struct count *count, int64_t *next)
{
    bool has_power = true;

    assert(task->ready_ns <= host_now(host));
    count->group = ID_NONE;
    for (uint32_t g = 0; g < host->spec->group_count; g++) {
        const struct node_group *group = &host->spec->group[g];
        if (!wants_more(host, g) || !suits_role(host, g, task->job, r))
            continue;
        double nodes = count_nodes_for(group, cs_request(host, task->job), r);
        if (nodes > group->node_count)
            continue;
        int64_t due = clock_after(task->ready_ns, group->rent->wait_ns), more_mw = 0;
        if (due > host_now(host)) {
            *next = due < *next ? due : *next;
            continue;
        }
        if (host->spec->power_cap_w > 0)
            more_mw = draw_mw(host, task->job, r, count->least, g) -
                      count->least_mw;
        if (count_nodes(host, g, nodes, more_mw, count))
            return true;
        nodes = count_nodes_beside(host, task->job, r, g, nodes);
        if (nodes > 0 && count_nodes(host, g, nodes, more_mw, count))
            return true;
        has_power = false;
    }
    return has_power;
}

/* Counts the nodes of all roles of a task, and under a cap the power, which it has before all
 * tasks after it; no nodes, if one of the roles lacks power.  *next: see count_role(). */
static void count_task(struct cs_host *host, const struct cs_task *task, int64_t *next)
{
    uint32_t roles = cs_request(host, task->job)->form->role_count;
    bool whole = task->role == CS_ALL_ROLES, has_power = true;
    uint32_t from = whole ? 0 : task->role, to = whole ? roles : from + 1, r;
    struct count count[FORM_ROLES_MAX] = { 0 };

    assert(from < to && to <= FORM_ROLES_MAX);
    for (r = from; r < to && host->spec->power_cap_w > 0; r++) {
        count[r].least_mw = find_least_mw(host, task->job, r, &count[r].least);
        host->nodes->rent->drawn_mw += count[r].least_mw;
    }
    for (r = from; r < to && has_power; r++)
        has_power = count_role(host, task, r, &count[r], next);
    while (!has_power && r-- > from)
        if (count[r].group != ID_NONE)
            uncount_nodes(host, &count[r]);
}

/* Counts the tasks that wait, in their order; returns the earliest time at
 * which another one will have waited long enough, or CLOCK_NEVER_NS. */
static int64_t count_waiting(struct cs_host *host)
{
    int64_t next = CLOCK_NEVER_NS;

    assert(host->nodes->rent != NULL);
    for (uint32_t k = 0; k < cs_pending_count(host); k++) {
        const struct cs_task *task = cs_task(host, cs_pending(host, k));
        bool any = false;
        for (uint32_t g = 0; g < host->spec->group_count && !any; g++)
            any = wants_more(host, g);
        if (!any)
            break;
        if (task->held.i == ID_NONE)
            count_task(host, task, &next);
    }
    return next;
}

/* The time has come to look at the number of rented nodes again. */
static void scale_again(struct loop *loop, void *self, uint64_t arg)
{
    (void)loop;
    (void)arg;
    host_rent_scale(self);
}

/* Returns the fewest nodes that are kept; UINT32_MAX: all. */
static uint32_t find_least(const struct rent_spec *spec)
{
    assert(spec != NULL);
    return spec->scale == RENT_ALWAYS ? UINT32_MAX : spec->nodes_min;
}

/* Returns how many of `most` nodes of a group, that are for no task, the cap allows beside
 * beside_mw: with a GPU of theirs. */
static uint32_t limit_beside(const struct cs_host *host, uint32_t g, int64_t beside_mw,
                             uint32_t most)
{
    const struct node_group *group = &host->spec->group[g];

    assert(beside_mw >= 0);
    return host_power_nodes(host->nodes, host->spec, group,
                            beside_mw + host_power_unit_mw(host->spec, group), most);
}

/* Orders the nodes of a group that were counted for tasks, and those ahead of them. */
static void order_more(struct cs_host *host, uint32_t g)
{
    struct host_rent *rent = host->nodes->rent;
    const struct rent_group *group = &rent->group[g];
    double more = host_rental_whole(group->wanted) + host_demand_ahead(host, g) -
                  group->coming - group->idle;
    uint32_t planned = group->planned;

    assert(isfinite(more));
    if (more > 0) {
        uint32_t count = more < group->room ? (uint32_t)more : group->room;
        if (count > planned)
            count = planned + limit_beside(host, g, rent->planned_mw + rent->drawn_mw,
                                           count - planned);
        order_some(host, g, count);
    }
    rent->planned_mw -= planned * power_standby_mw(host->spec, &host->spec->group[g]);
}

/* Orders the fewest nodes that are kept; returns the number that could still be
 * ordered. */
static uint32_t order_least(struct cs_host *host, uint32_t g)
{
    const struct rent_spec *spec = host->spec->group[g].rent;
    const struct rent_group *group = &host->nodes->rent->group[g];
    uint32_t room = nodes_left(host, g), have = group->here + group->coming;

    if (have < find_least(spec)) {
        uint32_t more = find_least(spec) - have;
        more = limit_beside(host, g, 0, more < room ? more : room);
        order_some(host, g, more);
        room -= more;
    }
    assert(room <= host->spec->group[g].node_count);
    return room;
}

void host_rent_scale(struct cs_host *host)
{
    struct host_rent *rent = host->nodes->rent;
    uint32_t groups = host->spec->group_count;

    if (rent == NULL || !host_goes_on(host->decision) || host->decision->closing)
        return;
    rent->planned_mw = rent->drawn_mw = 0;
    for (uint32_t g = 0; g < groups; g++) {
        rent->group[g].wanted = 0;
        rent->group[g].planned = 0;
        rent->group[g].room = host->spec->group[g].rent != NULL ? order_least(host, g) : 0;
    }
    loop_cancel(host->parts.loop, rent->look);
    host_demand_follow(host);
    int64_t next = count_waiting(host), look = host_demand_look_ns(host);
    next = look < next ? look : next;
    assert(next > host_now(host));
    for (uint32_t g = 0; g < groups; g++)
        if (host->spec->group[g].rent != NULL)
            order_more(host, g);
    if (next != CLOCK_NEVER_NS)
        rent->look = loop_at(host->parts.loop, next, LOOP_RANK_SETTLE,
                             scale_again, host, 0);
}

/* ---- nodes that can be rented ------------------------------------------ */

/* Draws a node of a group at random: one that is coming, else one that is
 * here. */
static uint32_t draw_node(struct cs_host *host, uint32_t g)
{
    struct host_rent *rent = host->nodes->rent;
    const struct node_group *group = &host->spec->group[g];
    enum rent_state state = rent->group[g].coming > 0 ? RENT_COMING
                                                      : RENT_HERE;
    uint32_t among = state == RENT_COMING ? rent->group[g].coming
                                          : rent->group[g].here;
    double u = rng_at(host->parts.seed, rent->choices++, host->parts.replica,
                      CHOICE_STREAM);
    uint32_t k = (uint32_t)(u * among), n = group->first_node;

    assert(among > 0 && k < among);
    for (; rent->node[n].state != state || k > 0; n++)
        k -= rent->node[n].state == state;
    assert(n - group->first_node < group->node_count);
    return n;
}

static void handle_change(struct loop *loop, void *self, uint64_t arg);

/* Schedules the next change of the number of nodes that can be rented. */
static void schedule_change(struct cs_host *host)
{
    int64_t next = CLOCK_NEVER_NS;

    for (uint32_t g = 0; g < host->spec->group_count; g++) {
        const struct rent_spec *spec = host->spec->group[g].rent;
        if (spec == NULL || spec->available == NULL)
            continue;
        int64_t at = time_series_next_ns(spec->available, host_now(host));
        assert(at > host_now(host));
        if (at < next)
            next = at;
    }
    loop_cancel(host->parts.loop, host->nodes->rent->change);
    if (next != CLOCK_NEVER_NS && host_goes_on(host->decision))
        host->nodes->rent->change =
            loop_at(host->parts.loop, next, LOOP_RANK_OUTAGE, handle_change,
                    host, 0);
}

/* Reclaims the nodes that can no longer be rented. */
static void follow_supply(struct cs_host *host)
{
    for (uint32_t g = 0; g < host->spec->group_count; g++) {
        const struct rent_spec *spec = host->spec->group[g].rent;
        const struct rent_group *group = &host->nodes->rent->group[g];
        if (spec == NULL || spec->available == NULL)
            continue;
        assert(group->here + group->coming <= host->spec->node_count);
        while (group->here + group->coming >
               host_rent_had(&host->spec->group[g], host_now(host)))
            host_rental_notice(host, draw_node(host, g));
    }
    schedule_change(host);
    host->hooks.wake(host);
}

void host_rent_follow(struct cs_host *host)
{
    assert(host_goes_on(host->decision));
    if (host->nodes->rent != NULL)
        schedule_change(host);
}

/* A series of prices or supply changes now. */
static void handle_change(struct loop *loop, void *self, uint64_t arg)
{
    struct cs_host *host = self;

    (void)loop;
    (void)arg;
    assert(host->nodes->rent != NULL);
    if (host_goes_on(host->decision))
        follow_supply(host);
}

/* Adds the nodes that a job asks for, role by role, to the demand of the first group
 * that suits the role. */
static void count_demand(struct cs_host *host, struct job_id job)
{
    const struct job_request *request = cs_request(host, job);

    assert(request->form->role_count <= FORM_ROLES_MAX);
    for (uint32_t r = 0; r < request->form->role_count; r++)
        for (uint32_t g = 0; g < host->spec->group_count; g++) {
            const struct node_group *group = &host->spec->group[g];
            if (!is_scaled(group) || !suits_role(host, g, job, r))
                continue;
            double nodes = count_nodes_for(group, request, r);
            if (nodes <= group->node_count) {
                host_demand_add(host, g, nodes);
                break;
            }
        }
}

void host_rent_wake(struct cs_host *host, struct job_id job)
{
    assert(host->decision->jobs_left > 0);
    if (host->nodes->rent != NULL && host->nodes->rent->forecasts)
        count_demand(host, job);
    if (host->nodes->rent != NULL && host->decision->jobs_left == 1 &&
        !host->decision->closing)
        follow_supply(host);
}

/* Orders the nodes of a group that are there from the beginning. */
static void begin_group(struct cs_host *host, uint32_t g)
{
    const struct node_group *group = &host->spec->group[g];
    uint32_t here = find_least(group->rent);
    uint32_t had = host_rent_had(group, host_now(host));

    for (uint32_t k = 0; k < group->node_count; k++)
        host_rental_block(host, group->first_node + k);
    here = limit_beside(host, g, 0, here < had ? here : had);
    assert(here <= group->node_count);
    for (uint32_t k = 0; k < here; k++) {
        uint32_t n = host->nodes->rent->group[g].first_away++;
        host_rental_order(host, group->first_node + n, 0);
    }
}

void host_rent_begin(struct cs_host *host)
{
    const struct cluster_spec *spec = host->spec;
    struct arena *arena = host->parts.arena;
    struct host_rent *rent;
    bool spares = false;

    assert(host->nodes->rent == NULL);
    if (!spec->rents)
        return;
    rent = arena_alloc(arena, 1, sizeof *rent);
    rent->node = arena_alloc(arena, spec->node_count, sizeof *rent->node);
    rent->group = arena_alloc(arena, spec->group_count, sizeof *rent->group);
    rent->leaving = arena_alloc(arena, spec->node_count,
                                sizeof *rent->leaving);
    host->nodes->rent = rent;
    host->nodes->leaving = rent->leaving;
    rent->owned_mw = host->nodes->power_mw;
    for (uint32_t g = 0; g < spec->group_count; g++)
        if (spec->group[g].rent != NULL) {
            rent->group[g].demand = host_demand_new(host, g);
            rent->forecasts |= rent->group[g].demand != NULL;
            spares |= spec->group[g].rent->spare > 0;
            begin_group(host, g);
        }
    /* Nodes that are kept ahead are ordered before the first decision. */
    if (rent->forecasts || spares)
        rent->look = loop_at(host->parts.loop,
                             spares ? host_now(host) : host_demand_look_ns(host),
                             LOOP_RANK_SETTLE, scale_again, host, 0);
}
