/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tournament_test.c - orders that move, against the same policies sorted at each decision.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policies/registry/registry.h"
#include "tests/aid/meets.h"
#include "tests/aid/world.h"

/* A tournament starts what a policy starts whose order is sorted at each decision. */
static void a_tournament_serves_what_a_sort_would(void **state)
{
    static const char *const fast[] = {
        "hrrn", "wfp3", "unicef", "wfp3, wait: unset", "unicef, wait: offset",
    };
    static const char *const blocking[] = {
        "strict", "skip", "commit", "drop", "commit, backfill: true",
    };
    static const int wait[] = { 0, 0, 0, 1, 1 };    /* which of its words */
    char text[120];

    (void)state;
    for (size_t p = 0; p < 5; p++) {
        char name[16];
        sscanf(fast[p], "%15[a-z0-9]", name);
        struct cs_policy slow = *registry_find(name);
        slow.line = NULL;
        for (uint64_t seed = 1; seed <= 3; seed++)
            for (size_t b = 0; b < 5; b++) {
                struct world_job job[MEETS_JOBS];
                snprintf(text, sizeof text, "%s, blocking: %s", fast[p],
                         blocking[b]);
                meets(&slow, &wait[p], text, seed, meets_rule[b]);
                world_random_jobs(seed, job, MEETS_JOBS);     /* many at once */
                for (uint32_t i = 0; i < MEETS_JOBS; i++) {
                    job[i].submit_s = 900 * (job[i].submit_s / 900);
                    job[i].duration_s = 60 * (1 + job[i].duration_s / 60);
                }
                agrees(&slow, &wait[p], text, seed, meets_rule[b], job);
            }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tournament_serves_what_a_sort_would),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
