/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * time.h - how long things take: estimates of jobs, what is left of them, and
 * how fast they run on other GPUs than they asked for.
 *
 * Times are nanoseconds; CLOCK_NEVER_NS: never.  A speedup is the progress of a
 * job over its progress on what it asked for; 0: it cannot run there.
 */
#ifndef POLICIES_LEASES_TIME_H
#define POLICIES_LEASES_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "models/types/placement.h"
#include "policies/policy.h"

struct fit_want;
struct host_job_slot;
struct host_lease_slot;
struct job_form;

/* Returns the index of a form in host->forms; measures it when it is new. */
uint32_t host_form_index(struct cs_host *host, const struct job_form *form);
/* Sets a new job's estimate, by the rule `estimate` of the host. */
void host_estimate(struct cs_host *host, struct host_job_slot *job);

/* Returns the GPUs of a lease; a part of a GPU counts as a part. */
static inline double host_lease_amount(const struct cs_lease *lease)
{
    return (double)((uint64_t)lease->gpus * lease->gpu_milli) / GPU_MILLI;
}

/* Return the GPU-seconds that a job held up to now, and the GPUs that it holds.  Leases
 * that save their state before they end count with the others. */
double host_attained_gpu_s(const struct cs_host *host,
                           const struct host_job_slot *job);
double host_attained_per_s(const struct cs_host *host, const struct host_job_slot *job);
/* Returns the time owed for restarts: of the one that goes on and of the next. */
int64_t host_restart_ns(const struct host_job_slot *job, int64_t now_ns);
/* Returns what is left of a job with its restarts: of its estimate, or (truth)
 * of its real length. */
int64_t host_left_ns(const struct cs_host *host,
                     const struct host_job_slot *job, bool truth);
/* Returns what has passed of a job's length by now. */
int64_t host_done_ns(const struct cs_host *host,
                     const struct host_job_slot *job);
/* Returns how far a job got: seconds of a known length, else runs of phases, with
 * the parts that a stop keeps.  A failure can lower it. */
double host_progress(const struct cs_host *host, uint32_t job);
/* Returns how long a job goes on on a lease, from now, by its estimate. */
int64_t host_lease_left_ns(const struct cs_host *host,
                           const struct host_job_slot *job,
                           const struct host_lease_slot *lease);
/* For a job of known length on a lease.  known_ns(): how much of the length
 * passes in ran_ns, from what was done when its phase began.  ran_ns(): how long
 * known_ns of it take, once from_ns of it are done. */
int64_t host_known_ns(const struct cs_host *host,
                      const struct host_job_slot *job,
                      const struct host_lease_slot *lease, int64_t ran_ns);
int64_t host_ran_ns(const struct cs_host *host,
                    const struct host_job_slot *job,
                    const struct host_lease_slot *lease, int64_t from_ns,
                    int64_t known_ns);

/* May the first role of a job run in a pool, on GPUs of a type that it may use, or
 * (gpus 0) on cores? */
bool host_may_use(const struct cs_host *host, const struct host_job_slot *job,
                  uint32_t pool, uint32_t gpus);
/* Returns the speedup of a job of one role on `gpus` GPUs of a pool, with
 * `cores` cores per GPU (0: as asked).  HOST_ANY_POOL: wherever it is fastest, in several
 * pools at once too; only for a job of phases. */
#define HOST_ANY_POOL UINT32_MAX
double host_speedup(struct cs_host *host, const struct host_job_slot *job,
                    uint32_t pool, uint32_t gpus, uint32_t cores);
/* Returns the speedup on the GPUs of a placement: that of its slowest pool. */
double host_speedup_on(struct cs_host *host, const struct host_job_slot *job,
                       const struct placement *placement);
/* May a role have that number of GPUs? */
bool host_shape_ok(const struct cs_host *host,
                   const struct host_job_slot *job, uint32_t role,
                   uint32_t gpus);
/* Returns the fewest GPUs that a role may have, at most as many as it asks for. */
uint32_t host_shape_least(const struct cs_host *host, const struct host_job_slot *job,
                          uint32_t role);
/* May a role have what a want asks for?  Nodes that it names have GPUs of it each, and
 * their sum is its `gpus`, if that is not 0. */
bool host_want_ok(const struct cs_host *host, const struct host_job_slot *job,
                  uint32_t role, const struct cs_want *want);
/* By the rules of the entry, may a role be on cores (on GPUs) that may be on
 * either?  True of any other role. */
bool host_hardware_ok(const struct cs_host *host,
                      const struct role_spec *role, bool cores);
/* May a role go on cores that also may go on GPUs, if nothing names a place? */
bool host_may_use_cores(const struct cs_host *host,
                        const struct host_job_slot *job, uint32_t role);
/* Sets the wants to try, one after the other, in the place of one, and returns
 * their number: GPUs and cores, in the order of `types:`, where the want names
 * neither and the role may be on either. */
#define HOST_OPTIONS 2u
uint32_t host_want_options(const struct cs_host *host,
                           const struct host_job_slot *job, uint32_t role,
                           const struct cs_want *want,
                           struct cs_want option[HOST_OPTIONS]);
/* Returns how many GPUs must be free for a want; 0: it may go on cores. */
uint32_t host_want_gpus(const struct cs_host *host,
                        const struct host_job_slot *job, uint32_t role,
                        const struct cs_want *want);
/* Sets *out to what a role needs where a policy wants it; false: no pool or type
 * of GPU is left. */
bool host_fit_want(const struct cs_host *host,
                   const struct host_job_slot *job, uint32_t role,
                   const struct cs_want *want, struct fit_want *out);

/* Moves the average of how long a role of this form takes to have its GPUs back:
 * `s` seconds this time, from the start of loading to the end of waking.  The first
 * one is taken as it is. */
void host_note_switch(struct cs_host *host, const struct host_lease_slot *lease, double s);

#endif
