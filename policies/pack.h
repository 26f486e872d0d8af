/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pack.h - for policies that put two jobs on the same GPUs (CS_PACKS).
 */
#ifndef POLICIES_PACK_H
#define POLICIES_PACK_H

#include "policies/policy.h"

/* Starts a waiting job on the GPUs that another job holds.  Both must ask for as many GPUs and
 * have one role and one phase of known length, and the file must state how fast both are
 * together (`rates: lengths`, `packing:`).  Each then holds half of every GPU.  When one of
 * them leaves, the other has the GPUs whole again.  CS_BAD_SHAPE: these two cannot share
 * there.  CS_NO_ROOM: two jobs are there already, or cores or memory do not suffice.
 * Not on rented nodes, and not for a policy with CS_PER_PHASE.  A shared lease cannot be
 * resized or moved. */
enum cs_verdict cs_start_co_located(struct cs_host *host, struct task_id task,
                                    struct job_id runs);
/* Returns cs_speedup() of a job on as many GPUs of the pool as it asked for, while `other`
 * shares these GPUs; 0: they cannot share. */
double cs_speedup_co_located(struct cs_host *host, struct job_id job,
                             struct job_id other, uint32_t pool);
/* Returns the job that shares the GPUs of a job; ID_NONE: none does. */
struct job_id cs_co_located(const struct cs_host *host, struct job_id job);
/* Returns how much a job is slowed down by sharing: 0 tiny, 1 medium, 2 jumbo
 * (models/jobs/speedup.h); 3: it is not known, or the job cannot share. */
uint32_t cs_share_score(const struct cs_host *host, struct job_id job);

#endif
