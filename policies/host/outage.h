/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * outage.h - failures of nodes, and jobs that they interrupt.
 */
#ifndef POLICIES_HOST_OUTAGE_H
#define POLICIES_HOST_OUTAGE_H

#include "policies/state/state.h"

/* failures. */
void host_outage_begin(struct cs_host *host);
/* A job came: failures are due again. */
void host_outage_wake(struct cs_host *host);
/* A job took its first lease, or gave back its last. */
void host_outage_ran(struct cs_host *host, uint32_t job, bool runs);
/* A job goes back to what it saved and waits again at its old place. */
void host_interrupt(struct cs_host *host, uint32_t job);
/* The same, but all it did is kept; what it held is dropped. */
void host_suspend(struct cs_host *host, uint32_t job);
bool host_stands_on(const struct host_lease_slot *lease, uint32_t node);
/* A role's state waits in the memory of that node for its next lease. */
bool host_parked_on(const struct host_job_slot *job, uint32_t node);

#endif
