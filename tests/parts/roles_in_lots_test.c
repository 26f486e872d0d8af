/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * roles_in_lots_test.c - conservative backfill of jobs whose roles may each lie in several
 * pools: together they have a place wherever first come, first served finds one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/aid/world.h"

static void open_jobs(struct world *world, const char *more, const char *jobs,
                      const char *roles)
{
    char text[4096];
    int n = snprintf(text, sizeof text,
                     "experiment: lots\ncluster:\n  nodes:\n"
                     "    - {name: a, gpus: {type: a100-80, count: 8}, cpu: {type: epyc-7763}, "
                     "memory: 1TB}\n"
                     "    - {name: h, gpus: {type: h100, count: 8}, cpu: {type: epyc-7763}, "
                     "memory: 1TB}\n%s"
                     "workload:\n  arrival: {process: all_at_once}\n  jobs: %s\n  mix:\n"
                     "    - {recipe: grpo, model: qwen2.5-0.5b, prompts: 16, prompt_tokens: 200, "
                     "response: {mean: 50, cv: 1, max: 1024}, steps: 4, %s}\n"
                     "policies: [fcfs, conservative]\n", more, jobs, roles);

    assert_true(n > 0 && (size_t)n < sizeof text);
    if (!world_open(world, text))
        fail_msg("%s", world_error(world));
}

/* Jobs are alike, so that backfill finds nothing to put before the first of the queue. */
static void both_policies_end_alike(struct world *world, double jobs)
{
    struct trial_result r[2];

    for (uint32_t p = 0; p < 2; p++) {
        if (!world_run(world, p, NULL, NULL, &r[p]))
            fail_msg("policy %u: %s", p, world_error(world));
        assert_true(r[p].value[METRIC_JOBS_DONE] == jobs);
    }
    assert_true(r[0].value[METRIC_JCT_MEAN] == r[1].value[METRIC_JCT_MEAN]);
    assert_true(r[0].value[METRIC_MAKESPAN] == r[1].value[METRIC_MAKESPAN]);
}

/* Each role is soonest on the A100, alone.  There is no room for both there, and one job at a
 * time has room on both types. */
static void roles_that_one_pool_does_not_hold_lie_in_two(void **state)
{
    struct world world = { 0 };

    (void)state;
    open_jobs(&world, "", "3", "rollout: {gpus: 8}, train: {gpus: 1}");
    both_policies_end_alike(&world, 3);
    world_close(&world);
}

/* One GPU generates, where it likes; eight train, and no pool but one has so many.  The node of
 * two is the first with room, so that first come, first served takes it as well. */
static void a_role_without_a_choice_goes_first(void **state)
{
    static const char small[] =
        "    - {name: l, gpus: {type: l40s, count: 2}, cpu: {type: epyc-7763}, memory: 1TB}\n";
    struct world world = { 0 };

    (void)state;
    open_jobs(&world, small, "2",
              "rollout: {gpus: 1, types: [l40s, h100]}, train: {gpus: 8, types: [h100]}");
    both_policies_end_alike(&world, 2);
    world_close(&world);
    world = (struct world) { 0 };
    open_jobs(&world, small, "2",
              "rollout: {gpus: 8, types: [h100]}, train: {gpus: 1, types: [h100, l40s]}");
    both_policies_end_alike(&world, 2);
    world_close(&world);
}

#define FEW(KEYS) \
    "    - {name: few, gpus: {type: l40s, count: 8}, cpu: {type: epyc-7742}, " KEYS "}\n"

/* The node has GPUs enough for a role, and 16 cores or 64 GB beside them; the role takes 6 cores
 * and 16 GB for each of its 8 GPUs.  It is named first, so that it would be chosen. */
static void gpus_without_their_cores_or_memory_are_no_place(void **state)
{
    static const char *const few[] = { FEW("cores: 16, memory: 1TB"), FEW("memory: 64GB") };

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct world world = { 0 };
        open_jobs(&world, few[i], "2",
                  "rollout: {gpus: 8, types: [l40s, h100]}, train: {gpus: 1, types: [a100-80]}");
        both_policies_end_alike(&world, 2);
        world_close(&world);
    }
}

/* 30 cores serve 5 GPUs, either role with its 4 but not both: the second one lies elsewhere. */
static void roles_that_lack_cores_together_lie_apart(void **state)
{
    struct world world = { 0 };

    (void)state;
    open_jobs(&world, FEW("cores: 30, memory: 1TB"), "1",
              "rollout: {gpus: 4, types: [l40s, h100]}, train: {gpus: 4, types: [l40s, h100]}");
    both_policies_end_alike(&world, 1);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roles_that_one_pool_does_not_hold_lie_in_two),
        cmocka_unit_test(a_role_without_a_choice_goes_first),
        cmocka_unit_test(gpus_without_their_cores_or_memory_are_no_place),
        cmocka_unit_test(roles_that_lack_cores_together_lie_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
