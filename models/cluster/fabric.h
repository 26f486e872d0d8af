/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fabric.h - the links of a cluster as a flow network, and which links the
 * flows of a placement use.
 *
 * Links: of each node its CPU (capacity in core-seconds per second), its PCIe
 * (all GPU slots together; if the file states PCIe switches, the uplink of
 * each), its NIC and its NVMe drives; an uplink of each leaf switch; the shared
 * storage; the line to the storage of a group that is far from it (WAN).  A
 * link without a capacity in the file does not exist, and no path crosses it.
 *
 * The functions fabric_uses*() fill `use`, with room for fabric_use_max()
 * entries, and return the number of entries.
 */
#ifndef MODELS_CLUSTER_FABRIC_H
#define MODELS_CLUSTER_FABRIC_H

#include <stdbool.h>
#include <stdint.h>

#include "models/types/gang.h"
#include "models/types/placement.h"
#include "sim/flow/flow.h"

struct arena;
struct cluster_spec;
struct demand_rates;
struct fabric;
struct node_group;

/* In the order in which links are numbered. */
enum link_class { FABRIC_CPU, FABRIC_PCIE, FABRIC_NIC, FABRIC_NVME,
                  FABRIC_UPLINK, FABRIC_STORAGE, FABRIC_WAN, FABRIC_CLASS_COUNT };

/* Returns the fabric in the arena; adds its links to the net. */
struct fabric *fabric_new(struct arena *arena, const struct cluster_spec *spec,
                          struct flow_net *net);
/* Returns the (first) link of that class for a node; UINT32_MAX: none. */
uint32_t fabric_link(const struct fabric *fabric, enum link_class kind,
                     uint32_t node);
/* Returns how many links of that class the node has; their numbers follow the
 * first.  More than one: PCIe switches. */
uint32_t fabric_link_count(const struct fabric *fabric, enum link_class kind,
                           uint32_t node);
/* Returns the class of a link, by its number. */
enum link_class fabric_class(const struct fabric *fabric, uint32_t link);
/* Returns the word for messages and tables: static text. */
const char *link_class_name(enum link_class kind);

/* Uses of a phase on a placement, per unit of work. */
uint32_t fabric_uses(const struct fabric *fabric,
                     const struct placement *placement,
                     const struct demand_rates *rates, struct flow_use *use);
/* Uses of moving state, per unit: `bytes` leave the nodes of `from` evenly and
 * arrive evenly at those of `to`.  A node in both uses its PCIe only. */
uint32_t fabric_uses_between(const struct fabric *fabric,
                             const struct placement *from,
                             const struct placement *to, double bytes,
                             struct flow_use *use);
/* Uses of copying weights: `bytes` leave `from` once and arrive at every node
 * of `to`, which pass them on from node to node. */
uint32_t fabric_uses_copies(const struct fabric *fabric,
                            const struct placement *from,
                            const struct placement *to, double bytes,
                            struct flow_use *use);
/* Uses of sending data: `bytes` per unit go from the nodes of `from` evenly to
 * those of `to` (NULL: not placed yet).  Between different nodes they cross
 * both NICs and, without zero copy, host memory on both sides.  Entries are
 * added to the `count` entries that `use` has already. */
uint32_t fabric_uses_send(const struct fabric *fabric,
                          const struct placement *from,
                          const struct placement *to, double bytes,
                          bool zero_copy, struct flow_use *use,
                          uint32_t count);
/* Adds the `more_count` entries of `more` to the `count` entries of `use`, both in
 * ascending order of links; returns how many there are then. */
uint32_t fabric_uses_join(struct flow_use *use, uint32_t count,
                          const struct flow_use *more, uint32_t more_count);
/* Returns the rate at which these GPUs of a node together copy to or from host
 * memory, if nothing else uses the links. */
double fabric_pcie_bps(const struct node_group *group, uint64_t gpu_mask);
/* Returns the most entries for node_count shares, of both placements. */
uint32_t fabric_use_max(const struct fabric *fabric, uint32_t node_count);

/* Returns the gang of a placement. */
struct gang fabric_gang(const struct cluster_spec *spec,
                        const struct placement *placement);

#endif
