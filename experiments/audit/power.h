/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * power.h - the part of an audit that adds up what a cluster could draw.  For leases.c
 * only, and only where the cluster has a power cap.
 */
#ifndef EXPERIMENTS_AUDIT_POWER_H
#define EXPERIMENTS_AUDIT_POWER_H

#include <stdbool.h>
#include <stdint.h>

struct cluster_spec;
struct placement;

/* What could be drawn at the meter now: nodes that are there stand by, leased GPUs and cores
 * are at full load. */
struct audit_power {
    const struct cluster_spec *cluster; /* with its cap and PUE */
    int64_t micro_w;            /* microwatts at the meter */
    uint64_t items;             /* nodes and shares in it: the host rounds each to 1 mW */
};

/* Begins with the nodes that are not rented.  The cluster must live as long. */
void audit_power_begin(struct audit_power *power, const struct cluster_spec *cluster);
/* Counts a node that stands by from now on (`comes`), or no longer. */
void audit_power_node(struct audit_power *power, uint32_t node, bool comes);
/* Counts a lease that is taken, or dropped: at full load, beyond its nodes' idle power. */
void audit_power_lease(struct audit_power *power, const struct placement *placement,
                       bool taken);
/* Is what could be drawn within the cap?  The host rounds each item to a milliwatt, and
 * that much is forgiven. */
bool audit_power_holds(const struct audit_power *power);

#endif
