/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * placement.h - which GPUs, cores and memory of which nodes a lease holds.
 */
#ifndef MODELS_TYPES_PLACEMENT_H
#define MODELS_TYPES_PLACEMENT_H

#include <stdint.h>

#define NODE_GPUS_MAX 64u

#define GPU_MILLI 1000u         /* thousandths of a GPU; a whole GPU */

struct share {
    uint32_t node;
    uint32_t cores;
    uint64_t gpu_mask;          /* bit g: GPU g of that node */
    int64_t memory_bytes;
    uint16_t gpu_milli;         /* part of each GPU; 0: the whole GPU */
    uint16_t core_milli;        /* added to `cores`; below 1000 */
    uint32_t gpu_mib;           /* MiB of each GPU's memory; 0: not stated */
};

/* Shares are sorted by node; each node appears at most once.  The struct does
 * not own `share`. */
struct placement {
    struct share *share;
    uint32_t share_count;
};

/* The number of set bits of each byte. */
extern const uint8_t mask_byte_count[256];

/* Returns the number of set bits: of a node of up to 8 GPUs by a table, else after
 * Warren, Hacker's Delight, 5-1.  Every share of every lease comes here.  Without
 * -march a compiler emits a function call for __builtin_popcount; this is faster. */
static inline uint32_t mask_count(uint64_t mask)
{
    if (mask < sizeof mask_byte_count)
        return mask_byte_count[mask];
    mask -= mask >> 1 & UINT64_C(0x5555555555555555);
    mask = (mask & UINT64_C(0x3333333333333333)) +
           (mask >> 2 & UINT64_C(0x3333333333333333));
    mask = (mask + (mask >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (uint32_t)(mask * UINT64_C(0x0101010101010101) >> 56);
}

/* Returns what a share takes of GPUs, in thousandths of a GPU. */
static inline uint32_t share_milli(const struct share *share)
{
    return mask_count(share->gpu_mask) *
           (share->gpu_milli == 0 ? GPU_MILLI : share->gpu_milli);
}

/* Returns the number of GPUs that the placement uses, wholly or in part. */
uint32_t placement_gpus(const struct placement *placement);
/* Returns whole cores; core_milli are left out. */
uint32_t placement_cores(const struct placement *placement);
/* Returns all cores in thousandths of a core. */
uint64_t placement_core_milli(const struct placement *placement);

#endif
