/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * winners_test.c - the tournament against a look at all items.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/base/arena.h"
#include "sim/base/rng.h"
#include "sim/containers/winners.h"

#define MOST 70u

/* By lot: few scores, so that many are equal, and sizes beside powers of two. */
static void the_first_is_that_of_a_look_at_all(void **state)
{
    (void)state;
    for (uint32_t count = 1; count <= MOST; count++) {
        struct arena *arena = arena_new(0);
        struct winners winners;
        struct rng rng;
        int32_t score[MOST];
        bool in[MOST] = { false };

        winners_init(&winners, arena, count);
        rng_init(&rng, 1, "winners", count);
        assert_int_equal(winners_first(&winners), UINT32_MAX);
        for (uint32_t turn = 0; turn < 400; turn++) {
            uint32_t item = (uint32_t)rng_below(&rng, count), best = UINT32_MAX;
            in[item] = rng_below(&rng, 3) > 0;
            if (in[item]) {
                score[item] = (int32_t)rng_below(&rng, 5) - 2;
                winners_put(&winners, item, score[item]);
            } else {
                winners_drop(&winners, item);
            }
            for (uint32_t i = 0; i < count; i++)
                if (in[i] && (best == UINT32_MAX || score[i] > score[best]))
                    best = i;
            assert_int_equal(winners_first(&winners), best);
        }
        arena_free(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_is_that_of_a_look_at_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
