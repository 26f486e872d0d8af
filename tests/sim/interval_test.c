/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * interval_test.c - an interval in words, written by hand.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sim/stats/interval.h"

static void an_interval_has_signs_digits_and_units(void **state)
{
    char out[INTERVAL_BYTES];

    (void)state;
    assert_string_equal(interval_text(out, (struct interval_form){ 1, false, "%" }, -3.14, 2.449),
                        "[-3.1%, +2.4%]");
    assert_string_equal(interval_text(out, (struct interval_form){ 3, true, "" }, 1234.5, 1e-5),
                        "[+1.23e+03, +1e-05]");
    assert_string_equal(interval_text(out, (struct interval_form){ 6, true, " s" }, 0, 0.1234567),
                        "[+0 s, +0.123457 s]");
}

static void an_end_that_is_not_finite_is_no_end(void **state)
{
    char out[INTERVAL_BYTES];

    (void)state;
    assert_string_equal(interval_text(out, (struct interval_form){ 1, false, "%" }, -INFINITY, -5),
                        "[no end, -5.0%]");
    assert_string_equal(interval_text(out, (struct interval_form){ 1, false, "" }, 7, INFINITY),
                        "[+7.0, no end]");
    assert_string_equal(interval_text(out, (struct interval_form){ 4, true, " s" }, NAN, NAN),
                        "[no end, no end]");
}

/* In full it has 301 digits before the point. */
static void a_number_that_is_too_long_is_written_by_its_first_digits(void **state)
{
    char out[INTERVAL_BYTES];

    (void)state;
    assert_string_equal(interval_text(out, (struct interval_form){ 1, false, "%" }, -100, 2.5e300),
                        "[-100.0%, +2.5e+300%]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_interval_has_signs_digits_and_units),
        cmocka_unit_test(an_end_that_is_not_finite_is_no_end),
        cmocka_unit_test(a_number_that_is_too_long_is_written_by_its_first_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
