/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * shard.h - what a shard says of itself in its folder, so that `merge` knows what it is
 * part of.
 */
#ifndef EXPERIMENTS_CLI_SHARD_H
#define EXPERIMENTS_CLI_SHARD_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct args;
struct err;
struct experiment;

struct shard {
    const char *dir;            /* its results folder */
    const char *file;           /* of the experiment, from the root */
    const char *only, *seeds;   /* options, or NULL */
    const char **set;           /* [set_count]: "KEY=VALUE" */
    uint32_t set_count;
    uint32_t index, count;      /* from 0 */
    uint64_t hash;              /* of all trials of the experiment */
};

/* A hash of what all trials of the experiment are made from, the program included. */
uint64_t shard_hash(const struct experiment *experiment);
/* The text of the shard that these options run, in the arena. */
const char *shard_text(struct arena *arena, const struct args *args,
                       const struct experiment *experiment);
/* Reads that of a folder.  False: err says why. */
bool shard_read(struct arena *arena, const char *dir, struct shard *shard,
                struct err *err);

#endif
