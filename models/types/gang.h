/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gang.h - what a law sees of a lease: GPUs and cores that work together.
 *
 * Rates are sustained rates (the catalogue's `_sustained`), one direction.
 * GPUs are spread evenly: gpus / nodes per node, rounded up.
 */
#ifndef MODELS_TYPES_GANG_H
#define MODELS_TYPES_GANG_H

#include <stdint.h>

struct cpu_type;
struct gpu_type;

struct gang {
    const struct gpu_type *gpu; /* the slowest type held; NULL: CPU only */
    uint32_t gpus, nodes;
    double intra_bps;           /* per GPU, inside a node: NVLink or PCIe */
    double intra_latency_s;
    double inter_bps;           /* per node, all NICs; unused for one node */
    double inter_latency_s;
    uint32_t cores;             /* of all nodes */
    const struct cpu_type *cpu; /* NULL where there are no cores */
};

#endif
