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

/* What a start would bring and cost, by the laws of the simulation with free links.  A system
 * that was profiled would know as much beforehand. */
struct cs_forecast {
    double run_s;               /* the phase on that lease */
    double switch_s;            /* loading the state and starting the process */
    double evict_s;             /* what idle leases in the way lose: they are saved
                                   now and loaded again later */
    double usd;                 /* the price of the GPUs for these three times */
    uint32_t gpus;
};

/* Forecasts a start by cs_start_want().  False: there is no room now. */
bool cs_forecast(struct cs_host *host, struct task_id task,
                 const struct cs_want *want, struct cs_forecast *out);
/* Forecasts cs_continue() on the idle lease that the task's role holds.  False: there is none. */
bool cs_forecast_held(struct cs_host *host, struct task_id task,
                      struct cs_forecast *out);
/* Forecasts a start at the site, within want->pool_mask, where the phase is over soonest,
 * switching and evicting included; of equal sites, at the first.  The want then names
 * that site.  False: no site has room now. */
bool cs_forecast_best(struct cs_host *host, struct task_id task,
                      struct cs_want *want, struct cs_forecast *out);
/* Where a task for one role could go: each type of GPU that it may use in each
 * pool, then in all pools that have the type; cheapest first, then by the name
 * of the GPU, then by node, so that the order of `types:` does not decide; then
 * the cores of each pool, if it may run on them instead (CS_ON_CORES).  A role
 * without GPUs has no site.  cs_site() fills pool_mask and gpu_type of a
 * want; of several pools, those that are among `pools` (0: any).  False: none is, or one alone,
 * which is a site of its own. */
uint32_t cs_site_count(const struct cs_host *host, struct task_id task);
bool cs_site(const struct cs_host *host, struct task_id task, uint32_t i,
             uint32_t pools, struct cs_want *want);
/* Returns the home pool of a role of a task, or of a job, as a mask; 0: it has none.  It is the
 * role's `home:`, else its `pool:`, else the pool with the name of the role; none, unless the
 * policy confines roles to it, if it could not hold the role when it is empty. */
uint32_t cs_home_pools(const struct cs_host *host, struct task_id task,
                       uint32_t role);
uint32_t cs_role_homes(const struct cs_host *host, struct job_id job,
                       uint32_t role);
/* Since ABI 2.14.  Says that the policy starts a role of such jobs in these pools alone (0: in
 * any): nodes are rented for it there.  To be called from job_submitted on. */
void cs_rent_in(struct cs_host *host, struct job_id job, uint32_t role, uint32_t pool_mask);
/* Returns the pools that the roles of a task for a whole job may use, as a mask. */
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
/* Returns the pools of a name, as a mask; 0: there is none. */
static inline uint32_t cs_pools_named(const struct cs_host *host,
                                      const char *name)
{
    uint32_t mask = 0;

    for (uint32_t p = 0; p < cs_pool_count(host); p++)
        if (cs_same_text(cs_pool_name(host, p), name))
            mask |= 1u << p;
    return mask;
}
/* Returns the most GPUs that a task may start on: the `max` of its role, or what it asks for
 * under `grow: false`; 0: the task is a whole job. */
uint32_t cs_most_gpus(const struct cs_host *host, struct task_id task);
/* Returns the GPUs of these pools that idle leases hold: `take_idle` adds them to the free. */
uint32_t cs_idle_gpus(const struct cs_host *host, uint32_t pool_mask);
/* For before(): the higher priority goes first, and of equal ones the older job. */
static inline bool cs_by_priority(const void *self, const struct cs_host *host,
                                  struct task_id a, struct task_id b)
{
    const struct cs_task *x = cs_task(host, a), *y = cs_task(host, b);

    (void)self;
    if (x->priority != y->priority)
        return x->priority > y->priority;
    return x->job.i < y->job.i;
}
/* Returns the seconds that a phase takes in a step on what its role asked for, with free links;
 * of a phase that runs in each n-th step, the n-th part of its time. */
double cs_phase_s(const struct cs_host *host, struct job_id job,
                  uint32_t phase);

/* Returns the seconds that a role needs to get its GPUs back each time they were given away: an
 * exponential average of what later starts of its kind have taken so far.  So full links
 * and state on other nodes are counted as they were.  Before the first such start, the
 * answer is that of the laws, on what it asked for in its home pool with free links. */
double cs_switch_s(const struct cs_host *host, struct job_id job,
                   uint32_t role);

/* Returns what is lost if the GPUs of a job are lent whenever they are idle: the seconds of one
 * switch of each of its roles, over the seconds of a step of the job alone.  0: nothing is, as
 * the empty cluster has no room for all its roles at once, so that it always switches. */
double cs_switch_loss(const struct cs_host *host, struct job_id job);

/* Grants a lease to want->role of a job before a phase of this role is ready: the lease loads,
 * and then runs the phase that is ready, or is idle.  CS_NOT_PENDING: the job has
 * ended, or the role holds a lease or waits for one; CS_BAD_SHAPE: no such role,
 * or not on that number of GPUs; CS_NOT_ALLOWED: not CS_PER_PHASE. */
enum cs_verdict cs_prepare(struct cs_host *host, struct job_id job,
                           const struct cs_want *want);
/* Starts a task and prepares the other roles of its job that have GPUs, each in
 * its home, so that it may hold them for its life, as under a static split.
 * CS_NO_ROOM: the free GPUs are too few for all of them, and none is started. */
enum cs_verdict cs_settle(struct cs_host *host, struct task_id task);
/* Does a role with GPUs hold a lease, or has the job at most one such role? */
bool cs_settled(const struct cs_host *host, struct job_id job);
/* Starts a phase on the idle lease that its role holds; gives an idle lease back. */
enum cs_verdict cs_continue(struct cs_host *host, struct task_id task);
enum cs_verdict cs_release(struct cs_host *host, struct lease_id idle);
/* Takes a lease back after delay_ns, or sooner if its phase is over.  A phase that still runs
 * then is cut short: a rollout keeps the responses that are done, and state is saved as by
 * cs_release().  Needs CS_PREEMPTS. */
enum cs_verdict cs_take_back(struct cs_host *host, struct lease_id lease,
                             int64_t delay_ns);
/* Ends a standstill under a power cap.  There is one if no lease is at work, and the cap keeps
 * free GPUs from running, or it alone keeps a task of a role from starting as its owner asks.
 * Gives back the lease that has been idle for longest, one of GPUs before one of cores.  If
 * none is idle, starts the first task that finds room as its owner asks, or at a smaller size.
 * True: it did one of these, and the policy should decide again. */
bool cs_relieve_power(struct cs_host *host);
/* Asks for a call of decide at the time when the next lease has been idle for idle_ns. */
void cs_wake_when_idle(struct cs_host *host, int64_t idle_ns);

/* Candidates, one after the other, for policies whose order does not change with time.
 * cs_next_candidate() returns the first task, in order, that was not tried since
 * cs_try_anew(); ID_NONE: all were.  cs_tried() says that a task was tried, and how much
 * other tasks are like it: one that did not start is passed over, with all that are alike,
 * until a request is carried out.  Tasks are alike if they hold no lease and get equal
 * answers of cs_forecast(), cs_start_want() and (whole jobs) cs_start_wants() to equal
 * wants; CS_ALIKE_AS_LONG: if they are also estimated to take as long.  CS_RESTS: below. */
enum cs_alike { CS_ALIKE_NONE, CS_ALIKE_AS_LONG, CS_ALIKE_ALL, CS_RESTS };
void cs_try_anew(struct cs_host *host);
struct task_id cs_next_candidate(struct cs_host *host);
void cs_tried(struct cs_host *host, struct task_id task, enum cs_alike alike);

/* From one decision to the next: a task that was tried with CS_RESTS is no candidate until
 * cs_wake() is called for its job.  If room depends on more than free nodes (a power cap,
 * rented nodes, `relax_after`), it stays a candidate, as with CS_ALIKE_NONE.
 * cs_next_freed() returns a node on which something was released, or a lease became idle,
 * since its first call: each node once, in no stated order; ID_NONE: there is no more. */
void cs_wake(struct cs_host *host, struct job_id job);
uint32_t cs_next_freed(struct cs_host *host);
/* Gives the tasks of a job their new places, after its answers of before() have changed.  Must
 * be called once for each such job, before those of another job change.  For policies with
 * CS_PER_PHASE and without CS_ORDER_MOVES. */
void cs_reorder(struct cs_host *host, struct job_id job);

#endif
