/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sets.c - places for all roles of a job on a cluster where no other job runs, under the power
 * cap, over sets of rented groups.
 *
 * Rented nodes draw power as they stand by, so that under a cap the place that the rule likes best
 * may lack power, and a place in fewer groups have it.  All sets of rented groups are tried; with
 * more than SETS_GROUPS of them, each alone and all together.  Within a set, roles are placed one
 * after the other, as a start does it (policies/host/request.c).
 */
#include "policies/leases/sets.h"

#include <assert.h>
#include <math.h>

#include "models/cluster/cluster.h"
#include "models/cluster/place.h"
#include "policies/leases/power.h"
#include "sim/base/arena.h"

#define SETS_GROUPS 8u          /* 256 searches at most for a role */

/* Finds a place for role r, in one of its ways, and takes it. */
static bool place_way(struct sets *sets, uint32_t r, const struct fit_want *way)
{
    const struct cluster_spec *spec = sets->cluster->spec;
    struct share *share = sets->share + (size_t)r * spec->node_count;
    struct power_draw draw = { .more_mw = sets->more_mw };
    struct fit_want want = *way;
    bool found;

    want.groups_out |= sets->groups_out;
    found = sets->capped
        ? host_power_find(sets->nodes, sets->cluster, sets->placer, &want, true, share,
                          spec->node_count, &draw, &sets->place[r])
        : placer_look(sets->placer, &want, share, spec->node_count, &sets->place[r]);
    assert(!found || sets->place[r].share_count > 0);
    if (found)
        cluster_take(sets->cluster, &sets->place[r]);
    else
        sets->place[r].share_count = 0;     /* it may be one that the cap refused */
    sets->more_mw = draw.more_mw;
    return found;
}

/* Finds a place for role r, in one pool if no gang is spread over several, and takes it. */
static bool place_role(struct sets *sets, uint32_t r)
{
    uint32_t pools = sets->one_pool ? sets->cluster->spec->pool_count : 1;

    assert(r < sets->roles);
    for (uint32_t i = 0; i < sets->role[r].ways; i++)
        for (uint32_t p = 0; p < pools; p++) {
            struct fit_want way = sets->role[r].way[i];
            if (sets->one_pool && way.pool_mask != 0 && !(way.pool_mask >> p & 1))
                continue;
            if (sets->one_pool)
                way.pool_mask = 1u << p;
            if (place_way(sets, r, &way))
                return true;
        }
    return sets->role[r].ways == 0;
}

/* Finds places for all roles, in their order or, `bound`, those first that are bound to pools; all
 * are given back.  Returns the first role without a place. */
static uint32_t place_roles(struct sets *sets, bool bound)
{
    uint32_t lacks = sets->roles;

    assert(sets->roles <= FORM_ROLES_MAX);
    sets->more_mw = 0;
    for (uint32_t r = 0; r < sets->roles; r++)
        sets->place[r].share_count = 0;
    for (uint32_t pass = 0; pass <= (uint32_t)bound; pass++)
        for (uint32_t r = 0; r < sets->roles && lacks == sets->roles; r++) {
            bool last = bound && (sets->role[r].ways == 0 || sets->role[r].way[0].pool_mask == 0);
            if (last == (pass == 1) && !place_role(sets, r))
                lacks = r;
        }
    for (uint32_t r = 0; r < sets->roles; r++)
        if (sets->place[r].share_count > 0)
            cluster_release(sets->cluster, &sets->place[r]);
    return lacks;
}

/* Marks the nodes of the places, or takes the marks away. */
static void mark_nodes(const struct sets *sets, bool mark)
{
    assert(sets->roles <= FORM_ROLES_MAX);
    for (uint32_t r = 0; r < sets->roles; r++)
        for (uint32_t s = 0; s < sets->place[r].share_count; s++)
            sets->used[sets->place[r].share[s].node] = mark;
}

/* Returns how many rented nodes of a group stand by: those of the places, or those that are kept
 * if these are more.  Of an owned group none is added. */
static uint32_t count_standing(const struct sets *sets, uint32_t g)
{
    const struct node_group *group = &sets->cluster->spec->group[g];
    uint32_t used = 0;

    assert(group->node_count > 0);
    for (uint32_t n = 0; group->rent != NULL && n < group->node_count; n++)
        used += sets->used[group->first_node + n];
    return group->rent == NULL || used > sets->kept[g] ? used : sets->kept[g];
}

/* Returns what the cluster draws with the places, when of rented nodes theirs and those that are
 * kept are here, in milliwatts. */
static double measure_draw(const struct sets *sets)
{
    assert(sets->roles > 0);
    mark_nodes(sets, true);
    for (uint32_t g = 0; g < sets->cluster->spec->group_count; g++)
        sets->standing[g] = count_standing(sets, g);
    mark_nodes(sets, false);
    return host_power_with(sets->nodes, sets->cluster, sets->standing, sets->place, sets->roles);
}

/* Tries one set of rented groups: roles in their order, then those first that are bound to pools;
 * at last without the cap, to learn what the places draw. */
static bool try_set(struct sets *sets, bool capped, uint64_t groups_out)
{
    assert(groups_out == 0 || capped);
    sets->groups_out = groups_out;
    for (uint32_t way = 0; way < (capped ? 4u : 2u); way++) {
        sets->capped = capped && way < 2;
        uint32_t lacks = place_roles(sets, way % 2 == 1);
        double mw = lacks == sets->roles && capped ? measure_draw(sets) : 0;
        if (lacks == sets->roles && mw <= 1000 * sets->cluster->spec->power_cap_w)
            return true;
        if (lacks == sets->roles && mw < sets->draws_mw)
            sets->draws_mw = mw;
        if (way == 0)
            sets->lacks = lacks;
    }
    return false;
}

bool sets_find(struct sets *sets, bool capped)
{
    const struct cluster_spec *spec = sets->cluster->spec;
    uint64_t bit[64], all = 0;
    uint32_t count = 0;

    capped = capped && spec->power_cap_w > 0;
    sets->draws_mw = INFINITY;
    for (uint32_t g = 0; g < spec->group_count && g < 63; g++)
        if (spec->group[g].rent != NULL) {
            bit[count++] = fit_group_bit(g);
            all |= fit_group_bit(g);
        }
    assert(count < 64);
    if (try_set(sets, capped, 0))
        return true;
    for (uint32_t i = 0; capped && count > SETS_GROUPS && i < count; i++)
        if (try_set(sets, true, all & ~bit[i]))
            return true;
    for (uint32_t set = 1; capped && count <= SETS_GROUPS && set < 1u << count; set++) {
        uint64_t out = 0;
        for (uint32_t i = 0; i < count; i++)
            out |= set >> i & 1 ? bit[i] : 0;
        if (try_set(sets, true, out))
            return true;
    }
    return false;
}

struct sets *sets_new(struct arena *arena, const struct cluster_spec *spec,
                      const struct placer_parts *parts)
{
    struct sets *sets = arena_alloc(arena, 1, sizeof *sets);
    struct placer_parts here = *parts;

    assert(spec->node_count > 0);
    here.arena = arena;
    here.cluster = sets->cluster = cluster_new(arena, spec);
    sets->placer = placer_new(&here);
    sets->share = arena_alloc(arena, (size_t)spec->node_count * FORM_ROLES_MAX,
                              sizeof *sets->share);
    sets->kept = arena_alloc(arena, spec->group_count, sizeof *sets->kept);
    sets->used = arena_alloc(arena, spec->node_count, sizeof *sets->used);
    sets->standing = arena_alloc(arena, spec->group_count, sizeof *sets->standing);
    sets->nodes = host_power_new(arena);
    host_power_begin(sets->nodes, spec);
    return sets;
}
