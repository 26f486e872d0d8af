/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * order.h - numbers in the order of their keys, for policies that keep lists of
 * their own: jobs by the time at which something is due, or by tenant.
 */
#ifndef POLICIES_ORDER_H
#define POLICIES_ORDER_H

#include "policies/policy.h"

/* Small numbers of the policy (cs_slot(), a job's, a tenant's), the lowest key
 * first; of equal keys the lowest number.  Each call but count, key and next
 * takes the logarithm of the count.  Memory is the host's. */
struct cs_order;
struct cs_order *cs_order_new(struct cs_host *host);
uint32_t cs_order_count(const struct cs_order *order);
/* Puts an item in, or gives it another key. */
void cs_order_put(struct cs_order *order, uint32_t item, int64_t key);
/* Takes an item out, if it is in. */
void cs_order_drop(struct cs_order *order, uint32_t item);
/* Of an item that is in. */
int64_t cs_order_key(const struct cs_order *order, uint32_t item);
/* The first item whose key is not below, and the one after an item that is in.
 * ID_NONE: no more. */
uint32_t cs_order_from(const struct cs_order *order, int64_t key);
uint32_t cs_order_next(const struct cs_order *order, uint32_t item);
/* Takes the first item out and returns it. */
uint32_t cs_order_pop(struct cs_order *order);

#endif
