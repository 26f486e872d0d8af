/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * train_keys.h - reads and checks `train:` of an experiment.  Private to
 * experiments/train.
 */
#ifndef EXPERIMENTS_TRAIN_TRAIN_KEYS_H
#define EXPERIMENTS_TRAIN_TRAIN_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "experiments/run/trial.h"

struct arena;
struct conf_node;
struct err;
struct experiment;

/* Replicas from `from` on, `count` of them. */
struct train_seeds {
    int64_t from, count;
};

/* Key `method`, in the order of its words. */
enum train_method { TRAIN_CROSS_ENTROPY, TRAIN_EVOLUTION };

/* `validation:`: what decides when to stop, and which weights are kept. */
struct train_validation {
    const struct conf_node *points_node, *seeds_node; /* as written; NULL: not given */
    int64_t every, patience;    /* generations between two validations; how many may bring
                                 * nothing better */
    struct train_seeds seeds;
};

/* Weights under one key. */
struct train_group {
    const char *key;            /* of `weights:` */
    uint32_t first, count;      /* where they begin in the vector of weights; how many */
    bool list;                  /* else it is a number */
};

struct train_keys {
    const char *policy_name, *objective_name;
    int64_t population, elite, generations, cells; /* vectors of a generation; those of them
                                                    * that the mean moves to; generations;
                                                    * cells drawn for each, 0: all */
    int method;                 /* enum train_method */
    double spread, spread_min, rate; /* deviation of the first draw; the least one; how far
                                      * evolution moves */
    bool race;                  /* do worse vectors meet fewer cells? */
    const struct conf_node *seeds_node, *held_out_node, *weights, *features,
        *validation_node, *against_node;
    /* Found by them: */
    struct train_seeds seeds, held_out;
    uint32_t policy;            /* of the experiment */
    enum metric objective;      /* what is made small or large, as the metric says */
    struct train_group *group;
    uint32_t group_count;       /* > 0 */
    double *weight;             /* to begin with */
    uint32_t weight_count;      /* > 0 */
    struct train_validation validation; /* every 0: none */
    bool *is_held;              /* by point: not trained on, but validated on */
    uint32_t *against, against_count;   /* policies to be set against */
};

/* Reads and checks `train:`; memory in the arena.  False: err says what is wrong. */
bool train_keys_read(struct arena *arena, const struct experiment *experiment,
                     struct train_keys *keys, struct err *err);

#endif
