/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * places.h - can every kind of job start under every policy?
 *
 * Checked before any trial runs: on the empty cluster, by the placement rule of
 * the policy, and in the role's home if the policy confines it there.  A job
 * whose roles start together is placed as a whole.
 */
#ifndef EXPERIMENTS_PREFLIGHT_PLACES_H
#define EXPERIMENTS_PREFLIGHT_PLACES_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct err;
struct experiment;

typedef void places_tell_fn(void *self, const struct err *err);
/* Tells a warning for each policy that starts roles only at their homes if no role
 * of the workload has a home: it does what a policy without homes does. */
void places_warn(const struct experiment *experiment, places_tell_fn *tell, void *self);
/* Tells each role that has no place, and each job that a policy never starts, each
 * text once; returns how many were told. 0: every kind of job can start under
 * every policy. */
uint32_t places_check(struct arena *arena, const struct experiment *experiment,
                      places_tell_fn *tell, void *self);

#endif
