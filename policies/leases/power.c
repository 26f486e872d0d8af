/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * power.c - the power cap of a cluster: what could exceed it does not
 * start.
 *
 * Counted is what could be drawn at the meter: nodes that are there stand by,
 * leased GPUs and cores at full load (models/cluster/power.h), all times PUE.  So the
 * cap is never exceeded, whatever phases do; frequencies are not lowered.
 * Whole milliwatts, so that what comes and goes leaves no rounding errors.
 */
#include "policies/leases/power.h"

#include <assert.h>
#include <math.h>

#include "models/cluster/cluster.h"
#include "models/cluster/fit.h"
#include "models/cluster/place.h"
#include "models/cluster/power.h"
#include "models/types/placement.h"
#include "policies/state/nodes.h"
#include "sim/base/arena.h"

/* Returns the milliwatts that a share may draw beyond its node's idle power;
 * only_free: of those of its GPUs alone that are not leased yet. */
static int64_t share_mw(const struct cluster *cluster,
                        const struct share *share, bool only_free)
{
    const struct node_group *group =
        cluster_group_of(cluster->spec, share->node);
    double w = 0, cores = share->cores + share->core_milli / 1000.0;
    struct share gpus = *share;

    if (only_free && (share->gpu_milli == 0 || share->gpu_milli == GPU_MILLI))
        gpus.gpu_mask &= cluster->free_mask[share->node];
    if (group->gpu != NULL)
        w += share_milli(&gpus) / (double)GPU_MILLI *
             power_gpu_more_w(group);
    if (group->cores > 0)
        w += cores / group->cores * (group->max_w - group->idle_w);
    assert(w >= 0);
    return llround(1000 * cluster->spec->pue * w);
}

/* The node comes into use, or goes: it stands by, whether somebody leases it or not. */
void host_power_node(struct host_nodes *nodes,
                     const struct cluster_spec *spec, uint32_t node,
                     bool comes)
{
    int64_t mw = (comes ? 1 : -1) * power_standby_mw(spec, cluster_group_of(spec, node));

    nodes->standby_mw += mw;
    nodes->power_mw += mw;
    assert(nodes->standby_mw >= 0 && nodes->power_mw >= nodes->standby_mw);
}

/* Negative if the nodes alone draw more than the cap. */
double host_power_beside_nodes_mw(const struct host_nodes *nodes,
                                  const struct cluster_spec *spec)
{
    assert(nodes->standby_mw >= 0);
    return 1000 * spec->power_cap_w - (double)nodes->standby_mw;
}

/* By division, as all nodes of a group draw the same.  Without a cap: `most`. */
uint32_t host_power_nodes(const struct host_nodes *nodes, const struct cluster_spec *spec,
                          const struct node_group *group, int64_t beside_mw, uint32_t most)
{
    int64_t each = power_standby_mw(spec, group);
    double left = 1000 * spec->power_cap_w - (double)(nodes->power_mw + beside_mw);

    assert(beside_mw >= 0);
    if (spec->power_cap_w <= 0 || left >= (double)each * most)
        return most;
    return left > 0 ? (uint32_t)(left / (double)each) : 0;
}

/* What a lease adds is worked out anew when it is given back: the same shares give the same
 * number, so that nothing has to be stored. */
void host_power_lease(struct host_nodes *nodes, const struct cluster *cluster,
                      const struct placement *placement, bool taken)
{
    for (uint32_t s = 0; s < placement->share_count; s++)
        nodes->power_mw += (taken ? 1 : -1) *
                           share_mw(cluster, &placement->share[s], false);
    assert(nodes->power_mw >= 0);
}

/* Whole GPUs of idle leases that would be taken over are counted already: of whole GPUs the free
 * ones alone add something. */
bool host_power_allows(const struct host_nodes *nodes,
                       const struct cluster *cluster,
                       const struct placement *placement, int64_t *more_mw)
{
    if (cluster->spec->power_cap_w <= 0)
        return true;
    for (uint32_t s = 0; s < placement->share_count; s++)
        *more_mw += share_mw(cluster, &placement->share[s], true);
    assert(*more_mw >= 0);
    return (double)(nodes->power_mw + *more_mw) <=
           1000 * cluster->spec->power_cap_w;
}

/* All nodes of a group draw the same, so that the first stands for each. */
double host_power_with(const struct host_nodes *nodes, const struct cluster *cluster,
                       const uint32_t *standing, const struct placement *place, uint32_t count)
{
    const struct cluster_spec *spec = cluster->spec;
    struct host_nodes with = *nodes;

    for (uint32_t g = 0; g < spec->group_count; g++)
        for (uint32_t k = 0; k < standing[g]; k++)
            host_power_node(&with, spec, spec->group[g].first_node, true);
    for (uint32_t p = 0; p < count; p++)
        for (uint32_t s = 0; s < place[p].share_count; s++)
            with.power_mw += share_mw(cluster, &place[p].share[s], true);
    assert(with.power_mw >= nodes->power_mw);
    return (double)with.power_mw;
}

struct host_nodes *host_power_new(struct arena *arena)
{
    struct host_nodes *nodes = arena_alloc(arena, 1, sizeof *nodes);

    assert(nodes->power_mw == 0);
    return nodes;
}

/* Returns the watts that what is wanted adds at full load on nodes of a group. */
static double group_w(const struct fit_want *want, const struct node_group *group)
{
    double gpus = want->gpus, cores = want->cores;

    if (want->gpu_milli > 0)
        gpus *= want->gpu_milli / (double)GPU_MILLI;
    if (want->gpus > 0)
        cores *= want->gpus;
    if (want->pod)
        cores = (double)want->core_milli / 1000;
    assert(gpus >= 0 && cores >= 0);
    return gpus * power_gpu_more_w(group) + cores * power_core_more_w(group);
}

int64_t host_power_want_mw(const struct cluster_spec *spec, const struct node_group *group,
                           const struct fit_want *want)
{
    assert(spec->pue > 0);
    return llround(1000 * spec->pue * group_w(want, group));
}

int64_t host_power_unit_mw(const struct cluster_spec *spec, const struct node_group *group)
{
    assert(spec->pue > 0);
    return llround(1000 * spec->pue * (group->gpus > 0 ? power_gpu_more_w(group)
                                                       : power_core_more_w(group)));
}

/* Takes the groups of a placement that the cap refused out of those of a want, and those
 * where it would draw no less; these not if GPUs that are leased count as free, which draw
 * nothing more.  False: no group is left. */
static bool leave_groups_out(const struct cluster_spec *spec, struct fit_want *want,
                             const struct placement *placement)
{
    double most_w = 0;
    bool left = false;

    assert(placement->share_count > 0);
    for (uint32_t s = 0; s < placement->share_count; s++) {
        const struct node_group *group = cluster_group_of(spec, placement->share[s].node);
        most_w = fmax(most_w, group_w(want, group));
        if (want->extra != NULL)
            want->groups_out |= fit_group_bit((uint32_t)(group - spec->group));
    }
    for (uint32_t g = 0; g < spec->group_count; g++) {
        if (want->extra == NULL && group_w(want, &spec->group[g]) >= most_w)
            want->groups_out |= fit_group_bit(g);
        left |= fit_allows(want, g, spec->group[g].pool);
    }
    return left;
}

/* Under a cap a first check uses counters alone: GPUs beyond what the cap
 * allows at the least draw cannot be leased.  Then places are tried, and after
 * each refusal its groups are left out, so that the loop ends after at most as
 * many turns as there are groups. */
bool host_power_find(const struct host_nodes *nodes, const struct cluster *cluster,
                     struct placer *placer, struct fit_want *want, bool look,
                     struct share *share, uint32_t share_max,
                     struct power_draw *draw, struct placement *out)
{
    assert(draw->more_mw >= 0);
    if (want->extra == NULL && want->gpu_milli % GPU_MILLI == 0 &&
        want->gpus > host_gpus_capped(nodes, cluster->spec->power_cap_w)) {
        draw->refused = true;
        return false;
    }
    while ((look ? placer_look : placer_find)(placer, want, share, share_max, out)) {
        int64_t mw = draw->more_mw;
        if (host_power_allows(nodes, cluster, out, &mw)) {
            draw->more_mw = mw;
            return true;
        }
        draw->refused = true;
        if (!look)
            placer_refuse(placer);
        if (!leave_groups_out(cluster->spec, want, out))
            return false;
    }
    return false;
}

/* The two leases share the GPUs: what they add is theirs less what the first
 * draws now. */
bool host_power_allows_beside(const struct host_nodes *nodes,
                              const struct cluster *cluster,
                              const struct placement *before,
                              const struct placement *one,
                              const struct placement *two)
{
    int64_t more_mw = 0;

    assert(before->share_count == one->share_count &&
           one->share_count == two->share_count);
    if (cluster->spec->power_cap_w <= 0)
        return true;
    for (uint32_t s = 0; s < before->share_count; s++)
        more_mw += share_mw(cluster, &one->share[s], false) +
                   share_mw(cluster, &two->share[s], false) -
                   share_mw(cluster, &before->share[s], false);
    return (double)(nodes->power_mw + more_mw) <=
           1000 * cluster->spec->power_cap_w;
}

/* Returns the milliwatts that a leased GPU adds at least, over all groups; 1
 * less, since what a share adds is rounded.  0: there are no GPUs. */
static int64_t find_gpu_least_mw(const struct cluster_spec *spec)
{
    double least_w = INFINITY;

    for (uint32_t g = 0; g < spec->group_count; g++)
        if (spec->group[g].gpu != NULL)
            least_w = fmin(least_w, power_gpu_more_w(&spec->group[g]));
    assert(least_w >= 0);
    double mw = floor(1000 * spec->pue * least_w) - 1;
    return isinf(least_w) || mw < 0 ? 0 : (int64_t)mw;
}

void host_power_begin(struct host_nodes *nodes,
                      const struct cluster_spec *spec)
{
    assert(nodes->power_mw == 0);
    if (spec->power_cap_w > 0)
        nodes->gpu_least_mw = find_gpu_least_mw(spec);
    for (uint32_t n = 0; n < spec->node_count; n++)
        if (cluster_group_of(spec, n)->rent == NULL)
            host_power_node(nodes, spec, n, true);
}
