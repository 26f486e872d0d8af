/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * growth_test.c - a queue that grows and a system that fills up, from trials to
 * what a reader is told.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "sim/stats/steady.h"
#include "tests/aid/program.h"
#include "tests/aid/world.h"

const char *program_argv0;

static void run(const char *until, const char *warmup, const char *duration,
                struct trial_result *out)
{
    struct world world = { 0 };
    char text[1000];

    snprintf(text, sizeof text,
             "experiment: t\nuntil: %s\nwarmup: %s\n"
             "cluster: {nodes: [{name: n, count: 1, gpus: {type: generic, "
             "count: 1}}]}\n"
             "workload:\n  arrival: {process: fixed, every: 1h}\n  jobs: 61\n"
             "  mix: [{recipe: trace, gpus: 1, duration: %s}]\n"
             "policies: [fcfs]\n", until, warmup, duration);
    if (!world_open(&world, text) || !world_run(&world, 0, NULL, NULL, out))
        fail_msg("%s", world_error(&world));
    world_close(&world);
}

/* One comes each hour and takes two: in the half-hour from h/2 on, h/2 + 1 came and
 * h/4 left.  The quarters are of 15 hours, from `from` on. */
static void quarters_by_hand(int from, double quarter[4])
{
    int length = (60 - from) / 4 * 2;

    for (int q = 0; q < 4; q++) {
        quarter[q] = 0;
        for (int h = 2 * from + q * length; h < 2 * from + (q + 1) * length; h++)
            quarter[q] += (double)(h / 2 + 1 - h / 4) / length;
    }
}

static void jobs_in_the_system_are_counted_while_jobs_come(void **state)
{
    struct trial_result drained, cut, warm;
    double quarter[4];

    (void)state;
    run("drained", "0s", "2h", &drained);
    run("100h", "0s", "2h", &cut);
    run("100h", "20h", "2h", &warm);
    quarters_by_hand(0, quarter);
    assert_true(fabs(drained.value[METRIC_QUEUE_GROWTH] -
                     steady_growth(quarter)) < 1e-9);
    assert_true(drained.value[METRIC_QUEUE_GROWTH] > 3);
    assert_true(fabs(cut.value[METRIC_QUEUE_GROWTH] -
                     drained.value[METRIC_QUEUE_GROWTH]) < 1e-9);
    assert_true(isnan(drained.value[METRIC_QUEUE_FILLING]));
    assert_true(fabs(cut.value[METRIC_QUEUE_FILLING] -
                     steady_filling(quarter)) < 1e-9);
    quarters_by_hand(20, quarter);
    assert_true(fabs(warm.value[METRIC_QUEUE_GROWTH] -
                     steady_growth(quarter)) < 1e-9);
}

/* Each takes half an hour and none waits: all JCTs are alike from the first on. */
static void a_steady_run_begins_with_its_warmup(void **state)
{
    struct trial_result drained, cut, warm;

    (void)state;
    run("drained", "0s", "30m", &drained);
    run("100h", "0s", "30m", &cut);
    run("100h", "5h", "30m", &warm);
    assert_true(isnan(drained.value[METRIC_STEADY_AFTER]));
    assert_true(cut.value[METRIC_STEADY_AFTER] == 0);
    assert_true(warm.value[METRIC_STEADY_AFTER] == 5 * 3600);
    assert_true(cut.value[METRIC_QUEUE_GROWTH] <= 0);
}

static void jobs_that_come_at_once_say_nothing(void **state)
{
    struct world world = { 0 };
    struct trial_result out;

    (void)state;
    if (!world_open(&world, "experiment: t\ncluster: {nodes: [{name: n, count: 1,"
                    " gpus: {type: generic, count: 1}}]}\nworkload:\n  arrival: "
                    "{process: all_at_once}\n  jobs: 60\n  mix: [{recipe: trace,"
                    " gpus: 1, duration: 1h}]\npolicies: [fcfs]\n") ||
        !world_run(&world, 0, NULL, NULL, &out))
        fail_msg("%s", world_error(&world));
    assert_true(isnan(out.value[METRIC_QUEUE_GROWTH]));
    world_close(&world);
}

#define FILE_OF(rate, rest) \
    "experiment: g\nseeds: 6\n" rest \
    "cluster: {nodes: [{name: n, count: 2, gpus: {type: generic, count: 8}}]}\n" \
    "workload:\n  arrival: {process: poisson, rate: 4/h}\n  jobs: 300\n" \
    "  mix: [{recipe: trace, gpus: 4, duration: {exponential: {mean: 1h}}}]\n" \
    "policies: [fcfs]\nsweep: {workload.arrival.rate: " rate "}\n" \
    "output: {tables: [compare]}\n"

static char *say(const struct program *program, const char *text,
                 const char *more)
{
    const char *file = program_write(program, "e.yaml", text);
    const char *const words[] = { "run", file, "-o", program_path(program, "o"),
                                  "--seeds", more, NULL };
    char *said;

    assert_int_equal(program_say(program, words, &said), 0);
    return said;
}

/* Four servers: 2/h is a load of 0.5, 8/h one of 2. */
static void an_overload_is_said_and_marked(void **state)
{
    const struct program *program = *state;
    char *said = say(program, FILE_OF("[2/h, 8/h]", ""), "6"), *text, *at;

    if (strstr(said, "\nthe queue grows under fcfs at arrival.rate=8/h: mean "
               "times say how long jobs came\n") == NULL)
        fail_msg("%s", said);
    assert_null(strstr(said, "was still filling"));
    free(said);
    text = program_result(program, "o", "compare.csv");
    at = strstr(text, "arrival.rate=8/h,fcfs,jct_mean_s,");
    assert_non_null(at);
    assert_int_equal(strchr(at, '\n')[-1], '1');
    at = strstr(text, "arrival.rate=2/h,fcfs,jct_mean_s,");
    assert_non_null(at);
    assert_int_equal(strchr(at, '\n')[-1], '0');
    free(text);
    said = say(program, FILE_OF("[2/h, 8/h]", ""), "2");
    assert_null(strstr(said, "the queue grows"));
    free(said);
}

static void a_missing_warmup_is_said(void **state)
{
    const struct program *program = *state;
    char *said = say(program, FILE_OF("[3.8/h]", "until: 30h\n"), "12");

    if (strstr(said, "under fcfs the system was still filling") == NULL ||
        strstr(said, " h on, take that as `warmup`, or more if it is that already") == NULL)
        fail_msg("%s", said);
    free(said);
    said = say(program, FILE_OF("[2/h]", "until: 100h\nwarmup: 10h\n"), "12");
    assert_null(strstr(said, "still filling"));
    free(said);
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, program_setup, \
                                                   program_teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_in_the_system_are_counted_while_jobs_come),
        cmocka_unit_test(a_steady_run_begins_with_its_warmup),
        cmocka_unit_test(jobs_that_come_at_once_say_nothing),
        TEST(an_overload_is_said_and_marked),
        TEST(a_missing_warmup_is_said),
    };

    (void)argc;
    program_argv0 = argv[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
