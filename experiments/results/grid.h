/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * grid.h - the values of all trials, as a block: point x policy x seed x
 * metric.
 *
 * Made from trials just run or from summary.csv, so that every verdict and
 * table is the same either way.  NAN: no such value.
 *
 * A run of a million trials has a million values of each metric, so a metric takes
 * memory only from its first value that differs from the others.
 */
#ifndef EXPERIMENTS_RESULTS_GRID_H
#define EXPERIMENTS_RESULTS_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "experiments/run/trial.h"
#include "experiments/spec/experiment.h"
#include "sim/stats/stats.h"

struct arena;
struct err;
struct fingerprints;
struct own_told;

/* A metric, of all trials. */
struct grid_column {
    double *value;              /* by trial; NULL: all of them have `same` */
    double same;
    bool begun;                 /* some trial has a value, which may be NAN */
    bool lacks;                 /* grid_lacks() */
};

struct grid {
    struct arena *arena;        /* of all that it holds */
    const char *const *point;   /* [point_count]: labels */
    uint32_t point_count;
    const char *const *policy;  /* [policy_count]: names */
    uint32_t policy_count;
    uint32_t seed_count;        /* the most of any point and policy */
    const uint32_t *seed;       /* the number in the column `seed` */
    const struct metric_set *metrics;   /* NULL: the built-in ones alone */
    const struct own_told *own_told;    /* stop_file.h, by metric of the set's own */
    struct grid_column *column; /* by metric: grid_value(), grid_set() */
    bool *present;              /* by point, policy, seed */
    struct experiment_stop stop;    /* when there were enough seeds */
    double confidence;          /* grid_confidence() of 0.95 */
    /* By point and policy; NULL: none of them. */
    bool *fixed;                /* nothing is drawn: one trial is all seeds' */
    uint32_t *failed;           /* trials that failed */
    uint32_t *without;          /* what cannot happen: without.h */
    const char *stray;          /* a column of the folder's summary.csv that is no metric of the
                                   set; NULL: none */
    const struct fingerprints *jobs;    /* of each point; NULL: not known, or not read */
};

/* Returns the place of a point and a policy. */
size_t grid_pair(const struct grid *grid, uint32_t point, uint32_t policy);
/* Sets the rule by which seeds were stopped, and with it the confidence of all
 * intervals of the folder. */
void grid_set_stop(struct grid *grid, struct experiment_stop stop);
/* Gives a grid with its axes and metrics room for trials, all of which are absent. */
void grid_begin(struct arena *arena, struct grid *grid);
/* Returns an empty grid in the arena, that is filled cell by cell: seeds 0, 1, ...
 * of each pair of a point and a policy, and then its end, which says whether
 * nothing is drawn there.  The names stay the caller's. */
struct grid *grid_new(struct arena *arena, const struct metric_set *metrics,
                      const char *const *point, uint32_t point_count, const char *const *policy,
                      uint32_t policy_count, uint32_t seed_count);
/* Stores the values of a trial, by enum metric; value NULL: the trial failed. */
void grid_put(struct grid *grid, uint32_t point, uint32_t policy, uint32_t seed,
              const double *value);
/* Stores one value; the trial is present from then on, and needs one of each metric. */
void grid_set(struct grid *grid, uint32_t point, uint32_t policy, uint32_t seed,
              enum metric metric, double value);
/* Ends a pair: all of its seeds were put. fixed: nothing is drawn there. */
void grid_end(struct grid *grid, uint32_t point, uint32_t policy, bool fixed);
/* Returns the empty grid of an experiment, which is filled likewise. */
struct grid *grid_of_experiment(struct arena *arena, const struct experiment *experiment);
/* Is there a results folder?  Its files are not read.  False: err says what is missing. */
bool grid_is_there(struct arena *arena, const char *dir, struct err *err);
/* Reads summary.csv of a results folder, and what else belongs to its grid.  NULL:
 * err says why. */
struct grid *grid_from_folder(struct arena *arena, const char *dir,
                              struct err *err);

/* Returns a value; NAN: the trial is absent, or has none. */
double grid_value(const struct grid *grid, uint32_t point, uint32_t policy,
                  uint32_t seed, enum metric metric);
/* Has the folder no column of the metric?  A small baseline has only some. */
bool grid_lacks(const struct grid *grid, enum metric metric);
/* Is there such a trial, not failed? */
bool grid_present(const struct grid *grid, uint32_t point, uint32_t policy,
                  uint32_t seed);
/* Returns how many trials were run: one where it stands for all seeds. */
uint32_t grid_run_count(const struct grid *grid, uint32_t point,
                        uint32_t policy);
/* Do all seeds give the same, by any metric?  Such replicas count as one. */
bool grid_alike(const struct grid *grid, uint32_t point, uint32_t policy);
/* Returns how many trials failed; 0 where that is not known. */
uint32_t grid_failed(const struct grid *grid, uint32_t point,
                     uint32_t policy);
/* Is nothing drawn, so that one trial is all seeds'? */
bool grid_fixed(const struct grid *grid, uint32_t point, uint32_t policy);
/* Writes one metric over the seeds, seed_count numbers, into out; NAN: no value.
 * Returns how many of them are samples, from the front: 1 where all seeds are
 * alike, else seed_count. */
uint32_t grid_samples(const struct grid *grid, uint32_t point, uint32_t policy,
                  enum metric metric, double *out);
/* Returns the mean of those samples with its interval. */
struct stats_mean grid_mean(const struct grid *grid, uint32_t point, uint32_t policy,
                            enum metric metric, double confidence);
/* Returns the confidence with which an interval must be made that is to hold the
 * truth with probability `confidence`: higher where the number of seeds followed
 * from what they showed (sim/stats/looks.h). */
double grid_confidence(const struct grid *grid, double confidence);
/* Returns a paired p-value, corrected likewise. */
double grid_p_value(const struct grid *grid, double p);
/* Return the index of a name, or UINT32_MAX. */
uint32_t grid_policy(const struct grid *grid, const char *name);
uint32_t grid_point(const struct grid *grid, const char *label);
/* Returns the same as grid_point(), faster where a caller reads rows that are sorted by
 * point.  near: the point of the last row, or 0; it is tried first, and the next one. */
uint32_t grid_point_near(const struct grid *grid, const char *label, uint32_t near);
uint32_t grid_seed(const struct grid *grid, uint32_t number);

#endif
