/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * goodput.h - jobs whose goodput is known.
 */
#ifndef POLICIES_LEASES_GOODPUT_H
#define POLICIES_LEASES_GOODPUT_H

#include "policies/state/state.h"

struct goodput_job;
struct goodput_shape;
struct placement;

void host_goodput_init(struct cs_host *host);
/* Returns the speedup of a job when done_ns of its known length have passed, on
 * GPUs of a pool; 0: it cannot run there. */
double host_goodput_speedup(const struct cs_host *host,
                            const struct goodput_job *job, int64_t done_ns,
                            uint32_t pool, struct goodput_shape shape);
bool host_goodput_ok(const struct cs_host *host,
                     const struct host_job_slot *job, uint32_t gpus);
uint32_t host_goodput_gpus_max(const struct cs_host *host,
                               const struct host_job_slot *job);
/* Pools where it can run on so many, as a mask. */
uint32_t host_goodput_pools(const struct cs_host *host,
                            const struct goodput_job *job, uint32_t gpus);
double host_goodput_on(const struct cs_host *host,
                       const struct goodput_job *job, int64_t done_ns,
                       const struct placement *place);
int64_t host_goodput_ran_ns(const struct cs_host *host,
                            const struct goodput_job *job,
                            const struct placement *place, int64_t from_ns,
                            int64_t to_ns);
int64_t host_goodput_known_ns(const struct cs_host *host,
                              const struct goodput_job *job,
                              const struct placement *place, int64_t from_ns,
                              int64_t ran_ns);

#endif
