/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * free_index.h - the free GPUs and cores of each group of nodes, indexed for
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

/* A node is short if its free cores or memory per free GPU are less than its
 * total of them per GPU.  Only on a short node can cores or memory limit a
 * request that wants no more than that total per GPU. */
struct group_index {
    struct gpu_index room;      /* not set up for nodes without GPUs */
    uint32_t cores_per_gpu;     /* of a whole node, rounded down */
    int64_t memory_per_gpu;     /* of a whole node, rounded down */
    uint32_t short_nodes;       /* how many are short now */
};

struct free_index {             /* per group */
    struct group_index *room;
    struct gpu_index *cores;    /* nodes by free_index_cores_class() of their
                                   free cores, in the place of GPUs */
    uint32_t *gpus;             /* free in all its nodes */
    struct capacity_book *caps; /* capacity_index.h */
};

/* Free resources of one node. */
struct node_free {
    uint64_t gpu_mask;          /* GPUs that are wholly free */
    uint32_t cores;             /* that no lease holds */
    int64_t memory_bytes;
};

/* Returns the number of bits of `cores`: 0 for none, 1 for one core, 2 for two
 * or three ... */
static inline uint32_t free_index_cores_class(uint32_t cores)
{
    return cores == 0 ? 0 : 32 - (uint32_t)__builtin_clz(cores);
}

/* Could cores or memory limit a request on a node with `gpus` free GPUs? */
static inline bool free_index_is_short(const struct group_index *room,
                                       uint32_t gpus,
                                       const struct node_free *node)
{
    return (uint64_t)gpus * room->cores_per_gpu > node->cores ||
           gpus * room->memory_per_gpu > node->memory_bytes;
}

/* Sets up the index of a cluster that is wholly free. */
void free_index_init(struct free_index *index, struct arena *arena,
                     const struct cluster_spec *spec);

/* Does what free_index_move() does where only GPUs change and no cores or memory
 * of the node are taken, so that it is not short.  `more` GPUs become free,
 * modulo 2^32. */
static inline void free_index_move_gpus(struct free_index *index,
                                        uint32_t group, uint32_t at,
                                        uint32_t node, uint32_t more)
{
    struct gpu_index *room = &index->room[group].room;
    uint32_t before = gpu_index_at(room, at);

    gpu_index_set(room, at, before, before + more);
    index->gpus[group] += more;
    capacity_note(index->caps, node);
}

/* Tells the index that the free resources of a node change, the at-th of its
 * group.  Returns how many GPUs more are free there now; of fewer, the number
 * modulo 2^32.  In line, since every share of every lease comes here. */
static inline uint32_t free_index_move(struct free_index *index,
                                       uint32_t group, uint32_t at,
                                       uint32_t node,
                                       const struct node_free *before,
                                       const struct node_free *now)
{
    struct group_index *room = &index->room[group];
    uint32_t gpus_before = 0, gpus = 0;

    if (room->room.node_count > 0) {
        gpus_before = gpu_index_at(&room->room, at);
        gpus = mask_count(now->gpu_mask);
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
