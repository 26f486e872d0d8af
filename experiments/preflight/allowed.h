/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * allowed.h - where a policy lets a role start, and on how few GPUs.
 */
#ifndef EXPERIMENTS_PREFLIGHT_ALLOWED_H
#define EXPERIMENTS_PREFLIGHT_ALLOWED_H

#include <stdbool.h>
#include <stdint.h>

struct cluster_spec;
struct host_policy;
struct job_request;
struct role_spec;

/* Returns the pools that a policy may start a role in by its home and its pool, as a mask; 0:
 * any. */
uint32_t allowed_pools(const struct cluster_spec *spec, const struct host_policy *policy,
                       const struct job_request *request, uint32_t role);
/* _by_keys: keeps the pools of *mask (0: all) to which keys of the policy confine a role.
 * _by_rates: those in which a job with measured rates makes progress on that number of GPUs.
 * False: they leave none. */
bool allowed_by_keys(const struct cluster_spec *spec, const struct host_policy *policy,
                     const struct role_spec *role, uint32_t *mask);
bool allowed_by_rates(const struct cluster_spec *spec, const struct job_request *request,
                      uint32_t gpus, uint32_t *mask);
/* Returns the fewest GPUs with which the policy would start a role. */
uint32_t allowed_least_gpus(const struct host_policy *policy, const struct job_request *request,
                            uint32_t role);

#endif
