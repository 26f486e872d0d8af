/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gpu_index.h - which nodes of a group have how many GPUs free: an index.
 *
 * Every node is a word with one bit set, bit f-1 if it has f GPUs free (none:
 * 0); eight words are joined by "or" into one above them, and so on up to a
 * single one.  The next node with a number of free GPUs out of any set of
 * numbers is found by walking that tree, in time that grows with the
 * logarithm of the nodes.
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

/* All nodes with that many free. */
void gpu_index_init(struct gpu_index *room, struct arena *arena, uint32_t node_count,
                    uint32_t gpus);
/* Nodes are numbered from 0 within the group. */
void gpu_index_set(struct gpu_index *room, uint32_t node, uint32_t free_before,
                   uint32_t free_now);
/* GPUs that are free on a node. */
static inline uint32_t gpu_index_at(const struct gpu_index *room, uint32_t node)
{
    uint64_t word = room->level[0][node];

    return word == 0 ? 0 : (uint32_t)__builtin_ctzll(word) + 1;
}

/* The first node from `node` on whose bit is in `counts`, or GPU_INDEX_NONE. */
uint32_t gpu_index_next(const struct gpu_index *room, uint32_t node, uint64_t counts);

/* Sets of numbers of free GPUs. */
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

/* All numbers that some node has. */
static inline uint64_t gpu_index_counts(const struct gpu_index *room)
{
    return room->level[room->level_count - 1][0];
}

#endif
