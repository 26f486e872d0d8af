/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * order.c - sums over a rank tree: what passes, and what fits.  What moves is in
 * order_moves.c.
 *
 * Each subtree carries sums; a search enters a subtree only if its sums say
 * that something in it may pass. Sums may promise too much (spans are rounded
 * down, sizes are by power of two), never too little: then an item would be
 * missed. What rules->sums names decides which of the sums are kept.
 */
#include "sim/containers/order.h"

#include <assert.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/base/clock.h"

#define NONE ORDER_NONE
/* Spans in units of 2^30 ns (1.07 s), rounded down: a bound is enough. */
#define BOUND_SHIFT 30
/* BOUND_MAX: the bound of every longer span.  BOUND_NONE: of a class that has no item. */
#define BOUND_MAX (UINT32_MAX - 1)
#define BOUND_NONE UINT32_MAX

/* ---- sums ---- */

/* Returns the class of a number of GPUs: 0 for none, 1 for one, 2 for two or three ...  The
 * last class takes all that is larger: 2^10 GPUs and more. */
static uint32_t class_of(uint32_t gpus)
{
    uint32_t class = gpus == 0 ? 0 : 32 - (uint32_t)__builtin_clz(gpus);

    return class < ORDER_GPU_CLASSES ? class : ORDER_GPU_CLASSES - 1;
}

/* Returns a span in units of 2^30 ns, rounded down.  Negative spans, which only filters have,
 * give 0. */
static uint32_t bound_of(int64_t span_ns)
{
    if (span_ns < 0)
        return 0;
    int64_t bound = span_ns >> BOUND_SHIFT;
    assert(bound >= 0);
    return bound < BOUND_MAX ? (uint32_t)bound : BOUND_MAX;
}

/* Sets the shortest spans of two subtrees, by class.  Half of all subtrees are a leaf. */
static void least_spans(uint32_t *span, const struct order_bound *left,
                        const struct order_bound *right)
{
    const struct order_bound *one = left != NULL ? left : right;

    assert(left == NULL || left != right);
    for (uint32_t c = 0; one == NULL && c < ORDER_GPU_CLASSES; c++)
        span[c] = BOUND_NONE;
    if (one != NULL)
        memcpy(span, one->span, sizeof one->span);
    if (left == NULL || right == NULL)
        return;
    for (uint32_t c = 0; c < ORDER_GPU_CLASSES; c++)
        span[c] = right->span[c] < span[c] ? right->span[c] : span[c];
}

/* Sets the bounds of an item's subtree, for ORDER_CLASSES: the shortest span
 * in each class of GPUs and the least stamp. */
static void sum_bounds(struct order_store *store, uint32_t item, uint32_t left,
                       uint32_t right)
{
    const struct order_item *own = &store->slot[item].item;
    struct order_bound *of = store->bound, *sum = &of[item];
    uint32_t class = class_of(own->gpus), bound = bound_of(own->span_ns);

    assert(item < store->bound_room);
    least_spans(sum->span, left != NONE ? &of[left] : NULL,
                right != NONE ? &of[right] : NULL);
    if (bound < sum->span[class])
        sum->span[class] = bound;
    sum->stamp_min = own->stamp;
    if (left != NONE && of[left].stamp_min < sum->stamp_min)
        sum->stamp_min = of[left].stamp_min;
    if (right != NONE && of[right].stamp_min < sum->stamp_min)
        sum->stamp_min = of[right].stamp_min;
}

/* The ends of a subtree, and until when all pairs in it stand.  `sum` is that of the item
 * alone so far.  There are two pairs that the item itself makes: the last of the left subtree
 * with it, and it with the first of the right subtree. */
static void sum_moves(const struct order *order, struct order_sum *sum,
                      uint32_t item, const struct order_sum *left,
                      const struct order_sum *right)
{
    order_stands_fn *stands = order->rules->stands;

    assert(stands != NULL && sum->first == item && sum->last == item);
    if (left != NULL) {
        sum->first = left->first;
        sum->stands_ns = clock_earlier(left->stands_ns,
                                  stands(order->owner, left->last, item));
    }
    if (right != NULL) {
        int64_t stands_ns = stands(order->owner, item, right->first);
        sum->last = right->last;
        sum->stands_ns = clock_earlier(sum->stands_ns,
                                  clock_earlier(right->stands_ns, stands_ns));
    }
}

/* Sets what a subtree asks for, and how many of its items have GPUs now. */
static void sum_takes(struct order_sum *sum, const struct order_item *own,
                      const struct order_sum *left,
                      const struct order_sum *right)
{
    sum->gpus = own->gpus;
    sum->taken = own->taken;
    if (left != NULL) {
        sum->gpus += left->gpus;
        sum->taken += left->taken;
    }
    if (right != NULL) {
        sum->gpus += right->gpus;
        sum->taken += right->taken;
    }
    assert(sum->gpus >= own->gpus);     /* the sum of a queue does not overflow */
}

/* Sets the shortest span of a subtree. */
static void sum_spans(struct order_sum *sum, const struct order_item *own,
                      const struct order_sum *left,
                      const struct order_sum *right)
{
    sum->span_min_ns = own->span_ns;
    if (left != NULL)
        sum->span_min_ns = clock_earlier(sum->span_min_ns, left->span_min_ns);
    if (right != NULL)
        sum->span_min_ns = clock_earlier(sum->span_min_ns, right->span_min_ns);
}

/* Makes all sums of an item's subtree that the rules ask for. The tree calls
 * it for an item whenever something below it changed; children come first.  An order with
 * ORDER_CLASSES has its sums in `bound` alone; the others share struct order_sum. */
static void sum_item(void *owner, uint32_t item, uint32_t left, uint32_t right)
{
    struct order *order = owner;
    assert(item < order->store->room);
    struct order_slot *slot = order->store->slot;
    const struct order_item own = slot[item].item;
    const struct order_sum *l = left != NONE ? &slot[left].sum : NULL;
    const struct order_sum *r = right != NONE ? &slot[right].sum : NULL;
    uint32_t sums = order->rules->sums;
    struct order_sum sum = {
        .stands_ns = CLOCK_NEVER_NS, .gpus_min = own.gpus,
        .first = item, .last = item,
    };

    if (sums & ORDER_GROUPS) {
        struct order_groups *of = order->store->groups;
        order_groups_sum(&of[item], own.group, own.gpus, left != NONE ? &of[left] : NULL,
                         right != NONE ? &of[right] : NULL);
    }
    if (sums & ORDER_CLASSES) {
        sum_bounds(order->store, item, left, right);
        return;
    }
    if (l != NULL && l->gpus_min < sum.gpus_min)
        sum.gpus_min = l->gpus_min;
    if (r != NULL && r->gpus_min < sum.gpus_min)
        sum.gpus_min = r->gpus_min;
    if (sums & ORDER_TAKES)
        sum_takes(&sum, &own, l, r);
    else
        sum_spans(&sum, &own, l, r);
    if (sums & ORDER_MOVES)
        sum_moves(order, &sum, item, l, r);
    slot[item].sum = sum;
}

/* ---- what comes and goes ---- */

struct order_store *order_store_new(struct arena *arena)
{
    struct order_store *store = arena_alloc(arena, 1, sizeof *store);

    assert(arena != NULL);
    store->arena = arena;
    return store;
}

void order_init(struct order *order, struct order_store *store,
                const struct order_rules *rules, void *owner)
{
    assert(store != NULL && rules != NULL);
    *order = (struct order) { .store = store, .rules = rules, .owner = owner };
    rank_tree_init(&order->tree, store->arena, NULL, owner);
    order_rule(order, rules, NULL);
}

/* The room for sums follows that for items.  Room doubles, so that items cost O(1) each; each
 * array follows only if the rules keep its sums. */
static void make_room(struct order *order, uint32_t item)
{
    struct order_store *store = order->store;
    uint32_t room = store->room > 0 ? store->room : 64;

    while (room <= item)
        room *= 2;
    if (store->room < room)
        store->slot = arena_grow(store->arena, store->slot, store->room, room,
                                 sizeof *store->slot);
    store->room = room;
    if (order->rules->sums & ORDER_CLASSES && store->bound_room < room) {
        store->bound = arena_grow(store->arena, store->bound,
                                  store->bound_room, room,
                                  sizeof *store->bound);
        store->bound_room = room;
    }
    if (order->rules->sums & ORDER_GROUPS && store->groups_room < room) {
        store->groups = arena_grow(store->arena, store->groups, store->groups_room, room,
                                   sizeof *store->groups);
        store->groups_room = room;
    }
    assert(store->room > item);
}

/* Changes what the order is by: all items are listed and the tree is built
 * again. */
void order_rule(struct order *order, const struct order_rules *rules,
                uint32_t *scratch)
{
    assert(!(rules->sums & ORDER_MOVES) || rules->stands != NULL);
    assert(!(rules->sums & ORDER_CLASSES) ||
           (rules->sums & ~(uint32_t)ORDER_GROUPS) == ORDER_CLASSES);
    order->rules = rules;
    order->tree.sum = rules->sums != 0 ? sum_item : NULL;
    order->tree.sum_owner = order;
    if (order_count(order) == 0)
        return;
    make_room(order, order->store->room - 1);
    assert(scratch != NULL);
    rank_tree_list(&order->tree, scratch);
    rank_tree_reorder(&order->tree, scratch);
}

bool order_holds(const struct order *order, uint32_t item)
{
    return item < order->tree.room && order->tree.node[item].count > 0;
}

void order_insert(struct order *order, uint32_t item, struct order_item known,
                  rank_tree_before_fn *before)
{
    assert(!order_holds(order, item));
    make_room(order, item);
    order_know(order, item, known);
    rank_tree_insert(&order->tree, item, before);
}

void order_insert_at(struct order *order, uint32_t item, struct order_item known,
                     uint32_t other)
{
    if (other == NONE) {
        order_insert(order, item, known, NULL);
        return;
    }
    assert(!order_holds(order, item) && order_holds(order, other));
    make_room(order, item);
    order_know(order, item, known);
    rank_tree_insert_at(&order->tree, item, other);
}

void order_remove(struct order *order, uint32_t item)
{
    assert(order_holds(order, item));
    rank_tree_remove(&order->tree, item);
}

void order_touch(struct order *order, uint32_t item, struct order_item known)
{
    assert(order_holds(order, item));
    order_know(order, item, known);
    rank_tree_touch(&order->tree, item);
}

void order_clear(struct order *order)
{
    rank_tree_clear(&order->tree);
    assert(order_count(order) == 0);
}

void order_arrange(struct order *order, const uint32_t *item)
{
    assert(item != NULL || order_count(order) == 0);
    if (order_count(order) > 0)
        rank_tree_reorder(&order->tree, item);
}

/* Counts the items that go before something; they must be a prefix of the
 * order.  Walks down from the root: where the item at hand goes before, it and its left
 * subtree are all counted.  O(log n). */
uint32_t order_front(const struct order *order, rank_tree_before_fn *before,
                     uint32_t something, uint32_t *last)
{
    const struct rank_tree_node *node = order->tree.node;
    uint32_t at = order->tree.root, count = 0, found = NONE;

    while (at != NONE) {
        uint32_t left = node[at].left;
        if (before(order->owner, at, something)) {
            count += 1 + (left == NONE ? 0 : node[left].count);
            found = at;
            at = node[at].right;
        } else {
            at = left;
        }
    }
    if (last != NULL)
        *last = found;
    assert(count <= order_count(order));
    return count;
}

/* ---- the first that passes ---- */

/* Does an item pass all conditions of a filter?  With ORDER_TAKES spans are not kept, so any
 * passes. */
static bool item_passes(const struct order *order, uint32_t item,
                        const struct order_filter *filter)
{
    assert(item < order->store->room);
    const struct order_item *known = &order->store->slot[item].item;

    return known->gpus <= filter->gpus_max &&
           (known->span_ns <= filter->span_max_ns ||
            known->gpus <= (filter->any_by_group ? filter->group_any[known->group]
                                                 : filter->gpus_any_span) ||
            order->rules->sums & ORDER_TAKES) &&
           (filter->passes == NULL || filter->passes(order->owner, item));
}

/* Could something below pass, by power of two?  gpus_any: an item of at most these passes
 * with any span.  Never false where it does.  Class c holds items of at least 2^(c-1) GPUs, so
 * the search ends at the first class that is too large. */
static bool class_may_pass(const struct order_bound *bound,
                           const struct order_filter *filter, uint32_t gpus_any)
{
    uint32_t limit = bound_of(filter->span_max_ns);

    for (uint32_t c = 0; c < ORDER_GPU_CLASSES; c++) {
        uint32_t gpus_min = c == 0 ? 0 : 1u << (c - 1);
        if (gpus_min > filter->gpus_max)
            return false;
        if (bound->span[c] != BOUND_NONE &&
            ((filter->span_max_ns >= 0 && bound->span[c] <= limit) ||
             gpus_min <= gpus_any))
            return true;
    }
    return false;
}

/* Returns how many GPUs an item below may have that passes with any span: as many as it may
 * be, if some item of some group is that small; else none. */
static uint32_t any_below(const struct order *order, uint32_t item,
                          const struct order_filter *filter)
{
    assert(item < order->store->room);
    if (!filter->any_by_group)
        return filter->gpus_any_span;
    return !(order->rules->sums & ORDER_GROUPS) ||
                   order_groups_pass(&order->store->groups[item], filter->group_any)
               ? UINT32_MAX : 0;
}

/* Could something in a subtree pass?  Never false where something does. */
static bool some_may_pass(const struct order *order, uint32_t item,
                          const struct order_filter *filter)
{
    assert(item < order->store->room);
    if (filter->by_group && order->rules->sums & ORDER_GROUPS &&
        !order_groups_pass(&order->store->groups[item], filter->group_max))
        return false;
    uint32_t gpus_any = any_below(order, item, filter);
    if (order->rules->sums & ORDER_CLASSES)
        return class_may_pass(&order->store->bound[item], filter, gpus_any);
    const struct order_sum *sum = &order->store->slot[item].sum;
    return sum->gpus_min <= filter->gpus_max &&
           (order->rules->sums & ORDER_TAKES ||
            sum->span_min_ns <= filter->span_max_ns ||
            sum->gpus_min <= gpus_any);
}

/* The place of the first that passes in the subtree of `item`, which begins at
 * `first`, from place `from` on.  `seen` counts the subtrees that were entered, for
 * measurements. */
static uint32_t find_below(struct order *order, uint32_t item, uint32_t first,
                           uint32_t from, const struct order_filter *filter)
{
    const struct rank_tree_node *node = order->tree.node;

    if (item == NONE || first + node[item].count <= from ||
        !some_may_pass(order, item, filter))
        return NONE;
    order->seen++;
    uint32_t left = node[item].left;
    uint32_t place = first + (left == NONE ? 0 : node[left].count);
    assert(place - first < node[item].count);
    uint32_t found = find_below(order, left, first, from, filter);
    if (found != NONE)
        return found;
    if (place >= from && item_passes(order, item, filter))
        return place;
    return find_below(order, node[item].right, place + 1, from, filter);
}

uint32_t order_find(struct order *order, uint32_t from,
                    const struct order_filter *filter)
{
    assert(order->rules->sums != 0);
    uint32_t place = find_below(order, order->tree.root, 0, from, filter);

    assert(place == NONE || (place >= from && place < order_count(order)));
    return place == NONE ? order_count(order) : place;
}

/* Goes down by the least stamp of each subtree, in O(log n).  Subtrees to the left are tried
 * first, so that the first in order is found and not the one with the least stamp. */
uint32_t order_first_stamped(const struct order *order, uint64_t below)
{
    const struct rank_tree_node *node = order->tree.node;
    const struct order_bound *bound = order->store->bound;
    uint32_t at = order->tree.root;

    assert(order->rules->sums & ORDER_CLASSES);
    while (at != NONE && bound[at].stamp_min < below) {
        uint32_t left = node[at].left;
        if (left != NONE && bound[left].stamp_min < below)
            at = left;
        else if (order->store->slot[at].item.stamp < below)
            return at;
        else
            at = node[at].right;
    }
    return NONE;
}

/* ---- a budget ---- */

/* Adds the items of a subtree that have GPUs (taken), to those that stop, or
 * those that have none, to those that start; in order.  Subtrees in which no item changes are
 * not entered. */
static void pick_items(const struct order *order, uint32_t item, bool taken,
                       struct order_dealt *out)
{
    if (item == NONE)
        return;
    const struct rank_tree_node *node = &order->tree.node[item];
    uint32_t with = order->store->slot[item].sum.taken;
    assert(with <= node->count);
    if ((taken ? with : node->count - with) == 0)
        return;
    pick_items(order, node->left, taken, out);
    if (order->store->slot[item].item.taken == taken && taken)
        out->stop[out->stops++] = item;
    else if (order->store->slot[item].item.taken == taken)
        out->take[out->takes++] = item;
    pick_items(order, node->right, taken, out);
}

/* Deals the budget to a subtree; returns what is left of it.  A subtree that
 * fits whole, or of which nothing fits, is not walked through but for items
 * whose state changes: O(changes x log n).  For example, items of 4, 8 and 2 GPUs and a budget
 * of 6: 4 fits, 8 does not fit into the 2 that are left, and the last item takes these 2. */
static uint64_t take_below(const struct order *order, uint32_t item,
                           uint64_t budget, struct order_dealt *out)
{
    if (item == NONE)
        return budget;
    const struct order_sum *sum = &order->store->slot[item].sum;
    const struct order_item *known = &order->store->slot[item].item;
    assert(sum->gpus >= known->gpus && sum->gpus_min <= known->gpus);
    if (sum->gpus <= budget) {
        pick_items(order, item, false, out);
        return budget - sum->gpus;
    }
    if (sum->gpus_min > budget) {
        pick_items(order, item, true, out);
        return budget;
    }
    budget = take_below(order, order->tree.node[item].left, budget, out);
    bool fits = known->gpus <= budget;
    if (fits)
        budget -= known->gpus;
    if (fits && !known->taken)
        out->take[out->takes++] = item;
    if (!fits && known->taken)
        out->stop[out->stops++] = item;
    return take_below(order, order->tree.node[item].right, budget, out);
}

void order_take(const struct order *order, uint64_t budget,
                struct order_dealt *out)
{
    assert(order->rules->sums & ORDER_TAKES && out != NULL);
    take_below(order, order->tree.root, budget, out);
}
