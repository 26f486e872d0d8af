/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * equals_test.c - jobs that are alike in all that a policy looks at start in the order in which
 * they came, whatever the policy.  Planners are left out: of equal plans any is as good.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/aid/world.h"

#define JOBS 24

static const char *const policies[] = {
    "fcfs", "sjf", "ljf", "srtf", "srsf", "fewest-gpus", "easy", "conservative", "las",
    "dlas", "gittins", "hrrn", "wfp3", "unicef", "f1", "edf", "fair-share", "drf", "quota",
    "afs", "optimus", "elasticflow", "static", "dynamic", "hybrid", "elastic-hybrid",
    "gavel", "sia", "lucid", "synergy", "qssf", "time-slice", "co-execution",
};

static void starts_in_order(const char *policy, uint32_t gpus, int64_t every_s)
{
    struct world_job job[JOBS] = { { 0 } };
    struct trial_result result;
    struct world world = { 0 };
    char entry[64];

    for (uint32_t i = 0; i < JOBS; i++)
        job[i] = (struct world_job){ .submit_s = every_s * (int64_t)i, .duration_s = 4000,
                                     .gpus = gpus };
    snprintf(entry, sizeof entry, "[%s]", policy);
    if (!world_trace(&world, 2, 8, job, JOBS, entry) ||
        !world_run(&world, 0, NULL, job, &result))
        fail_msg("%s: %s", policy, world_error(&world));
    for (uint32_t i = 1; i < JOBS; i++)
        if (job[i].start_s < job[i - 1].start_s)
            fail_msg("%s: job %u of %u GPUs starts at %g, job %u at %g", policy, i - 1, gpus,
                     job[i - 1].start_s, i, job[i].start_s);
    world_close(&world);
}

static void equal_jobs_start_in_the_order_of_arrival(void **state)
{
    (void)state;
    for (size_t p = 0; p < sizeof policies / sizeof policies[0]; p++) {
        starts_in_order(policies[p], 1, 0);
        starts_in_order(policies[p], 3, 0);
        starts_in_order(policies[p], 8, 0);
        starts_in_order(policies[p], 4, 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_jobs_start_in_the_order_of_arrival),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
