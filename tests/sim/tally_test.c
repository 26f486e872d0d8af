/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tally_test.c - tallies and gauges by hand, quantiles against sorting. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/base/arena.h"
#include "sim/base/rng.h"
#include "sim/stats/tally.h"

static bool near(double a, double b, double relative)
{
    return fabs(a - b) <= relative * fmax(fabs(a), fabs(b)) + 1e-300;
}

static void a_tally_of_eight_samples_is_the_textbooks(void **state)
{
    const double sample[] = {2, 4, 4, 4, 5, 5, 7, 9};
    struct tally tally = {0};

    (void)state;
    for (size_t i = 0; i < 8; i++)
        tally_add(&tally, sample[i]);
    assert_int_equal(tally.count, 8);
    assert_true(near(tally.mean, 5, 1e-15));
    assert_true(near(tally_sd(&tally), sqrt(32.0 / 7), 1e-15));
    assert_true(tally.min == 2 && tally.max == 9);
}

static void a_tally_keeps_a_small_spread_beside_a_large_mean(void **state)
{
    struct tally tally = {0};

    (void)state;
    for (int i = 0; i < 1000; i++)
        tally_add(&tally, 1e9 + (i % 2));
    assert_true(near(tally_sd(&tally), sqrt(250.0 / 999), 1e-6));
}

static void a_gauge_averages_over_time_not_over_changes(void **state)
{
    struct gauge gauge = {0};
    const int64_t s = INT64_C(1000000000);

    (void)state;
    assert_true(gauge_mean(&gauge, 0) == 0);
    gauge_set(&gauge, 1 * s, 10);
    gauge_set(&gauge, 2 * s, 4);
    gauge_set(&gauge, 2 * s, 2);        /* stands for no time: does not count */
    assert_true(near(gauge_area(&gauge, 5 * s), 16, 1e-15));
    assert_true(near(gauge_mean(&gauge, 5 * s), 3.2, 1e-15));
    assert_true(near(gauge_mean(&gauge, 2 * s), 5, 1e-15));
}

static void a_gauge_may_begin_late(void **state)
{
    const int64_t s = INT64_C(1000000000);
    struct gauge gauge = {.from_ns = 10 * s, .last_ns = 10 * s};

    (void)state;
    gauge_set(&gauge, 12 * s, 3);
    assert_true(near(gauge_mean(&gauge, 14 * s), 1.5, 1e-15));
}

/* Quantiles ---------------------------------------------------------------- */

static int order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void quantiles_of_few_samples_are_exact(void **state)
{
    struct arena *arena = arena_new(1 << 16);
    struct quantile *quantile = quantile_new(arena);

    (void)state;
    assert_true(quantile_at(quantile, 0.5) == 0);
    for (int i = 100; i > 0; i--)
        quantile_add(quantile, i);
    assert_int_equal(quantile_count(quantile), 100);
    assert_true(quantile_at(quantile, 0) == 1);
    for (int i = 1; i <= 100; i++)
        assert_true(quantile_at(quantile, i / 100.0) == i);
    assert_true(quantile_at(quantile, 0.505) == 51);
    quantile_add(quantile, 1000);
    assert_true(quantile_at(quantile, 1) == 1000);
    assert_true(quantile_at(quantile, 0.5) == 51);
    arena_free(arena);
}

static void quantiles_are_exact_up_to_the_stated_count(void **state)
{
    struct arena *arena = arena_new(1 << 16);
    struct quantile *quantile = quantile_new(arena);
    static double sample[QUANTILE_EXACT_MAX];
    struct rng rng;

    (void)state;
    rng_init(&rng, 1, "exact", 0);
    for (uint32_t i = 0; i < QUANTILE_EXACT_MAX; i++) {
        sample[i] = rng_lognormal(&rng, 0, 2);
        quantile_add(quantile, sample[i]);
        if (i % 500 == 0)       /* asking in between must not disturb */
            assert_true(quantile_at(quantile, 1) > 0);
    }
    qsort(sample, QUANTILE_EXACT_MAX, sizeof *sample, order);
    for (uint32_t i = 0; i < QUANTILE_EXACT_MAX; i++)
        assert_true(quantile_at(quantile, (i + 1.0) / QUANTILE_EXACT_MAX) ==
                    sample[i]);
    arena_free(arena);
}

enum shape { UNIFORM, EXPONENTIAL, LOGNORMAL, PARETO, PEAKS, SHAPE_COUNT };
enum path { RANDOM, RISING, FALLING, ZIGZAG, OUTSIDE_IN, PATH_COUNT };

/* The sample at share u of the distribution; it rises with u, so that the
 * exact share below any x is known without sorting. */
static double sample_at(enum shape shape, double u)
{
    switch (shape) {
    case UNIFORM: return u;
    case EXPONENTIAL: return -log1p(-u);
    case LOGNORMAL: return exp(3 * (u < 0.5 ? -1 : 1) *
                               sqrt(fmax(0, -log(4 * u * (1 - u)))));
    case PARETO: return pow(1 - u, -1 / 1.1);
    default: return u < 0.93 ? u : 1e6 + u;
    }
}

/* A permutation of 0 .. count - 1 with no memory: a step that is prime to
 * count for RANDOM, which spreads like random (golden section). */
static uint64_t place_at(enum path path, uint64_t i, uint64_t count)
{
    switch (path) {
    case RANDOM: return i * UINT64_C(6180339887) % count;
    case RISING: return i;
    case FALLING: return count - 1 - i;
    case ZIGZAG: return (count - 1) / 2 + (i % 2 ? i / 2 + 1 : 0 - i / 2);
    default: return i % 2 ? count - 1 - i / 2 : i / 2;
    }
}

static const double asked[] = {0.5, 0.9, 0.95, 0.99, 0.999};
static const double error_max[] = {2e-3, 5e-4, 3e-4, 1e-4, 6e-5};

/* The share of samples below x, by bisection on the place. */
static double share_below(enum shape shape, double x, uint64_t count)
{
    uint64_t low = 0, high = count;

    while (low < high) {
        uint64_t middle = (low + high) / 2;

        if (sample_at(shape, ((double)middle + 0.5) / (double)count) < x)
            low = middle + 1;
        else
            high = middle;
    }
    return (double)low / (double)count;
}

static void check_stream(enum shape shape, enum path path, uint64_t count)
{
    struct arena *arena = arena_new(1 << 12);
    struct quantile *quantile = quantile_new(arena);

    for (uint64_t i = 0; i < count; i++) {
        uint64_t place = place_at(path, i, count);

        quantile_add(quantile, sample_at(shape, ((double)place + 0.5) /
                                                    (double)count));
    }
    assert_int_equal(quantile_count(quantile), count);
    for (size_t k = 0; k < 5; k++) {
        double got = quantile_at(quantile, asked[k]);
        double error = fabs(share_below(shape, got, count) - asked[k]);

        if (error > error_max[k])
            fail_msg("shape %d path %d p %g: off by %g", (int)shape,
                     (int)path, asked[k], error);
    }
    assert_true(arena_used_bytes(arena) <= 224 << 10);
    arena_free(arena);
}

static void
quantiles_of_ten_million_samples_stay_in_error_and_memory(void **state)
{
    (void)state;
    check_stream(LOGNORMAL, RANDOM, 10000019);
}

static void quantiles_stay_in_error_for_every_shape_and_order(void **state)
{
    (void)state;
    for (int shape = 0; shape < SHAPE_COUNT; shape++)
        for (int path = 0; path < PATH_COUNT; path++)
            check_stream((enum shape)shape, (enum path)path, 300007);
}

static void quantiles_just_past_exact_stay_in_error(void **state)
{
    (void)state;
    for (int path = 0; path < PATH_COUNT; path++)
        for (uint64_t more = 1; more < 9000; more += 1777)
            check_stream(EXPONENTIAL, (enum path)path,
                         QUANTILE_EXACT_MAX + more);
}

static void quantiles_rise_with_p_between_min_and_max(void **state)
{
    struct arena *arena = arena_new(1 << 16);
    struct quantile *quantile = quantile_new(arena);
    struct rng rng;
    double last, low = INFINITY, high = -(double)INFINITY;

    (void)state;
    rng_init(&rng, 1, "rise", 0);
    for (int i = 0; i < 50000; i++) {
        double sample = rng_normal(&rng, 0, 1);

        low = fmin(low, sample);
        high = fmax(high, sample);
        quantile_add(quantile, sample);
    }
    last = quantile_at(quantile, 0);
    assert_true(last == low);
    for (int i = 1; i <= 10000; i++) {
        double next = quantile_at(quantile, i / 10000.0);

        assert_true(next >= last);
        last = next;
    }
    assert_true(last == high);
    arena_free(arena);
}

static void equal_samples_have_one_quantile(void **state)
{
    struct arena *arena = arena_new(1 << 16);
    struct quantile *quantile = quantile_new(arena);

    (void)state;
    for (int i = 0; i < 100000; i++)
        quantile_add(quantile, 0.1);
    for (size_t k = 0; k < 5; k++)
        assert_true(near(quantile_at(quantile, asked[k]), 0.1, DBL_EPSILON));
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tally_of_eight_samples_is_the_textbooks),
        cmocka_unit_test(a_tally_keeps_a_small_spread_beside_a_large_mean),
        cmocka_unit_test(a_gauge_averages_over_time_not_over_changes),
        cmocka_unit_test(a_gauge_may_begin_late),
        cmocka_unit_test(quantiles_of_few_samples_are_exact),
        cmocka_unit_test(quantiles_are_exact_up_to_the_stated_count),
        cmocka_unit_test(
            quantiles_of_ten_million_samples_stay_in_error_and_memory),
        cmocka_unit_test(quantiles_stay_in_error_for_every_shape_and_order),
        cmocka_unit_test(quantiles_just_past_exact_stay_in_error),
        cmocka_unit_test(quantiles_rise_with_p_between_min_and_max),
        cmocka_unit_test(equal_samples_have_one_quantile),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
