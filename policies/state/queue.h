/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * queue.h - what waits, in the policy's order.
 */
#ifndef POLICIES_STATE_QUEUE_H
#define POLICIES_STATE_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "policies/policy.h"
#include "policies/state/state.h"

/* Makes the order, empty. */
void host_order_begin(struct cs_host *host);
/* Drops the order and all indexes over what waits; their memory goes with the trial. */
void host_order_end(struct cs_host *host);
/* Returns how many tasks wait. */
uint32_t host_order_count(const struct cs_host *host);
/* Does task a go before task b?  By before() of the policy, then by seq. */
bool host_task_before(const struct cs_host *host, uint32_t a, uint32_t b);
/* Lets tasks stand as they were made until the trial is closed: for a policy that could not
 * begin, and is asked for no order. */
void host_order_keep(struct cs_host *host);
/* A live task begins to wait. */
void host_order_insert(struct cs_host *host, uint32_t task);
/* Puts a waiting task at the place that before() gives it now. */
void host_order_again(struct cs_host *host, uint32_t task);
/* Puts all tasks of one job, whose place has changed, at the place of now. */
void host_order_anew(struct cs_host *host, const uint32_t *task, uint32_t count);
/* Sorts all that waits by what before() says now. */
void host_order_sort(struct cs_host *host);
/* Answers cs_find_pending(), and cs_find_beside() with groups. */
uint32_t host_order_find(struct cs_host *host, uint32_t from, const struct cs_filter *filter,
                         uint64_t groups);
/* Returns the first task in order whose seq is smaller; ID_NONE: none. */
uint32_t host_order_first(struct cs_host *host, uint64_t seq);
/* Returns scratch for `count` numbers, good until the next call. */
uint32_t *host_list_scratch(struct cs_host *host, uint32_t count);

#endif
