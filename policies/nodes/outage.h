/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * outage.h - failures of nodes.  Nothing here returns an error.
 */
#ifndef POLICIES_NODES_OUTAGE_H
#define POLICIES_NODES_OUTAGE_H

#include "policies/policy.h"
#include "policies/state/state.h"

/* Draws the first failure.  Does nothing if the cluster has no `failures`.
 * Memory comes from the trial's arena. */
void host_outage_begin(struct cs_host *host);
/* Schedules the next failure.  Called when the run goes on (host_goes_on): else no
 * failure is scheduled. */
void host_outage_wake(struct cs_host *host);

#endif
