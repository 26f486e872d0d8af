/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ranked_order_test.c - the order container against a plain list: random
 * comings, goings, times, filters and budgets.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/rng.h"
#include "sim/containers/order.h"
#include "tests/oracles/naive_order.h"

#define ITEMS 300u

struct world {
    struct order order, naive;
    struct rng rng;
    int64_t now;
    int64_t key[ITEMS], slope[ITEMS];   /* at 0, and in a nanosecond */
    uint32_t group[ITEMS];
    bool in[ITEMS], full[ITEMS];        /* full: passes() refuses it */
    uint32_t list[ITEMS];       /* the naive one's */
    uint32_t other[ITEMS], scratch[2 * ITEMS];
};

static int64_t key_now(const struct world *w, uint32_t item)
{
    return w->key[item] + w->slope[item] * w->now;
}

static bool before(void *owner, uint32_t a, uint32_t b)
{
    const struct world *w = owner;

    if (w->group[a] != w->group[b])
        return w->group[a] < w->group[b];
    return key_now(w, a) < key_now(w, b);
}

/* The last instant at which b does not go before a. */
static int64_t stands(void *owner, uint32_t a, uint32_t b)
{
    const struct world *w = owner;
    int64_t apart = key_now(w, b) - key_now(w, a);
    int64_t closing = w->slope[a] - w->slope[b];

    if (w->group[a] != w->group[b] || (apart >= 0 && closing <= 0))
        return CLOCK_NEVER_NS;
    return apart < 0 ? 0 : w->now + apart / closing + 1;
}

static bool passes(void *owner, uint32_t item)
{
    const struct world *w = owner;

    return !w->full[item];
}

static const struct order_rules classes = { before, NULL, ORDER_CLASSES };
static const struct order_rules grouped = { before, NULL, ORDER_CLASSES | ORDER_GROUPS };
static const struct order_rules spans = { before, NULL, ORDER_SPANS };
static const struct order_rules lines = { before, stands, ORDER_MOVES };
static const struct order_rules moves = { before, stands,
                                          ORDER_MOVES | ORDER_TAKES };
static const struct order_rules nothing = { before, NULL, 0 };

static uint32_t below(struct world *w, uint32_t n)
{
    return (uint32_t)rng_below(&w->rng, n);
}

static struct order_item random_item(struct world *w)
{
    return (struct order_item) {
        .gpus = below(w, 4) == 0 ? below(w, 5000) : below(w, 9),
        .span_ns = below(w, 8) == 0 ? (int64_t)below(w, 9)
                                    : (int64_t)below(w, 100) * 500000000,
        .stamp = below(w, 1000), .taken = below(w, 2) == 0,
        .group = (uint8_t)below(w, 3),
    };
}

static void same_list(struct world *w)
{
    uint32_t count = order_count(&w->naive);

    assert_int_equal(order_count(&w->order), count);
    rank_tree_list(&w->naive.tree, w->list);
    rank_tree_list(&w->order.tree, w->other);
    assert_memory_equal(w->list, w->other, count * sizeof *w->list);
}

static void same_neighbours(struct world *w)
{
    uint32_t item = rank_tree_first(&w->order.tree), last = ORDER_NONE;

    for (uint32_t i = 0; i < order_count(&w->naive); i++) {
        assert_int_equal(item, w->list[i]);
        assert_int_equal(rank_tree_previous(&w->order.tree, item), last);
        last = item;
        item = rank_tree_next(&w->order.tree, item);
    }
    assert_int_equal(item, ORDER_NONE);
    assert_int_equal(rank_tree_last(&w->order.tree), last);
}

static void same_find(struct world *w)
{
    struct order_filter filter = {
        .gpus_max = below(w, 3) == 0 ? UINT32_MAX : below(w, 12),
        .gpus_any_span = below(w, 2) == 0 ? 0 : below(w, 6),
        .span_max_ns = below(w, 5) == 0 ? INT64_MAX
                       : below(w, 5) == 0 ? -1 - (int64_t)below(w, 3)
                       : (int64_t)below(w, 100) * 500000000,
        .passes = below(w, 2) == 0 ? passes : NULL,
        .any_by_group = below(w, 2) == 0,
    };
    for (uint32_t g = 0; g < ORDER_GROUP_COUNT; g++)
        filter.group_any[g] = below(w, 3) == 0 ? UINT32_MAX : below(w, 6);
    uint32_t from = below(w, order_count(&w->naive) + 2);
    uint32_t place = naive_find(&w->naive, from, &filter);

    assert_int_equal(order_find(&w->order, from, &filter), place);
}

static void same_deal(struct world *w)
{
    uint32_t list[4][ITEMS];
    struct order_dealt fast = { list[0], 0, list[1], 0 };
    struct order_dealt slow = { list[2], 0, list[3], 0 };
    uint64_t budget = below(w, 2) == 0 ? below(w, 50) : below(w, 100000);

    order_take(&w->order, budget, &fast);
    naive_take(&w->naive, budget, &slow);
    assert_int_equal(fast.takes, slow.takes);
    assert_int_equal(fast.stops, slow.stops);
    assert_memory_equal(fast.take, slow.take, slow.takes * sizeof *list[0]);
    assert_memory_equal(fast.stop, slow.stop, slow.stops * sizeof *list[0]);
}

static bool in_front(void *owner, uint32_t item, uint32_t group)
{
    const struct world *w = owner;

    return w->group[item] <= group;
}

static void same_front(struct world *w)
{
    uint32_t group = below(w, 5), found, last;

    assert_int_equal(order_front(&w->order, in_front, group, &found),
                     naive_front(&w->naive, in_front, group, &last));
    assert_int_equal(found, last);
}

/* Keys of few values tie often. */
static void put_in(struct world *w, uint32_t item)
{
    struct order_item known = random_item(w);
    rank_tree_before_fn *by = below(w, 50) == 0 && order_count(&w->naive) == 0
                                  ? NULL : before;

    w->slope[item] = (int64_t)below(w, 4) - (below(w, 2) ? 0 : 3);
    w->key[item] = (int64_t)below(w, 200) - w->slope[item] * w->now;
    w->group[item] = below(w, 4);
    w->full[item] = below(w, 6) == 0;
    w->in[item] = true;
    naive_insert(&w->naive, item, known, by);
    if (below(w, 3) == 0)
        order_insert_at(&w->order, item, known, rank_tree_next(&w->naive.tree, item));
    else
        order_insert(&w->order, item, known, by);
    assert_true(order_holds(&w->order, item));
    assert_true(naive_holds(&w->naive, item));
}

static void take_out(struct world *w, uint32_t item)
{
    w->in[item] = false;
    order_remove(&w->order, item);
    naive_remove(&w->naive, item);
    assert_false(order_holds(&w->order, item));
}

/* Known anew: it may move in another way from now on, from where it is. */
static void turn(struct world *w, uint32_t item)
{
    struct order_item known = random_item(w);
    int64_t key = key_now(w, item);

    if (w->order.rules->sums & ORDER_MOVES) {
        w->slope[item] = (int64_t)below(w, 4);
        w->key[item] = key - w->slope[item] * w->now;
    }
    order_touch(&w->order, item, known);
    naive_touch(&w->naive, item, known);
}

static void ask(struct world *w)
{
    uint32_t sums = w->order.rules->sums;

    same_list(w);
    same_neighbours(w);
    same_front(w);
    for (int i = 0; sums != 0 && i < 5; i++)
        same_find(w);
    if (sums & ORDER_TAKES)
        same_deal(w);
    uint64_t stamp = below(w, 1000);
    if (sums & ORDER_CLASSES)
        assert_int_equal(order_first_stamped(&w->order, stamp),
                         naive_first_stamped(&w->naive, stamp));
}

static void pass_time(struct world *w)
{
    w->now += below(w, 3) == 0 ? below(w, 500) : below(w, 5);
    order_refresh(&w->order, w->now);
    naive_refresh(&w->naive, w->now);
}

/* Where all keys are others. */
static void mix(struct world *w)
{
    uint32_t count = order_count(&w->naive);

    for (uint32_t i = 0; i < ITEMS; i++)
        w->key[i] = (int64_t)below(w, 200) - w->slope[i] * w->now;
    naive_refresh(&w->naive, w->now);
    rank_tree_list(&w->naive.tree, w->list);
    order_arrange(&w->order, w->list);
    assert_int_equal(order_count(&w->order), count);
}

static void walk(uint64_t seed, const struct order_rules *rules)
{
    struct arena *arena = arena_new(1 << 16);
    struct world *w = calloc(1, sizeof *w);
    bool keeps_moving = (rules->sums & ORDER_MOVES) != 0;

    assert_non_null(w);
    rng_init(&w->rng, seed, "order", 0);
    order_init(&w->order, order_store_new(arena), rules, w);
    naive_init(&w->naive, naive_store_new(arena), rules, w);
    w->order.back = seed % 2 == 0;
    for (uint32_t step = 0; step < 2000; step++) {
        uint32_t item = below(w, seed % 3 == 0 ? 20 : ITEMS);
        if (!w->in[item])
            put_in(w, item);
        else if (below(w, 3) == 0)
            turn(w, item);
        else
            take_out(w, item);
        if (keeps_moving && below(w, 2) == 0)
            pass_time(w);
        if (!keeps_moving && below(w, 100) == 0)
            mix(w);
        if (rules->sums == 0 && step == 1000) {
            order_rule(&w->order, &classes, w->scratch);
            naive_rule(&w->naive, &classes, NULL);
        }
        ask(w);
    }
    free(w);
    arena_free(arena);
}

static void an_order_is_what_a_list_would_be(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        walk(seed, &classes);
        walk(seed, &grouped);
        walk(seed, &spans);
        walk(seed, &lines);
        walk(seed, &moves);
        walk(seed, &nothing);   /* classes, from the middle on */
    }
}

/* Lines that never meet are looked at once. */
static void what_stands_is_not_looked_at(void **state)
{
    struct arena *arena = arena_new(1 << 16);
    struct world *w = calloc(1, sizeof *w);

    (void)state;
    assert_non_null(w);
    rng_init(&w->rng, 1, "stands", 0);
    order_init(&w->order, order_store_new(arena), &moves, w);
    for (uint32_t i = 0; i < ITEMS; i++) {
        w->key[i] = w->slope[i] = i;
        order_insert(&w->order, i, random_item(w), before);
    }
    for (w->now = 1; w->now < 50; w->now++) {
        order_refresh(&w->order, w->now);
        assert_int_equal(w->order.looks, 0);
    }
    free(w);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_order_is_what_a_list_would_be),
        cmocka_unit_test(what_stands_is_not_looked_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
