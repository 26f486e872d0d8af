/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cost.c - what holding, moving and loading cost, in dollars and in seconds.
 */
#include "policies/leases/cost.h"

#include <assert.h>
#include <math.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/cluster/fabric.h"
#include "models/jobs/job.h"
#include "models/types/placement.h"
#include "policies/state/terms.h"
#include "sim/base/clock.h"

/* A lease pays for a part of each node: on nodes with GPUs its part of the
 * GPUs, on other nodes its part of the cores.  Example: 4 of the 8 GPUs of a
 * node of 20 USD/h cost 10 USD/h, whatever cores go with them.  Shares lie in
 * the order of nodes, so that shares of one group are next to each other and
 * are priced together. */
double host_gpu_usd_per_h(const struct cluster_spec *spec,
                          const struct placement *placement, int64_t at_ns)
{
    double usd = 0;

    for (uint32_t i = 0; i < placement->share_count;) {
        const struct node_group *group =
            cluster_group_of(spec, placement->share[i].node);
        uint32_t end = group->first_node + group->node_count;
        uint64_t milli = 0, core_milli = 0;
        for (; i < placement->share_count && placement->share[i].node < end;
             i++) {
            const struct share *share = &placement->share[i];
            milli += share_milli(share);
            core_milli += share->cores * UINT64_C(1000) + share->core_milli;
        }
        double part = 0;
        if (group->gpus > 0)
            part = (double)milli / ((double)GPU_MILLI * group->gpus);
        else if (group->cores > 0)
            part = (double)core_milli / 1000.0 / group->cores;
        usd += part * cluster_node_usd_per_h(group, at_ns);
    }
    assert(usd >= 0 && placement->share_count > 0);
    return usd;
}

/* Prices that change over time are integrated; else the price at the end holds for
 * all of it.  0 if no node has a price. */
double host_lease_usd(const struct cluster_spec *spec,
                      const struct placement *placement, int64_t from_ns,
                      int64_t to_ns)
{
    assert(from_ns <= to_ns);
    if (spec->unpriced)
        return 0;
    if (spec->priced)
        return cluster_held_usd(spec, placement, from_ns,
                                to_ns);
    return clock_s_from_ns(to_ns - from_ns) / 3600 *
           host_gpu_usd_per_h(spec, placement, to_ns);
}

/* Only bytes to or from rented nodes are paid for.  They are taken to be spread
 * evenly over the shares. */
double host_transfer_usd(const struct cluster_spec *spec,
                         const struct placement *placement, double bytes)
{
    uint32_t rented = 0;

    assert(bytes >= 0 && placement->share_count > 0);
    for (uint32_t s = 0; spec->rents && s < placement->share_count; s++)
        rented += cluster_group_of(spec, placement->share[s].node)
                      ->rent != NULL;
    assert(rented <= placement->share_count);
    return rented == 0 ? 0
         : bytes * spec->transfer_usd_per_byte * rented /
               placement->share_count;
}

/* Returns in how many of the s seconds that a phase ran its GPUs were at work.  Links that slow
 * a phase down add no work: it worked as long as it would have alone. */
double host_busy_s(const struct host_phase_run *run, double s)
{
    double work_s = s;

    assert(s >= 0 && run->part >= 0);
    if (run->rate_max > 0 && s * run->rate_max > run->part)
        work_s = run->part / run->rate_max;
    if (run->busy_fraction < 0)
        return 0;
    return run->busy_fraction > 1 ? work_s : work_s * run->busy_fraction;
}

/* Returns the bandwidth, in bytes a second, of the slowest link that loading
 * crosses, all free: PCIe of all GPUs; of the part that comes from elsewhere (0: none)
 * the NICs, the storage and the link of a remote site too. */
static double load_bps(const struct cluster_spec *spec, double part,
                       const struct placement *placement)
{
    double pcie = 0, nic = 0, far = INFINITY;

    for (uint32_t i = 0; i < placement->share_count; i++) {
        const struct node_group *group =
            cluster_group_of(spec, placement->share[i].node);
        pcie += fabric_pcie_bps(group, placement->share[i].gpu_mask);
        nic += group->nic_bps;
        if (group->wan_bps > 0)
            far = fmin(far, group->wan_bps);
    }
    if (nic > 0)
        far = fmin(far, nic);
    if (spec->storage_bps > 0)
        far = fmin(far, spec->storage_bps);
    assert(part >= 0 && part <= 1 && far > 0);
    return fmin(part > 0 ? far / part : INFINITY, pcie > 0 ? pcie : INFINITY);
}

/* All of the state leaves the nodes, so that NICs and the storage count for all
 * of it. */
double host_store_s(const struct cluster_spec *spec, const struct role_spec *role,
                    const struct placement *placement)
{
    assert(role->save_bytes >= 0);
    return role->save_bytes / load_bps(spec, 1, placement);
}

/* Returns the bandwidth of the narrowest NICs of a node; each takes all of a copy. */
static double copy_bps(const struct cluster_spec *spec, const struct placement *placement)
{
    double bps = INFINITY;

    for (uint32_t i = 0; i < placement->share_count; i++) {
        double nic = cluster_group_of(spec, placement->share[i].node)->nic_bps;
        if (nic > 0)
            bps = fmin(bps, nic);
    }
    assert(bps > 0);
    return bps;
}

/* The slowest of two copies that go on at once (the state, and new weights that
 * are owed), and then the start of the process: wake_s if a node has kept its
 * state, else start_s. */
double host_switch_s(const struct cluster_spec *spec, const struct role_spec *role,
                     struct host_standing standing, const struct placement *placement)
{
    double owed = standing.owed_bytes;
    bool gpus = placement_gpus(placement) > 0;
    struct role_load load = job_role_load(role, standing.first && !standing.woken, gpus,
                                          placement->share_count);
    double bps = load_bps(spec, standing.woken ? 0 : load.part, placement);
    double copy_s = owed > 0 ? owed / copy_bps(spec, placement) : 0;

    assert(bps > 0);
    return fmax(copy_s, load.bytes / bps) +
           job_role_start_s(role, standing.woken, gpus);
}
