/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rent_power_test.c - nodes that are rented under a power cap: none that takes the power that
 * waiting tasks lack.
 *
 * PUE is 1.  A node of eight A100 and two EPYC 7742 stands by with 2,212 W; each of its GPUs
 * adds 337 W at full load.  The first node is owned, and costs its energy alone: less than
 * 6 kW * 1 h * 0.08 USD/kWh an hour.  A rented one costs 36 USD/h, and comes after 100 s.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "tests/aid/world.h"

#define A100_NODE(NAME, KEYS) "{name: " NAME ", gpus: {type: a100-80, count: 8}, cpu: {type: " \
    "epyc-7742, sockets: 2}, memory: 2TB, " KEYS "}"
#define RENTED(NAME, KEYS) A100_NODE(NAME, "price: 36USD/h, rent: {start: 100s, keep: 60s, " \
    "least: 0s" KEYS "}")
#define OWNED A100_NODE("n", "price: 0USD/h")
#define ENERGY_USD_PER_H (6 * 0.08)

/* Runs a trace on nodes under a cap; returns the cost. */
static double run_trace(const char *nodes, const char *cap, const char *policy,
                        struct world_job *job, uint32_t jobs)
{
    struct trial_result result;
    struct world world = { 0 };
    char cluster[1500];

    snprintf(cluster, sizeof cluster, "nodes: [%s], pue: 1, power_cap: %s", nodes, cap);
    if (!world_trace_on(&world, cluster, job, jobs, policy, 1) ||
        !world_run(&world, 0, NULL, job, &result))
        fail_msg("%s, %s: %s | %s", cap, policy, world_error(&world), world.err.hint);
    world_close(&world);
    return result.value[METRIC_COST];
}

/* 2 x 2212 + 2 x 337 = 5098 W.  Policies in rounds start nothing before their round, and the
 * autoscaler looks at what waits before.  Under 5097 W the node would leave no power for the
 * job that it is for: it runs on the owned node, and nothing is rented.  Under 5098 W the
 * node is ordered, and at 5097 W it was: the job then waited for ever. */
static void a_node_is_not_ordered_without_power_for_its_task(void **state)
{
    static const char *const policy[] = { "[gavel]", "[shockwave]", "[optimus]", "[sia]" };

    (void)state;
    for (size_t p = 0; p < sizeof policy / sizeof policy[0]; p++)
        for (int c = 0; c < 2; c++) {
            struct world_job job[] = { { .submit_s = 10, .duration_s = 100, .gpus = 2 } };
            double usd = run_trace(OWNED ", " RENTED("r", ""), c == 0 ? "5097W" : "5098W",
                                   policy[p], job, 1);

            if (job[0].end_s != job[0].start_s + 100 || job[0].start_s > 600 ||
                (c == 0 ? usd > 0.2 * ENERGY_USD_PER_H : usd < 0.5))
                fail_msg("%s: %g to %g s, %g USD", policy[p], job[0].start_s, job[0].end_s, usd);
        }
}

/* Eight GPUs on the owned node are 4908 W, and one beside a rented node is 4761 W.  Under
 * 5300 W the node for the second job would take the power of the first, which waits before
 * it.  While the first runs there is no power for it either: both run on the owned node. */
static void a_task_does_not_take_the_power_of_one_before_it(void **state)
{
    struct world_job job[] = { { .submit_s = 0, .duration_s = 300, .gpus = 8 },
                               { .submit_s = 0, .duration_s = 300, .gpus = 1 } };
    double usd = run_trace(OWNED ", " RENTED("r", ""), "5300W", "[gavel]", job, 2);
    double last_s = fmax(job[0].end_s, job[1].end_s);

    (void)state;
    if (job[0].end_s < 300 || job[1].end_s < 300 || usd > last_s / 3600 * ENERGY_USD_PER_H)
        fail_msg("ends %g and %g s, %g USD", job[0].end_s, job[1].end_s, usd);
}

/* At 0 s a node is ordered ahead: 4424 W, and 4761 W with a GPU.  It is there at 100 s, and its
 * `keep` is over at 160 s.  The job of 50 s needs 674 W, and the cap leaves 673 W: the node goes,
 * and no other is ordered ahead of a job that waits.  Under 4760 W there is none from the
 * beginning: the job starts when it comes, and 9 W more let no second GPU run. */
static void a_node_ahead_goes_where_a_task_lacks_its_power(void **state)
{
    static const struct { const char *cap; double start_s; } row[] = {
        { "5097W", 160 }, { "5098W", 50 }, { "4760W", 50 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct world_job job[] = { { .submit_s = 50, .duration_s = 100, .gpus = 2 } };
        double usd = run_trace(OWNED ", " RENTED("r", ", spare: 1"), row[i].cap, "[fcfs]", job, 1);

        if (job[0].start_s != row[i].start_s || (i == 2 ? usd > 0.1 : usd < 0.9))
            fail_msg("%s: %g s, %g USD", row[i].cap, job[0].start_s, usd);
    }
}

/* Two nodes are to be kept from the beginning.  Under 2 x 2212 + 337 W the second one is not
 * ordered, as no GPU could run beside it, and the job has the power that the first one leaves. */
static void nodes_that_are_kept_leave_power_for_a_gpu(void **state)
{
    static const struct { const char *cap; uint32_t gpus; double nodes; } row[] = {
        { "4760W", 7, 1 }, { "4761W", 1, 2 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct world_job job[] = { { .submit_s = 0, .duration_s = 3600, .gpus = row[i].gpus } };
        double usd = run_trace(RENTED("r", ", min: 1") ", " RENTED("s", ", min: 1"), row[i].cap,
                               "[fcfs]", job, 1);

        assert_true(job[0].start_s == 0 && job[0].end_s == 3600);
        if (fabs(usd - 36 * row[i].nodes) > 0.5)
            fail_msg("%s: %g USD", row[i].cap, usd);
    }
}

/* The job asks for 8 GPUs, and the cap never allows more than three beside the node that they
 * are on, 2212 + 3 x 337 = 3223 W.  It has the node nevertheless, as it may run on one. */
static void a_job_that_may_be_smaller_has_the_power_of_its_least(void **state)
{
    struct world world = { 0 };
    struct world_job end[1];

    (void)state;
    if (!world_open(&world, "experiment: t\nseeds: 1\nuntil: drained\ncluster: {nodes: ["
                            RENTED("r", "") "], pue: 1, power_cap: 3223W}\nworkload: {arrival: "
                            "{process: all_at_once}, jobs: 1, mix: [{recipe: trace, gpus: 8, "
                            "duration: 100s, elastic: {min: 1, max: 8, scaling: linear}}]}\n"
                            "policies: [afs]\n") ||
        !world_run(&world, 0, NULL, end, NULL))
        fail_msg("%s", world_error(&world));
    assert_true(end[0].start_s == 100);
    assert_true(fabs(end[0].end_s - 100 - 800 / 3.0) < 1e-6);
    world_close(&world);
}

/* Two roles of two GPUs, each with a pool of its own: 4424 W for the nodes and 1348 W for the
 * GPUs, besides a few cores.  Under 5 kW one of the nodes could come, but not both: none
 * is paid for.  Under 6 kW the job ends. */
static void no_node_comes_for_a_part_of_a_job(void **state)
{
    (void)state;
    for (int c = 0; c < 2; c++) {
        struct trial_result result;
        struct world world = { 0 };
        struct world_job end[1];
        char text[2000];

        snprintf(text, sizeof text, "experiment: t\nseeds: 1\nuntil: 1h\ncluster: {nodes: ["
                 RENTED("r", "") ", " RENTED("s", "") "], pue: 1, power_cap: %s}\nworkload: "
                 "{arrival: {process: all_at_once}, jobs: 1, mix: [{recipe: dpo, model: "
                 "qwen2.5-1.5b, method: lora, steps: 3, prompts: 64, prompt_tokens: 200, response: "
                 "{mean: 200, cv: 1, max: 1000}, rollout: {gpus: 2, pool: r}, train: {gpus: 2, "
                 "pool: s}}]}\npolicies: [fcfs]\n", c == 0 ? "5kW" : "6kW");
        if (!world_open(&world, text) || !world_run(&world, 0, NULL, end, &result))
            fail_msg("%s", world_error(&world));
        if (c == 0 ? result.value[METRIC_COST] != 0
                   : end[0].start_s != 100 || result.value[METRIC_COST] < 2)
            fail_msg("%g to %g s, %g USD", end[0].start_s, end[0].end_s,
                     result.value[METRIC_COST]);
        world_close(&world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_node_is_not_ordered_without_power_for_its_task),
        cmocka_unit_test(a_task_does_not_take_the_power_of_one_before_it),
        cmocka_unit_test(a_node_ahead_goes_where_a_task_lacks_its_power),
        cmocka_unit_test(nodes_that_are_kept_leave_power_for_a_gpu),
        cmocka_unit_test(a_job_that_may_be_smaller_has_the_power_of_its_least),
        cmocka_unit_test(no_node_comes_for_a_part_of_a_job),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
