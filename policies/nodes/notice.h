/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * notice.h - what becomes of the state on a rented node that goes.  For reclaim.c and rental.c.
 *
 * `node`: a number of the host's tables.  Nothing here fails.
 */
#ifndef POLICIES_NODES_NOTICE_H
#define POLICIES_NODES_NOTICE_H

#include "policies/policy.h"

#define HOST_SAVES_NOTHING INT64_C(-1)

/* The node is under notice and `on_notice: save`: its leases stop and copy their state to
 * the shared storage, if the notice is long enough. */
void host_notice_save(struct cs_host *host, uint32_t node);
/* The node goes: ends all leases on it.  Jobs with state there go back to what they
 * saved, others lose the lease alone. */
void host_notice_lose_leases(struct cs_host *host, uint32_t node);
/* Is state parked in the memory of the node? */
bool host_notice_keeps(const struct cs_host *host, uint32_t node);
/* The memory of the node is gone, with what is parked there.  What could be copied to the
 * shared storage within that time is saved, and its copy paid for; other jobs are
 * interrupted.  HOST_SAVES_NOTHING: nothing was copied. */
void host_notice_lose_parked(struct cs_host *host, uint32_t node, int64_t within_ns);

#endif
