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
    "lucid", "qssf", "time-slice", "co-execution", "synergy", "gavel", "sia",
};
#define BY_POOL 2       /* the last ones plan for each pool */

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

#define NODES(NAME, COUNT) \
    "{name: " NAME ", count: " COUNT ", gpus: {type: generic, count: 8}}"
#define MIXED 40

/* Jobs that may run anywhere end when they would if all nodes were in one pool. */
static void ends_alike(const char *policy, const char *keys, uint32_t seed)
{
    static const char *const cluster[] = { "nodes: [" NODES("a", "4") "]",
                                           "nodes: [" NODES("a", "1") ", " NODES("b", "3") "]" };
    struct world_job job[2][MIXED] = { { { 0 } } };
    char entry[128];

    snprintf(entry, sizeof entry, "[{policy: %s%s}]", policy, keys);
    for (int c = 0; c < 2; c++) {
        struct trial_result result;
        struct world world = { .tenants = 3 };
        struct rng rng;
        rng_init(&rng, seed, "mixed", 0);
        for (uint32_t i = 0; i < MIXED; i++)
            job[c][i] = (struct world_job){ .submit_s = 150 * (int64_t)i,
                                            .duration_s = 60 + (int64_t)rng_below(&rng, 4000),
                                            .gpus = 1 + (uint32_t)rng_below(&rng, 8) };
        if (!world_trace_on(&world, cluster[c], job[c], MIXED, entry, 1) ||
            !world_run(&world, 0, NULL, job[c], &result))
            fail_msg("%s: %s", policy, world_error(&world));
        world_close(&world);
    }
    for (uint32_t i = 0; i < MIXED; i++)
        if (job[0][i].start_s != job[1][i].start_s || job[0][i].end_s != job[1][i].end_s)
            fail_msg("%s%s: job %u runs from %g to %g, in two pools from %g to %g", policy, keys,
                     i, job[0][i].start_s, job[0][i].end_s, job[1][i].start_s,
                     job[1][i].end_s);
}

static void pools_of_equal_nodes_are_as_one(void **state)
{
    (void)state;
    for (size_t p = 0; p < sizeof policies / sizeof policies[0] - BY_POOL; p++)
        for (uint32_t seed = 1; seed <= 3; seed++)
            ends_alike(policies[p], "", seed);
    ends_alike("fcfs", ", blocking: skip", 4);
    ends_alike("fcfs", ", blocking: drop", 5);
    ends_alike("easy", ", estimate: noisy, noise: 0.8", 6);
    ends_alike("sjf", ", blocking: skip, placement: spread", 7);
    ends_alike("quota", ", quotas: t0=40% t1=40% t2=20%", 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_jobs_start_in_the_order_of_arrival),
        cmocka_unit_test(pools_of_equal_nodes_are_as_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
