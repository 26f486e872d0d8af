/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * demand_count_test.c - the least size that waits is what a walk over all sizes finds, above 32
 * rounded down to a power of two.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sim/base/rng.h"
#include "sim/containers/demand_count.h"

#define WAITS 12

/* Of the sizes but the one at `out`; 0: there is none. */
static uint32_t walk(const uint32_t *size, uint32_t count, uint32_t out)
{
    uint32_t least = 0, power = 32;

    for (uint32_t i = 0; i < count; i++)
        if (i != out && (least == 0 || size[i] < least))
            least = size[i];
    if (least <= 32)
        return least;
    while (power <= least / 2)
        power *= 2;
    return power;
}

static void the_least_is_what_a_walk_finds(void **state)
{
    static const uint32_t sizes[] = { 1, 2, 8, 31, 32, 33, 34, 63, 64, 65, 127, 128, 129, 255, 256,
                                      1000, 1023, 1024, 65535, 65536, 1000000, UINT32_MAX };
    struct demand_count waits;
    uint32_t size[WAITS], count = 0;
    struct rng rng;

    (void)state;
    memset(&waits, 0, sizeof waits);
    rng_init(&rng, 1, "demands", 0);
    for (int step = 0; step < 20000; step++) {
        if (count == WAITS || (count > 0 && rng_below(&rng, 2) == 0)) {
            uint32_t out = (uint32_t)rng_below(&rng, count);
            assert_int_equal(demand_count_least_but(&waits, size[out]), walk(size, count, out));
            demand_count_add(&waits, size[out], -1);
            size[out] = size[--count];
        } else {
            size[count] = sizes[rng_below(&rng, sizeof sizes / sizeof sizes[0])];
            demand_count_add(&waits, size[count++], 1);
        }
        assert_int_equal(demand_count_least(&waits), walk(size, count, count));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_is_what_a_walk_finds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
