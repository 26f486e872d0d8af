/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * job.h - a job from step to step.  `job`, `lease`: numbers in the host's
 * tables.
 */
#ifndef POLICIES_LEASES_JOB_H
#define POLICIES_LEASES_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "models/jobs/job.h"
#include "policies/policy.h"

/* The phase on a lease has run to its end; the job goes on. */
void host_phase_over(struct cs_host *host, uint32_t lease);
/* Starts the phases that are ready, or makes tasks for them; ends a job whose
 * steps are complete. */
void host_job_advance(struct cs_host *host, uint32_t job);
/* Makes the task for a whole job without leases, at the job's old place in the
 * order. */
void host_task_job(struct cs_host *host, uint32_t job);
/* Ends a job: its tasks and leases go, and the policy hears of it. */
void host_job_end(struct cs_host *host, uint32_t job, enum job_status status);
/* Has a role done nothing since its job was saved last, or began?  Its state then lies in the
 * shared storage.  Work that a stop would lose does not count. */
bool host_job_unchanged(const struct cs_host *host, uint32_t job, uint32_t role);
/* Cuts the phases of a job short and drops all its leases; returns how many GPUs
 * they had. */
uint32_t host_job_drop(struct cs_host *host, uint32_t job);
/* Keeps whole steps of a phase that trains on a lease, for the next lease of its
 * role.  True: such a phase ran, and is paused. */
bool host_keep_steps(struct cs_host *host, uint32_t lease);

#endif
