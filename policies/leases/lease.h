/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lease.h - a lease from grant to drop.  `lease`: the number of a live lease;
 * `role`: an index into the roles of the job's form.
 */
#ifndef POLICIES_LEASES_LEASE_H
#define POLICIES_LEASES_LEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "policies/policy.h"
#include "sim/event/loop.h"

struct cluster_spec;
struct host_job_slot;
struct host_lease_slot;
struct host_nodes;
struct node_group;

/* Searches for GPUs for a role; false: nothing fits.  out->share is scratch of
 * the host, good until the next search.  look() finds what find() would find
 * now, but draws no random number for `placement: random`. */
bool host_find(struct cs_host *host, const struct host_job_slot *job,
               uint32_t role, const struct cs_want *want,
               struct placement *out);
bool host_look(struct cs_host *host, const struct host_job_slot *job,
               uint32_t role, const struct cs_want *want,
               struct placement *out);
/* Would look() find a place if cores were no matter?  No place of cores alone. */
bool host_look_for_gpus(struct cs_host *host, const struct host_job_slot *job, uint32_t role,
                        const struct cs_want *want);
/* Returns the fewest GPUs that a role may have, at most as many as it asks for. */
uint32_t host_lease_least_gpus(const struct cs_host *host, const struct host_job_slot *job,
                               uint32_t role);
/* Returns the milliwatts that a lease of a role adds to a power cap on nodes of a group: on
 * the GPUs that it asks for, or (least) on the fewest that it may have. */
int64_t host_lease_draw_mw(const struct cs_host *host, const struct host_job_slot *job,
                           uint32_t role, bool least, const struct node_group *group);
/* Does a placement touch a node under notice?  What is given back there cannot
 * be leased again. */
bool host_on_leaving_node(const struct host_nodes *nodes,
                          const struct placement *placement);

/* Grants a placement to a role that has no lease; returns the new lease.  Idle
 * leases in the way are dropped; without them the placement must be free. */
uint32_t host_grant(struct cs_host *host, uint32_t job, uint32_t role,
                    const struct placement *placement);
/* Grants a placement in place of a lease of the same job, which is dropped: its
 * state is saved first and loaded on the new lease, which it returns. */
uint32_t host_regrant(struct cs_host *host, uint32_t lease,
                      const struct placement *placement);
/* As host_grant() and host_regrant(); `speedup`: of the job on the new lease, over its
 * speed on what it asked for.  0: what host_speedup_on() says of the placement. */
uint32_t host_grant_at(struct cs_host *host, uint32_t job, uint32_t role,
                       const struct placement *placement, double speedup);
uint32_t host_regrant_at(struct cs_host *host, uint32_t lease,
                         const struct placement *placement, double speedup);

/* Adds the joules of a lease up to now to its job. */
void host_lease_settle(struct cs_host *host, struct host_lease_slot *lease);
/* Adds to its job what the lease cost from where its money has a cause up to then: it
 * waited, and nothing if no time is between. */
void host_lease_waited(struct cs_host *host, struct host_lease_slot *lease, int64_t until_ns);
/* Sets the fraction of time for which the GPUs work, 0 or more; tells it. */
void host_lease_busy(struct cs_host *host, uint32_t lease, double fraction);
/* A phase begins on a lease (state busy) or is over (idle, fraction 0): the same,
 * with the state, the counters and the index of idle leases. */
void host_lease_work(struct cs_host *host, uint32_t lease, enum cs_lease_state state,
                     double fraction);
/* Returns the seconds that idle leases in the way of a placement would need to
 * save their state and to load it again. */
double host_evict_s(struct cs_host *host, const struct placement *placement);
/* Drops a lease on which no phase runs, at once; state on its GPUs is lost. */
void host_drop(struct cs_host *host, uint32_t lease);
/* Returns the seconds to save a lease's state, links being free. */
double host_save_s(const struct cs_host *host, uint32_t lease);
/* Drops an idle lease after its state is saved: to the node's memory, or, from a
 * node under notice, to the shared storage. */
void host_leave(struct cs_host *host, uint32_t lease);
/* Holds a lease that runs nothing for s seconds, in which its state is copied; it still
 * belongs to its role.  Then calls `then` with the host and the lease, which must drop
 * it. */
void host_lease_hold(struct cs_host *host, uint32_t lease, double s, loop_fn *then);

#endif
