/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * block_stats_test.c - the signed-rank test against published figures, and how
 * often the interval of a ratio holds the truth.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "experiments/pairs/block_stats.h"
#include "sim/base/arena.h"
#include "sim/base/rng.h"

#define assert_near(A, B, BY) assert_true(fabs((A) - (B)) <= (BY))
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Hollander & Wolfe 1973, p. 29: depression before and after; V = 40, exact
 * two-sided p = 0.0390625.  Of eight ranks, five sets add up to at most 3 ({},
 * 1, 2, 3, 1 + 2): 2 x 5 / 256. */
static void signed_ranks_give_published_p_values(void **state)
{
    static const double before[] = { 1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55,
                                     3.06, 1.30 };
    static const double after[] = { 0.878, 0.647, 0.598, 2.05, 1.06, 1.29,
                                    1.06, 3.14, 1.29 };
    static const double eight[] = { 1, 2, -3, 4, 5, 6, 7, 8 };
    struct arena *arena = arena_new(1 << 12);
    double apart[9];

    (void)state;
    for (size_t i = 0; i < 9; i++)
        apart[i] = before[i] - after[i];
    assert_near(block_signed_rank(arena, apart, 9), 0.0390625, 1e-12);
    assert_near(block_signed_rank(arena, eight, 8), 10 / 256.0, 1e-12);
    arena_free(arena);
}

/* All of one sign: 2 / 2^n, whatever the ties; zeros do not count. */
static void signed_ranks_count_ties_and_drop_zeros(void **state)
{
    static const double same[] = { 2, 2, 2, 0, 2, 2, 0 };
    static const double none[] = { 0, 0, 0 };
    static const double even[] = { 3, -3, 1, -1 };
    struct arena *arena = arena_new(1 << 12);

    (void)state;
    assert_near(block_signed_rank(arena, same, 7), 2.0 / 32, 1e-12);
    assert_near(block_signed_rank(arena, none, 3), 1, 0);
    assert_near(block_signed_rank(arena, even, 4), 1, 0);
    assert_true(isnan(block_signed_rank(arena, none, 0)));
    arena_free(arena);
}

/* 200 values are counted, 201 are approximated. */
static void signed_ranks_agree_where_the_way_changes(void **state)
{
    struct arena *arena = arena_new(1 << 20);
    double value[201];
    struct rng rng;
    double a, b;

    (void)state;
    rng_init(&rng, 1, "ranks", 0);
    for (size_t i = 0; i < 201; i++)
        value[i] = rng_normal(&rng, 0.15, 1);
    value[200] = 1e-9;                  /* the least rank: it hardly counts */
    a = block_signed_rank(arena, value, 200);
    b = block_signed_rank(arena, value, 201);
    assert_true(a > 0.001 && a < 0.5);
    assert_near(a / b, 1, 0.03);
    arena_free(arena);
}

/* Days of some jobs each that share the day's luck: ratio 0.8 in truth. */
static void draw_days(struct rng *rng, double *left, double *right,
                      size_t days)
{
    for (size_t d = 0; d < days; d++) {
        size_t jobs = 5 + (size_t)rng_below(rng, 40);
        double luck = rng_lognormal(rng, -0.125, 0.5);

        left[d] = right[d] = 0;
        for (size_t j = 0; j < jobs; j++) {
            double s = rng_exponential(rng, 100);

            left[d] += s;
            right[d] += 0.8 * s * luck;
        }
    }
}

static void interval_of_a_ratio_holds_the_truth_as_often_as_it_says(
    void **state)
{
    static const size_t days[] = { 12, 30 };

    (void)state;
    for (size_t k = 0; k < COUNT(days); k++) {
        uint32_t held = 0, draws = 300;

        for (uint32_t i = 0; i < draws; i++) {
            struct arena *arena = arena_new(1 << 16);
            double left[30], right[30];
            struct block_ratio r;
            struct rng rng;

            rng_init(&rng, 5, "days", i);
            draw_days(&rng, left, right, days[k]);
            r = block_ratio(arena, right, left, days[k], i);
            held += r.low <= 0.8 && 0.8 <= r.high;
            arena_free(arena);
        }
        if (held < 0.90 * draws || held > 0.99 * draws)
            fail_msg("%zu days: %u of %u intervals hold it", days[k], held,
                     draws);
    }
}

static void few_blocks_give_no_interval(void **state)
{
    static const double one[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 };
    struct arena *arena = arena_new(1 << 16);
    struct block_ratio r = block_ratio(arena, one, one, 9, 0), again;

    (void)state;
    assert_true(r.value == 1 && isnan(r.low) && isnan(r.high));
    r = block_ratio(arena, one, one, 10, 0);
    assert_true(r.low == 1 && r.high == 1);
    assert_true(isnan(block_ratio(arena, one, one, 0, 0).value));
    double other[] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 9 };
    r = block_ratio(arena, other, one, 10, 3);
    again = block_ratio(arena, other, one, 10, 3);
    assert_true(r.low == again.low && r.high == again.high);
    assert_true(r.low < r.value && r.value < r.high);
    arena_free(arena);
}

/* Eight blocks of ten have the ratio itself: one draw in ten has them alone, and lies off by
 * nothing.  Blocks turned over, 2 - x, have the same draws and the interval turned over. */
static void an_interval_turns_over_with_its_blocks(void **state)
{
    static const double one[] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
    static const double sum[] = { 1, 1, 1, 1, 1, 1, 1, 1, 0.5, 1.5 };
    static const double over[] = { 1, 1, 1, 1, 1, 1, 1, 1, 1.5, 0.5 };
    struct arena *arena = arena_new(1 << 16);
    struct block_ratio r = block_ratio(arena, sum, one, 10, 3);
    struct block_ratio turned = block_ratio(arena, over, one, 10, 3);

    (void)state;
    assert_true(r.value == 1 && r.low < 1 && r.high > 1);
    assert_true(fabs(r.low + turned.high - 2) < 1e-12 && fabs(r.high + turned.low - 2) < 1e-12);
    arena_free(arena);
}

static void neighbours_that_are_alike_correlate(void **state)
{
    static const double wave[] = { 1, 2, 3, 4, 5, 4, 3, 2, 1 };
    static const double zigzag[] = { 1, -1, 1, -1, 1, -1 };

    (void)state;
    assert_true(block_neighbours(wave, COUNT(wave)) > 0.5);
    assert_true(block_neighbours(zigzag, COUNT(zigzag)) < -0.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signed_ranks_give_published_p_values),
        cmocka_unit_test(signed_ranks_count_ties_and_drop_zeros),
        cmocka_unit_test(signed_ranks_agree_where_the_way_changes),
        cmocka_unit_test(
            interval_of_a_ratio_holds_the_truth_as_often_as_it_says),
        cmocka_unit_test(few_blocks_give_no_interval),
        cmocka_unit_test(an_interval_turns_over_with_its_blocks),
        cmocka_unit_test(neighbours_that_are_alike_correlate),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
