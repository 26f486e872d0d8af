/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * empty.c - the cluster of a trial as if no job ran.
 *
 * The message of a trial that makes no progress asks it whether a task fits at all:
 * what does not fit here never will.  Nodes that cannot be rented now are taken
 * out.
 *
 * Where nothing is at work, the host asks it on which nodes a task could run (standstill.c).
 *
 * It is a second cluster with a placer of its own, so that nothing that is asked of it
 * changes the trial.
 */
#include "policies/host/empty.h"

#include <assert.h>
#include <string.h>

#include "models/cluster/cluster.h"
#include "models/cluster/place.h"
#include "models/cluster/rented.h"
#include "models/jobs/job.h"
#include "policies/leases/power.h"
#include "policies/leases/sets.h"
#include "policies/leases/time.h"
#include "policies/nodes/need.h"
#include "policies/nodes/rental.h"
#include "policies/nodes/supply.h"
#include "policies/state/gpus.h"
#include "policies/state/nodes.h"
#include "policies/state/read.h"
#include "sim/base/arena.h"

/* Takes all of a node out of the cluster. */
static void take_node(struct cluster *cluster, uint32_t n)
{
    struct share all = cluster_free_share(cluster, n);
    struct placement away = { .share = &all, .share_count = 1 };

    assert(n < cluster->spec->node_count);
    cluster_take(cluster, &away);
}

/* Nodes beyond the supply of now are taken out as one placement each that holds
 * all they have. */
void host_empty_begin(struct host_empty *empty, const struct cs_host *host)
{
    const struct cluster_spec *spec = host->spec;

    assert(spec->node_count > 0);
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
    if (host_has_parts(host))
        cluster_split(empty->cluster);
    for (uint32_t g = 0; g < spec->group_count; g++) {
        const struct node_group *group = &spec->group[g];

        for (uint32_t k = host_supply_at(group, host_now(host)); k < group->node_count;
             k++)
            take_node(empty->cluster, group->first_node + k);
    }
    assert(empty->cluster->spec == spec);
}

void host_empty_end(struct host_empty *empty)
{
    assert(empty->arena != NULL);
    arena_free(empty->arena);
    empty->arena = NULL;
}

/* Finds a place in the empty cluster, one that the power cap allows if there is
 * such a place; else any.  Adds what it draws to more_mw of `empty`,
 * milliwatts.  `fit` is searched twice, as a search changes it. */
static bool find_place(struct host_empty *empty, const struct cs_host *host,
                       struct fit_want fit, struct share *share, struct placement *out)
{
    struct power_draw draw = { .more_mw = empty->more_mw };
    struct host_nodes nodes = { .power_mw = 0 };
    uint32_t room = host->spec->node_count;
    struct fit_want again = fit;

    assert(room > 0);
    if (host->spec->power_cap_w <= 0)
        return placer_look(empty->placer, &fit, share, room, out);
    host_power_begin(&nodes, host->spec);
    bool found = host_power_find(&nodes, empty->cluster, empty->placer, &fit, true, share,
                                 room, &draw, out);
    empty->more_mw = draw.more_mw;
    if (found || !draw.refused)
        return found;
    return placer_look(empty->placer, &again, share, room, out);
}

/* Would a power cap forbid the placements, if no other job ran and of rented nodes theirs
 * alone were here?  Sets what the cluster would draw without them, and what they add. */
static void measure_power(struct host_empty *empty, const struct cs_host *host,
                          const struct placement *place, uint32_t count)
{
    const struct cluster_spec *spec = host->spec;
    struct host_nodes nodes = { .power_mw = 0 };
    bool *here = arena_alloc(empty->arena, spec->node_count, sizeof *here);

    host_power_begin(&nodes, spec);
    for (uint32_t p = 0; p < count; p++)
        for (uint32_t s = 0; s < place[p].share_count; s++) {
            uint32_t n = place[p].share[s].node;
            if (cluster_group_of(spec, n)->rent != NULL && !here[n])
                host_power_node(&nodes, spec, n, true);
            here[n] = true;
        }
    empty->more_mw = 0;
    for (uint32_t p = 0; p < count; p++)
        empty->capped |= !host_power_allows(&nodes, empty->cluster, &place[p], &empty->more_mw);
    empty->idle_mw = nodes.power_mw;
}

/* Places the roles one by one, each beside those before it, and gives all
 * places back at the end.  Each role is looked for as after `relax_after`
 * (`relaxed`): it is asked what could fit at all. */
uint32_t host_empty_lacks(struct host_empty *empty, const struct cs_host *host,
                          const struct cs_task *task,
                          const struct cs_want *wants, struct fit_want *fit)
{
    const struct job_form *form = cs_request(host, task->job)->form;
    bool whole = task->role == CS_ALL_ROLES;
    uint32_t from = whole ? 0 : task->role, r = from;
    uint32_t to = whole ? form->role_count : from + 1;
    struct placement place[FORM_ROLES_MAX];
    uint32_t placed = 0, without = ID_NONE;

    assert(from < to && to <= form->role_count);
    empty->more_mw = 0;
    empty->capped = false;
    for (; r < to && without == ID_NONE; r++) {
        struct cs_want want = wants != NULL ? wants[r - from]
                                            : (struct cs_want) { .role = r };
        if (wants == NULL)
            want.gpus = host_shape_least(host, host_job_at(host, task->job.i), r);
        bool any = host_fit_want(host, host_job_at(host, task->job.i), r,
                                 &want, fit);
        fit->relaxed = true;
        if (any && find_place(empty, host, *fit,
                              empty->share + r * host->spec->node_count, &place[placed])) {
            cluster_take(empty->cluster, &place[placed++]);
        } else
            without = r;
    }
    for (uint32_t p = placed; p > 0; p--)
        cluster_release(empty->cluster, &place[p - 1]);
    if (without == ID_NONE && host->spec->power_cap_w > 0)
        measure_power(empty, host, place, placed);
    assert(!empty->capped || host->spec->power_cap_w > 0);
    return without;
}

/* ---- places for one task beside the services ------------------------------ */

/* Returns how many leases stand on a rented node: of services, as no job has one. */
static uint32_t count_leases(const struct cs_host *host, uint32_t n)
{
    assert(n < host->spec->node_count);
    return host->rent != NULL ? host->rent->node[n].leases : 0;
}

/* Puts the services on the cluster, and takes out the nodes beyond what the provider has. */
static void fill_cluster(struct sets *sets, const struct cs_host *host)
{
    for (uint32_t i = 0; i < cs_lease_count(host); i++) {
        const struct cs_lease *lease = cs_lease(host, cs_lease_at(host, i));
        if (!cs_serves(host, lease->job))
            continue;
        cluster_take(sets->cluster, &lease->placement);
        host_power_lease(sets->nodes, sets->cluster, &lease->placement, true);
    }
    for (uint32_t g = 0; g < host->spec->group_count; g++) {
        const struct node_group *group = &host->spec->group[g];
        uint32_t most = host_supply_at(group, host_now(host)), had = 0;
        for (uint32_t n = group->first_node; n < group->first_node + group->node_count; n++) {
            if (count_leases(host, n) == 0 && had >= most)
                take_node(sets->cluster, n);
            else
                had++;
        }
    }
    assert(host->spec->group_count > 0);
}

/* Returns how many nodes of a group stay here whatever the task needs: those that are always kept,
 * and those of services. */
static uint32_t count_kept(const struct cs_host *host, uint32_t g)
{
    const struct node_group *group = &host->spec->group[g];
    uint32_t have, used = 0;

    assert(g < host->spec->group_count);
    have = host->rent->group[g].here + host->rent->group[g].coming;
    if (!host_need_scales(group))
        return have;
    for (uint32_t n = group->first_node; n < group->first_node + group->node_count; n++)
        used += count_leases(host, n) > 0;
    have = have < group->rent->nodes_min ? have : group->rent->nodes_min;
    return used > have ? used : have;
}

/* Adds how the policy would look for a role, on the fewest GPUs if `least`; false: it cannot. */
static bool set_role(struct sets *sets, const struct cs_host *host, struct job_id id, uint32_t r,
                     bool least)
{
    const struct host_job_slot *job = host_job_at(host, id.i);
    struct cs_want option[HOST_OPTIONS], want = { .role = r };
    struct sets_role *role = &sets->role[sets->roles++];
    uint32_t options;

    assert(sets->roles <= FORM_ROLES_MAX && HOST_OPTIONS <= SETS_WAYS);
    if (least)
        want.gpus = host_shape_least(host, job, r);
    want.pool_mask = host_need_pools(host, id, r);
    options = host_want_options(host, job, r, &want, option);
    role->ways = 0;
    for (uint32_t i = 0; i < options; i++)
        if (host_fit_want(host, job, r, &option[i], &role->way[role->ways]))
            role->way[role->ways++].relaxed = true;
    return role->ways > 0;
}

/* Finds places for the roles of the task. */
static bool find_places(struct sets *sets, const struct cs_host *host, const struct cs_task *task,
                        bool least)
{
    bool whole = task->role == CS_ALL_ROLES, all = true;
    uint32_t from = whole ? 0 : task->role;
    uint32_t to = whole ? cs_request(host, task->job)->form->role_count : from + 1;

    assert(from < to && to - from <= FORM_ROLES_MAX);
    sets->roles = 0;
    for (uint32_t r = from; r < to && all; r++)
        all = set_role(sets, host, task->job, r, least);
    return all && sets_find(sets, true);
}

/* Returns a search on the cluster without jobs, in the arena. */
static struct sets *make_sets(const struct cs_host *host, struct arena *arena)
{
    struct placer_parts parts = {
        .rule = host->rules->placement, .seed = host->parts.seed,
        .replica = host->parts.replica, .demand = host->parts.demand,
        .demand_count = host->parts.demand_count,
    };
    struct sets *sets = sets_new(arena, host->spec, &parts);

    for (uint32_t g = 0; g < host->spec->group_count; g++)
        if (host->spec->group[g].rent != NULL)
            sets_keep(sets, g, count_kept(host, g));
    if (host_has_parts(host))
        cluster_split(sets->cluster);
    fill_cluster(sets, host);
    assert(sets->roles == 0);
    return sets;
}

bool host_empty_find(const struct cs_host *host, const struct cs_task *task, bool one_pool,
                     bool *node)
{
    struct arena *arena = arena_new(1 << 16);
    struct sets *sets = make_sets(host, arena);
    sets->one_pool = one_pool || (host->policy->flags & CS_ONE_POOL) != 0;
    bool found = find_places(sets, host, task, false) || find_places(sets, host, task, true);

    assert(task->job.i != ID_NONE && node != NULL);
    memset(node, 0, host->spec->node_count * sizeof *node);
    for (uint32_t r = 0; found && r < sets->roles; r++)
        for (uint32_t s = 0; s < sets->place[r].share_count; s++) {
            uint32_t n = sets->place[r].share[s].node;
            node[n] = cluster_group_of(host->spec, n)->rent != NULL;
        }
    arena_free(arena);
    return found;
}
