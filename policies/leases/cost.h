/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cost.h - what holding, moving and loading cost.  Prices: dollars (USD).  A
 * placement has at least one share.  Nothing here fails.
 */
#ifndef POLICIES_LEASES_COST_H
#define POLICIES_LEASES_COST_H

#include <stdbool.h>
#include <stdint.h>

struct cluster_spec;
struct placement;
struct role_spec;

/* Returns what a placement costs an hour, at the prices of a time. */
double host_gpu_usd_per_h(const struct cluster_spec *spec,
                          const struct placement *placement, int64_t at_ns);
/* Returns what a placement costs from one time to another, not before it; 0 if
 * the cluster has no prices. */
double host_lease_usd(const struct cluster_spec *spec,
                      const struct placement *placement, int64_t from_ns,
                      int64_t to_ns);
/* Returns what it costs to move bytes between a placement and the shared
 * storage: the part of its shares that lies on rented nodes pays. */
double host_transfer_usd(const struct cluster_spec *spec,
                         const struct placement *placement, double bytes);
/* Returns the seconds that the saved state of a role takes from a placement to the
 * shared storage, over free links. */
double host_store_s(const struct cluster_spec *spec, const struct role_spec *role,
                    const struct placement *placement);
/* How a role stands before it gets a lease. */
struct host_standing {
    bool woken;                 /* a node's memory keeps its state */
    bool first;                 /* its job has not run yet */
    double owed_bytes;          /* of new weights, taken to come from other nodes */
};
/* Returns the seconds from the grant of a placement until a role can work, if
 * all links are free.  State that a node keeps (`woken`) is taken to be on the nodes of
 * the placement: no network is counted for it. */
double host_switch_s(const struct cluster_spec *spec, const struct role_spec *role,
                     struct host_standing standing, const struct placement *placement);

#endif
