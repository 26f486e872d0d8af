/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * place_parts.h - what the files of placement share: a trial's searches (place.c), the
 * search for one node (place_node.c), and rules with a file of their own.
 */
#ifndef MODELS_CLUSTER_PLACE_PARTS_H
#define MODELS_CLUSTER_PLACE_PARTS_H

#include "models/cluster/place.h"
#include "sim/base/rng.h"
#include "sim/containers/winners.h"

/* ---- rules ---- */

/* A place_score_fn: returns 0 to 100, or -1 if no GPU holds the part; see place_fgd.c. */
int32_t place_fgd(const struct place_world *world,
                  const struct place_node *node, const struct place_task *task,
                  uint32_t *gpu);

/* Places a gang where its GPUs are closest together.  Arguments and result are those of
 * fit_find(); see place_topology.c. */
bool place_topology(const struct cluster *cluster,
                    const struct fit_want *want, struct share *share,
                    uint32_t share_max, struct placement *out);

/* ---- searches ---- */

struct cell {                   /* score of a node for a kind of ask */
    uint32_t version;           /* of the node; 0: none yet */
    int32_t score;
    uint32_t gpu;               /* of the node: the one that a part would be taken of */
};

/* Nodes with room for a kind of ask, by score.  What a job wants beside that (memory, the
 * memory of a part of a GPU) is looked at when a node has won. */
struct ranking {
    uint64_t types;             /* as in place_search */
    uint64_t groups_out;        /* as in fit_want */
    uint32_t pool_mask, gpus_exact; /* as in fit_want; as in place_search */
    uint64_t seen;              /* of cluster_parts.changes */
    struct winners nodes;       /* by place in the order of nodes */
    struct ranking *next;       /* of the same kind of ask */
};

struct kept_task {
    struct place_task task;     /* what the cells below are scores of */
    struct cell *cell;          /* per node */
    struct ranking *ranking;    /* a list: one for each set of nodes that was asked for */
};

/* What a placement rule keeps between two decisions of a trial; no memory is
 * freed before its arena. */
struct placer {
    struct placer_parts parts;  /* what placer_new() was given */
    const struct place_info *info;  /* of parts.rule */
    struct place_world world;   /* fixed for the trial */
    uint32_t *order, *place_of; /* of nodes, for ties, and its inverse; NULL: by
                                   number */
    uint32_t *type_of_group, type_count;    /* types numbered from 0, by group of nodes */
    uint64_t *type_bit;         /* by index in the catalogue */
    uint32_t type_bits;         /* length of type_bit */
    struct rng rng, before;     /* placement: random; before the last search */
    struct kept_task *kept;     /* [kept_max]; NULL until a search by score */
    uint32_t kept_count, kept_max;  /* kinds of ask; kept_max bounds the memory of cells */
    uint32_t rankings, rankings_max;    /* of all kept tasks; the bound, likewise */
    uint32_t *chosen;           /* nodes that a gang takes whole */
};

/* One search. */
struct place_search {
    struct placer *placer;      /* whose search it is */
    const struct fit_want *want;    /* of the caller, good for this search */
    struct place_task task;       /* of one node */
    int64_t memory_bytes;       /* of the host, on that node */
    uint64_t types;             /* mask of the types that may be used */
    uint32_t gpus_exact;        /* only nodes with this number of GPUs; 0: any */
    struct kept_task *kept;     /* NULL: not kept */
    uint32_t chosen;            /* of placer->chosen, spoken for */
};

/* Do two tasks ask the same of one node, so that their scores are one? */
bool place_tasks_alike(const struct place_task *a, const struct place_task *b);
/* Sets what one node must hold: `gpus` GPUs of the gang, with their part of its memory. */
void place_aim(struct place_search *search, uint32_t gpus);
/* Returns the node that the rule chooses, and on it the GPU of a part; UINT32_MAX: none
 * has room. */
uint32_t place_find_node(const struct place_search *search, uint32_t *gpu);
/* Writes the share of a node: one part of a GPU, or the lowest whole GPUs that are free. */
void place_give_share(const struct place_search *search, uint32_t node, uint32_t gpu,
                      struct share *out);

#endif
