/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ends_test.c - ends in blocks against a plain array of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/rng.h"
#include "sim/containers/calendar.h"

#define IDS 3000u

/* By id. */
struct plain {
    int64_t ns[IDS];
    uint32_t gpus[IDS];
    bool in[IDS];
};

static uint64_t plain_by(const struct plain *plain, int64_t time_ns)
{
    uint64_t gpus = 0;

    for (uint32_t id = 0; id < IDS; id++)
        if (plain->in[id] && plain->ns[id] <= time_ns)
            gpus += plain->gpus[id];
    return gpus;
}

static void check(const struct calendar *ends, const struct plain *plain,
                  struct rng *rng, uint32_t times)
{
    int64_t at = (int64_t)rng_below(rng, times + 1);
    uint64_t all = plain_by(plain, CLOCK_NEVER_NS);

    assert_int_equal(calendar_by(ends, at), plain_by(plain, at));
    assert_int_equal(calendar_by(ends, CLOCK_NEVER_NS), all);
    assert_int_equal(calendar_when(ends, all + 1), CLOCK_NEVER_NS);
    if (all > 0) {
        uint64_t gpus = 1 + rng_below(rng, all);
        int64_t when = calendar_when(ends, gpus);
        assert_true(plain_by(plain, when) >= gpus);
        assert_true(plain_by(plain, when - 1) < gpus);
    }
}

/* Ids come and go at random; few times make many ends equal. */
static void try(uint32_t times, uint32_t most, uint32_t seed)
{
    struct arena *arena = arena_new(0);
    struct calendar *ends = calendar_new(arena);
    struct plain *plain = arena_alloc(arena, 1, sizeof *plain);
    struct rng rng;

    rng_init(&rng, seed, "ends", 0);
    for (uint32_t step = 0; step < 20000; step++) {
        uint32_t id = (uint32_t)rng_below(&rng, most);
        /* It fills for a while, and then it drains. */
        bool fills = step / 5000 % 2 == 0, in = plain->in[id];

        if (in && (!fills || step % 3 == 0)) {
            assert_true(calendar_drop(ends, plain->ns[id], id));
            plain->in[id] = false;
        } else if (!in && (fills || step % 3 == 0)) {
            plain->ns[id] = (int64_t)rng_below(&rng, times);
            plain->gpus[id] = (uint32_t)rng_below(&rng, 9);
            calendar_add(ends, plain->ns[id], id, plain->gpus[id]);
            plain->in[id] = true;
        }
        if (!plain->in[id])
            assert_false(calendar_drop(ends, plain->ns[id], id));
        if (step % 50 == 0)
            check(ends, plain, &rng, times);
    }
    for (uint32_t id = 0; id < most; id++)
        if (plain->in[id])
            assert_true(calendar_drop(ends, plain->ns[id], id));
    assert_int_equal(calendar_by(ends, CLOCK_NEVER_NS), 0);
    assert_int_equal(calendar_when(ends, 1), CLOCK_NEVER_NS);
    arena_free(arena);
}

static void ends_agree_with_a_plain_array(void **state)
{
    (void)state;
    try(1000000, IDS, 1);
    try(40, IDS, 2);
    try(1, 500, 3);
    try(100, 3, 4);
}

static void an_end_that_is_not_there_is_not_dropped(void **state)
{
    (void)state;
    struct arena *arena = arena_new(0);
    struct calendar *ends = calendar_new(arena);

    assert_false(calendar_drop(ends, 5, 0));
    calendar_add(ends, 5, 7, 2);
    assert_false(calendar_drop(ends, 5, 8));
    assert_false(calendar_drop(ends, 4, 7));
    assert_false(calendar_drop(ends, 6, 7));
    assert_int_equal(calendar_by(ends, 5), 2);
    assert_int_equal(calendar_by(ends, 4), 0);
    assert_true(calendar_drop(ends, 5, 7));
    assert_false(calendar_drop(ends, 5, 7));
    arena_free(arena);
}

static void ends_that_never_come_are_last(void **state)
{
    (void)state;
    struct arena *arena = arena_new(0);
    struct calendar *ends = calendar_new(arena);

    calendar_add(ends, CLOCK_NEVER_NS, 0, 4);
    calendar_add(ends, 10, 1, 4);
    assert_int_equal(calendar_when(ends, 4), 10);
    assert_int_equal(calendar_when(ends, 5), CLOCK_NEVER_NS);
    assert_int_equal(calendar_by(ends, CLOCK_NEVER_NS - 1), 4);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_agree_with_a_plain_array),
        cmocka_unit_test(an_end_that_is_not_there_is_not_dropped),
        cmocka_unit_test(ends_that_never_come_are_last),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
