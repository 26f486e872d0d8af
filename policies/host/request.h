/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * request.h - what requests have in common.
 */
#ifndef POLICIES_HOST_REQUEST_H
#define POLICIES_HOST_REQUEST_H

#include "policies/state/state.h"

/* Counts a preemption of a job: it is stopped, or a lease is taken back from
 * it.  Fails the trial after vain_max of them in a row that saved nothing, or
 * HOST_VAIN_TURNS for each job that there is. */
void host_note_stop(struct cs_host *host, struct job_id job);

/* Counts, tells and records a request, with the place that it was given (NULL: none), and
 * returns its verdict.  Every request ends here. */
enum cs_verdict host_answer(struct cs_host *host, enum host_action action,
                            struct job_id job, uint32_t role,
                            enum cs_verdict verdict,
                            const struct placement *placement);
/* Returns what a restart costs a job that held `gpus` GPUs: `preemption: {cost: }`. */
int64_t host_stop_cost_ns(const struct host_rules *rules, uint32_t gpus);

#endif
