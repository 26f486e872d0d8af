/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * empty.c - the cluster of a trial as if no job ran.
 *
 * The message of a trial that makes no progress asks it whether a task fits at all:
 * what does not fit here never will.  Nodes that cannot be rented now are taken
 * out.
 *
 * It is a second cluster with a placer of its own, so that nothing that is asked of it
 * changes the trial.
 */
#include "policies/host/empty.h"

#include <assert.h>

#include "models/cluster/cluster.h"
#include "models/cluster/place.h"
#include "models/jobs/job.h"
#include "policies/leases/power.h"
#include "policies/leases/time.h"
#include "policies/nodes/supply.h"
#include "policies/state/gpus.h"
#include "policies/state/nodes.h"
#include "policies/state/read.h"
#include "sim/base/arena.h"

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
