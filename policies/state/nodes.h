/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * nodes.h - nodes that fail, are under notice, or draw power.
 */
#ifndef POLICIES_STATE_NODES_H
#define POLICIES_STATE_NODES_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

struct host_idle;
struct host_outage;

/* NULL: not in this trial. */
struct host_nodes {
    struct host_outage *outage;     /* NULL: nothing fails */
    int64_t power_mw;               /* milliwatts that could be drawn now; leases are
                                       counted under a power cap alone */
    int64_t standby_mw;             /* of it, what nodes that are there draw at rest */
    int64_t gpu_least_mw;           /* what a leased GPU adds to it at least; 0: perhaps
                                       nothing, or there is no cap */
    const bool *leaving;            /* per node, likewise: no new leases */
    struct host_idle *idle;         /* NULL: nobody asked */
};

/* Returns how many GPUs a cap of cap_w watts allows at most to be leased beside those that
 * are; UINT32_MAX: there is no bound. */
static inline uint32_t host_gpus_capped(const struct host_nodes *nodes, double cap_w)
{
    double left = 1000 * cap_w - (double)nodes->power_mw;

    assert(nodes->gpu_least_mw >= 0);
    if (nodes->gpu_least_mw == 0)
        return UINT32_MAX;
    left = left > 0 ? left / (double)nodes->gpu_least_mw : 0;
    return left < UINT32_MAX ? (uint32_t)left : UINT32_MAX;
}

#endif
