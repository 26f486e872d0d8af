/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * order_models_test.c - the same as order_test.c for claims about models and machines.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/aid/turned.h"

static void claims_from_c_on_do_not_hang_on_the_order_of_lists(void **state)
{
    (void)state;
    assert_int_equal(count_unlike("experiments/claims/[!AB]*.yaml", 31), 0);
}

int main(int argc, char **argv)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(claims_from_c_on_do_not_hang_on_the_order_of_lists),
    };

    (void)argc;
    return turned_main(argv[0], tests, sizeof tests / sizeof tests[0]);
}
