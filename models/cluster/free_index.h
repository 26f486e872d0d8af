/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * free_index.h - the free GPUs and cores of each group of nodes, indexed for
 * searches.
 */
#ifndef MODELS_CLUSTER_FREE_INDEX_H
#define MODELS_CLUSTER_FREE_INDEX_H

#include <stdint.h>

#include "models/cluster/gpu_index.h"

struct arena;
struct capacity_book;
struct cluster_spec;

/* A node is short if its free cores or memory per free GPU are less than its
 * total of them per GPU.  Only on a short node can cores or memory limit a
 * request that wants no more than that total per GPU. */
struct group_index {
    struct gpu_index room;      /* not set up for nodes without GPUs */
    uint32_t cores_per_gpu;
    int64_t memory_per_gpu;
    uint32_t short_nodes;
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
    uint64_t gpu_mask;
    uint32_t cores;
    int64_t memory_bytes;
};

/* Returns the number of bits of `cores`: 0 for none, 1 for one core, 2 for two
 * or three ... */
uint32_t free_index_cores_class(uint32_t cores);

/* Sets up the index of a cluster that is wholly free. */
void free_index_init(struct free_index *index, struct arena *arena,
                     const struct cluster_spec *spec);
/* Tells the index that the free resources of a node of that group change. */
void free_index_move(struct free_index *index,
                     const struct cluster_spec *spec, uint32_t group,
                     uint32_t node, const struct node_free *before,
                     const struct node_free *now);

#endif
