/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * order_moves.c - an order in order again after some time.
 *
 * The times until which neighbours stand only tell when to look; what is
 * compared then is the order of now.  Neighbours that cannot be told apart are
 * looked at each time.  An item that overtook nobody stands where it stood.
 *
 * Reason: keys that move in different ways (a job's attained service grows,
 * another's does not) would need a sort at every decision. With a certificate
 * for each pair of neighbours, a refresh costs the pairs whose time has come,
 * each with a logarithmic search for its new place.
 */
#include <assert.h>

#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/containers/order.h"
#include "sim/containers/rank_tree.h"

#define NONE ORDER_NONE

/* Notes an item to be looked at in this refresh.  An item may be noted once for the pair with
 * its neighbour; the list never is longer than the order. */
static void note_item(struct order *order, uint32_t item)
{
    if (order->looks == order->look_room) {
        uint32_t room = order->looks > 0 ? 2 * order->looks : 64;
        order->look = arena_grow(order->store->arena, order->look,
                                 order->looks, room, sizeof *order->look);
        order->look_room = room;
    }
    order->look[order->looks++] = item;
    assert(order->looks <= order->look_room);
}

/* Returns until when two neighbours stand.  If they may be out of order by now,
 * notes the one that moves. */
static int64_t look_at(struct order *order, uint32_t a, uint32_t b)
{
    assert(a != b);
    int64_t stands_ns = order->rules->stands(order->owner, a, b);

    if (stands_ns <= order->now_ns)
        note_item(order, order->back ? a : b);
    return stands_ns;
}

/* Looks at all pairs of a subtree that are not known to stand.  Returns until
 * when all its pairs stand.  For example, if a and b stand until 50, b and c until 20, and it
 * is 30 now: the subtree's stands_ns is 20, it is entered, and c is noted (or b, if items move
 * back). */
static int64_t collect_pairs(struct order *order, uint32_t item)
{
    const struct rank_tree_node *node = &order->tree.node[item];
    struct order_slot *slot = order->store->slot;
    int64_t stands_ns = CLOCK_NEVER_NS;

    if (slot[item].sum.stands_ns > order->now_ns)
        return slot[item].sum.stands_ns;
    if (node->left != NONE) {
        stands_ns = collect_pairs(order, node->left);
        stands_ns = clock_earlier(stands_ns,
                             look_at(order, slot[node->left].sum.last, item));
    }
    if (node->right != NONE) {
        stands_ns = clock_earlier(stands_ns,
                             look_at(order, item, slot[node->right].sum.first));
        stands_ns = clock_earlier(stands_ns, collect_pairs(order, node->right));
    }
    slot[item].sum.stands_ns = stands_ns;
    assert(order->looks <= order_count(order));
    return stands_ns;
}

/* Does an item go before the one at a place? */
static bool before_at(struct order *order, uint32_t item, uint32_t place)
{
    assert(place < order_count(order));
    return order->rules->before(order->owner, item,
                                rank_tree_at(&order->tree, place));
}

/* Does the item at a place go before this one? */
static bool after_at(struct order *order, uint32_t item, uint32_t place)
{
    assert(place < order_count(order));
    return order->rules->before(order->owner,
                                rank_tree_at(&order->tree, place), item);
}

/* Moves an item to its place among those before it.  These are in order, and the
 * item overtakes the last of them.  It may overtake many at once, so the search
 * doubles its step (Bentley and Yao 1976), then halves what is left.  With k items overtaken
 * it makes O(log k) comparisons. */
static void go_ahead(struct order *order, uint32_t item, uint32_t place)
{
    assert(place > 0 && place < order_count(order));
    uint32_t high = place - 1, step = 1;    /* high: is overtaken */

    while (high >= step && before_at(order, item, high - step)) {
        high -= step;
        step *= 2;
    }
    uint32_t low = high >= step ? high - step + 1 : 0;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (before_at(order, item, middle))
            high = middle;
        else
            low = middle + 1;
    }
    uint32_t other = rank_tree_at(&order->tree, high);
    rank_tree_remove(&order->tree, item);
    rank_tree_insert_at(&order->tree, item, other);
}

/* Moves an item back, to its place among those after it.  These are in order,
 * and the first of them overtakes the item. */
static void go_back(struct order *order, uint32_t item, uint32_t place)
{
    assert(place + 1 < order_count(order));
    uint32_t count = order_count(order), low = place + 1, step = 1;

    while (count - low > step && after_at(order, item, low + step)) {
        low += step;
        step *= 2;
    }
    uint32_t high = count - low > step ? low + step : count;
    low++;                      /* low: may be the first not overtaking */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (after_at(order, item, middle))
            low = middle + 1;
        else
            high = middle;
    }
    uint32_t other = rank_tree_at(&order->tree, low);
    rank_tree_remove(&order->tree, item);
    if (other == NONE)
        rank_tree_insert(&order->tree, item, NULL);
    else
        rank_tree_insert_at(&order->tree, item, other);
}

/* Returns the next item in order (after), or the one before it; ORDER_NONE at the end. */
static uint32_t find_neighbour(const struct order *order, uint32_t item, bool after)
{
    assert(order_holds(order, item));
    return after ? rank_tree_next(&order->tree, item)
                 : rank_tree_previous(&order->tree, item);
}

/* The pair is in order still: computes again until when it stands, in the sums
 * of the item that holds the pair (the upper one of the two).  Else the sums would keep a
 * time that is over, and each refresh would look at the pair. */
static void look_later(struct order *order, uint32_t item, uint32_t other)
{
    assert(item != other);
    uint32_t a = order->back ? item : other, b = order->back ? other : item;

    if (order->rules->stands(order->owner, a, b) > order->now_ns)
        rank_tree_touch(&order->tree,
                        order->tree.node[a].right == NONE ? a : b);
}

/* All items before this one are in order (back: all after it).  Moves it to its
 * place, and with it the items next to it that are out of order as well.  An item that
 * overtakes may have been followed by one that overtakes as well: after each move the next
 * neighbour is tried in turn. */
static void settle_item(struct order *order, uint32_t item)
{
    assert(order_holds(order, item));
    uint32_t other = find_neighbour(order, item, order->back), place = 0;
    bool moved = false;

    while (item != NONE && other != NONE &&
           order->rules->before(order->owner, order->back ? other : item,
                                order->back ? item : other)) {
        uint32_t next = find_neighbour(order, item, !order->back);
        if (!moved)
            place = rank_tree_rank(&order->tree, item);
        if (order->back)
            go_back(order, item, place);
        else
            go_ahead(order, item, place);
        moved = true;
        item = next;
        place += order->back ? -1u : 1u;
    }
    if (!moved && other != NONE)
        look_later(order, item, other);
}

/* First all pairs that have changed places are found, then each is settled;
 * from the back where items move that way, so that one move does not undo
 * another. */
void order_refresh(struct order *order, int64_t now_ns)
{
    assert(order->rules->sums & ORDER_MOVES && now_ns >= order->now_ns);
    order->now_ns = now_ns;
    order->looks = 0;
    if (order->tree.root == NONE)
        return;
    collect_pairs(order, order->tree.root);
    for (uint32_t k = 0; k < order->looks; k++) {
        uint32_t at = order->back ? order->looks - 1 - k : k;
        settle_item(order, order->look[at]);
    }
}
