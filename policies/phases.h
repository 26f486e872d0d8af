/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * phases.h - for policies that lease for a phase (CS_PER_PHASE).
 *
 * Between phases a lease is idle: it may be kept (the next phase of its role then
 * starts without a switch), given back with cs_release(), or taken over by
 * starting another task on its GPUs (cs_want.take_idle).
 */
#ifndef POLICIES_PHASES_H
#define POLICIES_PHASES_H

#include "policies/params.h"
#include "policies/policy.h"

/* What a start would bring and cost, by the laws that rule the simulation
 * and with free links: what a profiled system would know beforehand. */
struct cs_forecast {
    double run_s;               /* the phase on that lease */
    double switch_s;            /* loading, starting */
    double evict_s;             /* what idle leases in the way lose: saving
                                   now, loading again later */
    double usd;                 /* the GPUs' price for all of it */
    uint32_t gpus;
};

/* What a start would bring.  False: there is no room now. */
bool cs_forecast(struct cs_host *host, struct task_id task,
                 const struct cs_want *want, struct cs_forecast *out);
/* What a start on the task's own idle lease would bring. */
bool cs_forecast_held(struct cs_host *host, struct task_id task,
                      struct cs_forecast *out);
/* What a start would bring at the site within want->pool_mask where the phase is soonest over,
 * switching and evicting included: the first of equals.  The want then names
 * that site. */
bool cs_forecast_best(struct cs_host *host, struct task_id task,
                      struct cs_want *want, struct cs_forecast *out);
/* Where a task for one role could go: each type of GPU that it may use in each
 * pool, then in all pools that have the type; cheapest first, then by the name
 * of the GPU, then by node, so that the order of `types:` does not decide; then
 * the cores of each pool, if it may run on them instead (CS_ON_CORES).  A role
 * without GPUs has no site.  cs_site() fills pool_mask and gpu_type of a
 * want; false: the site is not within those pools (0: any). */
uint32_t cs_site_count(const struct cs_host *host, struct task_id task);
bool cs_site(const struct cs_host *host, struct task_id task, uint32_t i,
             uint32_t pools, struct cs_want *want);
/* The pool of a role of its own, as a mask; 0: none.  It is what `home:` of the
 * role says, else its `pool:`, else the pool that bears the role's name. */
uint32_t cs_home_pools(const struct cs_host *host, struct task_id task,
                       uint32_t role);
uint32_t cs_role_homes(const struct cs_host *host, struct job_id job,
                       uint32_t role);
/* The pools that the roles of a task for a whole job may use, as a mask. */
uint32_t cs_task_pools(const struct cs_host *host, struct task_id task);
/* Would cs_start() start the task for a whole job now, if these jobs held nothing?
 * Draws and changes nothing. */
bool cs_fits_without(struct cs_host *host, struct task_id task,
                     const struct job_id *job, uint32_t count);
/* Since ABI 2.10.  Would cs_start_want() start the task if these leases, each of them held
 * and named once, held nothing?  Draws and changes nothing. */
bool cs_fits_without_leases(struct cs_host *host, struct task_id task,
                            const struct cs_want *want, const struct lease_id *lease,
                            uint32_t count);
/* The pools of that name, as a mask; 0: there is none. */
static inline uint32_t cs_pools_named(const struct cs_host *host,
                                      const char *name)
{
    uint32_t mask = 0;

    for (uint32_t p = 0; p < cs_pool_count(host); p++)
        if (cs_same_text(cs_pool_name(host, p), name))
            mask |= 1u << p;
    return mask;
}
/* The most GPUs that a task may start on: the `max` of its role, or what it asks
 * for under `grow: false`.  0: a whole job. */
uint32_t cs_most_gpus(const struct cs_host *host, struct task_id task);
/* Held by idle leases: what `take_idle` adds to the free. */
uint32_t cs_idle_gpus(const struct cs_host *host, uint32_t pool_mask);
/* For before(): the higher priority, of two alike the older job. */
static inline bool cs_by_priority(const void *self, const struct cs_host *host,
                                  struct task_id a, struct task_id b)
{
    const struct cs_task *x = cs_task(host, a), *y = cs_task(host, b);

    (void)self;
    if (x->priority != y->priority)
        return x->priority > y->priority;
    return x->job.i < y->job.i;
}
/* Seconds per step of a phase on what its role asked for, links free: of a phase that
 * runs in each n-th step, the n-th part of its time. */
double cs_phase_s(const struct cs_host *host, struct job_id job,
                  uint32_t phase);

/* Seconds that a role takes to have its GPUs back each time they were given
 * away: what later starts of its kind have taken so far, an exponential average,
 * so that full links and state on other nodes count as they were.  Before there
 * was one: by the laws, on what it asked for in its home pool, links free. */
double cs_switch_s(const struct cs_host *host, struct job_id job,
                   uint32_t role);

/* Returns what is lost if the GPUs of a job are lent whenever they are idle: the
 * switches of all its roles by one step of the job alone, both in seconds. */
double cs_switch_loss(const struct cs_host *host, struct job_id job);

/* Grants a lease to want->role of a job before a phase of it is ready: it loads,
 * then is idle, or runs what is ready by then.  CS_NOT_PENDING: the job has
 * ended, or the role holds a lease or waits for one; CS_BAD_SHAPE: no such role,
 * or not on that number of GPUs; CS_NOT_ALLOWED: not CS_PER_PHASE. */
enum cs_verdict cs_prepare(struct cs_host *host, struct job_id job,
                           const struct cs_want *want);
/* Starts a task and prepares the other roles of its job that have GPUs, each in
 * its home, so that it may hold them for its life, as under a static split.
 * CS_NO_ROOM: the free GPUs are too few for all of them, and none is started. */
enum cs_verdict cs_settle(struct cs_host *host, struct task_id task);
/* True: a role with GPUs holds a lease, or the job has at most one such role. */
bool cs_settled(const struct cs_host *host, struct job_id job);
/* Starts a phase on the idle lease that its role holds. */
enum cs_verdict cs_continue(struct cs_host *host, struct task_id task);
enum cs_verdict cs_release(struct cs_host *host, struct lease_id idle);
/* Takes a lease back after delay_ns, or as soon as its phase is over.  What runs
 * then is cut short: a rollout keeps the responses that are done, state is
 * saved as by cs_release().  Needs CS_PREEMPTS. */
enum cs_verdict cs_take_back(struct cs_host *host, struct lease_id lease,
                             int64_t delay_ns);
/* Ends a standstill under a power cap.  Where no lease is at work, and GPUs are free that the cap
 * does not let run or it alone keeps a task of a role from starting as its owner asks: gives back
 * the lease that has been idle for longest, one of GPUs before one of cores; if there is none,
 * starts the first task that finds room as its owner asks, or at a smaller size.  True: it did,
 * and the policy should decide again. */
bool cs_relieve_power(struct cs_host *host);
/* Calls decide when the next lease will have been idle for idle_ns. */
void cs_wake_when_idle(struct cs_host *host, int64_t idle_ns);

/* Candidates, one after the other, where the order stands still.
 * cs_next_candidate() is the first in order that was not tried since
 * cs_try_anew(), or ID_NONE.  After cs_tried() it is the next one: a task that was
 * not started is passed over, and so is what is alike, until a request is
 * carried out.  Alike are tasks that hold no lease and to which cs_forecast(),
 * cs_start_want() and (whole jobs) cs_start_wants() give one answer to one want;
 * CS_ALIKE_AS_LONG: and which are estimated to take as long.  CS_RESTS: see below. */
enum cs_alike { CS_ALIKE_NONE, CS_ALIKE_AS_LONG, CS_ALIKE_ALL, CS_RESTS };
void cs_try_anew(struct cs_host *host);
struct task_id cs_next_candidate(struct cs_host *host);
void cs_tried(struct cs_host *host, struct task_id task, enum cs_alike alike);

/* From decision to decision.  A task that was tried with CS_RESTS is no candidate
 * until its job is woken.  Where more than free nodes decides (a power cap, rented
 * nodes, `relax_after`) it stays one, as if CS_ALIKE_NONE had been said.
 * cs_next_freed: a node on which something was released or a lease became idle since
 * this was first asked, each once, in no order; ID_NONE: no more. */
void cs_wake(struct cs_host *host, struct job_id job);
uint32_t cs_next_freed(struct cs_host *host);
/* before() answers otherwise of one job than it did: its tasks take their new places.
 * To be called once for each such job, before another one changes.  For policies with
 * CS_PER_PHASE, without CS_ORDER_MOVES. */
void cs_reorder(struct cs_host *host, struct job_id job);

#endif
