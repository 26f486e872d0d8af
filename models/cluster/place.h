/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * place.h - placement rules: which of the nodes with room a job gets.
 *
 * One table (place_score.c) has all rules, with their sources.  The rules of
 * fit.h place whole GPUs by its index.  All other rules, and all requests for a
 * part of a GPU or for a pod, score every node that has room: the highest score
 * wins; of equal scores the first node wins.  A gang larger than any node takes
 * as many empty nodes as it fills; its remainder is placed by score.
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

/* The rules of placement, in the order of place_names. */
enum place_rule {
    PLACE_COUNT, PLACE_FIRST_FIT, PLACE_BEST_FIT, PLACE_PACK, PLACE_SPREAD,
    PLACE_WORST_FIT, PLACE_RANDOM, PLACE_DOT_PRODUCT, PLACE_GPU_PACKING,
    PLACE_GPU_CLUSTERING, PLACE_FGD, PLACE_CONSOLIDATE, PLACE_TOPOLOGY,
    PLACE_HELIOS,
    PLACE_RULE_COUNT
};

/* A node, as a scoring function sees it. */
struct place_node {
    int64_t core_milli;         /* free */
    uint32_t gpus, gpu_type;    /* type: index of place_world */
    const uint16_t *left;       /* per GPU: free thousandths */
    const uint16_t *kinds;      /* number of leases by size: parts of a GPU,
                                   then 1, 2 ... GPUs */
    uint32_t kind_count;
};

/* What a job requests of one node. */
struct place_task {
    int64_t core_milli;
    uint32_t gpus;              /* 0: cores only */
    uint32_t gpu_milli;         /* of each GPU; below 1000 with one GPU only */
};

/* A typical kind of job, for which FGD keeps room. */
struct place_kind {
    struct place_task task;
    uint64_t type_mask;         /* types it takes; all ones: any */
    double weight;              /* of all jobs; a share after place_typical() */
};

/* What a scoring function knows beside the node. */
struct place_world {
    double core_milli_max;      /* of the largest node; 0: cores never limit */
    double gpu_milli_max;       /* of the largest node, thousandths of GPUs */
    const struct place_kind *kind;      /* typical jobs, weights add up to 1 */
    uint32_t kind_count;
};

/* Returns a score, 0 to 100 except for worst_fit.  Stores in *gpu the GPU of
 * which a part should be taken. */
typedef int32_t place_score_fn(const struct place_world *world,
                               const struct place_node *node,
                               const struct place_task *task, uint32_t *gpu);

struct place_info {
    const char *name;           /* as `placement:` has it */
    const char *summary;        /* where a job goes */
    const char *source;         /* where the rule comes from */
    const char *bad;            /* where the rule is bad */
    place_score_fn *score;      /* NULL: a rule of fit.h or a search of its own */
};
const struct place_info *place_info(enum place_rule rule);
/* Names in the order of the enum, for choices; ends with NULL. */
extern const char *const place_names[PLACE_RULE_COUNT + 1];

/* Returns the free thousandths of GPUs on that node that a job of a kind cannot
 * use, averaged over the kinds (FGD's measure of fragmentation). */
double place_fragment(const struct place_world *world,
                      const struct place_node *node);
/* Sorts kinds by weight, scales the weights so that they add up to 1, and
 * returns how many of the first kinds make up `share` of the weight. */
uint32_t place_typical(struct place_kind *kind, uint32_t count, double share);

/* ---- a trial's searches ---- */

struct placer;

/* What a placer is made from.  The pointers are borrowed until the trial
 * ends. */
struct placer_parts {
    struct arena *arena;
    struct cluster *cluster;
    enum place_rule rule;
    bool shuffled;              /* equal scores: the first node in an order that
                                   is drawn once, not by number */
    uint64_t seed;              /* of the experiment */
    uint32_t replica;           /* of the trial */
    /* The kinds of jobs of the workload and how many of each; GPU types are
     * catalogue indexes.  May be NULL. */
    const struct place_demand *demand;
    size_t demand_count;
};

/* A kind of job of the workload, for rules that look at what may come. */
struct place_demand {
    struct place_task task;
    const uint32_t *gpu_types;  /* catalogue indexes, preferred types first */
    uint32_t gpu_type_count;    /* 0: any */
    uint64_t jobs;              /* of this kind in the workload */
};

/* Returns the searches of one trial, in the arena.  The cluster and the demand
 * must outlive it. */
struct placer *placer_new(const struct placer_parts *parts);
/* As fit_find(), with the placer's rule.  With `random` a search that finds
 * nothing draws no random number. */
bool placer_find(struct placer *placer, const struct fit_want *want,
                 struct share *share, uint32_t share_max,
                 struct placement *out);
/* The place that placer_find() has found last is not taken: nothing was drawn for it. */
void placer_refuse(struct placer *placer);
/* Finds what placer_find() would find now, and draws no random number. */
bool placer_look(struct placer *placer, const struct fit_want *want,
                 struct share *share, uint32_t share_max,
                 struct placement *out);
/* Returns the rule of fit.h that is most similar. */
enum fit_rule place_fit_rule(enum place_rule rule);
/* True: whole GPUs are placed by score.  Parts of a GPU and pods always are. */
bool place_goes_by_score(enum place_rule rule);
/* True: if a gang does not fit now, no larger gang of that kind fits.  False
 * for a rule whose answer depends on how long a job has waited. */
bool place_is_monotone(enum place_rule rule);

#endif
