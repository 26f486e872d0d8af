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

struct train_seeds {
    int64_t from, count;
};

struct train_keys {
    const char *policy_name, *objective_name;
    int64_t population, elite, generations;
    double spread, spread_min;
    const struct conf_node *seeds_node, *held_out_node, *weights, *features;
    /* Found by them: */
    struct train_seeds seeds, held_out;
    uint32_t policy;            /* of the experiment */
    enum metric objective;
    const char **weight_name;
    double *weight;             /* to begin with */
    uint32_t weight_count;      /* > 0 */
};

/* Reads and checks `train:`; memory in the arena.  False: err says what is wrong. */
bool train_keys_read(struct arena *arena, const struct experiment *experiment,
                     struct train_keys *keys, struct err *err);

#endif
