/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * time.h - how long things take, and what they cost.
 */
#ifndef POLICIES_LEASES_TIME_H
#define POLICIES_LEASES_TIME_H

#include "policies/state/state.h"

struct fit_want;
struct gang;
struct placement;

/* how long things take. */
uint32_t host_form_index(struct cs_host *host, const struct job_form *form);
void host_estimate(struct cs_host *host, struct host_job_slot *job);
/* GPUs of a lease, as parts of one count. */
static inline double host_lease_amount(const struct host_lease_slot *lease)
{
    return (double)((uint64_t)lease->pub.gpus * lease->pub.gpu_milli) /
           GPU_MILLI;
}

/* GPU-seconds held so far. */
double host_attained_gpu_s(const struct cs_host *host,
                           const struct host_job_slot *job);
/* What is owed of restarts, of the one that goes on and of the next. */
int64_t host_restart_ns(const struct cs_host *host,
                        const struct host_job_slot *job);
int64_t host_left_ns(const struct cs_host *host,
                     const struct host_job_slot *job, bool truth);
/* Progress of a job of one role on so many GPUs of a pool over that on what it
 * asked for; 0: it cannot run there. */
double host_speedup(struct cs_host *host, const struct host_job_slot *job,
                    uint32_t pool, uint32_t gpus, uint32_t cores);
/* The same of the GPUs of a placement. */
double host_speedup_on(struct cs_host *host, const struct host_job_slot *job,
                       const struct placement *placement);
/* Of a job on a lease, from now on. */
int64_t host_lease_left_ns(const struct cs_host *host,
                           const struct host_job_slot *job,
                           const struct host_lease_slot *lease);
/* Of its known length: what has passed by now. */
int64_t host_done_ns(const struct cs_host *host,
                     const struct host_job_slot *job);
/* On a lease, from what is done when its phase began: known length that passes
 * in so much time, and the time that so much more of it takes. */
int64_t host_known_ns(const struct cs_host *host,
                      const struct host_job_slot *job,
                      const struct host_lease_slot *lease, int64_t ran_ns);
int64_t host_ran_ns(const struct cs_host *host,
                    const struct host_job_slot *job,
                    const struct host_lease_slot *lease, int64_t from_ns,
                    int64_t known_ns);

/* False: no pool is left. */
bool host_fit_want(const struct cs_host *host,
                   const struct host_job_slot *job, uint32_t role,
                   const struct cs_want *want, struct fit_want *out);
bool host_shape_ok(const struct cs_host *host,
                   const struct host_job_slot *job, uint32_t role,
                   uint32_t gpus);
double host_gpu_usd_per_h(const struct cs_host *host,
                          const struct placement *placement);
/* What a lease costs between two times. */
double host_lease_usd(const struct cs_host *host,
                      const struct host_lease_slot *lease, int64_t from_ns,
                      int64_t to_ns);
/* Of bytes between a placement and the shared storage. */
double host_transfer_usd(const struct cs_host *host,
                         const struct placement *placement, double bytes);
double host_switch_s(const struct cs_host *host,
                     const struct host_job_slot *job, uint32_t role,
                     const struct placement *placement,
                     const struct gang *gang);

#endif
