/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * jobs.h - which jobs there were, and which are over.
 */
#ifndef POLICIES_STATE_JOBS_H
#define POLICIES_STATE_JOBS_H

#include <stdbool.h>
#include <stdint.h>

#include "policies/state/state.h"

/* Returns how many jobs were submitted so far. */
uint32_t host_jobs_submitted(const struct cs_host *host);
/* Returns whether a submitted job has ended; it may be forgotten. */
bool host_job_ended(const struct cs_host *host, uint32_t job);
/* Returns the first job from `from` on that has not ended, or ID_NONE.  Jobs that are
 * forgotten are passed over by the page, and those before the first known one at once. */
uint32_t host_next_job(const struct cs_host *host, uint32_t from);
/* Returns where the number of a job's tenant is kept; ID_NONE: it has none yet.  Stores
 * the name of the tenant, "" if the job has none; the job owns it. */
uint32_t *host_job_tenant(struct cs_host *host, uint32_t job, const char **name);
/* for (EACH_JOB(j, host)): jobs that have not ended, in the order of submission. */
#define EACH_JOB(J, HOST) \
    uint32_t J = host_next_job(HOST, 0); J != ID_NONE; J = host_next_job(HOST, J + 1)

#endif
