/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * options.h - what a text of options for sbatch says of nodes, tasks and arrays.  Private
 * to experiments/slurm.
 */
#ifndef EXPERIMENTS_SLURM_OPTIONS_H
#define EXPERIMENTS_SLURM_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct err;

struct slurm_options {
    const char *given;          /* all of the text */
    const char *rest;           /* it without --array, --nodes and --ntasks */
    uint32_t nodes, tasks;      /* 0: the text does not say a number */
    const char *array;          /* "1-8%4"; NULL: it has none */
    uint32_t array_count;       /* 8 */
};

/* Reads the text; all that it stores lies in the arena.  False: err says what a batch
 * file cannot hold, or which array shards cannot be. */
bool slurm_options_read(struct arena *arena, const char *text, struct slurm_options *options,
                        struct err *err);

#endif
