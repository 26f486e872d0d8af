/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lease.h - from grant to drop.
 */
#ifndef POLICIES_LEASES_LEASE_H
#define POLICIES_LEASES_LEASE_H

#include "policies/state/state.h"

/* from grant to drop. */
bool host_find(struct cs_host *host, const struct host_job_slot *job,
               uint32_t role, const struct cs_want *want,
               struct placement *out);
/* What that would find now: `placement: random` draws nothing for it. */
bool host_look(struct cs_host *host, const struct host_job_slot *job,
               uint32_t role, const struct cs_want *want,
               struct placement *out);
/* Is a node of it under notice?  What is given back there is gone. */
bool host_on_leaving_node(const struct cs_host *host,
                          const struct host_lease_slot *lease);
/* Takes over idle leases in the way; the placement must be takeable. */
uint32_t host_grant(struct cs_host *host, uint32_t job, uint32_t role,
                    const struct placement *placement);
/* The same in the place of a lease that moves, which is dropped: its state is
 * saved first, and comes from there. */
uint32_t host_regrant(struct cs_host *host, uint32_t lease,
                      const struct placement *placement);
/* Both for a job of known length at another speedup than its own there; 0: at
 * that. */
uint32_t host_grant_at(struct cs_host *host, uint32_t job, uint32_t role,
                       const struct placement *placement, double speedup);
uint32_t host_regrant_at(struct cs_host *host, uint32_t lease,
                         const struct placement *placement, double speedup);
void host_lease_settle(struct cs_host *host, struct host_lease_slot *lease);
void host_lease_busy(struct cs_host *host, uint32_t lease, double fraction);
void host_lease_state(struct cs_host *host, uint32_t lease,
                      enum cs_lease_state state);
/* What the idle leases in the way of a placement would lose. */
double host_evict_s(struct cs_host *host, const struct placement *placement);
/* At once; what it kept in the GPUs is not saved. */
void host_drop(struct cs_host *host, uint32_t lease);
/* What saving its state would take, links being free. */
double host_save_s(const struct cs_host *host, uint32_t lease);
/* Saves first where there is something to save; on a node that will be gone, to
 * the shared storage. */
void host_leave(struct cs_host *host, uint32_t lease);

#endif
