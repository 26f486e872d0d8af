/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * resize.h - for policies that change the size or the place of running jobs
 * (CS_RESIZES), and how fast jobs run elsewhere.
 *
 * After a change, training goes on from the last optimizer step that is complete, and a job of
 * known length from where it was.  A change takes the time to save the state of the role over
 * PCIe, to read it where the role goes on (over the network from another node), to start the
 * process anew, and `preemption: {cost: }`.  The lease ends, and the role gets a new one.
 */
#ifndef POLICIES_RESIZE_H
#define POLICIES_RESIZE_H

#include "policies/policy.h"

/* cs_resize() gives a lease another number of GPUs in its pools, maybe other GPUs than it has;
 * cs_move() gives it another place.  CS_NO_ROOM: fewer GPUs are free, the lease's own
 * included; of cs_move(): there is no other place.  Idle leases of CS_PER_PHASE policies are
 * not moved: start the task instead.  cs_move() ignores take_idle. */
enum cs_verdict cs_resize(struct cs_host *host, struct lease_id lease,
                          uint32_t gpus);
enum cs_verdict cs_move(struct cs_host *host, struct lease_id lease,
                        const struct cs_want *want);

/* ---- sizes ---- */

/* Gives each job of the list, which names a job once, its number of GPUs; 0: the job waits.
 * First jobs are stopped, then jobs shrink, then jobs start, and then jobs grow, each in the
 * order of the list.  A job that finds no room to start takes the largest smaller size that
 * has room; if there is none, it stays as it is. */
struct cs_size {
    struct job_id job;
    uint32_t gpus;
};
void cs_set_sizes(struct cs_host *host, const struct cs_size *size,
                  uint32_t count);
/* Sizes that a job may have; of a job of one role, those that cs_resize() can give it.  They
 * return the largest size up to `gpus` (0: none), the smallest size, and the smallest size
 * above `gpus` (0: none). */
uint32_t cs_size_below(const struct cs_host *host, struct job_id job,
                       uint32_t gpus);
uint32_t cs_size_least(const struct cs_host *host, struct job_id job);
uint32_t cs_size_above(const struct cs_host *host, struct job_id job,
                       uint32_t gpus);
/* Returns a small number: jobs with an equal number have equal sizes, and an equal
 * cs_best_speedup() on each, to the end of the trial.  ID_NONE: the job is not known to be
 * like others, or its speedups change. */
uint32_t cs_curve(const struct cs_host *host, struct job_id job);
/* Since ABI 2.14.  Do the policy and the job itself alone change its GPUs, and does what it has
 * left never rise while it keeps them, and fall by its restart or else at its speed?  Of a job
 * of one role and known length that loads nothing, where nothing fails and no nodes are rented:
 * a job may lose both there. */
bool cs_is_steady(const struct cs_host *host, struct job_id job);
/* Returns the GPUs that a job holds now; 0: it waits. */
uint32_t cs_size_now(const struct cs_host *host, struct job_id job);

/* ---- places ---- */

/* Gives each job of the list exactly these GPUs.  Entries of a job stand together, in the order
 * of nodes.  A job waits if one of its entries has 0 GPUs, or if it cannot have their sum.
 * Jobs that hold other GPUs are stopped; then all are started, in the order of the list, and
 * one that finds no room waits.  Jobs that are not in the list stay as they are. */
void cs_set_node_gpus(struct cs_host *host, const struct cs_node_gpus *spot,
                      uint32_t count);
/* Returns with how many GPUs of a pool a job of one role could run under the power cap if no
 * other job ran, on the thriftiest nodes of the pool; UINT32_MAX: there is no cap.  Nodes that
 * are rented now, and those that are ordered, stand by.  O(groups of nodes). */
uint32_t cs_gpus_powered(const struct cs_host *host, struct job_id job, uint32_t pool);
/* Can cs_set_node_gpus() give a job GPUs?  Only one of one role and of whole GPUs, which is no
 * service, and none of whose pools has GPUs of two types. */
bool cs_can_move(struct cs_host *host, struct job_id job);
/* Returns how many GPUs of a node a job of one role holds. */
uint32_t cs_gpus_on(const struct cs_host *host, struct job_id job,
                    uint32_t node);

/* Would cs_start_want() find GPUs and host memory for the task if cores did not matter?  The
 * want has no `spot`.  Draws no random number. */
bool cs_has_gpus_for(struct cs_host *host, struct task_id task, const struct cs_want *want);

/* ---- speedups ---- */

/* Returns the speed of a job of one role on `gpus` GPUs of a pool, over its speed on what its
 * owner asked for (of a trace job: where its length was measured); 0: it cannot run there.
 * cs_left_ns() divided by it is the time that is left there. */
double cs_speedup(struct cs_host *host, struct job_id job, uint32_t pool,
                  uint32_t gpus);
/* As cs_speedup(), with `cores` cores per GPU, for jobs whose loader needs them. */
double cs_speedup_cores(struct cs_host *host, struct job_id job, uint32_t pool,
                        uint32_t gpus, uint32_t cores);
/* As cs_speedup(), at the job's present progress, on GPUs of `nodes` nodes.  The number of nodes
 * matters only to jobs whose goodput is known. */
double cs_speedup_on(struct cs_host *host, struct job_id job, uint32_t pool,
                     uint32_t gpus, uint32_t nodes);
/* Returns the largest cs_speedup() of all pools; if no pool holds as many GPUs of a job of phases,
 * the speed on those of several pools; 1 for a job of several roles, which has one size. */
double cs_best_speedup(struct cs_host *host, struct job_id job, uint32_t gpus);
/* Returns the cores per GPU of the first nodes of the pool that have GPUs; 0: their cores are
 * not stated. */
uint32_t cs_pool_cores_per_gpu(const struct cs_host *host, uint32_t pool);
/* Returns the cores per GPU that a job of one role holds now; 0: none. */
uint32_t cs_cores_now(const struct cs_host *host, struct job_id job);
/* Returns the lowest price of a GPU of the pool, in USD per GPU-hour, at the present prices. */
double cs_pool_usd_per_h(const struct cs_host *host, uint32_t pool);

/* Epochs of a job whose batch size may change as it trains (models/jobs/regimes.h): how many are
 * done, and how many it had with each batch size, the present epoch included.  A policy is
 * not told the batch sizes to come.  False: nothing is stated of the job's epochs. */
#define CS_MODES_MAX 8u
struct cs_epochs {
    uint32_t count, done;       /* whole epochs */
    uint32_t modes;             /* batch sizes that it may have */
    const double *epoch_s;      /* of each batch size, on what the job asks for */
    uint32_t seen[CS_MODES_MAX];        /* epochs so far, by batch size */
};
bool cs_epochs(const struct cs_host *host, struct job_id job,
               struct cs_epochs *out);

#endif
