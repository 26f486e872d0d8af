/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * arrivals.h - under `blocking: drop`: what is allocated, by what has arrived.
 */
#ifndef EXPERIMENTS_RECOUNT_ARRIVALS_H
#define EXPERIMENTS_RECOUNT_ARRIVALS_H

#include <stdint.h>

struct arena;
struct arrivals;
struct job_request;
struct judge;
struct trial_spec;

/* Returns a book of arrivals; NULL: nothing is published of them. */
struct arrivals *arrivals_new(struct arena *arena, const struct trial_spec *spec);
/* All accept NULL.  Call the first when a job has come, the second when an instant is over
 * (held_milli: thousandths of GPUs under leases), and the third when the run is over. */
void arrivals_job(struct arrivals *arrivals, const struct job_request *request);
void arrivals_over(struct arrivals *arrivals, int64_t held_milli);
void arrivals_judge(const struct arrivals *arrivals, struct judge *judge);

#endif
