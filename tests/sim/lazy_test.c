/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lazy_test.c - the heap whose items go stale, against a scan of all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sim/base/rng.h"
#include "sim/containers/lazy_heap.h"

#define ID_COUNT 40u

/* What holds of each id: its key and tail at its present stamp. */
struct owner {
    uint32_t stamp[ID_COUNT];
    struct lazy_heap_item item[ID_COUNT];
    bool on[ID_COUNT];
};

static bool holds(const void *self, const struct lazy_heap_item *item)
{
    const struct owner *owner = self;

    return owner->stamp[item->id] == item->stamp;
}

/* The least by key, tail and id; ID_COUNT: there is none. */
static uint32_t least(const struct owner *owner)
{
    uint32_t best = ID_COUNT;

    for (uint32_t i = 0; i < ID_COUNT; i++) {
        const struct lazy_heap_item *a = &owner->item[i], *b = &owner->item[best];

        if (!owner->on[i])
            continue;
        if (best == ID_COUNT || a->key < b->key ||
            (a->key == b->key && a->tail < b->tail))
            best = i;
    }
    return best;
}

static void a_lazy_heap_gives_the_least_of_what_holds(void **state)
{
    struct owner owner;
    struct lazy_heap heap = {NULL, 0, 0};
    struct rng rng;

    (void)state;
    memset(&owner, 0, sizeof owner);
    rng_init(&rng, 1, "lazy", 0);
    for (uint32_t turn = 0; turn < 20000; turn++) {
        uint32_t i = (uint32_t)rng_below(&rng, ID_COUNT);
        const struct lazy_heap_item *top;

        owner.stamp[i]++;
        owner.on[i] = rng_below(&rng, 3) > 0;
        if (owner.on[i]) {
            owner.item[i] = (struct lazy_heap_item){
                (double)rng_below(&rng, 9), (double)rng_below(&rng, 3), i,
                owner.stamp[i]
            };
            lazy_heap_push(&heap, owner.item[i], holds, &owner);
        }
        top = lazy_heap_top(&heap, holds, &owner);
        assert_int_equal(top == NULL ? ID_COUNT : top->id, least(&owner));
    }
    /* Not 13,000: what is stale is swept. */
    assert_in_range(heap.room, ID_COUNT, 4 * ID_COUNT);
    lazy_heap_release(&heap);
    assert_null(lazy_heap_top(&heap, holds, &owner));
}

static void popping_a_lazy_heap_sorts(void **state)
{
    struct owner owner;
    struct lazy_heap heap = {NULL, 0, 0};
    uint32_t i;

    (void)state;
    memset(&owner, 0, sizeof owner);
    for (i = 0; i < ID_COUNT; i++)
        lazy_heap_push(&heap,
                       (struct lazy_heap_item){(double)(i * 7 % ID_COUNT), 0, i, 0},
                       holds, &owner);
    for (i = 0; i < ID_COUNT; i++) {
        assert_true(lazy_heap_top(&heap, holds, &owner)->key == i);
        lazy_heap_pop(&heap);
    }
    assert_null(lazy_heap_top(&heap, holds, &owner));
    lazy_heap_release(&heap);
}

/* Without `holds` nothing is stale: keys in any order come out sorted. */
static void a_heap_of_items_that_all_hold_sorts(void **state)
{
    (void)state;
    enum { COUNT = 3000 };
    struct lazy_heap heap = {NULL, 0, 0};
    const struct lazy_heap_item *top;
    uint32_t popped = 0;

    for (uint32_t i = 0; i < COUNT; i++)
        lazy_heap_push(&heap,
                       (struct lazy_heap_item){.key = i * 7 % COUNT / 3, .id = i},
                       NULL, NULL);
    struct lazy_heap_item last = {.key = -1};
    for (; (top = lazy_heap_top(&heap, NULL, NULL)) != NULL; popped++) {
        assert_true(top->key > last.key ||
                    (top->key == last.key && top->id > last.id));
        last = *top;
        lazy_heap_pop(&heap);
    }
    assert_int_equal(popped, COUNT);
    lazy_heap_release(&heap);
}

/* Keys 10 to 19; the first one falls to 3, and then to the same again. */
static void a_first_item_whose_key_falls_stays_the_first(void **state)
{
    (void)state;
    struct lazy_heap heap = {NULL, 0, 0};

    for (uint32_t i = 0; i < 10; i++)
        lazy_heap_push(&heap, (struct lazy_heap_item){.key = 19 - i, .id = i}, NULL, NULL);
    lazy_heap_lower(&heap, 3);
    lazy_heap_lower(&heap, 3);
    for (uint32_t i = 0; i < 10; i++) {
        const struct lazy_heap_item *top = lazy_heap_top(&heap, NULL, NULL);

        assert_int_equal(top->id, 9 - i);
        assert_true(top->key == (i == 0 ? 3 : 10 + i));
        lazy_heap_pop(&heap);
    }
    assert_null(lazy_heap_top(&heap, NULL, NULL));
    lazy_heap_release(&heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lazy_heap_gives_the_least_of_what_holds),
        cmocka_unit_test(popping_a_lazy_heap_sorts),
        cmocka_unit_test(a_heap_of_items_that_all_hold_sorts),
        cmocka_unit_test(a_first_item_whose_key_falls_stays_the_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
