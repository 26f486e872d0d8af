/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rent.c - how many nodes are ordered, and when: for the tasks that wait (backlog.c), and
 * ahead of them (demand.c), if the provider has them (supply.c).  rental.c says what then
 * happens to each node.
 *
 * When the run could end, nothing is ordered.  Under a power cap a node that is for no task
 * is ordered if a GPU could run besides.
 */
#include "policies/nodes/rent.h"

#include <assert.h>
#include <math.h>

#include "models/cluster/cluster.h"
#include "models/cluster/power.h"
#include "models/cluster/rented.h"
#include "models/jobs/job.h"
#include "policies/leases/power.h"
#include "policies/nodes/backlog.h"
#include "policies/nodes/demand.h"
#include "policies/nodes/need.h"
#include "policies/nodes/notice.h"
#include "policies/nodes/rental.h"
#include "policies/nodes/supply.h"
#include "policies/policy.h"
#include "policies/state/decision.h"
#include "policies/state/nodes.h"
#include "policies/state/state.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/event/loop.h"

/* ---- orders ------------------------------------------------------------ */

/* Returns the number of nodes that could still be ordered if they drew nothing but what they
 * draw standing by.  The least of what the provider has, of what the file says, and of what
 * the cap allows. */
static uint32_t nodes_left(const struct cs_host *host, uint32_t g)
{
    const struct rent_group *group = &host->rent->group[g];
    uint32_t most = host_supply_at(&host->spec->group[g], host_now(host));
    uint32_t used = group->here + group->coming + group->leaving;

    assert(used <= host->spec->group[g].node_count);
    return host_power_nodes(host->nodes, host->spec, &host->spec->group[g], 0,
                            most > used ? most - used : 0);
}

/* Orders `count` nodes of a group, or all that are away; none beyond the power cap, which
 * nodes of other groups may have reached.  first_away moves on over nodes that are not away,
 * so that all orders of a trial together are O(nodes) but for those that came back. */
static void order_some(struct cs_host *host, uint32_t g, uint32_t count)
{
    const struct node_group *spec = &host->spec->group[g];
    struct rent_group *group = &host->rent->group[g];

    assert(spec->rent != NULL && group->first_away <= spec->node_count);
    count = host_power_nodes(host->nodes, host->spec, spec, 0, count);
    while (count > 0 && group->first_away < spec->node_count) {
        uint32_t n = spec->first_node + group->first_away++;
        if (host->rent->node[n].state == RENT_AWAY) {
            host_rental_order(host, n, spec->rent->start_ns);
            count--;
        }
    }
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

/* Orders the nodes of a group that were counted for tasks, and those ahead of them.  For
 * example, tasks need 3.2 nodes, 1 is to be ahead, 2 are idle and 1 comes: 4 + 1 - 2 - 1 = 2
 * are ordered. */
static void order_more(struct cs_host *host, uint32_t g)
{
    struct host_rent *rent = host->rent;
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
    const struct rent_group *group = &host->rent->group[g];
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

/* ---- looks ------------------------------------------------------------- */

/* The time has come to look at the number of rented nodes again. */
static void scale_again(struct loop *loop, void *self, uint64_t arg)
{
    (void)loop;
    (void)arg;
    host_rent_scale(self);
}

/* First the fewest nodes of all groups, then tasks are counted, and only then more is ordered:
 * a task may suit several groups. */
void host_rent_scale(struct cs_host *host)
{
    struct host_rent *rent = host->rent;
    uint32_t groups = host->spec->group_count;

    if (rent == NULL || rent->only_meant || !host_goes_on(host->decision) ||
        host->decision->closing)
        return;
    rent->planned_mw = rent->drawn_mw = 0;
    for (uint32_t g = 0; g < groups; g++) {
        rent->group[g].wanted = 0;
        rent->group[g].planned = 0;
        rent->group[g].room = host->spec->group[g].rent != NULL ? order_least(host, g) : 0;
    }
    loop_cancel(host->parts.loop, rent->look);
    host_demand_follow(host);
    int64_t next = host_backlog_count(host), look = host_demand_look_ns(host);
    next = look < next ? look : next;
    assert(next > host_now(host));
    for (uint32_t g = 0; g < groups; g++)
        if (host->spec->group[g].rent != NULL)
            order_more(host, g);
    if (next != CLOCK_NEVER_NS)
        rent->look = loop_at(host->parts.loop, next, LOOP_RANK_SETTLE,
                             scale_again, host, 0);
}

/* ---- nodes for one task alone ------------------------------------------ */

/* Ends the rentals of a group's idle and coming nodes that are not meant, but for nodes_min.
 * Returns how many it has ended. */
static uint32_t end_others(struct cs_host *host, uint32_t g)
{
    const struct node_group *spec = &host->spec->group[g];
    const struct rent_group *group = &host->rent->group[g];
    uint32_t to_come = 0, ended = 0;

    assert(host_need_scales(spec));
    for (uint32_t n = spec->first_node; n < spec->first_node + spec->node_count; n++)
        to_come += host->rent->node[n].meant && host->rent->node[n].state == RENT_AWAY;
    for (uint32_t n = spec->first_node; n < spec->first_node + spec->node_count &&
         group->here + group->coming + to_come > spec->rent->nodes_min; n++) {
        const struct rent_node *node = &host->rent->node[n];
        if (node->meant || node->leases > 0 ||
            (node->state != RENT_HERE && node->state != RENT_COMING))
            continue;
        if (node->state == RENT_HERE)
            host_notice_lose_parked(host, n, CLOCK_NEVER_NS);
        if (node->state != RENT_AWAY)
            host_rental_end(host, n);
        ended++;
    }
    return ended;
}

/* Power and supply come free before more is ordered. */
bool host_rent_only(struct cs_host *host, const bool *meant)
{
    struct host_rent *rent = host->rent;
    uint32_t changes = 0;

    assert(rent != NULL && meant != NULL);
    rent->only_meant = true;
    loop_cancel(host->parts.loop, rent->look);
    for (uint32_t n = 0; n < host->spec->node_count; n++)
        rent->node[n].meant = meant[n];
    for (uint32_t g = 0; g < host->spec->group_count; g++)
        if (host_need_scales(&host->spec->group[g]))
            changes += end_others(host, g);
    for (uint32_t g = 0; g < host->spec->group_count; g++) {
        const struct node_group *group = &host->spec->group[g];
        for (uint32_t k = 0; k < group->node_count && group->rent != NULL; k++) {
            uint32_t n = group->first_node + k;
            if (!meant[n] || rent->node[n].state != RENT_AWAY || nodes_left(host, g) == 0)
                continue;
            host_rental_order(host, n, group->rent->start_ns);
            changes++;
        }
    }
    return changes > 0;
}

void host_rent_as_ever(struct cs_host *host)
{
    assert(host->spec->node_count > 0);
    if (host->rent == NULL || !host->rent->only_meant)
        return;
    host->rent->only_meant = false;
    for (uint32_t n = 0; n < host->spec->node_count; n++)
        host->rent->node[n].meant = false;
    host_rent_scale(host);
}

bool host_rent_comes(const struct cs_host *host)
{
    assert(host->spec->node_count > 0);
    for (uint32_t n = 0; host->rent != NULL && n < host->spec->node_count; n++)
        if (host->rent->node[n].meant && host->rent->node[n].state == RENT_COMING)
            return true;
    return false;
}

/* ---- jobs that come ---------------------------------------------------- */

/* Adds the nodes that a job asks for, role by role, to the demand of the first group
 * that suits the role. */
static void count_demand(struct cs_host *host, struct job_id job)
{
    const struct job_request *request = cs_request(host, job);

    assert(request->form->role_count <= FORM_ROLES_MAX);
    for (uint32_t r = 0; r < request->form->role_count; r++)
        for (uint32_t g = 0; g < host->spec->group_count; g++) {
            const struct node_group *group = &host->spec->group[g];
            if (!host_need_scales(group) || !host_need_suits(host, g, job, r))
                continue;
            double nodes = host_need_nodes(group, request, r);
            if (nodes <= group->node_count) {
                host_demand_add(host, g, nodes);
                break;
            }
        }
}

void host_rent_follow(struct cs_host *host)
{
    assert(host_goes_on(host->decision));
    if (host->rent != NULL)
        host_supply_follow(host);
}

/* If it is the only job, no change of the supply was followed before it came. */
void host_rent_wake(struct cs_host *host, struct job_id job)
{
    assert(host->decision->jobs_left > 0);
    if (host->rent != NULL && host->rent->forecasts)
        count_demand(host, job);
    if (host->rent != NULL && host->decision->jobs_left == 1 &&
        !host->decision->closing)
        host_supply_reclaim(host);
}

/* ---- the beginning ----------------------------------------------------- */

/* Orders the nodes of a group that are there from the beginning.  All nodes are blocked at
 * first; those that are kept from the beginning come at once. */
static void begin_group(struct cs_host *host, uint32_t g)
{
    const struct node_group *group = &host->spec->group[g];
    uint32_t here = find_least(group->rent);
    uint32_t had = host_supply_at(group, host_now(host));

    for (uint32_t k = 0; k < group->node_count; k++)
        host_rental_block(host, group->first_node + k);
    here = limit_beside(host, g, 0, here < had ? here : had);
    assert(here <= group->node_count);
    for (uint32_t k = 0; k < here; k++) {
        uint32_t n = host->rent->group[g].first_away++;
        host_rental_order(host, group->first_node + n, 0);
    }
}

void host_rent_begin(struct cs_host *host)
{
    const struct cluster_spec *spec = host->spec;
    struct arena *arena = host->parts.arena;
    struct host_rent *rent;
    bool spares = false;

    assert(host->rent == NULL);
    if (!spec->rents)
        return;
    rent = arena_alloc(arena, 1, sizeof *rent);
    rent->node = arena_alloc(arena, spec->node_count, sizeof *rent->node);
    rent->group = arena_alloc(arena, spec->group_count, sizeof *rent->group);
    rent->leaving = arena_alloc(arena, spec->node_count,
                                sizeof *rent->leaving);
    rent->parts = arena_alloc(arena, spec->group_count, sizeof *rent->parts);
    host->rent = rent;
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
