/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * time_keys_test.c - the same as keys_test.c for keys of estimates, costs, rounds, ticks,
 * sizes and hardware.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/aid/key_worlds.h"

static const struct variant variants[] = {
    { REQUESTED, REQUESTED, "estimate: requested", "" },
    { NOISY, NOISY, "estimate: noisy", "" },
    { NOISY, NOISE, "noise: 2", "estimate: noisy" },
    { BACKFILL, LATE_NOISE, "estimate: noisy, noise: 1",
      "blocking: commit, backfill: true" },
    { COST, COST, "preemption: {cost: 100s}", "" },
    { ROUND, ROUND, "rounds: {length: 90s}", "" },
    { ROUND, RESOLVE, "rounds: {length: 90s, resolve_at_most_every: 32min}",
      "rounds: {length: 90s}" },
    { ROUND, EARLY, "rounds: {length: 90s, end_early: true}",
      "rounds: {length: 90s}" },
    { TICK, TICK, "tick: 1s", "" },
    { GROWTH, GROWTH, "grow: false", "" },
    { CORES, CORES, "hardware: cores", "" },
};
#define VARIANTS (sizeof variants / sizeof variants[0])

static void a_key_of_time_is_accepted_where_it_acts_and_nowhere_else(void **state)
{
    const struct cs_policy *policy;
    unsigned wrong = 0;

    (void)state;
    for (size_t i = 0; (policy = registry_at(i)) != NULL; i++)
        for (size_t v = 0; v < VARIANTS; v++)
            if (variants[v].set != LATE_NOISE || policy->decide == NULL)
                wrong += key_judge(policy->name, &variants[v]);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_of_time_is_accepted_where_it_acts_and_nowhere_else),
    };
    return cmocka_run_group_tests(tests, key_worlds_open, key_worlds_close);
}
