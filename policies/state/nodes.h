/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * nodes.h - nodes that fail, are rented, or draw power.
 */
#ifndef POLICIES_STATE_NODES_H
#define POLICIES_STATE_NODES_H

#include <stdbool.h>
#include <stdint.h>

struct host_idle;
struct host_outage;
struct host_rent;

/* NULL: not in this trial. */
struct host_nodes {
    struct host_outage *outage;     /* NULL: nothing fails */
    struct host_rent *rent;         /* NULL: nothing is rented */
    int64_t power_mw;               /* milliwatts that could be drawn now; leases are
                                       counted under a power cap alone */
    const bool *leaving;            /* per node, likewise: no new leases */
    struct host_idle *idle;         /* NULL: nobody asked */
};

#endif
