/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * distribution_read.h - reads random values as a workload file writes them.  For readers
 * of workloads.
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
#ifndef WORKLOADS_RANDOM_DISTRIBUTION_READ_H
#define WORKLOADS_RANDOM_DISTRIBUTION_READ_H

#include <stdbool.h>

#include "sim/config/conf.h"

struct arena;
struct distribution;
struct err;

/* Read a distribution into *out; its arrays are in the arena.  `type` is that
 * of a drawn value: CONF_REAL, CONF_TIME (seconds) or CONF_BYTES.  `key`: the
 * name of a single value in messages.  False: *err is set. */
bool distribution_read_as(struct arena *arena, const struct conf_node *node,
                          const char *key, enum conf_type type,
                          struct distribution *out, struct err *err);
bool distribution_read(struct arena *arena, const struct conf_node *node,
                       enum conf_type type, struct distribution *out,
                       struct err *err);

extern const struct conf_schema distribution_constant_schema,
    distribution_uniform_schema, distribution_exponential_schema,
    distribution_lognormal_schema, distribution_weibull_schema,
    distribution_gamma_schema, distribution_pareto_schema,
    distribution_hyperexponential_schema, distribution_choice_schema,
    distribution_empirical_schema;

#endif
