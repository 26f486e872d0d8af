/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * idle.h - leases that are idle, and the GPUs that could be taken from them.
 */
#ifndef POLICIES_LEASES_IDLE_H
#define POLICIES_LEASES_IDLE_H

#include <stdbool.h>
#include <stdint.h>

#include "policies/policy.h"

struct placement;
struct reclaimable;

/* A lease becomes idle, or is no longer idle. */
void host_idle_add(struct cs_host *host, uint32_t lease);
void host_idle_remove(struct cs_host *host, uint32_t lease);
/* Is this the number of a live lease?  One that was told of as idle may be gone. */
bool host_lease_live(const struct cs_host *host, uint32_t lease);
/* Does a lease that ends leave state in the memory of its nodes, as its job is stopped? */
bool host_lease_parks(const struct cs_host *host, uint32_t lease);
/* A node is under notice: idle leases there cannot be taken over. */
void host_idle_node_leaves(struct cs_host *host, uint32_t node);
/* Returns what leases hold that have been idle for at least idle_ns (0 or less:
 * for any time).  The host owns it; it follows later changes. */
const struct reclaimable *host_idle_spare(struct cs_host *host, int64_t idle_ns);
/* Returns when the next lease will have been idle for idle_ns; CLOCK_NEVER_NS:
 * none will. */
int64_t host_idle_next_ns(struct cs_host *host, int64_t idle_ns);
/* Sets *found to the idle leases on the GPUs of a placement (whole_node: anywhere
 * on its nodes), oldest lease first; returns their number.  The list is good
 * until the next call. */
uint32_t host_idle_in_the_way(struct cs_host *host,
                              const struct placement *placement,
                              bool whole_node, const uint32_t **found);

#endif
