/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fabric.h - the links of a cluster as a flow network, and who crosses what.
 *
 * Per node: its CPU (cores, capacity in core-seconds per second), its PCIe
 * (all GPU slots together, or, where the file gives PCIe switches, the uplink
 * of each of them), its NIC, its NVMe; per leaf switch an uplink; the shared
 * storage, and the line there of a group that is far from it (WAN).  A link of
 * no capacity in the file is left out, and a path simply does not cross it.
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

struct fabric *fabric_new(struct arena *arena, const struct cluster_spec *spec,
                          struct flow_net *net);
uint32_t fabric_link(const struct fabric *fabric, enum link_class kind,
                     uint32_t node);    /* UINT32_MAX: there is none */
/* Links of that class on that node: PCIe switches; they follow the first. */
uint32_t fabric_link_count(const struct fabric *fabric, enum link_class kind,
                           uint32_t node);
enum link_class fabric_class(const struct fabric *fabric, uint32_t link);
const char *link_class_name(enum link_class kind);

/* Fills `use` (at least fabric_use_max(...) long) and returns the count. */
uint32_t fabric_uses(const struct fabric *fabric,
                     const struct placement *placement,
                     const struct demand_rates *rates, struct flow_use *use);
/* From one placement to another, per unit: `bytes` leave `from` evenly and
 * arrive evenly at `to` (state moved); nodes in both cost PCIe only. */
uint32_t fabric_uses_between(const struct fabric *fabric,
                             const struct placement *from,
                             const struct placement *to, double bytes,
                             struct flow_use *use);
/* The same where `bytes` leave `from` once and arrive whole at every node of
 * `to`, passed on from node to node (weights from trainer to rollout). */
uint32_t fabric_uses_copies(const struct fabric *fabric,
                            const struct placement *from,
                            const struct placement *to, double bytes,
                            struct flow_use *use);
/* What nodes of `from` make, `bytes` per unit, goes evenly to the nodes of
 * `to` (NULL: not there yet): pairs of different nodes cross NICs and, but for
 * zero copy, host memory on both sides.  Added to the `count` uses there. */
uint32_t fabric_uses_send(const struct fabric *fabric,
                          const struct placement *from,
                          const struct placement *to, double bytes,
                          bool zero_copy, struct flow_use *use,
                          uint32_t count);
/* What those GPUs of a node together copy to or from host memory, alone. */
double fabric_pcie_bps(const struct node_group *group, uint64_t gpu_mask);
/* Room that is enough for node_count shares (both placements' together). */
uint32_t fabric_use_max(const struct fabric *fabric, uint32_t node_count);

/* What the laws see of a placement. */
struct gang fabric_gang(const struct cluster_spec *spec,
                        const struct placement *placement);

#endif
