/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cluster_spec.c - what is asked of a cluster's spec: the group of a node, its
 * masks of GPUs, what nodes cost, pools.  Nothing here depends on what is taken
 * (cluster.c).
 */
#include "models/cluster/cluster.h"
#include "models/cluster/rented.h"
#include "models/cluster/time_series.h"
#include "models/laws/outage.h"
#include "models/types/placement.h"

#include <assert.h>
#include <string.h>

#include "models/catalogue/catalogue.h"
#include "sim/base/clock.h"

/* Recorded failures count too: they are dealt to nodes by a draw. */
bool cluster_fails(const struct cluster_spec *spec)
{
    assert(spec != NULL);
    const struct outage_spec *f = spec->failures;

    return f != NULL && (f->gpu_mtbf_ns > 0 || f->node_mtbf_ns > 0 || f->switch_mtbf_ns > 0 ||
                         f->job_mtbf_ns > 0 || f->recorded != NULL);
}

bool cluster_draws(const struct cluster_spec *spec)
{
    assert(spec != NULL);
    bool draws = cluster_fails(spec);

    for (uint32_t g = 0; g < spec->group_count; g++) {
        const struct rent_spec *rent = spec->group[g].rent;

        draws = draws || (rent != NULL && (rent->reclaim_mtbf_ns > 0 ||
                                           rent->available != NULL));
    }
    return draws;
}

/* Binary search: groups are in order of their first nodes. */
const struct node_group *cluster_group_search(const struct cluster_spec *spec,
                                              uint32_t node)
{
    assert(spec != NULL && node < spec->node_count);
    uint32_t low = 0, high = spec->group_count - 1;
    while (low < high) {
        uint32_t middle = low + (high - low + 1) / 2;
        if (spec->group[middle].first_node <= node)
            low = middle;
        else
            high = middle - 1;
    }
    assert(node - spec->group[low].first_node < spec->group[low].node_count);
    return &spec->group[low];
}

/* GPUs first, first + 1 ... of a node that has `all` of them.  GPUs beyond `all` are left out. */
static uint64_t gpu_range(uint32_t first, uint32_t count, uint32_t all)
{
    assert(all <= NODE_GPUS_MAX && count > 0);
    uint64_t mask = 0;
    for (uint32_t g = first; g < first + count && g < all; g++)
        mask |= UINT64_C(1) << g;
    return mask;
}

uint64_t cluster_switch_gpus(const struct node_group *group, uint32_t i)
{
    assert(group != NULL && i < group->pcie_switches);
    assert(group->gpus % group->pcie_switches == 0);
    uint32_t each = group->gpus / group->pcie_switches;
    return gpu_range(i * each, each, group->gpus);
}

uint64_t cluster_domain_gpus(const struct node_group *group, uint32_t i)
{
    assert(group != NULL && i <= NODE_GPUS_MAX && group->gpus > 0);
    uint32_t each = group->nvlink_domain > 0 ? group->nvlink_domain
                                             : group->gpus;
    return gpu_range(i * each, each, group->gpus);
}

double cluster_node_usd(const struct node_group *group, int64_t from_ns,
                        int64_t to_ns)
{
    assert(group != NULL && to_ns >= from_ns);
    if (group->price != NULL)
        return time_series_area(group->price, from_ns, to_ns) / 3600;
    return group->usd_per_h * clock_s_from_ns(to_ns - from_ns) / 3600;
}

double cluster_node_least_usd_per_h(const struct node_group *group)
{
    assert(group != NULL);
    return group->price != NULL ? time_series_least(group->price)
                                : group->usd_per_h;
}

double cluster_node_usd_per_h(const struct node_group *group, int64_t now_ns)
{
    assert(group != NULL);
    return group->price != NULL ? time_series_at(group->price, now_ns)
                                : group->usd_per_h;
}

/* A lease pays for its part of the node's GPUs; their number is what a node is
 * sold by.  For example, 2 of 8 GPUs of a node of 16 USD an hour, for half an hour: 2 USD. */
double cluster_held_usd(const struct cluster_spec *spec,
                        const struct placement *placement, int64_t from_ns,
                        int64_t to_ns)
{
    double usd = 0;

    assert(spec != NULL && placement != NULL);
    for (uint32_t i = 0; i < placement->share_count; i++) {
        const struct share *share = &placement->share[i];
        const struct node_group *group = cluster_group_of(spec, share->node);
        double part = 0;
        if (group->gpus > 0)
            part = share_milli(share) / ((double)GPU_MILLI * group->gpus);
        else if (group->cores > 0)
            part = (share->cores + share->core_milli / 1000.0) / group->cores;
        usd += part * cluster_node_usd(group, from_ns, to_ns);
    }
    return usd;
}

/* Ended: adds to held_s, or is returned as the culprit.  NULL: it goes on until end_ns, or its
 * last value may be held. */
static const struct time_series *series_over(const struct time_series *time_series,
                                             int64_t end_ns, double *held_s)
{
    assert(held_s != NULL);
    int64_t over_ns = time_series != NULL ? time_series_over_ns(time_series, end_ns) : 0;

    if (over_ns > 0 && !time_series->hold)
        return time_series;
    *held_s += clock_s_from_ns(over_ns);
    return NULL;
}

const struct time_series *cluster_series_over(const struct cluster_spec *spec,
                                              int64_t end_ns, double *held_s)
{
    const struct time_series *over;

    assert(spec != NULL && held_s != NULL);
    *held_s = 0;
    for (uint32_t g = 0; g < spec->group_count; g++) {
        const struct node_group *group = &spec->group[g];
        over = series_over(group->price, end_ns, held_s);
        if (over == NULL && group->rent != NULL)
            over = series_over(group->rent->available, end_ns, held_s);
        if (over != NULL)
            return over;
    }
    return series_over(spec->carbon, end_ns, held_s);
}

bool cluster_computes(const struct node_group *group)
{
    assert(group != NULL);
    return group->cpu != NULL && group->cores > 0 &&
           group->cpu->flops_fp32 > 0.0 &&
           group->cpu->memory_bps_sustained > 0.0;
}

uint32_t cluster_pool(const struct cluster_spec *spec, const char *name)
{
    assert(spec != NULL && name != NULL);
    for (uint32_t i = 0; i < spec->pool_count; i++)
        if (strcmp(spec->pool_name[i], name) == 0)
            return i;
    return UINT32_MAX;
}
