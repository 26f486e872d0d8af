/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * free_index.h - what is free in each group of nodes, kept up to date for
 * searches.
 */
#ifndef MODELS_CLUSTER_FREE_INDEX_H
#define MODELS_CLUSTER_FREE_INDEX_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "models/cluster/capacity_index.h"
#include "models/cluster/gpu_index.h"
#include "models/types/placement.h"

struct arena;
struct cluster_spec;

/* A node is short if its free cores or memory, per free GPU, are less than what
 * it has of them per GPU: only there can they be what limits a demand that is
 * no larger. */
struct group_index {
    struct gpu_index room;     /* without GPUs: not set up */
    uint32_t cores_per_gpu;
    int64_t memory_per_gpu;
    uint32_t short_nodes;
};

struct free_index {             /* per group */
    struct group_index *room;
    struct gpu_index *cores;   /* as GPUs, bits that it takes to write how
                                   many cores a node has free */
    uint32_t *gpus;             /* free in all its nodes */
    struct capacity_book *caps;     /* capacity_index.h */
};

/* What is free of one node. */
struct node_free {
    uint64_t gpu_mask;
    uint32_t cores;
    int64_t memory_bytes;
};

/* 0 for none, 1 for one core, 2 for two or three ... */
static inline uint32_t free_index_cores_class(uint32_t cores)
{
    return cores == 0 ? 0 : 32 - (uint32_t)__builtin_clz(cores);
}

static inline bool free_index_is_short(const struct group_index *room,
                                       uint32_t gpus,
                                       const struct node_free *node)
{
    return (uint64_t)gpus * room->cores_per_gpu > node->cores ||
           gpus * room->memory_per_gpu > node->memory_bytes;
}

/* All of it is free. */
void free_index_init(struct free_index *index, struct arena *arena,
                     const struct cluster_spec *spec);

/* Of a node, the at-th of its group; in line, since every share of every lease
 * comes here.  Returns how many GPUs more are free there now: of fewer, the
 * number modulo 2^32. */
static inline uint32_t free_index_move(struct free_index *index,
                                       uint32_t group, uint32_t at,
                                       uint32_t node,
                                       const struct node_free *before,
                                       const struct node_free *now)
{
    struct group_index *room = &index->room[group];
    uint32_t gpus_before = mask_count(before->gpu_mask);
    uint32_t gpus = mask_count(now->gpu_mask);

    if (room->room.node_count > 0) {
        if (gpus != gpus_before)
            gpu_index_set(&room->room, at, gpus_before, gpus);
        if (room->short_nodes > 0)
            room->short_nodes -= free_index_is_short(room, gpus_before,
                                                     before);
        room->short_nodes += free_index_is_short(room, gpus, now);
        assert(room->short_nodes <= room->room.node_count);
    }
    if (now->cores != before->cores)
        gpu_index_set(&index->cores[group], at,
                      free_index_cores_class(before->cores),
                      free_index_cores_class(now->cores));
    index->gpus[group] += gpus - gpus_before;
    capacity_note(index->caps, node);
    return gpus - gpus_before;
}

#endif
