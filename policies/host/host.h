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

/* Makes the scheduler of a trial, in the arena of the parts, and lets the policy
 * begin.  The parts must live as long as the host.  NULL, with err: the policy
 * refused, by its own words. */
struct cs_host *host_new(const struct host_parts *parts, struct err *err);
/* Lets the policy end; memory goes with the arena.  Accepts NULL. */
void host_free(struct cs_host *host);
/* From now on `next` decides, with its rules and parameters, in place of the host's policy:
 * it finds the jobs that wait and run, and is told of all of them in its first decision.
 * Rules that the models depend on (placement, estimates, ticks) must be the same.  Leases
 * for a job's life may become leases for phases, not the other way.  Its init may fail the
 * trial. */
void host_hand_over(struct cs_host *host, const struct host_policy *next);
/* Submits a job at this instant. request->id is the number of jobs submitted
 * before; the host copies both structs and the name, but not the form.  The policy
 * is told in its next decision. */
void host_submit(struct cs_host *host, const struct job_request *request,
                 const struct job_truth *truth);
/* No job of the workload will be submitted any more; replicas of services may be. */
void host_submit_none(struct cs_host *host);
/* Does the run go on while no job is left: are jobs to come, or does it end at a time?
 * Then nodes fail, and go and come, meanwhile.  false until it is said, so that a loop
 * without jobs ends. */
void host_lasts(struct cs_host *host, bool lasts);
/* Returns the hardware of a lease as the laws see it: number and type of GPUs,
 * links, cores.  Good as long as the lease. */
const struct gang *host_gang(const struct cs_host *host,
                             struct lease_id lease);
/* Ends all jobs that have not ended, as JOB_UNFINISHED, and tells the journal.
 * Nothing may be submitted afterwards. */
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
/* Would the task of one role find room as its owner asks, if it were not for the power cap,
 * which the cluster has?  False for a task of all roles, or one that holds a lease. */
bool host_is_capped(struct cs_host *host, struct task_id task);
/* Would cs_resize() change the lease now?  Draws and changes nothing, likewise. */
bool host_could_resize(struct cs_host *host, struct lease_id lease, uint32_t gpus);

/* Did the policy keep its contract?  False: err has its words, or ours. */
bool host_verdict(const struct cs_host *host, struct err *err);

/* Returns what was counted since the host was made; it changes as the run goes on. */
const struct host_counts *host_counts(const struct cs_host *host);

/* Returns what is known of a job, for listeners.  One that has ended is
 * known while its end is told and until the policy has decided on it; then it is
 * forgotten, and must not be asked for. */
const struct host_job *host_job(const struct cs_host *host, struct job_id id);
/* Returns what no policy knows of a job, such as its true length.  Good as long as
 * host_job(). */
const struct job_truth *host_job_truth(const struct cs_host *host,
                                       struct job_id id);
/* Returns how many jobs have not ended; *first becomes the lowest number of them,
 * if there is one.  O(jobs). */
uint32_t host_unfinished(const struct cs_host *host, uint32_t *first);
uint32_t host_job_count(const struct cs_host *host);    /* submitted */
/* Returns what the jobs that have not ended owe for all that they have held up to
 * now, in USD. */
double host_held_usd(const struct cs_host *host);
/* Returns the GPU-seconds that a job has held up to now; 0 if it has ended. */
double host_job_gpu_s(const struct cs_host *host, struct job_id id);
/* Stores what these jobs have done up to now and not lost: *flops, model FLOPs of
 * whole phases, and *gpu_s, of jobs of known length GPU-seconds at the speed of
 * their measurement. */
void host_work_now(const struct cs_host *host, double *flops, double *gpu_s);

/* Returns the phase that runs on a lease, or ran last; good while a fact of it is
 * told. */
const struct host_phase_run *host_phase_run(const struct cs_host *host,
                                            struct lease_id lease);

/* Returns what the GPUs of a pool do now.  The counters change with the host. */
const struct host_pool_now *host_pool_now(const struct cs_host *host, uint32_t pool);
/* Returns the GPUs of a pool that are free and in service, in thousandths. */
int64_t host_pool_free_milli(const struct cs_host *host, uint32_t pool);
/* Return how many jobs hold a lease, and how many tasks wait. */
uint32_t host_running(const struct cs_host *host);
uint32_t host_pending(const struct cs_host *host);
/* Returns how many jobs were submitted and have not ended. */
uint32_t host_jobs_left(const struct cs_host *host);
/* Returns how far off forecasts of demand were from a time on, as a part of the
 * demand; NAN: there were none. */
double host_rent_error(const struct cs_host *host, int64_t from_ns);
/* As host_pool_waits(), for tasks that are held back behind the first in the order:
 * the policy starts nothing before that one, and it wants more GPUs than are free.
 * free_milli: thousandths of GPUs by pool.  0: no task is held back so. */
uint32_t host_pool_behind(struct cs_host *host, uint32_t pool,
                          const int64_t *free_milli);

/* Return the name in decisions.csv: static text. */
const char *host_verdict_name(enum cs_verdict verdict);
const char *host_action_name(enum host_action action);

/* Calls fn for every request of the policy, carried out or refused, from now on.
 * The host_decision is good during the call. */
void host_on_decision(struct cs_host *host, host_decision_fn *fn, void *self);

#endif
