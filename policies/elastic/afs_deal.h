/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * afs_deal.h - GPUs dealt one by one, as AFS-L's contest does.
 */
#ifndef POLICIES_ELASTIC_AFS_DEAL_H
#define POLICIES_ELASTIC_AFS_DEAL_H

#include "policies/policy.h"

/* A size and the speed on it; gpus 0: none. */
struct afs_size {
    uint32_t gpus;
    uint32_t class;             /* of the step to it, if the deal knows it */
    double speedup;
};

/* A job of a deal.  `now` and `next` are what it has and its next step, which is no
 * step if next.gpus is 0. */
struct afs_job {
    struct job_id job;
    uint32_t had;               /* GPUs before the deal */
    struct afs_size now, next;
    double left_s;
    double end_s;               /* time to the end, of a job with GPUs and a step */
    uint32_t curve;             /* cs_curve() */
    uint32_t steps;             /* that it has taken */
};

struct afs_deal;
struct afs_deal *afs_deal_new(struct cs_host *host);

/* Deals `room` GPUs to jobs, of which left_s, job and had are known, from nothing.  Sets
 * now.gpus.  Jobs stand in the order of submission. */
void afs_deal(struct afs_deal *deal, struct cs_host *host, struct afs_job *job,
              uint32_t count, uint32_t room);

#endif
