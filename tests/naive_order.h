/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * naive_order.h - the oracle of sim/containers/order.h: a plain list, in which
 * every question is answered by a walk.
 */
#ifndef TESTS_NAIVE_ORDER_H
#define TESTS_NAIVE_ORDER_H

#include "sim/containers/order.h"

struct naive_order {
    const struct order_rules *rules;
    void *owner;
    uint32_t *item, count, room;
    struct order_item *known;   /* by item */
    uint32_t known_room;
};

/* Memory is the heap's, until naive_free(). */
void naive_init(struct naive_order *order, const struct order_rules *rules,
                void *owner);
void naive_free(struct naive_order *order);
void naive_insert(struct naive_order *order, uint32_t item,
                  struct order_item known, rank_tree_before_fn *before);
void naive_remove(struct naive_order *order, uint32_t item);
void naive_touch(struct naive_order *order, uint32_t item,
                 struct order_item known);
/* Sorts: what order_refresh() and order_sort() do. */
void naive_sort(struct naive_order *order);
uint32_t naive_find(const struct naive_order *order, uint32_t from,
                    const struct order_filter *filter);
uint32_t naive_first_stamped(const struct naive_order *order, uint64_t below);
void naive_take(const struct naive_order *order, uint64_t budget,
                struct order_dealt *out);

#endif
