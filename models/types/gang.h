/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gang.h - a gang: the GPUs and cores of a lease, as a law sees them.
 *
 * Rates are sustained rates of one direction (keys `_sustained` of the
 * catalogue), in bytes per second.  A law assumes that the GPUs are spread
 * evenly over the nodes: gpus / nodes on a node, rounded up.
 */
#ifndef MODELS_TYPES_GANG_H
#define MODELS_TYPES_GANG_H

#include <stdint.h>

struct cpu_type;
struct gpu_type;

/* A plain value; the types that it points to are the catalogue's. */
struct gang {
    const struct gpu_type *gpu; /* slowest type in the gang; NULL: CPU only */
    uint32_t gpus, nodes;
    double intra_bps;           /* per GPU, inside a node: NVLink or PCIe */
    double intra_latency_s;
    double pcie_bps;            /* per GPU, to its host; 0: as its type has it */
    double inter_bps;           /* per node, all its NICs; unused for 1 node */
    double inter_latency_s;
    uint32_t cores;             /* of all nodes */
    const struct cpu_type *cpu; /* NULL where there are no cores */
};

#endif
