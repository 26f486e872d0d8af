/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * reclaimable.h - resources that count as free in some searches although they
 * are taken, such as idle leases that may be revoked.  Kept per node, with an
 * index of free and reclaimable resources together.
 */
#ifndef MODELS_CLUSTER_RECLAIMABLE_H
#define MODELS_CLUSTER_RECLAIMABLE_H

#include <stdint.h>

#include "models/cluster/free_index.h"

struct arena;
struct cluster;

struct reclaimable {
    struct share *extra;        /* by node; only reclaimable_set() writes it */
    struct free_index index;    /* of what is free and what is in `extra` */
    const struct cluster *cluster;
    struct reclaimable *next;         /* of the same cluster */
};

/* Returns an empty set in the arena.  The cluster updates it from now on. */
struct reclaimable *reclaimable_new(struct arena *arena, struct cluster *cluster);
/* Sets what is reclaimable on share->node; together with the free resources it
 * is at most what the node has. */
void reclaimable_set(struct reclaimable *spare, const struct share *share);
/* For the cluster: tells all its sets that the free resources of a node become
 * *now. */
void reclaimable_note(struct reclaimable *spare, uint32_t node,
                      const struct node_free *now);

#endif
