/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scaling.h - keys of scaling that change nothing, since the number of replicas is fixed.
 */
#ifndef EXPERIMENTS_PREFLIGHT_SCALING_H
#define EXPERIMENTS_PREFLIGHT_SCALING_H

struct err;
struct experiment;

/* Warns once for each service that has `signal`, `target` or `down` in `scaling`, and at
 * every point as many replicas at least as at most, on each of its sides. */
typedef void scaling_fn(void *self, const struct err *err);
void scaling_warn(const struct experiment *experiment, scaling_fn *warn, void *self);

#endif
