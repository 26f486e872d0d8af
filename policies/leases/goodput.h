/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * goodput.h - jobs whose goodput is known: their speedup on GPUs of a pool, and
 * how their length passes.  done_ns, from_ns, to_ns: of the known length.
 */
#ifndef POLICIES_LEASES_GOODPUT_H
#define POLICIES_LEASES_GOODPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "policies/policy.h"

struct goodput_job;
struct goodput_shape;
struct placement;

/* Makes the table of rates that are kept. */
void host_goodput_init(struct cs_host *host);
/* Returns the speedup of a job when done_ns of its known length have passed, on
 * GPUs of a pool; 0: it cannot run there. */
double host_goodput_speedup(const struct cs_host *host,
                            const struct goodput_job *job, int64_t done_ns,
                            uint32_t pool, struct goodput_shape shape);
/* Can the job run on `gpus` GPUs in any pool? */
bool host_goodput_ok(const struct cs_host *host,
                     const struct goodput_job *job, uint32_t gpus);
/* Returns the most GPUs that it can use. */
uint32_t host_goodput_gpus_max(const struct cs_host *host,
                               const struct goodput_job *job);
/* Returns the pools where it can run on `gpus` GPUs, as a mask. */
uint32_t host_goodput_pools(const struct cs_host *host,
                            const struct goodput_job *job, uint32_t gpus);
/* Returns its speedup on a placement where it can run: that of the slowest pool. */
double host_goodput_on(const struct cs_host *host,
                       const struct goodput_job *job, int64_t done_ns,
                       const struct placement *place);
/* Returns how long a placement takes for the length from from_ns to to_ns. */
int64_t host_goodput_ran_ns(const struct cs_host *host,
                            const struct goodput_job *job,
                            const struct placement *place, int64_t from_ns,
                            int64_t to_ns);
/* Returns how much length passes from from_ns on, if it runs there for ran_ns. */
int64_t host_goodput_known_ns(const struct cs_host *host,
                              const struct goodput_job *job,
                              const struct placement *place, int64_t from_ns,
                              int64_t ran_ns);

#endif
