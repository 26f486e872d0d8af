/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * train.h - learns the weights of a policy in the simulator itself.
 *
 * A file gives the same weights, byte for byte, for any number of threads.  Both
 * functions return false if err says what is wrong.
 */
#ifndef EXPERIMENTS_TRAIN_TRAIN_H
#define EXPERIMENTS_TRAIN_TRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct arena;
struct conf_schema;
struct err;
struct experiment;

extern const struct conf_schema train_schema, train_seeds_schema,
    train_validation_schema;

struct train_options {
    uint32_t threads;           /* that run trials */
    bool progress;              /* is it shown on stderr? */
    bool resume;                /* from PATH.state, if there is such a file */
    const char *path;           /* of the weights file */
    const char *const *set;     /* KEY=VALUE of --set, which the file's head names */
    size_t set_count;
    FILE *out;                  /* the result on the held-out seeds */
    FILE *log;                  /* a line per generation; may be NULL */
};

/* Checks `train:` of the experiment, if it has one, and runs nothing. */
bool train_check(struct arena *arena, const struct experiment *experiment,
                 struct err *err);
/* Learns the weights by `train:` of the experiment, which runs population x seeds
 * trials a generation, and writes them to options->path.  An interrupted run
 * writes nothing. */
bool train_run(struct arena *arena, const struct experiment *experiment,
               const struct train_options *options, struct err *err);

#endif
