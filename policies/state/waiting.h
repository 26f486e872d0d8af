/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * waiting.h - tasks that wait, in the order of the policy; when leases should end.
 */
#ifndef POLICIES_STATE_WAITING_H
#define POLICIES_STATE_WAITING_H

#include <stdbool.h>
#include <stdint.h>

#include "policies/policy.h"

struct calendar;
struct order;
struct order_filter;
struct order_item;
struct host_job_slot;
struct rank_tree;
struct share;

struct host_sorted {
    double key;
    uint32_t item;
};

/* What waits.  Indexes that no policy asked for are NULL. */
struct host_waiting {
    struct order *queue;            /* tasks that wait */
    struct rank_tree *order;        /* the places in it */
    struct host_tops *tops;         /* NULL: the order is kept sorted */
    struct host_tenants *tenants;   /* NULL: nobody asked */
    struct host_turns *turns;       /* likewise */
    struct host_kinds *kinds;       /* likewise */
    struct host_turned *turned;     /* likewise */
    struct host_sorted *sort;       /* scratch */
    uint32_t sort_room;
    struct calendar *ends;              /* of leases, as expected; NULL likewise */
    uint32_t *list, list_room;      /* scratch */
    struct host_list *held;         /* leases, oldest first */
    struct host_list *running;      /* jobs with leases */
    bool has_parts;                 /* a job asked for a part of a GPU */
    uint64_t next_seq;
};

/* what waits, in order; when leases end. */
void host_order_begin(struct cs_host *host);
uint32_t host_order_count(const struct cs_host *host);
void host_order_insert(struct cs_host *host, uint32_t task);
void host_order_sort(struct cs_host *host);
/* A task of which before() says something else now. */
void host_order_again(struct cs_host *host, uint32_t task);
/* Answers to cs_find_pending() and cs_earliest_ns(). */
uint32_t host_order_find(struct cs_host *host, uint32_t from,
                         const struct cs_filter *filter);
/* The first in order that came before; ID_NONE. */
uint32_t host_order_first(struct cs_host *host, uint64_t seq);
int64_t host_ends_room(struct cs_host *host, int64_t now_ns, uint32_t free_now,
                       uint32_t gpus, uint32_t *spare_gpus);
void host_lease_expect(struct cs_host *host, uint32_t lease, int64_t end_ns);
void host_lease_unexpect(struct cs_host *host, uint32_t lease);
/* The same for GPUs of no lease; the number is none of a lease. */
void host_end_expect(struct cs_host *host, int64_t end_ns, uint32_t number,
                     uint32_t gpus);
void host_end_unexpect(struct cs_host *host, int64_t end_ns,
                       uint32_t number);
bool host_task_before(const struct cs_host *host, uint32_t a, uint32_t b);
/* Room for so many in host->waiting->list, which stays good until the next call. */
uint32_t *host_list_room(struct cs_host *host, uint32_t count);

/* Room for so many to be filled in, and the same sorted stably; good until the
 * next call. */
struct host_sorted *host_sort_room(struct cs_host *host, uint32_t count);
const struct host_sorted *host_sort(struct cs_host *host, uint32_t count);

/* a task comes or goes. */
void host_tenants_insert(struct cs_host *host, uint32_t task);
void host_tenants_remove(struct cs_host *host, uint32_t task);

/* a job waits, or does so no more. */
void host_turned_add(struct cs_host *host, uint32_t job);

/* the same; a task lost the lease that it held. */
void host_kinds_insert(struct cs_host *host, uint32_t task);
void host_kinds_remove(struct cs_host *host, uint32_t task);
void host_kinds_again(struct cs_host *host, uint32_t task);

/* order_find(), counted. */
uint32_t host_search(struct cs_host *host, struct order *order, uint32_t from,
                   const struct order_filter *filter);
/* What the order container knows of a task. */
struct order_item host_task_item(const struct cs_host *host, uint32_t task);
/* Of whole jobs for so many GPUs at most: what is not known to find no room. */
struct order_filter host_startable(const struct cs_host *host,
                                   uint32_t gpus_max);
/* Is a task known to find no room (below)?  `owner`: the host. */
bool host_task_known_full(void *owner, uint32_t task);

/* Since the last release, a job of that form and so many GPUs found no room
 * (as asked for, all its roles at once); is that known? */
void host_note_full(struct cs_host *host, uint32_t form, uint32_t gpus);
bool host_known_full(const struct cs_host *host, uint32_t form,
                     uint32_t gpus);

#endif
