/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gpu_index.h - an index of the nodes of a group by their number of free GPUs.
 *
 * There is a row of bits for each number of free GPUs, a bit for each node.
 * Row 0 has the nodes with any free GPU.  Above each row stand rows of one bit
 * for 64, which says whether one of them is set, up to a single word.  A search
 * finds the next node whose number of free GPUs is in a given set, in
 * logarithmic time.
 */
#ifndef MODELS_CLUSTER_GPU_INDEX_H
#define MODELS_CLUSTER_GPU_INDEX_H

#include <assert.h>
#include <stdint.h>

#include "models/types/placement.h"

struct arena;

#define GPU_INDEX_LEVELS_MAX 6u     /* 64^6 nodes are more than 2^32 */
#define GPU_INDEX_WORD 64u          /* bits */
#define GPU_INDEX_NONE UINT32_MAX

struct gpu_index {
    /* 0: the nodes.  Word w of row r is [w * rows + r], so that the words of
     * the same nodes lie together. */
    uint64_t *level[GPU_INDEX_LEVELS_MAX];
    uint32_t words[GPU_INDEX_LEVELS_MAX];       /* of one row */
    uint32_t level_count, rows; /* levels in use; rows of each, one more than a node has GPUs */
    uint32_t node_count;        /* 0: it was not set up */
    uint8_t *free;              /* free GPUs, by node */
    uint64_t counts;            /* the set of all numbers that some node has */
    uint32_t nodes_with[NODE_GPUS_MAX + 1];     /* by free GPUs */
};

/* Sets up node_count nodes with `gpus` free GPUs each. */
void gpu_index_init(struct gpu_index *room, struct arena *arena, uint32_t node_count,
                    uint32_t gpus);

/* Returns the first node from `node` on whose bit is in `counts`;
 * GPU_INDEX_NONE: there is none. */
uint32_t gpu_index_next(const struct gpu_index *room, uint32_t node, uint64_t counts);

/* Returns the first node from `node` on with any free GPU; mostly it is the next one. */
static inline uint32_t gpu_index_next_any(const struct gpu_index *room, uint32_t node)
{
    if (node < room->node_count) {
        uint64_t nodes = room->level[0][node / GPU_INDEX_WORD * room->rows] >>
                         node % GPU_INDEX_WORD;
        if (nodes != 0)
            return node + (uint32_t)__builtin_ctzll(nodes);
    }
    return gpu_index_next(room, node, UINT64_MAX);
}

/* Sets of numbers of free GPUs: exactly `gpus`, and `gpus` or more. */
static inline uint64_t gpu_index_exactly(uint32_t gpus)
{
    return gpus == 0 || gpus > NODE_GPUS_MAX ? 0 : UINT64_C(1) << (gpus - 1);
}

/* The set of `gpus` and all larger numbers; of 0, all. */
static inline uint64_t gpu_index_from(uint32_t gpus)
{
    if (gpus > NODE_GPUS_MAX)
        return 0;
    return UINT64_MAX << (gpus == 0 ? 0 : gpus - 1);
}

/* The set of all numbers that some node has. */
static inline uint64_t gpu_index_counts(const struct gpu_index *room)
{
    return room->counts;
}

/* GPUs that are free on a node. */
static inline uint32_t gpu_index_at(const struct gpu_index *room, uint32_t node)
{
    return room->free[node];
}

/* Word `word` of a row is no longer 0, or is 0 now: so above it. */
void gpu_index_rise(struct gpu_index *room, uint32_t row, uint32_t word);
void gpu_index_fall(struct gpu_index *room, uint32_t row, uint32_t word);

/* Changes the free GPUs of a node, which is numbered from 0 within the
 * group.  In line, since every share of every lease comes here. */
static inline void gpu_index_set(struct gpu_index *room, uint32_t node,
                                 uint32_t free_before, uint32_t free_now)
{
    assert(node < room->node_count && free_now < room->rows);
    assert(room->free[node] == free_before);
    if (free_before == free_now)
        return;
    uint32_t word = node / GPU_INDEX_WORD;
    uint64_t *row = &room->level[0][word * room->rows];
    uint64_t bit = UINT64_C(1) << node % GPU_INDEX_WORD;

    room->free[node] = (uint8_t)free_now;
    room->nodes_with[free_before]--;
    room->nodes_with[free_now]++;
    if (free_before > 0 && (row[free_before] &= ~bit) == 0)
        gpu_index_fall(room, free_before, word);
    if (free_now == 0 && (row[0] &= ~bit) == 0)
        gpu_index_fall(room, 0, word);
    if (free_now == 0)
        return;
    if (row[free_now] == 0)
        gpu_index_rise(room, free_now, word);
    row[free_now] |= bit;
    if (row[0] == 0)
        gpu_index_rise(room, 0, word);
    row[0] |= bit;
}

#endif
