/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * power.h - the power that nodes may draw, under the cap of the cluster.
 *
 * Milliwatts at the meter, in whole numbers.  They are counted even if there is
 * no cap, except for leases: host_power_lease() is called under a cap alone.
 */
#ifndef POLICIES_LEASES_POWER_H
#define POLICIES_LEASES_POWER_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct cluster;
struct cluster_spec;
struct host_nodes;
struct fit_want;
struct node_group;
struct placement;
struct placer;
struct share;

/* Returns what the cluster draws with places that are not taken yet, if beside `nodes` that many
 * nodes of each group stand by, standing[], milliwatts. */
double host_power_with(const struct host_nodes *nodes, const struct cluster *cluster,
                       const uint32_t *standing, const struct placement *place, uint32_t count);
/* Returns counters that are zero, in the arena. */
struct host_nodes *host_power_new(struct arena *arena);
/* Counts the nodes that are there from the beginning. */
void host_power_begin(struct host_nodes *nodes,
                      const struct cluster_spec *spec);
/* A rented node comes, or goes. */
void host_power_node(struct host_nodes *nodes,
                     const struct cluster_spec *spec, uint32_t node,
                     bool comes);
/* Returns what the cap leaves, milliwatts, beside the nodes that stand by. */
double host_power_beside_nodes_mw(const struct host_nodes *nodes,
                                  const struct cluster_spec *spec);
/* Returns how many of `most` more nodes of a group may stand by under the cap so that
 * beside_mw are left; all if there is no cap. */
uint32_t host_power_nodes(const struct host_nodes *nodes, const struct cluster_spec *spec,
                          const struct node_group *group, int64_t beside_mw, uint32_t most);
/* Returns what a lease of the least unit of a node of the group adds: a GPU, or a core of a
 * node without GPUs. */
int64_t host_power_unit_mw(const struct cluster_spec *spec, const struct node_group *group);
/* Returns what the lease of a want adds on nodes of the group. */
int64_t host_power_want_mw(const struct cluster_spec *spec, const struct node_group *group,
                           const struct fit_want *want);
/* A lease is taken, or given back. */
void host_power_lease(struct host_nodes *nodes, const struct cluster *cluster,
                      const struct placement *placement, bool taken);
/* Returns whether the cap allows a placement that is not taken yet, with
 * *more_mw for others that are not; adds its own to *more_mw.  True if there is
 * no cap. */
bool host_power_allows(const struct host_nodes *nodes,
                       const struct cluster *cluster,
                       const struct placement *placement, int64_t *more_mw);
/* What the cap has refused while a job's roles are looked for. */
struct power_draw {
    int64_t more_mw;            /* of the roles that have a place, not taken yet */
    bool refused;               /* a place was found that the cap does not allow */
};
/* Finds the place that the rule likes best among those that the cap allows.  The
 * groups of a place that it does not allow, and those that would draw no less, are left out,
 * and the search goes on in the others.
 * `look`: without a random number.  share: room for share_max.  Adds its own to
 * draw->more_mw; false: there is none, and more_mw is as it was. */
bool host_power_find(const struct host_nodes *nodes, const struct cluster *cluster,
                     struct placer *placer, struct fit_want *want, bool look,
                     struct share *share, uint32_t share_max,
                     struct power_draw *draw, struct placement *out);
/* Returns whether the cap allows one lease, `before`, to become two on the same
 * nodes. */
bool host_power_allows_beside(const struct host_nodes *nodes,
                              const struct cluster *cluster,
                              const struct placement *before,
                              const struct placement *one,
                              const struct placement *two);

#endif
