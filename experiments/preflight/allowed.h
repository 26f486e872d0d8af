/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * allowed.h - where a policy lets a role start, and on how few GPUs.
 */
#ifndef EXPERIMENTS_PREFLIGHT_ALLOWED_H
#define EXPERIMENTS_PREFLIGHT_ALLOWED_H

#include <stddef.h>
#include <stdint.h>

struct cluster_spec;
struct host_policy;
struct job_request;

/* Returns the pools that a policy may start a role in by its home and its pool, as a mask; 0:
 * any. */
uint32_t allowed_pools(const struct cluster_spec *spec, const struct host_policy *policy,
                       const struct job_request *request, uint32_t role);
/* A way in which a policy starts a role: on that many GPUs, all in these pools (0: any). */
struct allowed_way {
    uint32_t pools, gpus;
};
#define ALLOWED_WAYS 2u
/* Some policies start all roles of a job in the same turn, 0 or 1: in some pools, or in others.
 * Returns the number of turns; 1: the policy knows none. */
uint32_t allowed_turns(const struct cluster_spec *spec, const struct host_policy *policy);
/* Finds the ways in a turn: by home and pool of the role, by keys of the policy, and by the pools
 * in which a job with measured rates makes progress.  Returns their number; 0: it starts it
 * nowhere. */
uint32_t allowed_ways(const struct cluster_spec *spec, const struct host_policy *policy,
                      const struct job_request *request, uint32_t role, uint32_t turn,
                      struct allowed_way way[ALLOWED_WAYS]);
/* Writes how a key divides the pools for a role, as " outside pool serve (key from)"; nothing if
 * none does. */
void allowed_tell_key(const struct cluster_spec *spec, const struct host_policy *policy,
                      const struct job_request *request, uint32_t role, char *out, size_t room);
/* Returns the fewest GPUs with which the policy would start a role; _powered_gpus: under a power
 * cap that allows no more. */
uint32_t allowed_powered_gpus(const struct host_policy *policy, const struct job_request *request,
                              uint32_t role);
uint32_t allowed_least_gpus(const struct host_policy *policy, const struct job_request *request,
                            uint32_t role);

#endif
