/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * distribution.h - random values as a workload file writes them.
 *
 * `12` and `{constant: 12}`, `{uniform: [a, b]}`, `{exponential: {mean: m}}`,
 * `{lognormal: {mean: m, cv: c}}` (or log_mean and log_sd), `{weibull: {scale:
 * s, shape: k}}`, `{gamma: {mean: m, cv: c}}`, `{pareto: {scale: s, shape:
 * a}}`, `{hyperexponential: {1h: 0.9, 20h: 0.1}}` (means and their weights),
 * `{choice: {1: 0.7, 8: 0.3}}` (values and their weights), `{empirical:
 * file.csv}`; `min` and `max` beside it clamp each draw. The key that has the
 * distribution decides the unit: times are written `2h`, and draws are in
 * seconds.
 */
#ifndef WORKLOADS_RANDOM_DISTRIBUTION_H
#define WORKLOADS_RANDOM_DISTRIBUTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/config/conf.h"

struct arena;
struct rng;

/* Kinds of distributions, in the order of their keys. */
enum distribution_kind {
    DISTRIBUTION_CONSTANT, DISTRIBUTION_UNIFORM, DISTRIBUTION_EXPONENTIAL,
    DISTRIBUTION_LOGNORMAL, DISTRIBUTION_WEIBULL, DISTRIBUTION_GAMMA,
    DISTRIBUTION_PARETO, DISTRIBUTION_HYPEREXPONENTIAL, DISTRIBUTION_CHOICE,
    DISTRIBUTION_EMPIRICAL,
    DISTRIBUTION_KIND_COUNT
};

struct distribution {
    enum distribution_kind kind;
    double a, b;                /* parameters, see distribution.c */
    double min, max;            /* clamps; -INFINITY, INFINITY: none */
    const double *sample;       /* empirical, choice; means of a
                                   hyperexponential */
    const double *weight;       /* of each sample, > 0, sum 1;
                                   NULL: empirical */
    size_t sample_count;
};

/* Read a distribution into *out; its arrays are in the arena.  `type` is that
 * of a drawn value: CONF_REAL, CONF_TIME (seconds) or CONF_BYTES.  `key`: the
 * name of a single value in messages.  False: *err is set. */
bool distribution_read_as(struct arena *arena, const struct conf_node *node,
                          const char *key, enum conf_type type,
                          struct distribution *out, struct err *err);
bool distribution_read(struct arena *arena, const struct conf_node *node,
                       enum conf_type type, struct distribution *out,
                       struct err *err);
/* Returns a draw in base units, clamped to min and max. */
double distribution_draw(const struct distribution *distribution,
                         struct rng *rng);
/* Returns the least value that a draw can have, for range checks. */
double distribution_least(const struct distribution *distribution);
/* Returns the largest value that a draw can have, or INFINITY. */
double distribution_most(const struct distribution *distribution);
/* True: every draw is a number of GPUs: whole, or below 1 in thousandths. */
bool distribution_gpus(const struct distribution *distribution);
/* Returns the mean before clamping; INFINITY for a Pareto of shape <= 1. */
double distribution_mean(const struct distribution *distribution);

extern const struct conf_schema distribution_constant_schema,
    distribution_uniform_schema, distribution_exponential_schema,
    distribution_lognormal_schema, distribution_weibull_schema,
    distribution_gamma_schema, distribution_pareto_schema,
    distribution_hyperexponential_schema, distribution_choice_schema,
    distribution_empirical_schema;

#endif
