/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * request.h - what requests have in common.
 */
#ifndef POLICIES_HOST_REQUEST_H
#define POLICIES_HOST_REQUEST_H

#include "policies/state/state.h"

/* a job is stopped, or something taken back from it. */
void host_note_stop(struct cs_host *host);

/* every request ends here: counted, told, recorded. */
enum cs_verdict host_answer(struct cs_host *host, enum host_action action,
                            struct job_id job, uint32_t role,
                            enum cs_verdict verdict,
                            const struct placement *placement);
/* What a restart costs a job that held so many GPUs, `preemption: {cost: }`. */
int64_t host_stop_cost_ns(const struct cs_host *host, uint32_t gpus);

#endif
