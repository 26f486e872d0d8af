/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * outage.h - failures of nodes, and the jobs that they interrupt.
 *
 * `job`, `node`: numbers in the host's tables.  Nothing here fails.
 */
#ifndef POLICIES_HOST_OUTAGE_H
#define POLICIES_HOST_OUTAGE_H

#include "policies/policy.h"
#include "policies/state/state.h"

struct host_job_slot;

/* Draws the first failure.  Does nothing if the cluster has no `failures`.
 * Memory comes from the trial's arena. */
void host_outage_begin(struct cs_host *host);
/* Schedules the next failure.  Called when the run goes on (host_goes_on): else no
 * failure is scheduled. */
void host_outage_wake(struct cs_host *host);
/* A job took its first lease (runs), or gave back its last (!runs): its own
 * interruptions are counted only while it runs. */
void host_outage_ran(struct cs_host *host, uint32_t job, bool runs);
/* Takes all leases of a job away.  It goes on later from what it saved, and
 * waits again at its old place in the order. */
void host_interrupt(struct cs_host *host, uint32_t job);
/* Tells that a job was interrupted and not set back; lost: GPU-seconds that it held for
 * nothing, as a phase was cut. */
void host_tell_cut(struct cs_host *host, uint32_t job, double lost);
/* Takes all leases of a job away.  Its progress is kept.  restarts: its next lease takes
 * `restart` longer; else, what is left of a restart that it owed. */
void host_suspend(struct cs_host *host, uint32_t job, bool restarts);
/* The next lease of an interrupted job takes `restart` longer. */
void host_owe_restart(struct cs_host *host, uint32_t job);
/* Has the lease resources of that node? */
bool host_stands_on(const struct cs_lease *lease, uint32_t node);
/* Does the memory of that node keep the state of a role that has no lease? */
bool host_parked_on(const struct host_job_slot *job, uint32_t node);
/* The memory of a node is lost: forgets the state there of one role, or of all
 * roles that have no lease. */
void host_forget_home(struct cs_host *host, uint32_t job, uint32_t role,
                      uint32_t node);
void host_forget_parked(struct cs_host *host, uint32_t job, uint32_t node);
/* Counts an interruption of a job. */
void host_note_interruption(struct cs_host *host, uint32_t job);

#endif
