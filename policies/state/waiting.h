/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * waiting.h - the indexes over tasks that wait: for the files that keep one.
 */
#ifndef POLICIES_STATE_WAITING_H
#define POLICIES_STATE_WAITING_H

#include <stdbool.h>
#include <stdint.h>

#include "policies/phases.h"
#include "policies/policy.h"

#include "policies/state/state.h"

struct calendar;
struct order;
struct order_filter;
struct order_item;
struct host_sorted;
struct host_part_ends;
struct host_pool_ends;
struct host_group_ends;
struct rank_tree;

/* What waits, and indexes over it and over leases.  An index is made when a policy asks for it
 * first, and is NULL until then.  Each has a file of its own name. */
struct host_waiting {
    struct order *queue;            /* tasks that wait */
    struct rank_tree *order;        /* the places in the queue */
    struct host_tops *tops;         /* where the order moves; NULL: it is kept sorted */
    struct host_tenants *tenants;   /* by tenant */
    struct host_turns *turns;       /* in the order of submission, for backfill */
    struct host_kinds *kinds;       /* those that are answered alike */
    struct host_turned *turned;     /* jobs that came, started or wait again */
    struct host_sorted *sort;       /* scratch of host_sort() */
    uint32_t sort_capacity;
    struct calendar *ends;          /* expected ends of leases; NULL likewise */
    struct host_pool_ends *pool_ends;   /* likewise, by pool */
    struct host_group_ends *group_ends; /* likewise, by groups of nodes */
    struct calendar *core_ends;         /* likewise, in thousandths of cores */
    struct host_part_ends *part_ends;   /* leases of parts of GPUs; NULL: none yet */
    uint32_t *list, list_capacity;  /* scratch */
    struct host_list *held;         /* leases, oldest first */
    struct host_list *running;      /* jobs with leases */
    uint32_t part_least;            /* the least part of a GPU, in thousandths, */
    bool has_parts;                 /* that jobs asked for, if one did */
    bool has_cores;                 /* a task came that may need no GPU */
    uint64_t next_seq;
};

/* A task comes, or goes. */
void host_tenants_insert(struct cs_host *host, uint32_t task);
void host_tenants_remove(struct cs_host *host, uint32_t task);
void host_kinds_insert(struct cs_host *host, uint32_t task);
void host_kinds_remove(struct cs_host *host, uint32_t task);
/* Is a task that waits no candidate until it is woken (cs_wake)? */
bool host_kinds_rests(const struct cs_host *host, uint32_t task);
void host_kinds_wake(struct cs_host *host, uint32_t task);
/* What decides a waiting task's kind has changed. */
void host_kinds_again(struct cs_host *host, uint32_t task);
/* cs_tried() of phases.h; false: cs_next_candidate() did not tell that task last. */
bool host_kinds_tried(struct cs_host *host, struct task_id task, enum cs_alike alike);
/* A job began to wait, or no longer waits. */
void host_turned_add(struct cs_host *host, uint32_t job);

/* order_find() in one of the orders over tasks; counts the tasks it saw. */
uint32_t host_search(struct cs_host *host, struct order *order, uint32_t from,
                     const struct order_filter *filter);
/* Returns what an order keeps of a task. */
struct order_item host_task_item(const struct cs_host *host, uint32_t task);
/* Returns how many GPUs it needs at least: none if it may go on cores. */
uint32_t host_task_gpus_min(const struct cs_host *host, uint32_t task);
/* Accepts the tasks of whole jobs for at most gpus_max GPUs, except those that
 * are known to fit nowhere now. */
struct order_filter host_startable(const struct cs_host *host,
                                   uint32_t gpus_max);
/* Returns whether a task is known to fit nowhere now.  owner: the host. */
bool host_task_known_full(void *owner, uint32_t task);

#endif
