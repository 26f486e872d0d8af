/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * placement.h - which GPUs, cores and memory of which nodes.
 */
#ifndef MODELS_PLACEMENT_H
#define MODELS_PLACEMENT_H

#include <stdint.h>

#define NODE_GPUS_MAX 64u

struct share {
    uint32_t node;
    uint32_t cores;
    uint64_t gpu_mask;          /* bit g: GPU g of that node */
    int64_t memory_bytes;
};

/* Shares stand in ascending node order, a node at most once. */
struct placement {
    struct share *share;
    uint32_t share_count;
};

uint32_t placement_gpus(const struct placement *placement);
uint32_t placement_cores(const struct placement *placement);

#endif
