/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * places.h - has every kind of job a place under every policy?
 *
 * Asked before anything is run: on the cluster with nothing on it, by the
 * placement of the policy, in the home of the role where the policy goes nowhere
 * else.  A job whose roles start together is placed as a whole.
 */
#ifndef EXPERIMENTS_SPEC_PLACES_H
#define EXPERIMENTS_SPEC_PLACES_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct cluster_spec;
struct err;
struct host_policy;
struct job_request;
struct experiment;
struct experiment_point;

/* Every kind of job of a point, with the most GPUs that it asks for: of a trace
 * each of its forms. */
struct job_request *places_requests(struct arena *arena,
                                    const struct experiment *experiment,
                                    const struct experiment_point *point,
                                    uint32_t *count);
/* Does the policy start a role that has a home nowhere else? */
bool places_confines(const struct host_policy *policy);
/* Pools that a policy starts a role in, as a mask; 0: any. */
uint32_t places_mask(const struct cluster_spec *spec,
                     const struct host_policy *policy,
                     const struct job_request *request, uint32_t role);

typedef void places_tell_fn(void *self, const struct err *err);
/* Tells of policies that start a role nowhere but at home, where no role of the
 * workload has a home: they do what a policy without homes does. */
void places_warn(const struct experiment *experiment, places_tell_fn *tell, void *self);
/* Tells of each role that has none, each text once; returns how many. */
uint32_t places_check(struct arena *arena, const struct experiment *experiment,
                      places_tell_fn *tell, void *self);

#endif
