/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fit.h - placement of gangs of whole GPUs, and its rules.
 *
 *  count      any free GPUs, in node order; nodes do not matter
 *  first_fit  g <= P: the first node with g free; g > P: floor(g/P) empty
 *             nodes and, for the remainder, one node more
 *  best_fit   as first_fit, but the node with the fewest free GPUs that fits;
 *             ties to the lowest node
 *  pack       fewest nodes, gangs may be split: the roomiest nodes whole, the
 *             rest on the fullest node that holds it
 *  spread     emptiest nodes first, one GPU at a time over all of them
 *  helios     best_fit, but the remainder of a gang of several nodes goes to
 *             the node with the most free GPUs, as in Helios's simulator
 *
 * g is the number of GPUs of the gang, P that of a node of that kind.  A gang
 * has one GPU type.  If nodes of one type differ in size, one node that can
 * hold the gang is tried first, then several nodes of one size, sizes in the
 * order of groups.  A request without GPUs takes cores by the same rules, with
 * a core in the place of a GPU: on nodes without GPUs if they have room, else
 * on any node. On a node the free GPUs with the lowest numbers are taken first,
 * then those of `extra`.  If the file states NVLink domains, pack takes GPUs
 * domain by domain: the fullest domain that holds the rest, else the one with
 * most free GPUs.
 */
#ifndef MODELS_CLUSTER_FIT_H
#define MODELS_CLUSTER_FIT_H

#include <stdbool.h>
#include <stdint.h>

#include "models/types/placement.h"

struct cluster;
struct reclaimable;

enum fit_rule { FIT_COUNT, FIT_FIRST, FIT_BEST, FIT_PACK, FIT_SPREAD,
                FIT_HELIOS, FIT_RULE_COUNT };

/* A request. */
struct fit_want {
    uint32_t gpus;              /* 0: cores only */
    uint32_t cores;             /* in all if gpus is 0, else per GPU */
    int64_t memory_bytes;       /* in all if gpus is 0, else per GPU */
    const uint32_t *gpu_types;  /* catalogue indexes, preferred types first */
    uint32_t gpu_type_count;    /* 0: any, in the order of groups */
    uint32_t pool_mask;         /* bit p: pool p; 0: any */
    uint64_t groups_out;        /* bit g: group g of the cluster may not be used; 63: nor any
                                   later one */
    /* By node: GPUs, cores and memory that count as free although they are
     * taken, such as idle leases that may be revoked; NULL: none. */
    const struct share *extra;
    const struct reclaimable *spare;    /* the index of `extra`; NULL: the
                                           search visits all nodes */
    uint64_t *looks;            /* the number of visited nodes is added; NULL:
                                   not counted */
    /* Only nodes from node_first to before node_end; 0: all. */
    uint32_t node_first, node_end;
    /* For place.h.  A pod runs on one node; its cores and memory are in all,
     * not per GPU.  gpu_milli below 1000: a part of one GPU. */
    bool pod;
    bool computes;              /* cores only: of one node, the fullest that
                                   holds them, of a CPU whose rates are known;
                                   the rule does not matter */
    bool relaxed;               /* has waited for `relax_after` */
    uint32_t gpu_milli;         /* 0: whole GPUs */
    uint32_t gpu_mib;           /* of the GPU's memory, beside its part */
    int64_t core_milli;         /* of a pod */
};

/* Returns the bit of a group in groups_out. */
static inline uint64_t fit_group_bit(uint32_t group)
{
    return UINT64_C(1) << (group < 63 ? group : 63);
}
/* May the want use nodes of this group of the cluster, which is of this pool? */
static inline bool fit_allows(const struct fit_want *want, uint32_t group, uint32_t pool)
{
    return (want->pool_mask == 0 || (want->pool_mask >> pool & 1) != 0) &&
           (want->groups_out & fit_group_bit(group)) == 0;
}

/* Stores in *out a placement on free resources; its shares are in share[], at
 * most share_max.  False: there is no room, and *out is unchanged. */
bool fit_find(const struct cluster *cluster, enum fit_rule rule,
              const struct fit_want *want, struct share *share,
              uint32_t share_max, struct placement *out);
/* Returns how many of the cores of a want without GPUs lie on a node with that number of
 * free cores and bytes: each brings its part of the memory. */
uint32_t fit_cores_max(const struct fit_want *want, uint32_t cores, int64_t memory_bytes);

#endif
