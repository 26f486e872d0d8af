/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * known.h - for policies that keep numbers of jobs and leases, or get them from elsewhere.
 *
 * The host trusts a policy to ask of what there is, and asserts it.
 */
#ifndef POLICIES_KNOWN_H
#define POLICIES_KNOWN_H

#include "policies/policy.h"

/* Jobs that were submitted so far; they are numbered from 0. */
uint32_t cs_job_count(const struct cs_host *host);
/* May the job be asked about?  Any number is allowed here. */
bool cs_job_known(const struct cs_host *host, struct job_id job);
/* Numbers of leases that are in use or were, from 0. */
uint32_t cs_lease_room(const struct cs_host *host);
/* Is the lease held now?  Any number is allowed here. */
bool cs_lease_held(const struct cs_host *host, struct lease_id lease);

#endif
