/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * idle.h - leases that are idle.
 */
#ifndef POLICIES_LEASES_IDLE_H
#define POLICIES_LEASES_IDLE_H

#include "policies/state/state.h"

struct placement;
struct reclaimable;

/* a lease becomes idle, or is so no more; a node is under notice:
 * what is idle there may not be taken over. */
void host_idle_add(struct cs_host *host, uint32_t lease);
void host_idle_remove(struct cs_host *host, uint32_t lease);
void host_idle_node_leaves(struct cs_host *host, uint32_t node);
/* What leases hold that have been idle for so long.  When will the next have
 * been?  CLOCK_NEVER_NS: none. */
const struct reclaimable *host_idle_spare(struct cs_host *host, int64_t idle_ns);
int64_t host_idle_next_ns(struct cs_host *host, int64_t idle_ns);
/* Those on the GPUs of a placement, or anywhere on its nodes, in the order of
 * host->waiting->held; good until the next call. */
uint32_t host_idle_in_the_way(struct cs_host *host,
                              const struct placement *placement,
                              bool whole_node, const uint32_t **found);

#endif
