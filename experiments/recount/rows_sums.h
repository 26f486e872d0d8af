/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rows_sums.h - the sums over all jobs: rows.c adds, judge_rows.c reads.
 */
#ifndef EXPERIMENTS_RECOUNT_ROWS_SUMS_H
#define EXPERIMENTS_RECOUNT_ROWS_SUMS_H

#include <stdbool.h>
#include <stdint.h>

#include "experiments/recount/histogram.h"

struct arena;
struct job_row;
struct trial_spec;

/* What rows.c keeps.  Times are in ns, and of jobs that were done and came
 * after the warm-up unless it says otherwise. */
struct rows {
    struct arena *arena;
    const struct trial_spec *spec;
    uint32_t most;              /* rows that are kept at most */
    struct job_row *row;        /* [count]: rows that are kept */
    uint32_t count, room;
    bool over;                  /* there were more */
    bool rigid;                 /* jobs of a known length that nothing speeds up */
    bool plain;                 /* no warm-up and no services: all rows count */
    const char **tenant;        /* [tenants], each once */
    uint32_t tenants, tenant_room;
    int64_t inside, users, since_ns;    /* users: without replicas */
    __int128_t area;            /* users x ns */
    uint64_t jobs, done, failed, steps, due, in_time; /* due: they had a deadline */
    int64_t first_ns, last_ns;
    __int128_t jct_sum, wait_sum, lost_sum, gpu_sum; /* lost_sum: of jobs not done,
                                                        to the horizon */
    struct { double sum, square; uint64_t count; } slowdown;
    double bounded, ideal_first, ideal[3];
    struct histogram jct, wait; /* of all rows, however many */
};

#endif
