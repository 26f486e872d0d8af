/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * keys.h - jobs whose keys move with time, in one list or in lanes by size.
 */
#ifndef POLICIES_HOST_KEYS_H
#define POLICIES_HOST_KEYS_H

#include "policies/state/state.h"
#include "sim/containers/order.h"

/* `entry`: an index into host->deals->left. */

/* Returns the key that the policy gives an entry now. */
double host_keys_now(struct cs_host *host, uint32_t entry);
/* By that key; `owner`: the host. */
bool host_keys_before(void *owner, uint32_t a, uint32_t b);
extern const struct order_rules host_keys_rules;
/* Returns what the order knows of an entry. */
struct order_item host_keys_item(const struct cs_host *host, uint32_t entry);
/* Sets key and line of an entry whose job has come, started or stopped, or whose key is
 * another; returns what the order knows of it from now on. */
struct order_item host_keys_note(struct cs_host *host, uint32_t entry);
/* Returns a new entry for a job, in no order. */
uint32_t host_keys_make(struct cs_host *host, struct job_id job);
/* Makes the list of deal.c, which is empty, of all entries, given in their order. */
void host_keys_hand_over(struct cs_host *host, const uint32_t *list,
                         uint32_t count);
/* Stops and starts what host->deals->dealt names. */
void host_keys_carry_out(struct cs_host *host);

/* Are all jobs that are dealt in lanes? */
bool host_lanes_open(const struct cs_host *host);
/* If they are not: is it time to try?  After a vain try some deals are left out.
 * may: this deal could be in lanes. */
bool host_lanes_due(struct cs_host *host, bool may);
/* Takes the list of deal.c over.  False: jobs of another kind are in it, and it stays. */
bool host_lanes_begin(struct cs_host *host);
/* Brings open lanes up to date, but for jobs that came.  False: they are closed, since
 * they may no longer be or jobs of another kind came; deal.c has the list. */
bool host_lanes_refresh(struct cs_host *host, bool may);
/* Gives all GPUs anew to the jobs in open lanes and to those that came. */
void host_lanes_deal(struct cs_host *host);

#endif
