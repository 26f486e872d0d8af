/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * placement.h - which GPUs, cores and memory of which nodes.
 */
#ifndef MODELS_TYPES_PLACEMENT_H
#define MODELS_TYPES_PLACEMENT_H

#include <stdint.h>

#define NODE_GPUS_MAX 64u

#define GPU_MILLI 1000u         /* a whole GPU */

struct share {
    uint32_t node;
    uint32_t cores;
    uint64_t gpu_mask;          /* bit g: GPU g of that node */
    int64_t memory_bytes;
    uint16_t gpu_milli;         /* of each of its GPUs; 0: all of it */
    uint16_t core_milli;        /* beyond its whole cores, below 1000 */
    uint32_t gpu_mib;           /* of each GPU's memory, where parts say so */
};

/* Shares stand in ascending node order, a node at most once. */
struct placement {
    struct share *share;
    uint32_t share_count;
};

/* Bits set.  Without -march a compiler calls a function for it; this is
 * faster, and searches for room count little else (Warren, Hacker's Delight,
 * 5-1). */
static inline uint32_t mask_count(uint64_t mask)
{
    mask -= mask >> 1 & UINT64_C(0x5555555555555555);
    mask = (mask & UINT64_C(0x3333333333333333)) +
           (mask >> 2 & UINT64_C(0x3333333333333333));
    mask = (mask + (mask >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (uint32_t)(mask * UINT64_C(0x0101010101010101) >> 56);
}

/* Thousandths of GPUs that a share takes. */
static inline uint32_t share_milli(const struct share *share)
{
    return mask_count(share->gpu_mask) *
           (share->gpu_milli == 0 ? GPU_MILLI : share->gpu_milli);
}

/* GPUs that it touches, wholly or in part. */
uint32_t placement_gpus(const struct placement *placement);
uint32_t placement_cores(const struct placement *placement);
uint64_t placement_core_milli(const struct placement *placement);

#endif
