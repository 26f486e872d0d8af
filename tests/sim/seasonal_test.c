/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * seasonal_test.c - forecasts of a series from its past.
 *
 * Nothing was chosen on the published rows.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/base/rng.h"
#include "sim/stats/seasonal.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define PI 3.14159265358979323846

/* S. Wong, Time Series Forecasting Exercise (wongsteve.com/Exponential_Smoothing.htm):
 * ten periods of sales and their forecasts at a weight of 0.3, to a tenth. */
static void a_level_gives_the_published_forecasts(void **state)
{
    static const double sales[] = { 99, 88, 50, 58, 62, 60, 55, 62, 71, 65 };
    static const double forecast[] = { 99.0, 95.7, 82.0, 74.8, 71.0, 67.7, 63.9,
                                       63.3, 65.6, 65.4 };
    struct seasonal s = { .level_weight = 0.3 };

    (void)state;
    assert_true(seasonal_at(&s, 1) == 0);
    for (size_t i = 0; i < COUNT(sales); i++) {
        seasonal_add(&s, sales[i]);
        assert_true(fabs(seasonal_at(&s, 1) - forecast[i]) <= 0.05 + 1e-9);
        assert_true(seasonal_at(&s, 7) == seasonal_at(&s, 1));
    }
}

/* Seasons 10, 20, 30: level 20, seasons -10, 0, 10.  Then 16, by hand:
 * level 0.5 (16 + 10) + 0.5 x 20 = 23; season 0.25 (16 - 20) + 0.75 x -10 = -8.5. */
static void level_and_season_move_as_by_hand(void **state)
{
    double season[3] = { 0 };
    struct seasonal s = { .level_weight = 0.5, .season_weight = 0.25,
                          .slots = 3, .season = season };

    (void)state;
    for (int i = 1; i <= 3; i++)
        seasonal_add(&s, 10 * i);
    assert_true(seasonal_at(&s, 1) == 10 && seasonal_at(&s, 2) == 20);
    assert_true(seasonal_at(&s, 3) == 30 && seasonal_at(&s, 4) == 10);
    seasonal_add(&s, 16);
    assert_true(s.level == 23 && season[0] == -8.5);
    assert_true(seasonal_at(&s, 1) == 23 && seasonal_at(&s, 3) == 14.5);
}

/* A day curve with noise: after four weeks the forecast is off by less than its last
 * day (the seasonal-naive forecast) and than the level alone. */
static void a_season_is_learned_through_noise(void **state)
{
    double season[24] = { 0 }, last[24] = { 0 }, off[3] = { 0 };
    struct seasonal s = { .level_weight = 0.05, .season_weight = 0.2,
                          .slots = 24, .season = season };
    struct seasonal flat = { .level_weight = 0.05 };
    struct rng rng;

    (void)state;
    rng_init(&rng, 7, "noise", 0);
    for (int i = 0; i < 24 * 56; i++) {
        double x = 10 + 8 * sin(2 * PI * i / 24) + rng_normal(&rng, 0, 3);
        if (i >= 24 * 28) {
            off[0] += fabs(seasonal_at(&s, 1) - x);
            off[1] += fabs(last[i % 24] - x);
            off[2] += fabs(seasonal_at(&flat, 1) - x);
        }
        seasonal_add(&s, x);
        seasonal_add(&flat, x);
        last[i % 24] = x;
    }
    assert_true(off[0] < 0.85 * off[1] && off[0] < 0.6 * off[2]);
    /* 3 sqrt(2/pi) is what noise leaves of any forecast. */
    assert_true(off[0] > 0.95 * 24 * 28 * 3 * sqrt(2 / PI));
    assert_true(off[0] < 1.15 * 24 * 28 * 3 * sqrt(2 / PI));
}

/* Tables of the Poisson distribution; above 400 the normal one. */
static void quantiles_of_a_poisson_are_those_of_tables(void **state)
{
    static const struct { double mean, share, most; } row[] = {
        { 0, 0.99, 0 }, { 0.5, 0.6065, 0 }, { 0.5, 0.6066, 1 }, { 1, 0.9, 2 },
        { 1, 0.92, 3 }, { 2, 0.95, 5 }, { 5, 0.5, 5 }, { 10, 0.9, 14 },
        { 10, 0.95, 15 }, { 10, 0.0001, 1 }, { 5, 0, 0 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(row); i++)
        assert_true(seasonal_poisson_most(row[i].mean, row[i].share) ==
                    row[i].most);
    for (double share = 0.05; share < 1; share += 0.05)
        assert_true(fabs(seasonal_poisson_most(400.5, share) -
                         seasonal_poisson_most(399.5, share) - 1) <= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_level_gives_the_published_forecasts),
        cmocka_unit_test(level_and_season_move_as_by_hand),
        cmocka_unit_test(a_season_is_learned_through_noise),
        cmocka_unit_test(quantiles_of_a_poisson_are_those_of_tables),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
