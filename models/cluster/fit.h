/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fit.h - where a gang would go: the placement rules.
 *
 *  count      any free GPUs, in node order: GPUs are a number, nodes no matter
 *  first_fit  g <= P: the first node with g free; g > P: floor(g/P) empty
 *             nodes and, for the remainder, one node more
 *  best_fit   the same, but the node with the fewest free GPUs that fits;
 *             ties to the lowest node
 *  pack       fewest nodes, gangs may be split: the roomiest nodes whole, the
 *             rest on the fullest node that holds it
 *  spread     emptiest nodes first, one GPU at a time over all of them
 *  helios     best_fit, but the remainder of a gang of several nodes goes to
 *             the node with the most free GPUs, as in Helios's simulator
 *
 * P is the number of GPUs of a node of that kind.  One GPU type per gang.
 * Where nodes of one type differ in size, one node that can hold the gang is
 * tried first, then several of one size, sizes in the order of groups.
 * A want without GPUs takes cores by the same rules, with a core in the place
 * of a GPU: on nodes without GPUs if they have room, else on any.
 * On a node the lowest-numbered free GPUs go first, then those of `extra`;
 * where the file gives NVLink domains, pack takes them domain by domain: the
 * fullest that holds the rest, else the roomiest.
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

struct fit_want {
    uint32_t gpus;              /* 0: cores only */
    uint32_t cores;             /* in all if gpus is 0, else per GPU */
    int64_t memory_bytes;       /* in all if gpus is 0, else per GPU */
    const uint32_t *gpu_types;  /* catalogue indexes, most wanted first */
    uint32_t gpu_type_count;    /* 0: any, in the order of groups */
    uint32_t pool_mask;         /* bit p: pool p; 0: any */
    /* Per node, GPUs that count as free although they are taken (idle leases
     * that may be taken over), with their cores and memory; NULL: none. */
    const struct share *extra;  /* indexed by node */
    const struct reclaimable *spare;  /* whose extra it is; NULL: all nodes are
                                   looked at */
    uint64_t *looks;            /* nodes looked at are added; NULL: not */
    /* Only nodes from node_first on and before node_end; 0: all. */
    uint32_t node_first, node_end;
    /* Of place.h.  A pod lies on one node; what it wants of cores and memory
     * is in all, not per GPU.  gpu_milli below 1000: of one GPU. */
    bool pod;
    bool relaxed;               /* has waited for `relax_after` */
    uint32_t gpu_milli;         /* 0: whole GPUs */
    uint32_t gpu_mib;           /* of the GPU's memory, beside its part */
    int64_t core_milli;         /* of a pod */
};

/* Writes at most share_max shares; false: no room (out is untouched then). */
bool fit_find(const struct cluster *cluster, enum fit_rule rule,
              const struct fit_want *want, struct share *share,
              uint32_t share_max, struct placement *out);
/* Would it fit if the whole cluster were free? */
bool fit_ever(const struct cluster *cluster, enum fit_rule rule,
              const struct fit_want *want);
const char *fit_rule_name(enum fit_rule rule);

#endif
