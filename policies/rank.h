/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rank.h - for policies that give GPUs to jobs by a key that moves with time.
 */
#ifndef POLICIES_RANK_H
#define POLICIES_RANK_H

#include "policies/policy.h"

/* The lowest key goes first. */
typedef double cs_key_fn(const void *self, const struct cs_host *host,
                         struct job_id job);

/* Gives all GPUs anew.  Every job that has not ended, in the order of its key
 * (ties keep their order of the last time, new jobs come last), takes what it
 * asked for if that many are left, counted over the cluster.  Jobs that run and
 * were left out are stopped, then those that wait and were not are started.  For
 * policies that preempt and lease to whole jobs. */
void cs_reallocate(struct cs_host *host, cs_key_fn *key);
/* cs_reallocate() where the key of a job that waits stands still until it starts:
 * the same answer, found without a look at every job.  A policy calls one of the
 * two, with the same moving key each time but for `anew`. */
struct cs_moving_key {
    cs_key_fn *key;
    cs_key_fn *per_ns;          /* what a nanosecond adds to the key of a job
                                   that runs; NAN: to be looked at each time */
    bool rises;                 /* as a rule keys rise, not fall: for speed */
    bool exact;                 /* keys are whole numbers: no rounding */
    bool still;                 /* per_ns is 0, no two keys are ever equal */
    bool anew;                  /* all keys may be others */
    cs_key_fn *sorted;          /* the key where all are sorted after all, with
                                   failures and ticks; NULL: the same */
};
void cs_reallocate_moving(struct cs_host *host, const struct cs_moving_key *motion);
/* The key of a job has changed, though it neither started nor stopped. */
void cs_reallocate_note(struct cs_host *host, struct job_id job);
/* What a second adds to cs_attained_gpu_s() of a job: the GPUs it holds. */
double cs_attained_per_s(const struct cs_host *host, struct job_id job);
/* What a nanosecond adds to cs_left_ns() of a job that runs; NAN: unknown. */
double cs_left_per_ns(const struct cs_host *host, struct job_id job);

/* The next of the jobs that came, started to hold what they asked for or wait
 * again since this was first asked, in that order, some more than once, without
 * those that have ended; ID_NONE: no more, for now.  For leases of a job's
 * life. */
struct job_id cs_turned(struct cs_host *host);
/* Sorts jobs by key, lowest first; ties keep their order. */
void cs_sort(struct cs_host *host, struct job_id *job, uint32_t count,
             cs_key_fn *key);

/* What waits by tenant, for policies without before().  Tenants are numbered as
 * they came; jobs without one are those of one.  ID_NONE: no more. */
uint32_t cs_tenant(struct cs_host *host, struct job_id job);
uint32_t cs_tenant_count(struct cs_host *host);
struct task_id cs_tenant_first(struct cs_host *host, uint32_t tenant);
struct task_id cs_tenant_next(const struct cs_host *host, struct task_id task);
/* The first of its tenant, from that one on, that needs at most `gpus_max` GPUs (none if it
 * may go on cores) and is not known to find no room at this instant. */
struct task_id cs_tenant_fits(struct cs_host *host, struct task_id task,
                              uint32_t gpus_max);

#endif
