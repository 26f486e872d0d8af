/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gather.h - finished trials, read from .trials one after the other in their order.
 *
 * So a run holds none of its results in memory but the values that statistics need.
 */
#ifndef EXPERIMENTS_RESULTS_GATHER_H
#define EXPERIMENTS_RESULTS_GATHER_H

#include <stdbool.h>
#include <stdint.h>

#include "experiments/run/trial.h"

struct arena;
struct err;
struct experiment;
struct grid;
struct results;
struct runner_trial;

/* What audit.json says. */
struct audit_sum {
    uint32_t done, failed, broken; /* trials; broken: failed by a fault of the
                                      program */
    uint64_t events, digest, check[AUDIT_CHECK_COUNT], status[8];   /* enum job_status */
};

/* What all trials gave. */
struct gathered {
    struct grid *grid;          /* failed and skipped trials are absent */
    struct audit_sum audit;
};

/* Gathers all that is done.  With `rows` it also writes the tables that trials fill
 * themselves.  False: err says why. */
bool gather_trials(struct arena *arena, const struct results *results,
                   const struct experiment *experiment, const struct runner_trial *trial,
                   bool rows, struct gathered *out, struct err *err);

#endif
