/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rank.h - for policies that give GPUs to jobs by a key that moves with time.
 */
#ifndef POLICIES_RANK_H
#define POLICIES_RANK_H

#include "policies/policy.h"

/* Returns the key of a job.  The job with the lowest key goes first. */
typedef double cs_key_fn(const void *self, const struct cs_host *host,
                         struct job_id job);

/* Deals all GPUs anew.  Jobs that have not ended are taken in the order of their keys; of equal
 * keys, in the order of the last deal, new jobs last.  Each takes what it asked for if as
 * many GPUs are left, counted over the whole cluster.  Then jobs that run and got nothing are
 * stopped, and jobs that wait and got GPUs are started.  For policies with CS_PREEMPTS
 * that lease to whole jobs. */
void cs_reallocate(struct cs_host *host, cs_key_fn *key);
/* Does as cs_reallocate(), with an equal answer, without a look at every job.  The key of a job
 * that waits must not change until it starts.  A policy calls always the one or always the
 * other function, and this one with an equal moving key each time but for `anew`. */
struct cs_moving_key {
    cs_key_fn *key;
    cs_key_fn *per_ns;          /* what a nanosecond adds to the key of a job
                                   that runs; NAN: not known, look at each deal */
    bool rises;                 /* most keys rise, rather than fall: for speed alone */
    bool exact;                 /* keys are whole numbers: no rounding */
    bool still;                 /* per_ns is 0, and no two keys are ever equal */
    bool anew;                  /* all keys may have changed since the last deal */
    cs_key_fn *sorted;          /* the key where all jobs are sorted at each deal: with
                                   failures and ticks; NULL: `key` */
};
void cs_reallocate_moving(struct cs_host *host, const struct cs_moving_key *motion);
/* Tells the host that the key of a job has changed, though it neither started nor stopped. */
void cs_reallocate_note(struct cs_host *host, struct job_id job);
/* Returns what a second adds to cs_attained_gpu_s() of a job: the GPUs that it holds. */
double cs_attained_per_s(const struct cs_host *host, struct job_id job);
/* Returns what a nanosecond adds to cs_left_ns() of a job that runs, in ns; NAN: not known. */
double cs_left_per_ns(const struct cs_host *host, struct job_id job);

/* Returns the next job that came, started to hold what it asked for, or waits again, in the
 * order in which this happened since the first call; a job may be named more than once.
 * Jobs that have ended are left out.  ID_NONE: there is no more for now.  Not for a policy
 * with CS_PER_PHASE. */
struct job_id cs_turned(struct cs_host *host);
/* Sorts jobs by key, lowest first; ties keep their order. */
void cs_sort(struct cs_host *host, struct job_id *job, uint32_t count,
             cs_key_fn *key);

/* Tasks that wait, by tenant, for policies without before().  Tenants are numbered in the order
 * in which they came; all jobs without a tenant belong to one of their own.  The tenant of
 * a job; how many there are; the first task of a tenant, and the one after a task of it.
 * ID_NONE: there is none. */
uint32_t cs_tenant(struct cs_host *host, struct job_id job);
uint32_t cs_tenant_count(struct cs_host *host);
struct task_id cs_tenant_first(struct cs_host *host, uint32_t tenant);
struct task_id cs_tenant_next(const struct cs_host *host, struct task_id task);
/* Returns the first task of a tenant, from `task` on, that needs at most `gpus_max` GPUs and may
 * find room at this instant.  A task that may run on cores needs no GPUs here.  ID_NONE:
 * there is none. */
struct task_id cs_tenant_fits(struct cs_host *host, struct task_id task,
                              uint32_t gpus_max);

#endif
