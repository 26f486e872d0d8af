/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * free_index.h - what is free in each group of nodes, kept up to date for
 * searches.
 */
#ifndef MODELS_CLUSTER_FREE_INDEX_H
#define MODELS_CLUSTER_FREE_INDEX_H

#include <stdint.h>

#include "models/cluster/gpu_index.h"

struct arena;
struct capacity_book;
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
uint32_t free_index_cores_class(uint32_t cores);

/* All of it is free. */
void free_index_init(struct free_index *index, struct arena *arena,
                     const struct cluster_spec *spec);
/* Of a node of that group.  Returns how many GPUs more are free there now: of
 * fewer, the number modulo 2^32. */
uint32_t free_index_move(struct free_index *index,
                         const struct cluster_spec *spec, uint32_t group,
                         uint32_t node, const struct node_free *before,
                         const struct node_free *now);

#endif
