/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * host.h - the scheduler around a policy: it owns jobs, tasks and leases, asks
 * the policy, checks every answer, and tells the journal.
 *
 * Semantics that change what a policy's name means are keys of the host, the
 * same for every policy, and printed with every result: struct host_rules.
 */
#ifndef POLICIES_HOST_HOST_H
#define POLICIES_HOST_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "models/cluster/place.h"
#include "models/jobs/job.h"
#include "policies/policy.h"
#include "policies/state/terms.h"

struct arena;
struct catalogue;
struct cluster_spec;
struct conf_node;
struct conf_schema;
struct err;
struct flow_net;
struct fabric;
struct gang;
struct job_truth;
struct journal;
struct loop;

struct cs_host *host_new(const struct host_parts *parts, struct err *err);
void host_free(struct cs_host *host);                   /* accepts NULL */
void host_submit(struct cs_host *host, const struct job_request *request,
                 const struct job_truth *truth);
/* No job of the workload will be submitted any more; replicas of services may be. */
void host_submit_none(struct cs_host *host);
/* What a lease offers to the laws. */
const struct gang *host_gang(const struct cs_host *host,
                             struct lease_id lease);
/* Ends what still runs as JOB_UNFINISHED and tells so. */
void host_close(struct cs_host *host);

/* For a policy whose decisions are made outside of the loop.  host_hold(), called by its
 * `decide`, stops the loop when `decide` returns, and the decision goes on: requests are
 * carried out until host_resume(), after which the loop may run again.  Nothing else
 * happens in between.  False: the decision is one that only explains why a run stands
 * still; the policy must ask for something at once. */
bool host_hold(struct cs_host *host);
bool host_holds(const struct cs_host *host);
void host_resume(struct cs_host *host);
/* Would cs_start(), or with a want cs_start_want(), start the task now?  Draws nothing
 * and changes nothing but counts of what was searched. */
bool host_fits(struct cs_host *host, struct task_id task, const struct cs_want *want);
/* Would cs_resize() change the lease now?  Draws and changes nothing, likewise. */
bool host_could_resize(struct cs_host *host, struct lease_id lease, uint32_t gpus);

/* False if the policy failed: err says why. */
bool host_verdict(const struct cs_host *host, struct err *err);

const struct host_counts *host_counts(const struct cs_host *host);

/* Of one that has ended: while that is told, and until the policy has had a
 * chance to decide on it; then it is forgotten. */
const struct host_job *host_job(const struct cs_host *host, struct job_id id);
/* What no policy knows of it; as long as host_job(). */
const struct job_truth *host_job_truth(const struct cs_host *host,
                                       struct job_id id);
/* Jobs that have not ended, and the first of them. */
uint32_t host_unfinished(const struct cs_host *host, uint32_t *first);
uint32_t host_job_count(const struct cs_host *host);    /* submitted */
/* What they have held up to now. */
double host_held_usd(const struct cs_host *host);
/* What they have done up to now and not lost: model FLOPs of whole phases, and
 * of jobs of known length GPU-seconds at the speed of their measurement. */
void host_work_now(const struct cs_host *host, double *flops, double *gpu_s);

const struct host_phase_run *host_phase_run(const struct cs_host *host,
                                            struct lease_id lease);

/* Counters of a pool; they change with the host. */
const struct host_pool_now *host_pool_now(const struct cs_host *host, uint32_t pool);
/* Thousandths of GPUs. */
int64_t host_pool_free_milli(const struct cs_host *host, uint32_t pool);
uint32_t host_running(const struct cs_host *host);
uint32_t host_pending(const struct cs_host *host);
/* Submitted and not ended. */
uint32_t host_jobs_left(const struct cs_host *host);
/* How far off forecasts of demand were from a time on: host_demand_error(). */
double host_rent_error(const struct cs_host *host, int64_t from_ns);
/* As host_pool_waits(), of what is held back behind the first in the order: the policy
 * starts nothing before it, and it wants more GPUs than are free.  free_milli:
 * thousandths of GPUs by pool.  0: nothing is. */
uint32_t host_pool_behind(struct cs_host *host, uint32_t pool,
                          const int64_t *free_milli);

const char *host_verdict_name(enum cs_verdict verdict);
const char *host_action_name(enum host_action action);

void host_on_decision(struct cs_host *host, host_decision_fn *fn, void *self);

#endif
