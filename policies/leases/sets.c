/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sets.c - places for all roles of a job on a cluster where no other job runs, under the power
 * cap, over sets of rented nodes.
 *
 * Rented nodes draw power as they stand by, so that under a cap the place that the rule likes best
 * may lack power, and a place on fewer nodes have it.  So all numbers of nodes of each rented group
 * are tried.  If these are more than SETS_MAX sets, they are powers of two and all nodes; if these
 * are more, none and all; and at last each group alone.
 *
 * Within a set, roles are placed one after the other, as a start does it
 * (policies/host/request.c).
 */
#include "policies/leases/sets.h"

#include <assert.h>
#include <math.h>

#include "models/cluster/cluster.h"
#include "models/cluster/place.h"
#include "policies/leases/power.h"
#include "sim/base/arena.h"

#define SETS_MAX 512u           /* of rented nodes that are tried */

/* Finds a place for role r, in one of its ways, and takes it. */
static bool place_way(struct sets *sets, uint32_t r, const struct fit_want *way)
{
    const struct cluster_spec *spec = sets->cluster->spec;
    struct share *share = sets->share + (size_t)r * spec->node_count;
    struct power_draw draw = { .more_mw = sets->more_mw };
    struct fit_want want = *way;
    bool found;

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

/* Returns how many rented nodes of a group the places take beyond those that are kept. */
static uint32_t count_more(const struct sets *sets, uint32_t g)
{
    const struct node_group *group = &sets->cluster->spec->group[g];
    uint32_t used = 0;

    assert(group->node_count > 0);
    for (uint32_t n = 0; group->rent != NULL && n < group->node_count; n++)
        used += sets->used[group->first_node + n];
    return used > sets->kept[g] ? used - sets->kept[g] : 0;
}

/* Returns what the cluster draws with the places, when of rented nodes theirs and those that are
 * kept are here, in milliwatts. */
static double measure_draw(const struct sets *sets)
{
    assert(sets->roles > 0);
    mark_nodes(sets, true);
    for (uint32_t g = 0; g < sets->cluster->spec->group_count; g++)
        sets->standing[g] = count_more(sets, g);
    mark_nodes(sets, false);
    return host_power_with(sets->nodes, sets->cluster, sets->standing, sets->place, sets->roles);
}

/* ---- sets of nodes ---- */

/* Is nothing on a node taken? */
static bool is_free(const struct sets *sets, uint32_t g, uint32_t n)
{
    const struct node_group *group = &sets->cluster->spec->group[g];

    assert(n >= group->first_node && n < group->first_node + group->node_count);
    return sets->cluster->free_mask[n] == cluster_all_gpus(group) &&
           sets->cluster->free_cores[n] == group->cores;
}

/* Takes the free nodes of a rented group beyond the limit out of the cluster, or puts them back. */
static void limit_group(struct sets *sets, uint32_t g, bool back)
{
    const struct node_group *group = &sets->cluster->spec->group[g];
    struct cluster *cluster = sets->cluster;
    uint32_t had = 0;

    assert(group->rent != NULL);
    for (uint32_t n = group->first_node; n < group->first_node + group->node_count; n++) {
        struct placement whole = { .share = &sets->out[n], .share_count = 1 };
        if (back && sets->is_out[n]) {
            cluster_release(cluster, &whole);
            sets->is_out[n] = false;
        } else if (!back && is_free(sets, g, n) && had++ >= sets->limit[g]) {
            sets->out[n] = cluster_free_share(cluster, n);
            cluster_take(cluster, &whole);
            sets->is_out[n] = true;
        }
    }
}

/* Tries the nodes within the limits: roles in their order, then those first that are bound to
 * pools; at last without the cap, to learn what the places draw. */
static bool try_nodes(struct sets *sets, bool capped)
{
    assert(sets->roles <= FORM_ROLES_MAX);
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

/* Tries one set of rented nodes: those within the limits. */
static bool try_set(struct sets *sets)
{
    const struct cluster_spec *spec = sets->cluster->spec;

    assert(spec->group_count > 0);
    for (uint32_t g = 0; g < spec->group_count; g++)
        if (spec->group[g].rent != NULL)
            limit_group(sets, g, false);
    bool found = try_nodes(sets, true);
    for (uint32_t g = 0; g < spec->group_count; g++)
        if (spec->group[g].rent != NULL)
            limit_group(sets, g, true);
    return found;
}

/* Which numbers of nodes of a group are tried. */
enum steps { STEPS_ONE, STEPS_DOUBLE, STEPS_ENDS, STEPS_COUNT };

/* Returns the number that follows in a group of `all` nodes. */
static uint32_t next_number(enum steps steps, uint32_t number, uint32_t all)
{
    uint32_t next = steps == STEPS_ONE || number == 0 ? number + 1 : 2 * number;

    assert(number < all);
    return steps == STEPS_ENDS || next > all ? all : next;
}

/* Returns how many sets there are by these steps; more than SETS_MAX is not counted on. */
static uint32_t count_sets(const struct cluster_spec *spec, enum steps steps)
{
    uint32_t sets = 1;

    assert(spec->group_count > 0);
    for (uint32_t g = 0; g < spec->group_count && sets <= SETS_MAX; g++) {
        uint32_t all = spec->group[g].node_count, numbers = 1;
        if (spec->group[g].rent == NULL)
            continue;
        for (uint32_t k = 0; k < all && numbers <= SETS_MAX; k = next_number(steps, k, all))
            numbers++;
        sets *= numbers;
    }
    return sets;
}

/* Goes on to the next limits.  False: these were the last. */
static bool next_limits(struct sets *sets, enum steps steps)
{
    const struct cluster_spec *spec = sets->cluster->spec;

    assert(steps < STEPS_COUNT);
    for (uint32_t g = 0; g < spec->group_count; g++) {
        uint32_t all = spec->group[g].node_count, *limit = &sets->limit[g];
        if (spec->group[g].rent == NULL)
            continue;
        if (*limit < all) {
            *limit = next_number(steps, *limit, all);
            return true;
        }
        *limit = 0;
    }
    return false;
}

/* Tries the nodes of one rented group after the other. */
static bool try_each(struct sets *sets)
{
    const struct cluster_spec *spec = sets->cluster->spec;

    assert(spec->group_count > 0);
    for (uint32_t g = 0; g < spec->group_count; g++) {
        if (spec->group[g].rent == NULL)
            continue;
        sets->limit[g] = spec->group[g].node_count;
        if (try_set(sets))
            return true;
        sets->limit[g] = 0;
    }
    return false;
}

bool sets_find(struct sets *sets, bool capped)
{
    const struct cluster_spec *spec = sets->cluster->spec;
    enum steps steps = STEPS_ONE;

    capped = capped && spec->power_cap_w > 0;
    sets->draws_mw = INFINITY;
    if (try_nodes(sets, capped))
        return true;
    if (!capped || !spec->rents)
        return false;
    for (uint32_t g = 0; g < spec->group_count; g++)
        sets->limit[g] = 0;
    while (steps < STEPS_COUNT && count_sets(spec, steps) > SETS_MAX)
        steps++;
    if (steps == STEPS_COUNT)
        return try_each(sets);
    do
        if (try_set(sets))
            return true;
    while (next_limits(sets, steps));
    return false;
}

void sets_keep(struct sets *sets, uint32_t g, uint32_t count)
{
    const struct cluster_spec *spec = sets->cluster->spec;

    assert(spec->group[g].rent != NULL && sets->kept[g] == 0);
    sets->kept[g] = count;
    for (uint32_t k = 0; k < count; k++)
        host_power_node(sets->nodes, spec, spec->group[g].first_node, true);
}

struct sets *sets_new(struct arena *arena, const struct cluster_spec *spec,
                      const struct placer_parts *parts)
{
    struct sets *sets = arena_alloc(arena, 1, sizeof *sets);
    struct placer_parts here = *parts;
    uint32_t groups = spec->group_count, nodes = spec->node_count;

    assert(nodes > 0);
    here.arena = arena;
    here.cluster = sets->cluster = cluster_new(arena, spec);
    sets->placer = placer_new(&here);
    sets->share = arena_alloc(arena, (size_t)nodes * FORM_ROLES_MAX, sizeof *sets->share);
    sets->kept = arena_alloc(arena, groups, sizeof *sets->kept);
    sets->standing = arena_alloc(arena, groups, sizeof *sets->standing);
    sets->limit = arena_alloc(arena, groups, sizeof *sets->limit);
    sets->used = arena_alloc(arena, nodes, sizeof *sets->used);
    sets->out = arena_alloc(arena, nodes, sizeof *sets->out);
    sets->is_out = arena_alloc(arena, nodes, sizeof *sets->is_out);
    sets->nodes = host_power_new(arena);
    host_power_begin(sets->nodes, spec);
    return sets;
}
