/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * order.c - tools for policies that keep lists: an array that grows, and numbers in
 * the order of their keys, in an order of sim/containers/order.h.  The key is the
 * span that the container knows.
 */
#include "policies/order.h"

#include <assert.h>

#include "policies/state/state.h"
#include "sim/base/arena.h"
#include "sim/containers/order.h"
#include "sim/containers/rank_tree.h"

/* Doubles the room until `need` is within it, so that n calls for rising
 * numbers cost O(n). */
void *cs_grow(struct cs_host *host, void *array, uint32_t *room, uint32_t need,
              size_t item_bytes)
{
    uint32_t more = *room > 0 ? *room : 32;

    assert(item_bytes > 0 && (array != NULL || *room == 0));
    assert(need < UINT32_MAX / 2);
    if (need < *room)
        return array;
    while (more <= need)
        more *= 2;
    array = arena_grow(host->parts.arena, array, *room, more, item_bytes);
    *room = more;
    return array;
}

/* Numbers in the order of their keys. */
struct cs_order {
    struct order order;
};

/* Returns the key of an item, also of one that is only about to be put in: the
 * container knows an item before it has a place. */
static int64_t key_of(const struct order *order, uint32_t item)
{
    assert(item < order->store->room);
    return order->store->slot[item].item.span_ns;
}

/* Ascending keys; of equal keys the lower number goes first. owner: the cs_order. */
static bool stands_before(void *owner, uint32_t a, uint32_t b)
{
    const struct cs_order *all = owner;
    int64_t x = key_of(&all->order, a), y = key_of(&all->order, b);

    return x != y ? x < y : a < b;
}

struct cs_order *cs_order_new(struct cs_host *host)
{
    static const struct order_rules plain = { stands_before, NULL, 0 };
    struct arena *arena = host->parts.arena;
    struct cs_order *order = arena_alloc(arena, 1, sizeof *order);

    order_init(&order->order, order_store_new(arena), &plain, order);
    return order;
}

uint32_t cs_order_count(const struct cs_order *order)
{
    return order_count(&order->order);
}

/* An item that is there gets the new key. */
void cs_order_put(struct cs_order *order, uint32_t item, int64_t key)
{
    struct order_item known = { .span_ns = key };

    assert(item != ORDER_NONE && key >= 0);
    cs_order_drop(order, item);
    order_insert(&order->order, item, known, stands_before);
}

void cs_order_drop(struct cs_order *order, uint32_t item)
{
    if (order_holds(&order->order, item))
        order_remove(&order->order, item);
}

int64_t cs_order_key(const struct cs_order *order, uint32_t item)
{
    assert(order_holds(&order->order, item));
    return key_of(&order->order, item);
}

/* Goes down the tree as a search for the first key that is not smaller. */
uint32_t cs_order_from(const struct cs_order *order, int64_t key)
{
    const struct rank_tree *tree = &order->order.tree;
    uint32_t at = tree->root, found = ID_NONE;

    while (at != RANK_TREE_NONE)
        if (key_of(&order->order, at) >= key) {
            found = at;
            at = tree->node[at].left;
        } else {
            at = tree->node[at].right;
        }
    assert(found == ID_NONE || key_of(&order->order, found) >= key);
    return found;
}

uint32_t cs_order_next(const struct cs_order *order, uint32_t item)
{
    assert(order_holds(&order->order, item));
    return rank_tree_next(&order->order.tree, item);
}

uint32_t cs_order_pop(struct cs_order *order)
{
    uint32_t item = rank_tree_first(&order->order.tree);

    if (item != ORDER_NONE)
        order_remove(&order->order, item);
    assert(item == ORDER_NONE || !order_holds(&order->order, item));
    return item;
}
