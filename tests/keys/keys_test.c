/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * keys_test.c - which keys of the queue and of places act on which policy, by experiment:
 * what a policy declares to heed changes the jobs of a small world, what it does not declare
 * changes nothing in any of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/aid/key_worlds.h"

static const struct variant variants[] = {
    { SKIP, SKIP, "blocking: skip", "" },
    { COMMIT, COMMIT, "blocking: commit", "" },
    { DROP, DROP, "blocking: drop", "" },
    { COMMIT, BACKFILL, "backfill: true", "blocking: commit" },
    { PLACE, PLACE, "placement: spread", "" },
    { PLACE, RELAX, "relax_after: 5s", "placement: consolidate" },
    { PLACE, TIES, "ties: shuffled", "placement: worst_fit" },
};
#define VARIANTS (sizeof variants / sizeof variants[0])

static void a_key_of_queue_and_place_is_accepted_where_it_acts_and_nowhere_else(void **state)
{
    const struct cs_policy *policy;
    unsigned wrong = 0;

    (void)state;
    for (size_t i = 0; (policy = registry_at(i)) != NULL; i++)
        for (size_t v = 0; v < VARIANTS; v++)
            wrong += key_judge(policy->name, &variants[v]);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_of_queue_and_place_is_accepted_where_it_acts_and_nowhere_else),
    };
    return cmocka_run_group_tests(tests, key_worlds_open, key_worlds_close);
}
