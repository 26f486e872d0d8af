/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * arrivals.h - measured rates of arrivals that end early.
 */
#ifndef EXPERIMENTS_PREFLIGHT_ARRIVALS_H
#define EXPERIMENTS_PREFLIGHT_ARRIVALS_H

struct err;
struct experiment;

/* Warns once if rates end before all of `jobs:` have arrived, with the seed that has
 * fewest jobs; and once if those of a service end before its `for:`. */
typedef void arrivals_fn(void *self, const struct err *err);
void arrivals_warn(const struct experiment *experiment, arrivals_fn *warn, void *self);

#endif
