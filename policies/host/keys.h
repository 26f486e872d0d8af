/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * keys.h - jobs whose keys move with time, in one list or in lanes by size.
 */
#ifndef POLICIES_HOST_KEYS_H
#define POLICIES_HOST_KEYS_H

#include "policies/state/state.h"
#include "sim/containers/order.h"

/* Entries of host->deals->left.  The key that the policy gives now. */
double host_keys_now(struct cs_host *host, uint32_t entry);
/* By that key; `owner`: the host. */
bool host_keys_before(void *owner, uint32_t a, uint32_t b);
extern const struct order_rules host_keys_rules;
/* What the order knows of an entry. */
struct order_item host_keys_item(const struct cs_host *host, uint32_t entry);
/* Of a job that starts now or waits again: its key and its line; the same. */
struct order_item host_keys_note(struct cs_host *host, uint32_t entry);
/* An entry for a job, in no order. */
uint32_t host_keys_make(struct cs_host *host, struct job_id job);
/* All that there are, in order, become the list of deal.c. */
void host_keys_hand_over(struct cs_host *host, const uint32_t *list,
                         uint32_t count);
/* Stops and starts what host->deals->dealt names. */
void host_keys_carry_out(struct cs_host *host);

/* all jobs that are dealt in lanes.  Are they? */
bool host_lanes_open(const struct cs_host *host);
/* If not: is it time to try, where it may be? */
bool host_lanes_due(struct cs_host *host, bool may);
/* Takes over the list of deal.c, or leaves it there: false. */
bool host_lanes_begin(struct cs_host *host);
/* If open: up to date but for jobs that came; or turned over to deal.c,
 * where it may no longer be or jobs do not fit: false. */
bool host_lanes_refresh(struct cs_host *host, bool may);
void host_lanes_deal(struct cs_host *host);

#endif
