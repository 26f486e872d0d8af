/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rank_tree_test.c - the sequence against a plain array, and its balance.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/base/arena.h"
#include "sim/base/rng.h"
#include "sim/containers/rank_tree.h"

#define ITEMS 2000u

struct world {
    struct rank_tree ranks;
    uint32_t key[ITEMS];
    uint64_t sum[ITEMS];        /* of the keys of a subtree */
    uint32_t list[ITEMS], count;
    bool in[ITEMS];
    struct rng rng;
};

static void add(void *owner, uint32_t item, uint32_t left, uint32_t right)
{
    struct world *w = owner;
    w->sum[item] = w->key[item] + (left == RANK_TREE_NONE ? 0 : w->sum[left]) +
                   (right == RANK_TREE_NONE ? 0 : w->sum[right]);
}

static bool before(void *owner, uint32_t a, uint32_t b)
{
    const struct world *w = owner;
    return w->key[a] < w->key[b];
}

/* Weights as promised, so that no path is longer than 2.4 log2(n). */
static uint32_t check_balance(const struct world *w, uint32_t item)
{
    if (item == RANK_TREE_NONE)
        return 0;
    const struct rank_tree_node *node = &w->ranks.node[item];
    uint32_t left = check_balance(w, node->left);
    uint32_t right = check_balance(w, node->right);
    assert_true(left + 1 <= 3 * (right + 1) && right + 1 <= 3 * (left + 1));
    assert_int_equal(node->count, left + right + 1);
    return left + right + 1;
}

static void check_all(struct world *w)
{
    uint64_t sum = 0;
    assert_int_equal(rank_tree_count(&w->ranks), w->count);
    assert_int_equal(check_balance(w, w->ranks.root), w->count);
    for (uint32_t i = 0; i < w->count; i++) {
        assert_int_equal(rank_tree_at(&w->ranks, i), w->list[i]);
        assert_int_equal(rank_tree_rank(&w->ranks, w->list[i]), i);
        sum += w->key[w->list[i]];
    }
    assert_int_equal(rank_tree_at(&w->ranks, w->count), RANK_TREE_NONE);
    if (w->count > 0)
        assert_true(w->sum[w->ranks.root] == sum);
}

static void put_in(struct world *w, uint32_t item, bool at_end)
{
    uint32_t i = w->count++;
    w->key[item] = (uint32_t)rng_below(&w->rng, 50);
    for (; !at_end && i > 0 && w->key[item] < w->key[w->list[i - 1]]; i--)
        w->list[i] = w->list[i - 1];
    w->list[i] = item;
    w->in[item] = true;
    rank_tree_insert(&w->ranks, item, at_end ? NULL : before);
}

static void take_out(struct world *w, uint32_t i)
{
    uint32_t item = w->list[i];
    memmove(&w->list[i], &w->list[i + 1], (--w->count - i) * sizeof *w->list);
    w->in[item] = false;
    rank_tree_remove(&w->ranks, item);
}

static struct world *world_new(struct arena *arena, uint64_t seed)
{
    struct world *w = arena_alloc(arena, 1, sizeof *w);
    rng_init(&w->rng, seed, "ranks", 0);
    rank_tree_init(&w->ranks, arena, add, w);
    return w;
}

static void a_sorted_sequence_is_what_an_array_would_be(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct arena *arena = arena_new(1 << 16);
        struct world *w = world_new(arena, seed);
        uint32_t items = seed % 2 ? 40 : ITEMS;
        for (uint32_t step = 0; step < 3000; step++) {
            uint32_t item = (uint32_t)rng_below(&w->rng, items);
            if (!w->in[item] && rng_below(&w->rng, 8) > 0)
                put_in(w, item, false);
            else if (w->count > 0)
                take_out(w, (uint32_t)rng_below(&w->rng, w->count));
            if (step % 100 == 0)
                check_all(w);
        }
        check_all(w);
        arena_free(arena);
    }
}

/* What a queue does: in at the end, out at the front. */
static void a_queue_stays_balanced(void **state)
{
    (void)state;
    struct arena *arena = arena_new(1 << 16);
    struct world *w = world_new(arena, 1);
    for (uint32_t item = 0; item < ITEMS; item++)
        put_in(w, item, true);
    check_all(w);
    while (w->count > 0) {
        take_out(w, 0);
        if (w->count % 97 == 0)
            check_all(w);
    }
    check_all(w);
    arena_free(arena);
}

/* A policy's loop: look at the i-th; where it starts, the next is the i-th. */
static void walking_goes_on_at_what_follows_the_removed(void **state)
{
    (void)state;
    struct arena *arena = arena_new(1 << 16);
    struct world *w = world_new(arena, 3);
    for (uint32_t item = 0; item < ITEMS; item++)
        put_in(w, item, false);
    uint32_t seen = 0;
    for (uint32_t i = 0; i < w->count; seen++) {
        assert_int_equal(rank_tree_at(&w->ranks, i), w->list[i]);
        if (rng_below(&w->rng, 2))
            take_out(w, i);
        else
            i++;
    }
    assert_int_equal(seen, ITEMS);
    assert_in_range(w->count, ITEMS / 3, ITEMS - ITEMS / 3);
    check_all(w);
    arena_free(arena);
}

static void what_is_put_before_another_stands_there(void **state)
{
    (void)state;
    struct arena *arena = arena_new(1 << 16);
    struct world *w = world_new(arena, 5);
    put_in(w, 0, true);
    for (uint32_t item = 1; item < ITEMS; item++) {
        uint32_t i = (uint32_t)rng_below(&w->rng, w->count);
        uint32_t other = w->list[i];
        memmove(&w->list[i + 1], &w->list[i],
                (w->count++ - i) * sizeof *w->list);
        w->list[i] = item;
        w->in[item] = true;
        w->key[item] = item;
        rank_tree_insert_at(&w->ranks, item, other);
        w->key[other] += 7;
        rank_tree_touch(&w->ranks, other);
        if (item % 111 == 0)
            check_all(w);
    }
    check_all(w);
    arena_free(arena);
}

static void reordering_keeps_the_items(void **state)
{
    (void)state;
    struct arena *arena = arena_new(1 << 16);
    struct world *w = world_new(arena, 4);
    uint32_t list[ITEMS];
    for (uint32_t item = 0; item < 1000; item++)
        put_in(w, 2 * item, false);
    rank_tree_list(&w->ranks, list);
    assert_memory_equal(list, w->list, w->count * sizeof *list);
    for (uint32_t i = 0; i < w->count; i++)
        w->list[i] = list[w->count - 1 - i];
    rank_tree_reorder(&w->ranks, w->list);
    check_all(w);
    while (w->count > 0)
        take_out(w, w->count / 2);
    rank_tree_reorder(&w->ranks, w->list);
    assert_int_equal(rank_tree_count(&w->ranks), 0);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sorted_sequence_is_what_an_array_would_be),
        cmocka_unit_test(a_queue_stays_balanced),
        cmocka_unit_test(walking_goes_on_at_what_follows_the_removed),
        cmocka_unit_test(what_is_put_before_another_stands_there),
        cmocka_unit_test(reordering_keeps_the_items),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
