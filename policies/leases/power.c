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
#include "models/cluster/power.h"
#include "models/types/placement.h"
#include "policies/state/nodes.h"
#include "policies/state/state.h"

/* Of a share beyond standing by; only what is free of it, where `taken` is
 * counted already. */
static int64_t share_mw(const struct cs_host *host, const struct share *share,
                        bool only_free)
{
    const struct node_group *group =
        cluster_group_of(host->spec, share->node);
    double w = 0, cores = share->cores + share->core_milli / 1000.0;
    struct share gpus = *share;

    if (only_free && (share->gpu_milli == 0 || share->gpu_milli == GPU_MILLI))
        gpus.gpu_mask &= host->cluster->free_mask[share->node];
    if (group->gpu != NULL)
        w += share_milli(&gpus) / (double)GPU_MILLI *
             (power_gpu_w(group->gpu, 1) - power_gpu_w(group->gpu, 0));
    if (group->cores > 0)
        w += cores / group->cores * (group->max_w - group->idle_w);
    return llround(1000 * host->spec->pue * w);
}

void host_power_node(struct cs_host *host, uint32_t node, bool comes)
{
    const struct node_group *group = cluster_group_of(host->spec, node);
    double w = group->idle_w;

    if (group->gpu != NULL)
        w += group->gpus * power_gpu_w(group->gpu, 0);
    host->nodes->power_mw += (comes ? 1 : -1) * llround(1000 * host->spec->pue * w);
}

void host_power_lease(struct cs_host *host, const struct placement *placement,
                      bool taken)
{
    for (uint32_t s = 0; s < placement->share_count; s++)
        host->nodes->power_mw += (taken ? 1 : -1) *
                          share_mw(host, &placement->share[s], false);
}

bool host_power_allows(const struct cs_host *host,
                       const struct placement *placement, int64_t *more_mw)
{
    if (host->spec->power_cap_w <= 0)
        return true;
    for (uint32_t s = 0; s < placement->share_count; s++)
        *more_mw += share_mw(host, &placement->share[s], true);
    return (double)(host->nodes->power_mw + *more_mw) <=
           1000 * host->spec->power_cap_w;
}

bool host_power_allows_beside(const struct cs_host *host,
                              const struct placement *before,
                              const struct placement *one,
                              const struct placement *two)
{
    int64_t more_mw = 0;

    assert(before->share_count == one->share_count &&
           one->share_count == two->share_count);
    if (host->spec->power_cap_w <= 0)
        return true;
    for (uint32_t s = 0; s < before->share_count; s++)
        more_mw += share_mw(host, &one->share[s], false) +
                   share_mw(host, &two->share[s], false) -
                   share_mw(host, &before->share[s], false);
    return (double)(host->nodes->power_mw + more_mw) <=
           1000 * host->spec->power_cap_w;
}

void host_power_begin(struct cs_host *host)
{
    for (uint32_t n = 0; n < host->spec->node_count; n++)
        if (cluster_group_of(host->spec, n)->rent == NULL)
            host_power_node(host, n, true);
}
