/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kept.h - what the memory of nodes keeps of a role that has no lease, and the new
 * weights that it has not seen yet.
 *
 * A gang keeps its state where it ran: each of its nodes has an even part of it.
 * job->home[role] is the first of these nodes, or ID_NONE: nothing is kept.
 *
 * A role that held no GPUs when its weights were renewed owes a copy of them: its
 * next load brings them over the network from the role that trains.
 */
#ifndef POLICIES_LEASES_KEPT_H
#define POLICIES_LEASES_KEPT_H

#include <stdbool.h>
#include <stdint.h>

#include "models/types/placement.h"

struct cs_host;
struct host_job_slot;
struct host_standing;

/* The role's state lies on the nodes of a placement from now on. */
void host_kept_put(struct cs_host *host, struct host_job_slot *job, uint32_t role,
                   const struct placement *placement);
/* Has this node a part of the role's state? */
bool host_kept_on(const struct host_job_slot *job, uint32_t role, uint32_t node);
/* Returns the nodes that have the role's state, which is kept somewhere.  one: room
 * for a node, good for as long as the answer. */
struct placement host_kept_from(const struct host_job_slot *job, uint32_t role,
                                struct share *one);

/* Returns how a role of a job stands before it gets a lease. */
struct host_standing host_standing_of(const struct cs_host *host, uint32_t job,
                                      uint32_t role);

/* Does the memory of that node keep the state of a role that has no lease? */
bool host_parked_on(const struct cs_host *host, uint32_t job, uint32_t node);
/* The memory of a node is lost: forgets the state there of one role, or of all
 * roles that have no lease. */
void host_forget_home(struct cs_host *host, uint32_t job, uint32_t role,
                      uint32_t node);
void host_forget_parked(struct cs_host *host, uint32_t job, uint32_t node);

/* The role owes a copy of `bytes` bytes from another one; 0: of none any more. */
void host_kept_owe(struct cs_host *host, struct host_job_slot *job, uint32_t role,
                   uint32_t from, double bytes);
/* Returns the bytes that the role owes; 0: none.  *from, if not NULL: whose. */
double host_kept_owed(const struct host_job_slot *job, uint32_t role, uint32_t *from);

#endif
