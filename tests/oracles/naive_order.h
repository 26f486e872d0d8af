/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * naive_order.h - the oracle of sim/containers/order.h: a plain list, sorted by
 * insertion, in which every question is answered by a walk.
 *
 * The tree of an order is taken for a list of items here: no sums are kept, and
 * no time is known until which anything stands.
 */
#ifndef TESTS_NAIVE_ORDER_H
#define TESTS_NAIVE_ORDER_H

#include "sim/containers/order.h"

/* In front of the names: another prefix makes another set of functions. */
#ifndef NAIVE
#define NAIVE(name) naive_##name
#endif

struct order_store *NAIVE(store_new)(struct arena *arena);
void NAIVE(init)(struct order *order, struct order_store *store,
                 const struct order_rules *rules, void *owner);
void NAIVE(rule)(struct order *order, const struct order_rules *rules,
                 uint32_t *scratch);
bool NAIVE(holds)(const struct order *order, uint32_t item);
void NAIVE(insert)(struct order *order, uint32_t item, struct order_item known,
                   rank_tree_before_fn *before);
void NAIVE(remove)(struct order *order, uint32_t item);
void NAIVE(clear)(struct order *order);
void NAIVE(touch)(struct order *order, uint32_t item, struct order_item known);
void NAIVE(refresh)(struct order *order, int64_t now_ns);
void NAIVE(arrange)(struct order *order, const uint32_t *item);
uint32_t NAIVE(find)(struct order *order, uint32_t from,
                     const struct order_filter *filter);
uint32_t NAIVE(first_stamped)(const struct order *order, uint64_t below);
uint32_t NAIVE(front)(const struct order *order, rank_tree_before_fn *before,
                      uint32_t something, uint32_t *last);
void NAIVE(take)(const struct order *order, uint64_t budget,
                 struct order_dealt *out);

#endif
