/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * resize.h - for policies that change the size or the place of running jobs
 * (CS_RESIZES), and how fast jobs run elsewhere.
 *
 * Training goes on from the last optimizer step that is complete, a job of known
 * length from where it is.  A change costs: the state of the role is saved over
 * PCIe and read where it goes on (over the network from another node), the process
 * starts anew, and what `preemption: {cost: }` says.  The lease ends; its role has
 * another.
 */
#ifndef POLICIES_RESIZE_H
#define POLICIES_RESIZE_H

#include "policies/policy.h"

/* A resized lease stays in its pools; it may end on other GPUs.  CS_NO_ROOM: so
 * many are not free, its own included; for cs_move: there is no other place.
 * Idle leases of CS_PER_PHASE policies are not moved: start the task instead.
 * cs_move ignores take_idle. */
enum cs_verdict cs_resize(struct cs_host *host, struct lease_id lease,
                          uint32_t gpus);
enum cs_verdict cs_move(struct cs_host *host, struct lease_id lease,
                        const struct cs_want *want);

/* ---- sizes ---- */

/* Gives each job its number of GPUs; 0: the job waits.  A job is listed once.  Some are
 * stopped, some shrink, some start, some grow, in that order and each in the order of
 * the list.  A job that finds no room to start takes the largest smaller size that
 * does, and else stays as it is. */
struct cs_size {
    struct job_id job;
    uint32_t gpus;
};
void cs_set_sizes(struct cs_host *host, const struct cs_size *size,
                  uint32_t count);
/* Sizes that a job may have, of one role those that cs_resize() may bring: the
 * largest one up to gpus, or 0; the smallest; the smallest above gpus, or 0. */
uint32_t cs_size_below(const struct cs_host *host, struct job_id job,
                       uint32_t gpus);
uint32_t cs_size_least(const struct cs_host *host, struct job_id job);
uint32_t cs_size_above(const struct cs_host *host, struct job_id job,
                       uint32_t gpus);
/* A small number: jobs of the same number have the same sizes, and the same
 * cs_best_speedup() on each, for good.  ID_NONE: the job is not known to be like others,
 * or its speedups change. */
uint32_t cs_curve(const struct cs_host *host, struct job_id job);
uint32_t cs_size_now(const struct cs_host *host, struct job_id job);

/* ---- places ---- */

/* Gives each job of the list exactly its GPUs.  Entries of a job stand together,
 * in the order of nodes; one of 0 GPUs lets the job wait, whatever its others say, and
 * so does a sum that it cannot have.  What lies elsewhere is stopped, then all is
 * started, in the order of the list; what finds no room waits.  Jobs that are not in
 * the list stay as they are. */
void cs_set_node_gpus(struct cs_host *host, const struct cs_node_gpus *spot,
                      uint32_t count);
/* Returns with how many GPUs of a pool a job of one role could run under the power cap if no
 * other job ran, on the thriftiest nodes of the pool; UINT32_MAX: there is no cap.  Nodes that
 * are rented now, and those that are ordered, stand by.  O(groups of nodes). */
uint32_t cs_gpus_powered(const struct cs_host *host, struct job_id job, uint32_t pool);
/* Can cs_set_node_gpus() give it GPUs?  Of one role, whole GPUs, no service. */
bool cs_can_move(struct cs_host *host, struct job_id job);
/* GPUs of a node that a job of one role holds. */
uint32_t cs_gpus_on(const struct cs_host *host, struct job_id job,
                    uint32_t node);

/* Would cs_start_want() find GPUs and host memory for the task, if cores were no matter?
 * Without a `spot`; draws nothing. */
bool cs_has_gpus_for(struct cs_host *host, struct task_id task, const struct cs_want *want);

/* ---- speedups ---- */

/* The speed of a job of one role on `gpus` GPUs of a pool, over its speed on
 * what its owner asked for (of a trace job: where its length was measured); 0:
 * it cannot run there.  cs_left_ns() over it is what is left there. */
double cs_speedup(struct cs_host *host, struct job_id job, uint32_t pool,
                  uint32_t gpus);
/* As cs_speedup(), with `cores` cores per GPU, for jobs whose loader needs them. */
double cs_speedup_cores(struct cs_host *host, struct job_id job, uint32_t pool,
                        uint32_t gpus, uint32_t cores);
/* As cs_speedup(), at the job's progress now, on GPUs of `nodes` nodes: more than one only
 * matters to jobs whose goodput is known. */
double cs_speedup_on(struct cs_host *host, struct job_id job, uint32_t pool,
                     uint32_t gpus, uint32_t nodes);
/* The largest cs_speedup() of any pool; 1 for a job of several roles, which has
 * one size. */
double cs_best_speedup(struct cs_host *host, struct job_id job, uint32_t gpus);
/* Of its first nodes with GPUs; 0 where cores do not matter. */
uint32_t cs_pool_cores_per_gpu(const struct cs_host *host, uint32_t pool);
/* Cores per GPU that a job of one role holds now; 0: none. */
uint32_t cs_cores_now(const struct cs_host *host, struct job_id job);
/* USD of a GPU-hour where the pool's is cheapest, at the prices of now. */
double cs_pool_usd_per_h(const struct cs_host *host, uint32_t pool);

/* Epochs of a job whose batch size may change as it trains
 * (models/jobs/regimes.h): those that are done, and how many it had with each
 * batch size, the present one included.  What is to come is for a policy to
 * guess.  False: nothing is said of its epochs. */
#define CS_MODES_MAX 8u
struct cs_epochs {
    uint32_t count, done;       /* whole epochs */
    uint32_t modes;             /* batch sizes that it may have */
    const double *epoch_s;      /* of each, on what the job asks for */
    uint32_t seen[CS_MODES_MAX];
};
bool cs_epochs(const struct cs_host *host, struct job_id job,
               struct cs_epochs *out);

#endif
