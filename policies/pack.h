/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pack.h - for policies that put two jobs on the same GPUs (CS_PACKS).
 */
#ifndef POLICIES_PACK_H
#define POLICIES_PACK_H

#include "policies/policy.h"

/* Starts a job on the GPUs that another holds: of as many GPUs, both of one
 * role and one phase of known length, and both of a speed that is known then
 * (`rates: lengths`, `packing:`).  Each holds half of every GPU until one goes;
 * the other then has them whole again.  CS_BAD_SHAPE: these two cannot be
 * together there.  CS_NO_ROOM: two are there already, or cores or memory are
 * short.  Not on rented nodes.  For leases of a job's life; what is shared cannot
 * be resized or moved. */
enum cs_verdict cs_start_co_located(struct cs_host *host, struct task_id task,
                                    struct job_id runs);
/* As cs_speedup() of what a job asked for, while the other holds the same GPUs of
 * that pool; 0: they cannot. */
double cs_speedup_co_located(struct cs_host *host, struct job_id job,
                             struct job_id other, uint32_t pool);
/* The job on the same GPUs, or ID_NONE. */
struct job_id cs_co_located(const struct cs_host *host, struct job_id job);
/* How much it suffers by that: 0 tiny, 1 medium, 2 jumbo; 3: nothing is known
 * (models/jobs/speedup.h). */
uint32_t cs_share_score(const struct cs_host *host, struct job_id job);

#endif
