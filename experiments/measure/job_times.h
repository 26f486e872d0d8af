/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * job_times.h - how many jobs there were and how long they took: completion times,
 * waits, slowdowns, deadlines.
 *
 * Only jobs count that were submitted after the warm-up; the caller leaves out the
 * others, and replicas of services.
 */
#ifndef EXPERIMENTS_MEASURE_JOB_TIMES_H
#define EXPERIMENTS_MEASURE_JOB_TIMES_H

#include <stdint.h>

#include "policies/policy.h"

struct arena;
struct host_job;
struct job_times;
struct trial_spec;

/* Returns the counters, at zero, in the arena; `spec` must live as long. */
struct job_times *job_times_new(struct arena *arena, const struct trial_spec *spec);
void job_times_submitted(struct job_times *times, int64_t now);
/* A job ended, in whatever way.  Means are over jobs that are done; a job that is not
 * done counts up to `until` in the restricted mean. */
void job_times_ended(struct job_times *times, const struct host_job *job,
                     enum job_status status, int64_t now);
uint64_t job_times_done(const struct job_times *times);
/* Stores its metrics in value[METRIC_...]; 0 where there is no job. */
void job_times_result(struct job_times *times, double *value);

#endif
