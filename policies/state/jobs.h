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

#endif
