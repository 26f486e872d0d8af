/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * naive_order.c - a plain list, in order.
 */
#include "tests/oracles/naive_order.h"

#include <assert.h>
#include <stdlib.h>

#include "sim/base/arena.h"

struct order_store *NAIVE(store_new)(struct arena *arena)
{
    struct order_store *store = arena_alloc(arena, 1, sizeof *store);

    store->arena = arena;
    return store;
}

void NAIVE(init)(struct order *order, struct order_store *store,
                 const struct order_rules *rules, void *owner)
{
    *order = (struct order) { .store = store, .rules = rules, .owner = owner };
    rank_tree_init(&order->tree, store->arena, NULL, owner);
}

void NAIVE(rule)(struct order *order, const struct order_rules *rules,
                 uint32_t *scratch)
{
    (void)scratch;
    order->rules = rules;
}

/* The items, to be freed. */
static uint32_t *list_of(const struct order *order)
{
    uint32_t *list = malloc((order_count(order) + 1) * sizeof *list);

    assert(list != NULL);
    rank_tree_list(&order->tree, list);
    return list;
}

bool NAIVE(holds)(const struct order *order, uint32_t item)
{
    uint32_t *list = list_of(order), i = 0;

    while (i < order_count(order) && list[i] != item)
        i++;
    free(list);
    return i < order_count(order);
}

void NAIVE(insert)(struct order *order, uint32_t item, struct order_item known,
                   rank_tree_before_fn *before)
{
    struct order_store *store = order->store;
    uint32_t *list = list_of(order), at = order_count(order);

    if (item >= store->room) {
        store->slot = arena_grow(store->arena, store->slot, store->room,
                                 2 * item + 16, sizeof *store->slot);
        store->room = 2 * item + 16;
    }
    order_know(order, item, known);
    while (before != NULL && at > 0 && before(order->owner, item, list[at - 1]))
        at--;
    if (at < order_count(order))
        rank_tree_insert_at(&order->tree, item, list[at]);
    else
        rank_tree_insert(&order->tree, item, NULL);
    free(list);
}

void NAIVE(remove)(struct order *order, uint32_t item)
{
    rank_tree_remove(&order->tree, item);
}

void NAIVE(clear)(struct order *order)
{
    rank_tree_clear(&order->tree);
}

void NAIVE(touch)(struct order *order, uint32_t item, struct order_item known)
{
    order_know(order, item, known);
}

void NAIVE(arrange)(struct order *order, const uint32_t *item)
{
    if (order_count(order) > 0)
        rank_tree_reorder(&order->tree, item);
}

void NAIVE(refresh)(struct order *order, int64_t now_ns)
{
    uint32_t *list = list_of(order), count = order_count(order);

    order->now_ns = now_ns;
    for (uint32_t i = 1; i < count; i++) {
        uint32_t item = list[i], j = i;
        for (; j > 0 &&
               order->rules->before(order->owner, item, list[j - 1]); j--)
            list[j] = list[j - 1];
        list[j] = item;
    }
    NAIVE(arrange)(order, list);
    free(list);
}

uint32_t NAIVE(find)(struct order *order, uint32_t from,
                     const struct order_filter *filter)
{
    bool any_span = (order->rules->sums & ORDER_TAKES) != 0;
    uint32_t *list = list_of(order), i = from;

    for (; i < order_count(order); i++) {
        const struct order_item *known = &order->store->slot[list[i]].item;
        uint32_t any = filter->gpus_any_span;
        if (filter->any_by_group)
            any = filter->group_any[known->group];
        if (known->gpus <= filter->gpus_max &&
            (any_span || known->gpus <= any ||
             known->span_ns <= filter->span_max_ns) &&
            (filter->passes == NULL || filter->passes(order->owner, list[i])))
            break;
    }
    free(list);
    return i < order_count(order) ? i : order_count(order);
}

uint32_t NAIVE(first_stamped)(const struct order *order, uint64_t below)
{
    uint32_t *list = list_of(order), found = ORDER_NONE;

    for (uint32_t i = order_count(order); i-- > 0;)
        if (order->store->slot[list[i]].item.stamp < below)
            found = list[i];
    free(list);
    return found;
}

uint32_t NAIVE(front)(const struct order *order, rank_tree_before_fn *before,
                      uint32_t something, uint32_t *last)
{
    uint32_t *list = list_of(order), i = 0;

    while (i < order_count(order) && before(order->owner, list[i], something))
        i++;
    if (last != NULL)
        *last = i > 0 ? list[i - 1] : ORDER_NONE;
    free(list);
    return i;
}

void NAIVE(take)(const struct order *order, uint64_t budget,
                 struct order_dealt *out)
{
    uint32_t *list = list_of(order);

    for (uint32_t i = 0; i < order_count(order); i++) {
        const struct order_item *known = &order->store->slot[list[i]].item;
        bool fits = known->gpus <= budget;
        budget -= fits ? known->gpus : 0;
        if (fits && !known->taken)
            out->take[out->takes++] = list[i];
        if (!fits && known->taken)
            out->stop[out->stops++] = list[i];
    }
    free(list);
}
