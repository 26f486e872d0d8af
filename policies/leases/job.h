/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * job.h - jobs from step to step.
 */
#ifndef POLICIES_LEASES_JOB_H
#define POLICIES_LEASES_JOB_H

#include "policies/state/state.h"

/* jobs from step to step.  A phase ran to its end. */
void host_phase_over(struct cs_host *host, uint32_t lease);
/* Starts or asks for what is ready; ends a job that is complete. */
void host_job_advance(struct cs_host *host, uint32_t job);
/* Makes the task for a whole job, at the job's old place in the order. */
void host_task_job(struct cs_host *host, uint32_t job);
void host_job_end(struct cs_host *host, uint32_t job, enum job_status status);
/* Cuts its phases short, drops all its leases; returns their GPUs. */
uint32_t host_job_drop(struct cs_host *host, uint32_t job);

#endif
