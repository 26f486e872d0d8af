/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * latin_test.c - a Latin hypercube beside its words: parts that are dealt out from a list, one
 * dimension after the other, with a generator that is copied.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/base/rng.h"
#include "sim/stats/sample.h"

#define POINTS_MAX 60u
#define DIMENSIONS_MAX 5u

/* Fisher and Yates: the last place gets a part of the list at random, and the last of the list
 * fills its hole, until one part is left for the first place. */
static void deal(struct rng *rng, size_t *part, size_t points)
{
    size_t list[POINTS_MAX];

    for (size_t i = 0; i < points; i++)
        list[i] = i;
    for (size_t left = points; left >= 2; left--) {
        size_t chosen = (size_t)rng_below(rng, left);
        part[left - 1] = list[chosen];
        list[chosen] = list[left - 1];
    }
    part[0] = list[0];
}

static void parts_are_dealt_out_from_a_list(void **state)
{
    double u[POINTS_MAX * DIMENSIONS_MAX];

    (void)state;
    for (size_t points = 1; points <= POINTS_MAX; points++)
        for (size_t dimensions = 1; dimensions <= DIMENSIONS_MAX; dimensions++) {
            struct rng rng, own;
            rng_init(&rng, points, "latin", dimensions);
            own = rng;
            sample_latin(&rng, u, points, dimensions);
            for (size_t d = 0; d < dimensions; d++) {
                size_t part[POINTS_MAX];
                deal(&own, part, points);
                for (size_t i = 0; i < points; i++)
                    assert_true(u[i * dimensions + d] ==
                                ((double)part[i] + rng_uniform(&own)) / (double)points);
            }
            assert_true(rng_u64(&rng) == rng_u64(&own));
        }
}

/* One part is the whole side: one point is uniform, at one draw a dimension. */
static void one_point_is_drawn_from_the_whole_cube(void **state)
{
    double u[DIMENSIONS_MAX];
    struct rng rng, own;

    (void)state;
    rng_init(&rng, 7, "latin", 0);
    own = rng;
    sample_latin(&rng, u, 1, DIMENSIONS_MAX);
    for (size_t d = 0; d < DIMENSIONS_MAX; d++)
        assert_true(u[d] == rng_uniform(&own));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_dealt_out_from_a_list),
        cmocka_unit_test(one_point_is_drawn_from_the_whole_cube),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
