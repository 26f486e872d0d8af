/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * resample.h - a list of jobs drawn anew for each seed: job by job, until it
 * asks for so much of the cluster, or by blocks of days.
 */
#ifndef WORKLOADS_REPLAY_RESAMPLE_H
#define WORKLOADS_REPLAY_RESAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "workloads/formats/trace_row.h"

struct arena;
struct conf_node;
struct conf_schema;
struct err;

struct resample {
    double until_milli;         /* GPUs asked for; 0: not job by job */
    int64_t every_ns;           /* between two jobs */
    bool stay;                  /* none leaves before the last has come */
    int64_t block_ns;           /* length of a block; 0: not by blocks */
    uint32_t blocks;            /* of the list, see resample_count */
};

/* Jobs of one trial, as places in the list. */
struct resampled {
    const struct resample *how;
    const struct row *list;
    size_t list_count;
    const uint32_t *pick;
    size_t count;
    /* By blocks, of each pick: where its block lies now, and how often it
     * lies before that. */
    const uint32_t *place, *again;
};

extern const struct conf_schema resample_schema;

bool resample_read(const struct conf_node *conf, uint32_t cluster_gpus,
                   struct resample *out, struct err *err);
/* Counts the blocks of a list in order of submission; `unused`: jobs of a last
 * block that the list covers to less than nine tenths, never drawn. */
bool resample_count(struct resample *how, const struct row *list,
                    size_t count, struct err_pos pos, uint64_t *unused,
                    struct err *err);
struct resampled resample_draw(const struct resample *how,
                               struct arena *arena, const struct row *list,
                               size_t count, uint64_t seed,
                               uint32_t replica);
/* The i-th job: submission and run time are those of the list it is in now (by
 * blocks: by the clock of the file).  Rows that come again are named so. */
struct row resampled_row(const struct resampled *drawn, struct arena *arena,
                         size_t i);

#endif
