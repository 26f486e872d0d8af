/* SPDX-License-Identifier: GPL-3.0-or-later */
/* clock_test.c - seconds and nanoseconds at the border. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/base/clock.h"

static int64_t ns_of(double s)
{
    int64_t ns = -1;
    assert_true(clock_ns_from_s(s, &ns));
    return ns;
}

static void seconds_round_half_away_from_zero(void **state)
{
    (void)state;
    assert_int_equal(ns_of(0.0), 0);
    assert_int_equal(ns_of(0.5e-9), 1);
    assert_int_equal(ns_of(-0.5e-9), -1);
    assert_int_equal(ns_of(0.49e-9), 0);
    assert_int_equal(ns_of(2.5e-9), 3);
    assert_int_equal(ns_of(552.21), INT64_C(552210000000));
    assert_int_equal(ns_of(-552.21), INT64_C(-552210000000));
    assert_int_equal(ns_of(9223372035.0), INT64_C(9223372035000000000));
}

static void what_is_no_time_is_refused(void **state)
{
    (void)state;
    int64_t ns = 7;

    assert_false(clock_ns_from_s((double)NAN, &ns));
    assert_false(clock_ns_from_s((double)INFINITY, &ns));
    assert_false(clock_ns_from_s(-(double)INFINITY, &ns));
    assert_false(clock_ns_from_s(9223372036.0, &ns));
    assert_false(clock_ns_from_s(-9223372036.0, &ns));
    assert_false(clock_ns_from_s(9223372037.0, &ns));
    assert_false(clock_ns_from_s(-9223372037.0, &ns));
    assert_int_equal(ns, 7);
}

static void nanoseconds_survive_the_way_through_seconds(void **state)
{
    (void)state;
    uint64_t word = 1;

    /* 2^51 ns, 26 days: beyond it a double's own steps exceed half a ns. */
    for (int i = 0; i < 100000; i++) {
        word = word * UINT64_C(6364136223846793005) + 1442695040888963407u;
        int64_t ns = (int64_t)(word >> 13);
        assert_int_equal(ns_of(clock_s_from_ns(ns)), ns);
        assert_int_equal(clock_ns_for_work(clock_s_from_ns(ns), 1.0), ns);
    }
}

static void whole_work_takes_whole_time(void **state)
{
    (void)state;
    assert_int_equal(clock_ns_for_work(163385.0, 1.0),
                     INT64_C(163385000000000));
    assert_int_equal(clock_ns_for_work(0.0, 0.0), 0);
    assert_int_equal(clock_ns_for_work(7e9, 1.0), INT64_C(7000000000000000000));
    for (int i = 1; i < 1000; i++) {
        for (int j = 1; j < 40; j++) {
            double rate = j / 10.0;
            double work = (double)(i * j) / 10.0;
            assert_int_equal(clock_ns_for_work(work, rate),
                             i * INT64_C(1000000000));
        }
    }
}

static void work_is_never_finished_early(void **state)
{
    (void)state;
    assert_int_equal(clock_ns_for_work(1.0, 3.0), 333333334);
    assert_int_equal(clock_ns_for_work(2.0, 3.0), 666666667);
    assert_int_equal(clock_ns_for_work(1e-30, 1.0), 1);
    assert_int_equal(clock_ns_for_work(1e-9, 1.0), 1);
    assert_int_equal(clock_ns_for_work(1.0000001e-9, 1.0), 2);
    uint64_t word = 3;
    for (int i = 0; i < 100000; i++) {
        word = word * UINT64_C(6364136223846793005) + 1442695040888963407u;
        double work = (double)(word >> 40) / 64.0;
        double rate = (double)(word & 0xFFF) + 1.0;
        int64_t ns = clock_ns_for_work(work, rate);
        double left = work - rate * clock_s_from_ns(ns);
        assert_true(left <= work * 1e-15);
        assert_true(left >= -rate * 1.001e-9 - work * 1e-15);
    }
}

static void no_rate_and_endless_work_never_end(void **state)
{
    (void)state;
    assert_true(clock_ns_for_work(1.0, 0.0) == CLOCK_NEVER_NS);
    assert_true(clock_ns_for_work(1e300, 1.0) == CLOCK_NEVER_NS);
    assert_true(clock_ns_for_work(1e300, 1e-300) == CLOCK_NEVER_NS);
    /* From 9,223,372,036 s on, a second before the last nanosecond that a time can have. */
    assert_true(clock_ns_for_work(9223372036.0, 1.0) == CLOCK_NEVER_NS);
    assert_int_equal(clock_ns_for_work(9223372035.0, 1.0), INT64_C(9223372035000000000));
    assert_int_equal(clock_ns_for_work(1.0, (double)INFINITY), 0);
}

static void check_format(int64_t ns, const char *wanted)
{
    char out[32];
    assert_int_equal(clock_format_s(ns, out, sizeof out), strlen(wanted));
    assert_string_equal(out, wanted);
}

static void seconds_are_printed_exactly(void **state)
{
    (void)state;
    check_format(0, "0");
    check_format(1, "0.000000001");
    check_format(-1, "-0.000000001");
    check_format(INT64_C(12000000003), "12.000000003");
    check_format(INT64_C(163385000000000), "163385");
    check_format(INT64_C(552210000000), "552.21");
    check_format(INT64_MAX, "9223372036.854775807");
    check_format(INT64_MIN, "-9223372036.854775808");
}

static void short_buffer_is_filled_and_ended(void **state)
{
    (void)state;
    char out[4] = "xyz";

    assert_int_equal(clock_format_s(INT64_C(12345000000000), out, 4), 5);
    assert_string_equal(out, "123");
    assert_int_equal(clock_format_s(INT64_C(1000000000), NULL, 0), 1);
}

static void sums_that_run_over_are_never(void **state)
{
    (void)state;
    assert_int_equal(clock_after(3, 4), 7);
    assert_int_equal(clock_after(7, -4), 3);
    assert_int_equal(clock_after(CLOCK_NEVER_NS - 1, 1), CLOCK_NEVER_NS);
    assert_int_equal(clock_after(CLOCK_NEVER_NS - 1, 2), CLOCK_NEVER_NS);
    assert_int_equal(clock_after(INT64_MAX / 2, INT64_MAX / 2 + 9),
                     CLOCK_NEVER_NS);
    assert_int_equal(clock_after(CLOCK_NEVER_NS, -5), CLOCK_NEVER_NS);
    assert_int_equal(clock_after(-5, CLOCK_NEVER_NS), CLOCK_NEVER_NS);
    assert_int_equal(clock_after(INT64_MIN, -1), INT64_MIN);
}

static void ticks_are_multiples_and_run_over_to_never(void **state)
{
    (void)state;
    assert_int_equal(clock_tick_from(0, 10), 0);
    assert_int_equal(clock_tick_from(20, 10), 20);
    assert_int_equal(clock_tick_from(21, 10), 30);
    assert_int_equal(clock_tick_after(0, 10), 10);
    assert_int_equal(clock_tick_after(20, 10), 30);
    assert_int_equal(clock_tick_after(29, 10), 30);
    assert_int_equal(clock_tick_after(INT64_MAX - 1, INT64_MAX / 2),
                     CLOCK_NEVER_NS);
    assert_int_equal(clock_tick_from(INT64_MAX / 2 + 5, INT64_MAX / 2 + 1),
                     CLOCK_NEVER_NS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seconds_round_half_away_from_zero),
        cmocka_unit_test(what_is_no_time_is_refused),
        cmocka_unit_test(nanoseconds_survive_the_way_through_seconds),
        cmocka_unit_test(whole_work_takes_whole_time),
        cmocka_unit_test(work_is_never_finished_early),
        cmocka_unit_test(no_rate_and_endless_work_never_end),
        cmocka_unit_test(sums_that_run_over_are_never),
        cmocka_unit_test(ticks_are_multiples_and_run_over_to_never),
        cmocka_unit_test(seconds_are_printed_exactly),
        cmocka_unit_test(short_buffer_is_filled_and_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
