/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * resample.h - draws a new list of jobs from a trace for each seed: job by job,
 * until the list requests a given share of the cluster, or by blocks of days.
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

/* The key `resample` as it is read.  Either until_milli or block_ns is above 0. */
struct resample {
    double until_milli;         /* requested GPUs in thousandths at which the
                                   list ends; 0: not job by job */
    int64_t every_ns;           /* interval between two jobs */
    bool stay;                  /* no job ends before the last is submitted */
    int64_t block_ns;           /* length of a block; 0: not by blocks */
    uint32_t blocks;            /* in the list, see resample_count() */
};

/* The jobs of one trial, as indexes into the list. */
struct resampled {
    const struct resample *how; /* the key */
    const struct row *list;     /* [list_count], by submission */
    size_t list_count;
    const uint32_t *pick;       /* [count], in the new order */
    size_t count;
    /* By blocks, for each pick: the new position of its block, and how often the
     * same block was drawn before. */
    const uint32_t *place, *again;
};

extern const struct conf_schema resample_schema;

/* Reads the key `resample`.  False: *err is set. */
bool resample_read(const struct conf_node *conf, uint32_t cluster_gpus,
                   struct resample *out, struct err *err);
/* Sets how->blocks for a list in order of submission.  A last block that is
 * less than nine tenths long is never drawn; *unused: its jobs.  False: *err is
 * set. */
bool resample_count(struct resample *how, const struct row *list,
                    size_t count, struct err_pos pos, uint64_t *unused,
                    struct err *err);
/* Returns the list of one replica, in the arena; `list` must outlive it.  Equal
 * (seed, replica) give equal lists. */
struct resampled resample_draw(const struct resample *how,
                               struct arena *arena, const struct row *list,
                               size_t count, uint64_t seed,
                               uint32_t replica);
/* Returns the i-th job of the new list, with its submission and run time there
 * (by blocks: on the clock of the file).  A row that was drawn before gets a
 * name that says so. */
struct row resampled_row(const struct resampled *drawn, struct arena *arena,
                         size_t i);

#endif
