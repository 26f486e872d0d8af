/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * place.h - placements: which of the nodes with room gets a job.
 *
 * One table (place_score.c) has all of them, with their sources.  Those of
 * fit.h for whole GPUs are found by its index.  The others, and all that ask
 * for a part of a GPU or for a node of their own (pods), give every node that
 * has room a score: the highest wins, ties go to the node that comes first.
 * A gang that no node holds takes as many empty nodes as it fills whole, and
 * its remainder goes by score.
 */
#ifndef MODELS_CLUSTER_PLACE_H
#define MODELS_CLUSTER_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "models/cluster/fit.h"

struct arena;
struct cluster;
struct cluster_spec;
struct rng;

enum place_rule {
    PLACE_COUNT, PLACE_FIRST_FIT, PLACE_BEST_FIT, PLACE_PACK, PLACE_SPREAD,
    PLACE_WORST_FIT, PLACE_RANDOM, PLACE_DOT_PRODUCT, PLACE_GPU_PACKING,
    PLACE_GPU_CLUSTERING, PLACE_FGD, PLACE_CONSOLIDATE, PLACE_TOPOLOGY,
    PLACE_HELIOS,
    PLACE_RULE_COUNT
};

/* A node, as a score sees it. */
struct place_node {
    int64_t core_milli;         /* free */
    uint32_t gpus, gpu_type;    /* type: index of place_world */
    const uint16_t *left;       /* per GPU: milli that are free */
    const uint16_t *kinds;      /* leases there: parts, 1, 2 ... GPUs */
    uint32_t kind_count;
};

/* What a job wants of one node. */
struct place_task {
    int64_t core_milli;
    uint32_t gpus;              /* 0: cores only */
    uint32_t gpu_milli;         /* of each; below 1000 of one only */
};

/* A kind of job that comes again and again: what FGD keeps room for. */
struct place_kind {
    struct place_task task;
    uint64_t type_mask;         /* types it takes; all ones: any */
    double weight;
};

/* What scores know beside the node: sizes of the largest node, and kinds. */
struct place_world {
    double core_milli_max;      /* 0: cores never limit */
    double gpu_milli_max;
    const struct place_kind *kind;      /* the typical ones, weights add to 1 */
    uint32_t kind_count;
};

/* 0 .. 100 but for worst_fit; *gpu: which one a part should be taken of. */
typedef int32_t place_score_fn(const struct place_world *world,
                               const struct place_node *node,
                               const struct place_task *task, uint32_t *gpu);

struct place_info {
    const char *name;
    const char *summary;        /* where a job goes */
    const char *source;
    const char *bad;            /* where it is bad */
    place_score_fn *score;      /* NULL: not by score */
};
const struct place_info *place_info(enum place_rule rule);
/* Names in the order of the enum, for choices; ends with NULL. */
extern const char *const place_names[PLACE_RULE_COUNT + 1];

/* Milli of GPUs that jobs of no kind could use on that node, on the average
 * over the kinds (FGD's measure of fragmentation). */
double place_fragment(const struct place_world *world,
                      const struct place_node *node);
/* Of all kinds, the commonest that make up `share` of the weight; weights are
 * made to add up to 1.  Returns how many; kinds are put in that order. */
uint32_t place_typical(struct place_kind *kind, uint32_t count, double share);

/* ---- a trial's searches ---- */

struct placer;

struct placer_parts {
    struct arena *arena;
    struct cluster *cluster;
    enum place_rule rule;
    bool shuffled;              /* ties by an order drawn once, not by node */
    uint64_t seed;
    uint32_t replica;
    /* One per kind of job that the workload has, weight: how many; types by
     * catalogue index.  May be NULL. */
    const struct place_demand *demand;
    size_t demand_count;
};

struct place_demand {
    struct place_task task;
    const uint32_t *gpu_types;
    uint32_t gpu_type_count;    /* 0: any */
    uint64_t jobs;
};

struct placer *placer_new(const struct placer_parts *parts);
/* As fit_find(), by the placer's rule.  A search that finds nothing draws
 * nothing by `random`. */
bool placer_find(struct placer *placer, const struct fit_want *want,
                 struct share *share, uint32_t share_max,
                 struct placement *out);
/* What that would find now: it draws nothing. */
bool placer_look(struct placer *placer, const struct fit_want *want,
                 struct share *share, uint32_t share_max,
                 struct placement *out);
/* Of the rules of fit.h, the one that is nearest. */
enum fit_rule place_fit_rule(enum place_rule rule);
/* Are whole GPUs looked for by score?  Parts of a GPU and pods always are. */
bool place_goes_by_score(enum place_rule rule);
/* Can it be that no room at all now means none for any larger gang of that
 * kind?  Not where the answer depends on how long a job has waited. */
bool place_is_monotone(enum place_rule rule);

#endif
