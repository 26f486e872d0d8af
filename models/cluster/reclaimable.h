/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * reclaimable.h - what counts as free in some searches although it is taken, such as
 * idle leases that may be taken over: per node, with an index over what is free
 * and spare together, as the cluster has one over what is free.
 */
#ifndef MODELS_CLUSTER_RECLAIMABLE_H
#define MODELS_CLUSTER_RECLAIMABLE_H

#include <stdint.h>

#include "models/cluster/free_index.h"

struct arena;
struct cluster;

struct reclaimable {
    struct share *extra;        /* by node; change it by reclaimable_set() */
    struct free_index index;
    const struct cluster *cluster;
    struct reclaimable *next;         /* of the same cluster */
};

/* Nothing is spare yet.  The cluster keeps it up to date from now on. */
struct reclaimable *reclaimable_new(struct arena *arena, struct cluster *cluster);
/* So much is spare now, of share->node; with what is free no more than all. */
void reclaimable_set(struct reclaimable *spare, const struct share *share);
/* The cluster says that so much will be free of a node, in all its spares. */
void reclaimable_note(struct reclaimable *spare, uint32_t node,
                      const struct node_free *now);

#endif
