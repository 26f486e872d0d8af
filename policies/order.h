/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * order.h - numbers in the order of their keys, for policies that keep lists of
 * their own: jobs by the time at which something is due, or by tenant.
 */
#ifndef POLICIES_ORDER_H
#define POLICIES_ORDER_H

#include "policies/policy.h"

/* An order holds items, each with a key: the lowest key first, of equal keys the lowest item.
 * Items are small numbers: what cs_slot() returns, or the number of a job or a tenant.  The
 * time of a call grows with the logarithm of the count, but for count, key and next.  The
 * host owns the memory, which is good to the end of the trial. */
struct cs_order;
struct cs_order *cs_order_new(struct cs_host *host);
uint32_t cs_order_count(const struct cs_order *order);
/* Puts an item in, or gives it another key. */
void cs_order_put(struct cs_order *order, uint32_t item, int64_t key);
/* Takes an item out, if it is in. */
void cs_order_drop(struct cs_order *order, uint32_t item);
/* Returns the key of an item, which must be in. */
int64_t cs_order_key(const struct cs_order *order, uint32_t item);
/* Returns the first item whose key is not below `key`; and the item after one that is in.
 * ID_NONE: there is none. */
uint32_t cs_order_from(const struct cs_order *order, int64_t key);
uint32_t cs_order_next(const struct cs_order *order, uint32_t item);
/* Takes the first item out and returns it; ID_NONE: the order is empty. */
uint32_t cs_order_pop(struct cs_order *order);

#endif
