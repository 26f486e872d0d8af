/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * grid.h - the values of all trials, as a block: point x policy x seed x
 * metric.
 *
 * Made from trials just run or from summary.csv, so that every verdict and
 * table is the same either way.  NAN: no such value.
 */
#ifndef EXPERIMENTS_GRID_H
#define EXPERIMENTS_GRID_H

#include <stdbool.h>
#include <stdint.h>

#include "experiments/trial.h"

struct arena;
struct err;
struct runner_trial;
struct study;

struct grid {
    const char *const *point;
    uint32_t point_count;
    const char *const *policy;
    uint32_t policy_count;
    uint32_t seed_count;
    const uint32_t *seed;       /* the number in the column `seed` */
    double *value;              /* use grid_value */
    bool *present;              /* by point, policy, seed */
};

struct grid *grid_from_trials(struct arena *arena, const struct study *study,
                              const struct runner_trial *trial);
struct grid *grid_from_folder(struct arena *arena, const char *dir,
                              struct err *err);

double grid_value(const struct grid *grid, uint32_t point, uint32_t policy,
                  uint32_t seed, enum metric metric);
bool grid_present(const struct grid *grid, uint32_t point, uint32_t policy,
                  uint32_t seed);
/* One metric over the seeds, seed_count numbers, into out. */
void grid_samples(const struct grid *grid, uint32_t point, uint32_t policy,
                  enum metric metric, double *out);
/* Index by name, or UINT32_MAX. */
uint32_t grid_policy(const struct grid *grid, const char *name);
uint32_t grid_point(const struct grid *grid, const char *label);
uint32_t grid_seed(const struct grid *grid, uint32_t number);

#endif
