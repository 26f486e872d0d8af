/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gpu_index.h - an index of the nodes of a group by their number of free GPUs.
 *
 * Each node is a word: with f free GPUs bit f-1 is set, with none the word is
 * 0. A word of the level above is the "or" of eight words, up to a single word
 * at the top.  A search down this tree finds the next node whose number of free
 * GPUs is in a given set, in logarithmic time.
 */
#ifndef MODELS_CLUSTER_GPU_INDEX_H
#define MODELS_CLUSTER_GPU_INDEX_H

#include <stdint.h>

#include "models/types/placement.h"

struct arena;

#define GPU_INDEX_LEVELS_MAX 11u     /* 8^11 nodes are more than 2^32 */
#define GPU_INDEX_NONE UINT32_MAX

struct gpu_index {
    uint64_t *level[GPU_INDEX_LEVELS_MAX];   /* 0: the nodes */
    uint32_t level_count;
    uint32_t node_count;
    uint32_t nodes_with[NODE_GPUS_MAX + 1];     /* by free GPUs */
};

/* Sets up node_count nodes with `gpus` free GPUs each. */
void gpu_index_init(struct gpu_index *room, struct arena *arena, uint32_t node_count,
                    uint32_t gpus);
/* Changes the free GPUs of a node, which is numbered from 0 within the
 * group. */
void gpu_index_set(struct gpu_index *room, uint32_t node, uint32_t free_before,
                   uint32_t free_now);
/* GPUs that are free on a node. */
static inline uint32_t gpu_index_at(const struct gpu_index *room, uint32_t node)
{
    uint64_t word = room->level[0][node];

    return word == 0 ? 0 : (uint32_t)__builtin_ctzll(word) + 1;
}

/* Returns the first node from `node` on whose bit is in `counts`;
 * GPU_INDEX_NONE: there is none. */
uint32_t gpu_index_next(const struct gpu_index *room, uint32_t node, uint64_t counts);

/* Sets of numbers of free GPUs: exactly `gpus`, and `gpus` or more. */
static inline uint64_t gpu_index_exactly(uint32_t gpus)
{
    return gpus == 0 || gpus > NODE_GPUS_MAX ? 0 : UINT64_C(1) << (gpus - 1);
}

static inline uint64_t gpu_index_from(uint32_t gpus)
{
    if (gpus > NODE_GPUS_MAX)
        return 0;
    return UINT64_MAX << (gpus == 0 ? 0 : gpus - 1);
}

/* The set of all numbers that some node has. */
static inline uint64_t gpu_index_counts(const struct gpu_index *room)
{
    return room->level[room->level_count - 1][0];
}

#endif
