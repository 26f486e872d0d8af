/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * power.c - what nodes and leases could draw, against the power cap.
 *
 * The host adds the same watts (policies/leases/power.c) and decides by them.  Here
 * they are added once more, from facts alone.  Sums are of whole microwatts, so what is
 * taken off again leaves nothing.
 */
#include "experiments/audit/power.h"

#include <assert.h>
#include <math.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/cluster/power.h"
#include "models/types/placement.h"

#define HOST_ROUNDS_UW 501      /* half a milliwatt, and this file's own rounding */

/* Returns the microwatts of `w` watts of the cluster, at the meter. */
static int64_t micro_of(const struct audit_power *power, double w)
{
    return llround(1e6 * power->cluster->pue * w);
}

/* Adding UINT64_MAX to `items` takes one off, as unsigned sums wrap around. */
void audit_power_node(struct audit_power *power, uint32_t node, bool comes)
{
    const struct node_group *group = cluster_group_of(power->cluster, node);
    double w = group->idle_w;

    if (group->gpu != NULL)
        w += group->gpus * power_gpu_w(group->gpu, 0);
    power->micro_w += (comes ? 1 : -1) * micro_of(power, w);
    power->items += comes ? 1 : UINT64_MAX;
}

void audit_power_lease(struct audit_power *power, const struct placement *placement,
                       bool taken)
{
    for (uint32_t s = 0; s < placement->share_count; s++) {
        const struct share *share = &placement->share[s];
        const struct node_group *group = cluster_group_of(power->cluster, share->node);
        double cores = share->cores + share->core_milli / 1000.0, w = 0;

        if (group->gpu != NULL)
            w += (double)share_milli(share) / GPU_MILLI *
                 (power_gpu_w(group->gpu, 1) - power_gpu_w(group->gpu, 0));
        if (group->cores > 0)
            w += cores / group->cores * (group->max_w - group->idle_w);
        power->micro_w += (taken ? 1 : -1) * micro_of(power, w);
        power->items += taken ? 1 : UINT64_MAX;
    }
}

void audit_power_begin(struct audit_power *power, const struct cluster_spec *cluster)
{
    power->cluster = cluster;
    for (uint32_t n = 0; n < cluster->node_count; n++)
        if (cluster_group_of(cluster, n)->rent == NULL)
            audit_power_node(power, n, true);
}

bool audit_power_holds(const struct audit_power *power)
{
    return (double)power->micro_w <= 1e6 * power->cluster->power_cap_w +
                                                HOST_ROUNDS_UW * (double)power->items;
}
