/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * order_rl_test.c - the same as order_test.c for alignment and conformance.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/aid/turned.h"

static void alignment_and_conformance_do_not_hang_on_the_order_of_lists(void **state)
{
    (void)state;
    assert_int_equal(count_unlike("experiments/rl/*.yaml", 5) +
                     count_unlike("experiments/conformance/*.yaml", 11), 0);
}

int main(int argc, char **argv)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(alignment_and_conformance_do_not_hang_on_the_order_of_lists),
    };

    (void)argc;
    return turned_main(argv[0], tests, sizeof tests / sizeof tests[0]);
}
