/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * baseline.h - a baseline that is small enough for a repository.
 *
 * It is a folder with a summary.csv of some columns and some seeds, so all that reads a
 * results folder reads it: trials are compared one by one, and what a baseline lacks is not.
 * Beside it jobs.json says which jobs they had.
 */
#ifndef EXPERIMENTS_CI_BASELINE_H
#define EXPERIMENTS_CI_BASELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct err;
struct experiment_decide;
struct experiment_expect;
struct grid;

/* The largest baseline, unless one seed of it is larger. */
#define BASELINE_BYTES 10000u

/* What the experiment asks for, so that the baseline has it. */
struct baseline_asks {
    const struct experiment_expect *expect; /* [expect_count] */
    uint32_t expect_count;
    const struct experiment_decide *decide;     /* or NULL */
    uint32_t seeds_most;        /* 0: all; a rule of `seeds` runs at least these */
};

struct baseline_told {
    uint32_t metrics, seeds;    /* that were kept */
    size_t bytes;
};

/* Writes the baseline of `grid` into the folder, in place of an older one: the metrics that
 * the experiment asks for and those that most people do, and as many seeds, from the
 * first on, as BASELINE_BYTES hold.  False: err says why, such as a results folder there. */
bool baseline_write(struct arena *arena, const char *dir, const struct grid *grid,
                    const struct baseline_asks *asks, struct baseline_told *told,
                    struct err *err);

#endif
