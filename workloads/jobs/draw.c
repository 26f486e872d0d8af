/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * draw.c - the least that a cluster draws while a role runs.
 *
 * The units of a role, GPUs or cores, go to the groups where one draws least.  Owned nodes stand
 * by, and rented ones that are always kept.  Others do only as far as these do not suffice: as few
 * as possible, of the thriftiest group.  With one group that is exact; with several it is a lower
 * bound.
 */
#include "workloads/jobs/draw.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/cluster/fit.h"
#include "models/cluster/power.h"
#include "models/cluster/rented.h"
#include "models/jobs/job.h"
#include "workloads/jobs/room.h"

/* What is to be drawn: GPUs of one type, or cores. */
struct load {
    const struct cluster_spec *cluster; /* asked how much of it there is */
    const struct role_spec *role;       /* NULL: of several, whose GPUs have any type */
    uint32_t type;              /* of GPU; ID_NONE: cores */
    double units;               /* GPUs, or cores */
};

/* What a group has for a load, in milliwatts at the meter. */
struct site {
    double unit_mw;             /* of a GPU with its cores, or of a core */
    uint64_t node_units;        /* of one node, > 0 */
    double units;               /* of all its nodes */
    uint32_t standing;          /* nodes that stand by all the time */
    uint32_t nodes;
    double standby_mw;          /* of a node */
};

/* May nodes of a rented group be missing for a while, though they are kept? */
static bool may_miss(const struct cluster_spec *cluster, const struct rent_spec *rent)
{
    return rent->reclaim_mtbf_ns > 0 || rent->available != NULL || cluster->failures != NULL;
}

/* Returns how many nodes of a group stand by from the beginning to the end, at least: those that
 * are owned, and those that are kept.  As in policies/nodes/rent.c, groups are gone through in the
 * order of the file, and a node is kept if the cap leaves power for one of its GPUs, or cores,
 * beside those before it. */
uint32_t draw_standing_nodes(const struct cluster_spec *cluster, uint32_t g)
{
    double left = 1000 * cluster->power_cap_w;
    uint32_t kept = cluster->group[g].node_count;

    if (cluster->group[g].rent == NULL)
        return kept;
    for (uint32_t k = 0; k < cluster->group_count; k++)
        if (cluster->group[k].rent == NULL)
            left -= (double)power_standby_mw(cluster, &cluster->group[k]) *
                    cluster->group[k].node_count;
    for (uint32_t k = 0; k <= g; k++) {
        const struct node_group *group = &cluster->group[k];
        if (group->rent == NULL)
            continue;
        double each = (double)power_standby_mw(cluster, group);
        double unit = round(1000 * cluster->pue * (group->gpus > 0 ? power_gpu_more_w(group)
                                                                   : power_core_more_w(group)));
        kept = group->rent->scale == RENT_ALWAYS ? group->node_count : group->rent->nodes_min;
        if (cluster->power_cap_w > 0 && left - unit < each * kept)
            kept = left > unit ? (uint32_t)((left - unit) / each) : 0;
        left -= kept * each;
    }
    return may_miss(cluster, cluster->group[g].rent) ? 0 : kept;
}

/* Returns the watts that a GPU at full load adds, with the cores of the role
 * beside it.  A part of a GPU may have fewer cores, so none are counted: the
 * result stays a lower bound. */
static double gpu_w(const struct load *load, const struct node_group *group)
{
    return power_gpu_more_w(group) +
           (load->units < 1.0 ? 0.0 : load->role->cores * power_core_more_w(group));
}

/* Fills what group g has for the load.  False: it has nothing. */
static bool find_site(const struct load *load, uint32_t g, struct site *site)
{
    const struct cluster_spec *cluster = load->cluster;
    const struct node_group *group = &cluster->group[g];
    struct fit_want want = { 0 };

    if (load->role != NULL)
        want = (struct fit_want) { .cores = load->role->cores,
                                   .memory_bytes = load->role->memory_bytes };
    if (load->role != NULL && !room_in_pool(cluster, group, load->role->pool))
        return false;
    if (load->role == NULL)
        site->node_units = group->gpus;
    else if (load->type == ID_NONE)
        site->node_units = fit_cores_max(&want, group->cores, group->memory_bytes);
    else if (group->gpu != NULL && group->gpu->index == load->type)
        site->node_units = room_gpus(group, load->role);
    else
        return false;
    site->units = (double)site->node_units * group->node_count;
    site->unit_mw = load->role == NULL ? 0.0 : 1000 * cluster->pue *
                    (load->type == ID_NONE ? power_core_more_w(group) : gpu_w(load, group));
    site->standing = draw_standing_nodes(cluster, g);
    site->nodes = group->node_count;
    site->standby_mw = (double)power_standby_mw(cluster, group);
    return site->node_units > 0;
}

/* Goes through the groups in the order of what a unit draws there, groups that draw alike
 * in the order of the file.  Returns the group that follows `last` (ID_NONE: the first
 * group); ID_NONE: there is no more. */
static uint32_t find_next(const struct load *load, uint32_t last, struct site *best)
{
    struct site site, before = { .unit_mw = -1 };
    uint32_t next = ID_NONE;

    if (last != ID_NONE && !find_site(load, last, &before))
        return ID_NONE;
    for (uint32_t g = 0; g < load->cluster->group_count; g++) {
        if (!find_site(load, g, &site) || site.unit_mw < before.unit_mw ||
            (site.unit_mw == before.unit_mw && g <= last))
            continue;
        if (next == ID_NONE || site.unit_mw < best->unit_mw) {
            next = g;
            *best = site;
        }
    }
    return next;
}

/* Returns the rented group that follows `last` (ID_NONE: the first) in the order of what a unit's
 * part of a node draws standing by; groups that draw alike in the order of the file. */
static uint32_t find_next_rented(const struct load *load, uint32_t last, struct site *best)
{
    struct site site;
    double before = -1.0;
    uint32_t next = ID_NONE;

    if (last != ID_NONE)
        before = best->standby_mw / (double)best->node_units;
    for (uint32_t g = 0; g < load->cluster->group_count; g++) {
        if (!find_site(load, g, &site) || site.standing == site.nodes)
            continue;
        double here = site.standby_mw / (double)site.node_units;
        if (here < before || (here <= before && g <= last))
            continue;
        if (next == ID_NONE || here < best->standby_mw / (double)best->node_units) {
            next = g;
            *best = site;
        }
    }
    return next;
}

/* Returns the standby of the rented nodes that are needed for `left` units, at least, if parts of
 * nodes could be rented: the cheapest first. */
static double parts_mw(const struct load *load, double left)
{
    struct site site;
    double mw = 0.0;

    for (uint32_t g = find_next_rented(load, ID_NONE, &site); left > 0.0 && g != ID_NONE;
         g = find_next_rented(load, g, &site)) {
        double units = (double)site.node_units * (site.nodes - site.standing);
        double here = fmin(left, units);
        mw += here / (double)site.node_units * site.standby_mw;
        left -= here;
    }
    return mw;
}

/* Returns the standby of the rented nodes that are needed beside all that
 * stand by anyhow, at least.  Two lower bounds: the fewest nodes, by the largest node and the
 * lowest standby of any rented group; and parts of nodes. */
static double rented_mw(const struct load *load)
{
    double owned = 0.0, node_mw = INFINITY;
    uint64_t node_units = 1;
    struct site site;

    for (uint32_t g = 0; g < load->cluster->group_count; g++) {
        if (!find_site(load, g, &site))
            continue;
        owned += (double)site.node_units * site.standing;
        if (site.standing == site.nodes)
            continue;
        node_units = site.node_units > node_units ? site.node_units : node_units;
        node_mw = fmin(node_mw, site.standby_mw);
    }
    if (owned >= load->units)
        return 0.0;
    return fmax(ceil((load->units - owned) / (double)node_units) * node_mw,
                parts_mw(load, load->units - owned));
}

/* Returns what the load adds over any number of nodes: the units go to the
 * groups where one draws least.  INFINITY: there is no room. */
static double units_mw(const struct load *load)
{
    double left = load->units, mw = 0.0;
    struct site site = { .unit_mw = 0 };

    for (uint32_t g = find_next(load, ID_NONE, &site); left > 0.0 && g != ID_NONE;
         g = find_next(load, g, &site)) {
        double here = fmin(left, site.units);
        mw += here * site.unit_mw;
        left -= here;
    }
    return left > 0.0 ? INFINITY : mw;
}

/* Returns the same with the standby of rented nodes. */
static double spread_mw(const struct load *load)
{
    return units_mw(load) + rented_mw(load);
}

/* Returns what `gpus` GPUs of the role's types and `cores` cores of one node
 * draw, on the node where that is least.  INFINITY: no node has them. */
static double one_node_mw(const struct cluster_spec *cluster, const struct role_spec *role,
                          double gpus, double cores, double memory_bytes)
{
    double least = INFINITY;

    for (uint32_t g = 0; g < cluster->group_count; g++) {
        const struct node_group *group = &cluster->group[g];

        if (!room_in_pool(cluster, group, role->pool) || group->gpus < gpus ||
            group->cores < cores || (double)group->memory_bytes < memory_bytes ||
            (gpus > 0 && !job_role_takes_type(role, group->gpu->index)) ||
            (role->on_cores.cores > 0 && !room_computes(role, group)))
            continue;
        least = fmin(least, 1000 * cluster->pue * (gpus * power_gpu_more_w(group) +
                                                   cores * power_core_more_w(group)) +
                                (draw_standing_nodes(cluster, g) > 0
                                     ? 0.0 : (double)power_standby_mw(cluster, group)));
    }
    return least;
}

/* Returns what the role adds to the standby of owned nodes.  A pod lies on one
 * node; cores that compute do, too.  With GPUs of several types, the type that
 * draws least counts. */
static double role_mw(const struct cluster_spec *cluster, const struct role_spec *role,
                      double gpus)
{
    const struct role_cores *need = &role->on_cores;
    struct load load = { cluster, role, ID_NONE, gpus };
    double least = INFINITY;

    if (role->pod)
        return one_node_mw(cluster, role, gpus, (double)role->core_milli / 1000,
                           (double)role->memory_bytes);
    if (need->cores > 0)
        least = one_node_mw(cluster, role, 0, need->cores, (double)need->memory_bytes);
    else if (role->gpus == 0) {
        load.units = role->cores;
        return spread_mw(&load);
    }
    for (uint32_t i = 0; role->gpus > 0 && i < role->gpu_type_count; i++) {
        load.type = role->gpu_types[i];
        least = fmin(least, spread_mw(&load));
    }
    return least;
}

double draw_standby_mw(const struct cluster_spec *cluster)
{
    double mw = 0.0;

    for (uint32_t g = 0; g < cluster->group_count; g++)
        mw += (double)power_standby_mw(cluster, &cluster->group[g]) *
              draw_standing_nodes(cluster, g);
    return mw;
}

/* What a lease draws on a node is rounded to whole milliwatts, for each node by
 * itself.  The sum may be too high by one for each unit, so that much is taken
 * off. */
double draw_least_mw(const struct cluster_spec *cluster, const struct role_spec *role,
                     uint64_t gpu_milli)
{
    double gpus = (double)gpu_milli / GPU_MILLI;
    double slack = 1.0 + fmax(gpus, fmax(role->cores, role->on_cores.cores));

    assert(gpu_milli == 0 || role->gpus > 0);
    return draw_standby_mw(cluster) + fmax(0.0, role_mw(cluster, role, gpus) - slack);
}

/* Above one GPU only whole GPUs count, so what is left over a whole number is
 * cut off. */
uint64_t draw_most_milli(const struct cluster_spec *cluster, const struct role_spec *role,
                         uint32_t gpus_max)
{
    uint64_t low = 0, high = (uint64_t)gpus_max * GPU_MILLI;

    if (cluster->power_cap_w <= 0)
        return high;
    while (low < high) {
        uint64_t middle = low + (high - low + 1) / 2;

        if (draw_least_mw(cluster, role, middle) <= 1000 * cluster->power_cap_w)
            low = middle;
        else
            high = middle - 1;
    }
    return low > GPU_MILLI ? low - low % GPU_MILLI : low;
}
