/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * known.h - for policies that keep numbers of jobs and leases, or get them from elsewhere.
 *
 * Most questions of policy.h need a job or a lease that exists: of another one, an assertion
 * fails.
 */
#ifndef POLICIES_KNOWN_H
#define POLICIES_KNOWN_H

#include "policies/policy.h"

/* Returns how many jobs were submitted so far.  They are numbered from 0. */
uint32_t cs_job_count(const struct cs_host *host);
/* May a policy ask about the job?  Any number is allowed here. */
bool cs_job_known(const struct cs_host *host, struct job_id job);
/* Returns how many numbers of leases were used so far, from 0 on.  The number of a lease that
 * has ended is used again. */
uint32_t cs_lease_room(const struct cs_host *host);
/* Is the lease held now?  Any number is allowed here. */
bool cs_lease_held(const struct cs_host *host, struct lease_id lease);

#endif
