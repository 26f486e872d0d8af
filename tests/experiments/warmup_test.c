/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * warmup_test.c - what jobs did within the warm-up counts for nothing: of two
 * jobs alike of which the first ends in it, half of all is left.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "tests/aid/world.h"

/* more: keys of the cluster behind its nodes. */
static void run_with(const char *warmup, const char *nodes, const char *more,
                     const char *workload, struct trial_result *out)
{
    struct world world = { 0 };
    char text[2000];

    snprintf(text, sizeof text,
             "experiment: t\nseeds: 1\nuntil: drained\nwarmup: %s\n"
             "cluster:\n  nodes:\n    - {name: n, cpu: {type: epyc-7763}, "
             "memory: 1TB, nics: {type: ib-ndr}, %s}\n"
             "  storage: {bandwidth: 40GB/s%s}\n%s"
             "workload:\n  arrival: {process: fixed, times: %s\n"
             "policies: [{policy: fcfs, placement: spread}]\n",
             warmup, nodes, strstr(nodes, "rent") != NULL
                 ? ", transfer: 0.01USD/GB" : "", more, workload);
    if (!world_open(&world, text) || !world_run(&world, 0, NULL, NULL, out))
        fail_msg("%s", world_error(&world));
    world_close(&world);
}

static void run(const char *warmup, const char *nodes, const char *workload,
                struct trial_result *out)
{
    run_with(warmup, nodes, "", workload, out);
}

#define GRPO "[0s, 100h]}\n  jobs: 2\n  mix:\n    - {recipe: grpo, model: " \
    "llama-3.1-8b, method: lora, prompts: 32, responses: 4, prompt_tokens: " \
    "512, response: {mean: 400, cv: 1, max: 2048}, steps: 2, rollout: {gpus: " \
    "4}, train: {gpus: 4}}"
#define FREE_NODE "count: 1, gpus: {type: l40s, count: 8}, price: 0USD/h, " \
    "rent: {start: 60s, keep: 60s}"

static void transfers_within_the_warmup_are_not_paid(void **state)
{
    struct trial_result both, second;

    (void)state;
    run("0s", FREE_NODE, GRPO, &both);
    run("50h", FREE_NODE, GRPO, &second);
    assert_true(both.value[METRIC_COST] > 0);
    assert_true(fabs(second.value[METRIC_COST] / both.value[METRIC_COST] -
                     0.5) < 1e-6);
}

static void steps_of_jobs_of_the_warmup_do_not_count(void **state)
{
    struct trial_result both, second;

    (void)state;
    run("0s", FREE_NODE, GRPO, &both);
    run("50h", FREE_NODE, GRPO, &second);
    assert_true(both.value[METRIC_STEPS_DONE] == 4);
    assert_true(second.value[METRIC_STEPS_DONE] == 2);
}

/* Two on the same four nodes, then one alone. */
static void bursts_within_the_warmup_do_not_count(void **state)
{
    static const char nodes[] = "count: 4, gpus: {type: a100-80, count: 8}, "
                                "price: reserved";
    static const char work[] =
        "[0s, 0s, 100h]}\n  jobs: 3\n  mix:\n    - {recipe: multimodal, model: "
        "qwen2.5-7b, batch: 64, sequence: 1024, steps: 10, zero: 3, train: "
        "{gpus: 16}, loader: {kind: image, size: 2e5}}";
    struct trial_result all, last;

    (void)state;
    run("0s", nodes, work, &all);
    run("50h", nodes, work, &last);
    assert_true(all.value[METRIC_GPU_BURSTS] > 0);
    assert_true(last.value[METRIC_GPU_BURSTS] == 0);
}

#define OWNED_NODE "count: 1, gpus: {type: generic, count: 8}, price: 8USD/h"
#define EIGHTS(times, hours) times "}\n  mix:\n    - {recipe: trace, " \
    "gpus: 4, duration: " hours "}"

/* Of three jobs of half the node, 10 h each, the second is at work when the
 * warm-up ends, and has 6 h to go. */
static void what_is_held_within_the_warmup_is_not_paid(void **state)
{
    static const char work[] = EIGHTS("[0s, 46h, 100h]", "10h");
    struct trial_result all, last;

    (void)state;
    run("0s", OWNED_NODE, work, &all);
    run("50h", OWNED_NODE, work, &last);
    assert_true(fabs(all.value[METRIC_HELD_COST] - 30 * 4) < 1e-9);
    assert_true(fabs(last.value[METRIC_HELD_COST] - 16 * 4) < 1e-9);
    assert_true(fabs(last.value[METRIC_COST] - 60 * 8) < 1e-9);
    assert_true(last.value[METRIC_COST_BOUND] > 0);
    assert_true(last.value[METRIC_COST_BOUND] <=
                last.value[METRIC_HELD_COST]);
}

/* On half a node each: from the third, which waits for nobody, to the end of
 * the fourth, which waits for the second. */
static void a_makespan_is_that_of_jobs_after_the_warmup(void **state)
{
    static const char work[] = EIGHTS("[0s, 46h, 52h, 53h]", "10h");
    struct trial_result all, last;

    (void)state;
    run("0s", OWNED_NODE, work, &all);
    run("50h", OWNED_NODE, work, &last);
    assert_true(all.value[METRIC_JOBS] == 4);
    assert_true(all.value[METRIC_MAKESPAN] == 66 * 3600);
    assert_true(last.value[METRIC_JOBS] == 2);
    assert_true(last.value[METRIC_MAKESPAN] == 14 * 3600);
    assert_true(last.value[METRIC_MAKESPAN_BOUND] > 0);
    assert_true(last.value[METRIC_MAKESPAN_BOUND] <= 14 * 3600);
}

/* Two jobs of two GPUs run from 0 and 10 s for 100 s each; behind 40 s they do 60 and 70 s. */
static void work_is_what_is_done_after_the_warmup(void **state)
{
    static const char nodes[] = "count: 1, gpus: {type: l40s, count: 8}";
    static const char jobs[] = "[0s, 10s]}\n  jobs: 2\n  mix:\n    - {recipe: trace, gpus: 2, "
                               "duration: 100s}";
    struct trial_result all, part;

    (void)state;
    run("0s", nodes, jobs, &all);
    run("40s", nodes, jobs, &part);
    assert_true(fabs(all.value[METRIC_WORK] - 2 * 200) < 1e-6);
    assert_true(fabs(part.value[METRIC_WORK] - 2 * (60 + 70)) < 1e-6);
}

/* A job of 10 h comes at 15 h and one at 100 h.  The node draws P0, and P1 while one runs: of the
 * whole run 90 P0 + 20 P1, behind 50 h 50 P0 + 10 P1.  There are 500 g/kWh from 20 h on, which is
 * within the first job, and 300 from 80 h on. */
static void carbon_of_the_warmup_does_not_count(void **state)
{
    static const char carbon[] = "  carbon: {unit: gCO2/kWh, points: [[0h, 100], [20h, 500], "
                                 "[80h, 300]], after: hold}\n";
    static const char nodes[] = "count: 1, gpus: {type: l40s, count: 8}, price: 8USD/h";
    static const char jobs[] = "[15h, 100h]}\n  jobs: 2\n  mix:\n    - {recipe: trace, gpus: 4, "
                               "duration: 10h}";
    struct trial_result all, last;

    (void)state;
    run_with("0s", nodes, carbon, jobs, &all);
    run_with("50h", nodes, carbon, jobs, &last);
    double p0 = (2 * last.value[METRIC_ENERGY] - all.value[METRIC_ENERGY]) / 10;
    double p1 = (last.value[METRIC_ENERGY] - 50 * p0) / 10;
    assert_true(p0 > 0 && p1 > p0);
    double first = p0 * 15 * 100 + p1 * 5 * 100 + p1 * 5 * 500 + p0 * 25 * 500;
    double behind = p0 * 30 * 500 + (p0 * 20 + p1 * 10) * 300;
    assert_true(fabs(last.value[METRIC_CARBON] - behind / 1000) < 1e-6 * behind / 1000);
    assert_true(fabs(all.value[METRIC_CARBON] - (first + behind) / 1000) <
                1e-6 * (first + behind) / 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_is_what_is_done_after_the_warmup),
        cmocka_unit_test(carbon_of_the_warmup_does_not_count),
        cmocka_unit_test(transfers_within_the_warmup_are_not_paid),
        cmocka_unit_test(steps_of_jobs_of_the_warmup_do_not_count),
        cmocka_unit_test(bursts_within_the_warmup_do_not_count),
        cmocka_unit_test(what_is_held_within_the_warmup_is_not_paid),
        cmocka_unit_test(a_makespan_is_that_of_jobs_after_the_warmup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
