/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * train.h - weights of a policy, learned in the simulator itself.
 *
 * The same file gives the same weights, byte for byte, for any number of
 * threads.
 */
#ifndef EXPERIMENTS_TRAIN_TRAIN_H
#define EXPERIMENTS_TRAIN_TRAIN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct arena;
struct conf_schema;
struct err;
struct experiment;

extern const struct conf_schema train_schema, train_seeds_schema;

struct train_options {
    uint32_t threads;
    bool progress;
    const char *path;           /* of the weights file */
    FILE *out;                  /* the verdict on seeds not trained on */
    FILE *log;                  /* a line per generation; may be NULL */
};

/* Nothing wrong in `train:` of the experiment, or it has none. */
bool train_check(struct arena *arena, const struct experiment *experiment,
                 struct err *err);
/* Learns as `train:` of the experiment says and writes the weights. */
bool train_run(struct arena *arena, const struct experiment *experiment,
               const struct train_options *options, struct err *err);

#endif
