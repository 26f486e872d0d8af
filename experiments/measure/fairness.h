/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fairness.h - whether jobs and tenants got their share.
 *
 * rho of a job (finish-time fairness, Mahajan et al., NSDI 2020): its completion
 * time over its time alone on 1/N of the cluster.  N: jobs in the system, mean
 * over its life, itself included.  A job that asks for g of G GPUs and runs for
 * t alone on them takes t there if g <= G/N, else g N / G times as long.
 *
 * envy of a tenant (after envy-freeness, Ghodsi et al., NSDI 2011): GPU-seconds
 * that it would have had more with the GPUs of the tenant that it would rather
 * have been, at each instant no more than its jobs asked for, over the
 * GPU-seconds that they asked for.  0: it would change with nobody.
 */
#ifndef EXPERIMENTS_MEASURE_FAIRNESS_H
#define EXPERIMENTS_MEASURE_FAIRNESS_H

#include <stdint.h>

#include "models/jobs/job.h"

struct cs_host;
struct fairness;
struct host_job;
struct metrics_parts;
struct table;
struct trial_result;

/* Envy is of all pairs: with more tenants it is not measured. */
#define FAIRNESS_TENANTS_MAX 64u

/* Returns the accumulator; it lives in the arena of the parts. */
struct fairness *fairness_new(const struct metrics_parts *parts);
/* Names the host, before the first lease. */
void fairness_watch(struct fairness *fairness, const struct cs_host *host);
/* From here on it counts: the end of the warm-up. */
void fairness_begin(struct fairness *fairness, int64_t now_ns);
/* A job, no replica, was submitted now; it counts if it came after the
 * warm-up. */
void fairness_submitted(struct fairness *fairness, const struct host_job *job,
                        int64_t now_ns);
/* It ended now. */
void fairness_ended(struct fairness *fairness, const struct host_job *job,
                    enum job_status status, int64_t now_ns);
/* By hand, without a host: it has GPUs from now on, or no more. */
void fairness_held(struct fairness *fairness, const struct host_job *job,
                   int64_t milli, int64_t now_ns);
/* Stores the metrics of a run that ended at end_ns, and writes the rows of
 * tenants.csv if that is wanted. */
void fairness_result(struct fairness *fairness, int64_t end_ns,
                     struct trial_result *result);

#endif
