/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * read.h - questions about jobs and leases, for files that do not know the
 * layout of their slots.  `job`, `lease`: numbers in the host's tables.
 */
#ifndef POLICIES_STATE_READ_H
#define POLICIES_STATE_READ_H

#include <stdbool.h>
#include <stdint.h>

#include "policies/state/state.h"

struct host_job;
struct host_job_slot;

/* Returns the slot of a job that is not forgotten, to be handed on. */
const struct host_job_slot *host_job_at(const struct cs_host *host,
                                        uint32_t job);
/* Returns what listeners may know of a job that is not forgotten. */
const struct host_job *host_job_known(const struct cs_host *host,
                                      uint32_t job);
/* Has a job kept nothing that it did, because it has not run yet or begins again?  Then
 * there is no state of its own to load. */
bool host_job_is_new(const struct cs_host *host, uint32_t job);
/* Returns the bytes of new weights that a role has not seen. */
double host_role_owed(const struct cs_host *host, uint32_t job, uint32_t role);
/* Returns the first node that keeps the state of a role in its memory, or ID_NONE. */
uint32_t host_role_home(const struct cs_host *host, uint32_t job,
                        uint32_t role);
/* Returns the pools on which a role may run, a mask; 0: any. */
uint32_t host_role_pools(const struct cs_host *host, uint32_t job, uint32_t role);
/* Returns the pools in which nodes are rented for it; 0: in any. */
uint32_t host_role_rented(const struct cs_host *host, uint32_t job, uint32_t role);
/* Returns how many leases a job holds. */
uint32_t host_job_leases(const struct cs_host *host, uint32_t job);
/* Has the job one phase alone, of known length? */
bool host_job_fixed(const struct cs_host *host, uint32_t job);
/* Does a phase run on a live lease?  Does the lease save its state, to end? */
bool host_lease_runs(const struct cs_host *host, uint32_t lease);
bool host_lease_leaves(const struct cs_host *host, uint32_t lease);

#endif
