/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * origin_test.c - a row has one clock: with `origin: file` a trace whose times
 * are those of a calendar gives what the same trace gives from 0 on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "tests/aid/world.h"

#define UNIX_S INT64_C(1700006400)  /* of November 2023; a whole hour */
#define JOBS 4

static const struct world_job at_zero[JOBS] = {
    { 0, 3600, 8, 0, 0 }, { 600, 7200, 16, 0, 0 }, { 700, 500, 4, 0, 0 },
    { 40000, 1000, 4, 0, 0 },
};

#define PRICED(NAME, COUNT, MORE) \
    "{name: " NAME ", count: " COUNT ", gpus: {type: a100-80, count: 8}, cpu: " \
    "{type: epyc-7742, sockets: 2}, memory: 1TB, price: 10USD/h" MORE "}"

/* The same jobs, so much later. */
static void run_later(int64_t later_s, const char *cluster, const char *policy,
                      bool by_host, struct trial_result *result,
                      double *first_interval_s)
{
    struct world world = { 0 };
    struct world_job job[JOBS];
    struct trial_tables tables = { 0 };

    for (size_t i = 0; i < JOBS; i++) {
        job[i] = at_zero[i];
        job[i].submit_s += later_s;
    }
    if (!world_trace_on(&world, cluster, job, JOBS, policy, 1))
        fail_msg("%s", world_error(&world));
    struct trial_spec spec = experiment_trial_spec(world.experiment, 0);
    spec.by_host = by_host;
    if (first_interval_s != NULL)
        tables.timeline = table_new(csv_timeline.columns, csv_timeline.count);
    if (!trial_run(&spec, &tables, result, &world.err))
        fail_msg("%s", world_error(&world));
    if (first_interval_s != NULL) {
        *first_interval_s = world_column(tables.timeline, &csv_timeline,
                                         "t_s");
        table_free(tables.timeline);
    }
    world_close(&world);
}

/* Doubles hold a time of the calendar to some 10^-7 s. */
static void rows_agree(const struct trial_result *a,
                       const struct trial_result *b)
{
    for (int m = 0; m < METRIC_COUNT; m++) {
        double x = a->value[m], y = b->value[m];

        if (isnan(x) != isnan(y) ||
            (!isnan(x) && fabs(x - y) > 1e-6 * fmax(1, fabs(x))))
            fail_msg("%s: %.12g from 0 on, %.12g", metric_info(NULL, m)->name, x,
                     y);
    }
}

static void calendar_times_give_the_row_of_times_from_0(void **state)
{
    static const char *const cluster[] = {
        "nodes: [" PRICED("own", "2", "") "]",
        "nodes: [" PRICED("own", "2", "") ", "
            PRICED("cloud", "2", ", rent: {start: 60s, min: 1, keep: 10min, "
                   "billing: hour}") "]",
        "nodes: [" PRICED("own", "1", "") ", "
            PRICED("held", "2", ", billing: held") "]",
    };
    static const char *const policy[] = { "[fcfs]", "[srtf]", "[dynamic]",
                                          "[las]" };
    struct trial_result from_0, later;

    (void)state;
    for (size_t c = 0; c < sizeof cluster / sizeof *cluster; c++)
        for (size_t p = 0; p < sizeof policy / sizeof *policy; p++) {
            run_later(0, cluster[c], policy[p], false, &from_0, NULL);
            run_later(UNIX_S, cluster[c], policy[p], false, &later, NULL);
            assert_true(from_0.value[METRIC_COST] > 0);
            assert_true(from_0.value[METRIC_GPU_UTILIZATION] > 0.01);
            rows_agree(&from_0, &later);
        }
}

/* The nodes count from the first job to the last end. */
static void utilization_and_cost_are_of_the_makespan(void **state)
{
    struct trial_result r;
    double s;

    (void)state;
    run_later(5000, "nodes: [" PRICED("own", "2", "") "]", "[fcfs]", false,
              &r, NULL);
    s = r.value[METRIC_MAKESPAN];
    assert_true(s == 41000);
    assert_true(fabs(r.value[METRIC_COST] - 2 * 10 * s / 3600) < 1e-6);
    assert_true(fabs(r.value[METRIC_GPU_ALLOCATED] * 16 * s -
                     (8 * 3600 + 16 * 7200 + 4 * 500 + 4 * 1000)) < 1e-3);
}

static void a_count_begins_where_the_host_begins(void **state)
{
    static const char cluster[] =
        "nodes: [{name: n, count: 2, gpus: {type: generic, count: 8}}]";
    static const char policy[] = "[{policy: fcfs, placement: count}]";
    struct trial_result count, host;

    (void)state;
    run_later(5000, cluster, policy, false, &count, NULL);
    run_later(5000, cluster, policy, true, &host, NULL);
    for (int m = 0; m < METRIC_COUNT; m++)
        assert_memory_equal(&count.value[m], &host.value[m], sizeof(double));
    assert_int_equal(count.digest, host.digest);
}

static void a_timeline_begins_with_the_first_job(void **state)
{
    struct trial_result r;
    double first_s = 0;

    (void)state;
    run_later(UNIX_S, "nodes: [" PRICED("own", "2", "") "]", "[fcfs]", false,
              &r, &first_s);
    assert_true(first_s == (double)UNIX_S);
}

static void is_refused(const char *keys, const char *services,
                       const char *why)
{
    struct world world = { 0 };
    char text[2048];

    strcpy(world.folder, "/tmp/clustersim-test-XXXXXX");
    assert_non_null(mkdtemp(world.folder));
    world_write(&world, "jobs.csv", "job,submit,duration,gpus\n"
                "a,360000,3600,4\nb,360600,7200,4\n");
    snprintf(text, sizeof text, "experiment: t\n%scluster: {nodes: [{name: l, "
             "count: 1, gpus: {type: l40s, count: 8}, cpu: {type: epyc-7742, "
             "sockets: 2}, memory: 2TB}]}\nworkload:\n%s  trace: {file: "
             "jobs.csv, format: csv, origin: file, columns: {job: job, submit: "
             "submit, duration: duration, gpus: gpus}}\npolicies: [fcfs]\n",
             keys, services);
    assert_false(world_open(&world, text));
    if (strstr(world.err.text, why) == NULL)
        fail_msg("%s", world.err.text);
    assert_int_equal(err_exit_status(world.err.kind), 3);
    assert_non_null(strstr(world.err.hint, "origin: first"));
    world_close(&world);
}

static void a_run_that_ends_before_the_first_job_is_refused(void **state)
{
    (void)state;
    is_refused("until: 14h\n", "", "until ends at 50400 s, before the first "
               "job of the trace comes, at 360000 s");
}

static void services_long_before_the_first_job_are_refused(void **state)
{
    (void)state;
    is_refused("", "  services:\n    - {name: chat, model: llama-3-8b, gpu: "
               "{tp: 1, types: [l40s], cores: 4}, replicas: {min: 1, max: 4}, "
               "batch: 64, requests: {arrival: {process: poisson, rate: 1/s}, "
               "prompt: {constant: 100}, output: {constant: 100}, for: 10min}, "
               "slo: {ttft: 1s, tpot: 50ms}}\n",
               "the first job comes at 360000 s, and the jobs take 7800 s");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calendar_times_give_the_row_of_times_from_0),
        cmocka_unit_test(utilization_and_cost_are_of_the_makespan),
        cmocka_unit_test(a_count_begins_where_the_host_begins),
        cmocka_unit_test(a_timeline_begins_with_the_first_job),
        cmocka_unit_test(a_run_that_ends_before_the_first_job_is_refused),
        cmocka_unit_test(services_long_before_the_first_job_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
