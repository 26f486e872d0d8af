/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * slots.h - how slots of jobs, tasks and leases are made and given back, the
 * lists over them, and the counters that follow.  Memory comes from the trial's
 * arena; nothing here fails.
 */
#ifndef POLICIES_STATE_SLOTS_H
#define POLICIES_STATE_SLOTS_H

#include <stdint.h>

#include "policies/policy.h"
#include "policies/state/state.h"

struct host_job_slot;
struct host_lease_slot;
struct placement;

/* Numbers in the order in which they came.  A number that leaves makes a hole,
 * ID_NONE, found by the place that its slot keeps.  Holes are closed when they
 * are three quarters of the list, or when the list is asked for. */
struct host_list {
    uint32_t *item, count, capacity, holes;
};

/* Makes both lists, empty. */
void host_lists_begin(struct cs_host *host);
/* Returns all leases, or the jobs that hold any, oldest first, without holes.
 * The list is good until one of them leaves. */
const struct host_list *host_held(const struct cs_host *host);
const struct host_list *host_running_list(const struct cs_host *host);
/* A job got its first lease, or gave back its last. */
void host_running_add(struct cs_host *host, uint32_t job);
void host_running_remove(struct cs_host *host, uint32_t job);

/* Returns the slot of a new job, whose number is the next; all is zero or
 * ID_NONE.  The host owns it. */
struct host_job_slot *host_job_make(struct cs_host *host);
/* Adds dollars for bytes over priced links to what a job cost. */
void host_job_pay_transfer(struct cs_host *host, uint32_t job, double usd);
/* Drops the task of a whole job, if it waits. */
void host_job_drop_task(struct cs_host *host, uint32_t job);
/* Forgets the job's tenant and its place in host->deals->left, which are gone. */
void host_job_leave_orders(struct cs_host *host, uint32_t job);
/* Jobs that ended are forgotten at the next decision but one: forget() forgets
 * those that were noted, note_gone() notes one that has ended. */
void host_jobs_forget(struct cs_host *host);
void host_job_note_gone(struct cs_host *host, uint32_t job);

/* Returns the number of a new live task, in no order yet; pub is zero. */
uint32_t host_task_make(struct cs_host *host);
/* A live task leaves the order and all indexes, and its slot is free. */
void host_task_drop(struct cs_host *host, uint32_t task);
/* The lease that a waiting task held is gone. */
void host_task_lost_lease(struct cs_host *host, uint32_t task);
/* Counts a task among what waits for each pool; sign: +1 or -1. */
void host_task_waits(struct cs_host *host, uint32_t task, int sign);

/* Returns the number of a new live lease, the last of the held ones. */
uint32_t host_lease_make(struct cs_host *host);
/* Takes a live lease from the list and frees its slot and its shares. */
void host_lease_unmake(struct cs_host *host, uint32_t lease);
/* Copies a placement of at least one share into a lease, which owns it. */
void host_placement_keep(struct cs_host *host, struct host_lease_slot *lease,
                         const struct placement *placement);
/* Adds a lease to the counters of its pools (sign +1), or takes it off (-1). */
void host_pools_add(struct cs_host *host, const struct host_lease_slot *lease,
                    int sign);
/* Gives a lease that is in those counters a state and a busy fraction. */
void host_pools_move(struct cs_host *host, struct host_lease_slot *lease,
                     enum cs_lease_state state, double busy);
/* A job of the form asks for `milli` thousandths of a GPU, fewer than a whole one. */
void host_note_part(struct cs_host *host, uint32_t form, uint32_t milli);

#endif
