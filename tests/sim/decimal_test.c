/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * decimal_test.c - the parts of decimal.h that scan_test and table_test, which
 * hold it against strtod and printf, do not reach.
 */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/base/decimal.h"

static size_t read_bytes(const char *text)
{
    struct decimal decimal;
    return decimal_read(text, strlen(text), &decimal);
}

static void number_ends_where_its_unit_begins(void **state)
{
    (void)state;
    assert_int_equal(read_bytes("80GB"), 2);
    assert_int_equal(read_bytes("1EB"), 1);
    assert_int_equal(read_bytes("1e5B"), 3);
    assert_int_equal(read_bytes("1e+B"), 1);
    assert_int_equal(read_bytes("-1.5.2"), 4);
    assert_int_equal(read_bytes("4x3"), 1);
    assert_int_equal(read_bytes("-GB"), 0);
    assert_int_equal(read_bytes("."), 0);
    assert_int_equal(read_bytes(""), 0);
}

static void scaling_by_ten_in_the_exponent_is_exact(void **state)
{
    (void)state;
    struct decimal decimal;
    double value;

    decimal_read("3.84", 4, &decimal);
    decimal.exp10 += 12;
    assert_true(decimal_to_f64(&decimal, &value));
    assert_true(value == 3840000000000.0);
    decimal_read("0.1", 3, &decimal);
    decimal.exp10 += 1;
    assert_true(decimal_to_f64(&decimal, &value));
    assert_true(value == 1.0);
}

static int compare(const char *text, double value)
{
    struct decimal decimal;
    int exp2;

    assert_int_equal(decimal_read(text, strlen(text), &decimal),
                     strlen(text));
    uint64_t mantissa = decimal_split(value, &exp2);
    return decimal_compare(&decimal, mantissa, exp2);
}

static void comparison_sees_the_last_digit(void **state)
{
    (void)state;
    assert_int_equal(compare("0.5", 0.5), 0);
    assert_int_equal(compare("0.1", 0.1), -1);
    assert_int_equal(compare("0.1000000000000000055511151231257827021181583404"
                             "541015625", 0.1), 0);
    assert_int_equal(compare("0.1000000000000000055511151231257827021181583404"
                             "541015626", 0.1), 1);
    assert_int_equal(compare("0.1000000000000000055511151231257827021181583404"
                             "541015624", 0.1), -1);
    assert_int_equal(compare("1e308", DBL_MAX), -1);
    assert_int_equal(compare("5e-324", 5e-324), 1);
    assert_int_equal(compare("4e-324", 5e-324), -1);
    assert_int_equal(compare("0", 0.0), 0);
}

static void split_double_is_put_together_again(void **state)
{
    (void)state;
    static const double values[] = {1.0, 0.1, 5e-324, DBL_MIN, DBL_MAX, 0.0,
                                    1e22, 2.2250738585072009e-308};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        int exp2;
        uint64_t mantissa = decimal_split(values[i], &exp2);
        assert_true(mantissa < UINT64_C(1) << 53);
        assert_true(ldexp((double)mantissa, exp2) == values[i]);
    }
}

static void check_put(uint64_t value)
{
    char ours[24] = "";
    char theirs[24];

    snprintf(theirs, sizeof theirs, "%ju", (uintmax_t)value);
    *decimal_put(ours, value) = '\0';
    assert_string_equal(ours, theirs);
}

static void whole_numbers_have_all_their_digits(void **state)
{
    (void)state;
    char nine[10] = "";

    check_put(0);
    check_put(UINT64_MAX);
    for (uint64_t power = 1; power <= UINT64_MAX / 10; power *= 10) {
        check_put(power - 1);
        check_put(power);
        check_put(power * 9 + 7);
    }
    decimal_put_nine(nine, 1020304);
    assert_string_equal(nine, "001020304");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(number_ends_where_its_unit_begins),
        cmocka_unit_test(scaling_by_ten_in_the_exponent_is_exact),
        cmocka_unit_test(comparison_sees_the_last_digit),
        cmocka_unit_test(split_double_is_put_together_again),
        cmocka_unit_test(whole_numbers_have_all_their_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
