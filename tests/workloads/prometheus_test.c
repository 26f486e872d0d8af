/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * prometheus_test.c - answers of Prometheus become series, and a measured rate
 * becomes arrivals.
 */
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "tests/aid/import_aid.h"
#include "workloads/random/arrival.h"
#include "workloads/random/arrival_read.h"

static void a_matrix_becomes_a_series_for_each_result(void **state)
{
    const struct program *program = the_program(state);
    static const char *const none[] = { NULL };
    char path[160], *said, *text;

    assert_int_equal(import(program, "prometheus",
                            "workloads/traces/prometheus.json", none, &said),
                     0);
    has(said, "series       2 of metric");
    has(said, "points       7");
    has(said, "1 ");             /* NaN is no value */
    free(said);
    text = program_read(in_folder(program, "w.csv", path));
    has(text, "DCGM_FI_DEV_GPU_UTIL/Hostname=gpu01/gpu=0/modelName=NVIDIA "
        "A100-SXM4-80GB,1768204860,87\n");
    has(text, "gpu=0/modelName=NVIDIA A100-SXM4-80GB,1768205040,12\n");
    has(text, "gpu=1/modelName=NVIDIA A100-SXM4-80GB,1768204920,0\n");
    assert_null(strstr(text, "1768204980"));
    free(text);
}

/* A mark of quotation in a text is doubled if it is that of the text, else it stands. */
static void files_may_have_any_name(void **state)
{
    const struct program *program = the_program(state);
    char in[160], yaml[200], cluster[200], *said, *text;
    const char *series[] = { "import", "series", in, "-o", yaml, NULL };
    const char *nodes[] = { "import", "slurm-nodes", in, "-o", cluster, NULL };
    const char *check[] = { "validate", cluster, NULL };

    in_folder(program, "in", in);
    in_folder(program, "it's \"x\": #1.yaml", yaml);
    in_folder(program, "its \"x\": #1.yaml", cluster);
    write_file(in, "series,time_s,value\na,1,2\na,2,3\n");
    assert_int_equal(run(program, series, &said), 0);
    free(said);
    text = program_read(yaml);
    has(text, "  file: 'it''s \"x\": #1.csv'\n");
    free(text);
    write_file(in, "NodeName=n[1-4] CPUs=4 RealMemory=1000 Gres=gpu:2\n");
    assert_int_equal(run(program, nodes, &said), 0);
    free(said);
    text = program_read(cluster);
    has(text, "\nname: 'its \"x\": #1'\n");
    free(text);
    assert_int_equal(run(program, check, &said), 0);
    free(said);
}

/* Closed brackets say that nothing was cut off; the last line of a CSV says nothing. */
static void an_answer_of_one_line_needs_no_end_of_it(void **state)
{
    static const char *const none[] = { NULL };
    const struct program *program = the_program(state);
    char in[160], *said;

    write_file(in_folder(program, "in", in),
               "{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":"
               "[{\"metric\":{},\"values\":[[1,\"2\"],[2,\"3\"]]}]}}");
    assert_int_equal(import(program, "prometheus", in, none, &said), 0);
    assert_null(strstr(said, "has no end"));
    free(said);
    write_file(in, "series,time_s,value\na,1,2\na,2,3");
    assert_int_equal(import(program, "series", in, none, &said), 0);
    has(said, "the last line has no end");
    free(said);
}

static void answers_that_are_no_matrix_are_refused(void **state)
{
    static const struct { const char *text, *said; } wrong[] = {
        { "{\"status\": \"error\", \"errorType\": \"bad_data\", \"error\": "
          "\"parse error\"}", "range error: the answer is an error: parse error" },
        { "{\"status\": \"success\", \"data\": {\"resultType\": \"vector\", "
          "\"result\": [{\"metric\": {}, \"value\": [1, \"2\"]}]}}",
          "result is of one instant, a vector" },
        { "{\"a\": 1}", "it is no answer of Prometheus" },
        { "{\"data\": {\"result\": [{\"values\": []}]}}",
          "metric must stand before values" },
        { "{\"data\": {\"result\": [{\"metric\": {}, \"values\": [[1, 2]]}]}}",
          "a value, as a text, is expected here" },
        { "{\"data\": {\"result\": [{\"metric\": {}, \"values\": [[1, \"x\"]]}"
          "]}}", "a value must be a number, found \"x\"" },
    };
    const struct program *program = the_program(state);
    static const char *const none[] = { NULL };
    char in[160], *said;

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        write_file(in_folder(program, "in", in), wrong[i].text);
        assert_int_equal(import(program, "prometheus", in, none, &said), 3);
        has(said, wrong[i].said);
        free(said);
    }
}

static bool read_as(struct arena *arena, const char *text,
                    struct arrival *out, struct err *err)
{
    memset(err, 0, sizeof *err);
    return arrival_read(arena,
                        conf_parse(arena, "a.yaml", text, strlen(text), err),
                        out, err);
}

#define RATES "{process: series, rates: {unit: /s, points: [[0s, 2], " \
    "[1000s, 0], [2000s, 1], [4000s, 5]]%s}}"

static struct arrival read_rates(struct arena *arena, const char *more)
{
    struct arrival arrival;
    struct err err;
    char text[200];

    snprintf(text, sizeof text, RATES, more);
    if (!read_as(arena, text, &arrival, &err))
        fail_msg("%s", err.text);
    return arrival;
}

/* 2,000 arrivals, none, 2,000, and no more: each within 5 standard deviations. */
static void arrivals_follow_a_measured_rate(void **state)
{
    struct arena *arena = arena_new(0);
    const struct arrival arrival = read_rates(arena, "");
    struct arrival_clock clock;
    double count[3] = { 0 };
    int64_t next, last = 0;

    (void)state;
    assert_true(fabs(arrival.rate_per_s - 1.0) < 1e-12);
    assert_true(arrival.peak_per_s == 5.0);
    arrival_start(&clock, &arrival, 7, 0);
    while ((next = arrival_next(&clock)) != CLOCK_NEVER_NS) {
        double s = clock_s_from_ns(next);

        assert_true(next >= last && s < 4000.0);
        last = next;
        count[s < 1000.0 ? 0 : s < 2000.0 ? 1 : 2]++;
    }
    assert_true(fabs(count[0] - 2000.0) < 5.0 * sqrt(2000.0));
    assert_true(count[1] == 0.0);
    assert_true(fabs(count[2] - 2000.0) < 5.0 * sqrt(2000.0));
    arena_free(arena);
}

/* Rates that change twenty times between two arrivals: 0.2/s and 0 in turn are
 * 0.1/s. */
static void arrivals_use_up_many_rates(void **state)
{
    struct arena *arena = arena_new(0);
    struct arrival arrival;
    struct arrival_clock clock;
    struct err err;
    double count = 0.0;

    (void)state;
    assert_true(read_as(arena, "{process: series, rates: {unit: /s, points: "
                        "[[0s, 0.2], [500ms, 0]], repeat: 1s}}", &arrival,
                        &err));
    arrival_start(&clock, &arrival, 7, 0);
    while (arrival_next(&clock) < 40000 * CLOCK_NS_PER_S)
        count++;
    assert_true(fabs(count - 4000.0) < 5.0 * sqrt(4000.0));
    arena_free(arena);
}

/* A round counts to its end: 2 for 1000 s, 1 for 2000 s, 5 for the last 1000 s. */
static void the_rate_is_the_mean_of_a_round(void **state)
{
    struct arena *arena = arena_new(0);

    (void)state;
    assert_true(fabs(read_rates(arena, ", repeat: 5000s").rate_per_s -
                     9000.0 / 5000.0) < 1e-12);
    assert_true(fabs(read_rates(arena, ", from: 4000s, after: hold").rate_per_s -
                     5.0) < 1e-12);
    arena_free(arena);
}

/* Counted at once: the mean over clocks is the integral, also behind the end and
 * over a repetition. */
static void counts_have_the_mean_of_the_integral(void **state)
{
    static const struct { const char *more; double until_s, mean; } want[] = {
        { "", 500.0, 1000.0 }, { "", 3000.0, 3000.0 }, { "", 9000.0, 4000.0 },
        { ", after: hold", 4100.0, 4500.0 },
        { ", repeat: 5000s", 6000.0, 11000.0 },
    };
    struct arena *arena = arena_new(0);

    (void)state;
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        const struct arrival arrival = read_rates(arena, want[i].more);
        double sum = 0.0;

        for (uint32_t r = 0; r < 100; r++) {
            struct arrival_clock clock;

            arrival_start(&clock, &arrival, 7, r);
            sum += (double)arrival_count(&clock,
                                         (int64_t)(want[i].until_s * 1e9));
        }
        assert_true(fabs(sum / 100.0 - want[i].mean) <
                    5.0 * sqrt(want[i].mean / 100.0));
    }
    arena_free(arena);
}

static void rates_that_are_wrong_are_refused(void **state)
{
    static const struct { const char *text, *said; } wrong[] = {
        { "{process: series}", "rates is missing: process series needs it" },
        { "{process: series, rate: 1/s, rates: {unit: /s, points: [[0s, 1]]}}",
          "rate has no meaning for process series" },
        { "{process: series, rates: {unit: /s, points: [[0s, 0]]}}",
          "rates are 0 everywhere" },
        { "{process: series, rates: {unit: /s, points: [[0s, 1]]}}",
          "nothing arrives: rates are 0 from the begin of the run" },
        { "{process: series, rates: {unit: /s, points: [[0s, 1], [9s, 2]], "
          "from: 9s}}", "nothing arrives: rates are 0 from the begin of" },
        { "{process: series, rates: {unit: USD/h, points: [[0s, 1]]}}", "unit" },
        { "{process: series, rates: {unit: /s, points: [[0s, 1]], form: 1}}",
          "key 'form' is not known in 'rates'" },
    };
    struct arena *arena = arena_new(0);
    struct arrival arrival;
    struct err err;
    char path[160], text[300];

    write_file(in_folder(the_program(state), "load.csv", path),
               "series,time_s,value\nvalue,0,3\nvalue,60,-1\n");
    snprintf(text, sizeof text, "{process: series, rates: {unit: /s, file: %s}}",
             path);
    assert_false(read_as(arena, text, &arrival, &err));
    has(err.text, "with a value of 0 or more");
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_false(read_as(arena, wrong[i].text, &arrival, &err));
        has(err.text, wrong[i].said);
    }
    arena_free(arena);
}

/* Runs an experiment of these arrivals; what it said, to be freed. */
static char *run_arrivals(const struct program *program, const char *jobs)
{
    char path[160], yaml[160], text[1000], *said;
    const char *words[] = { "run", in_folder(program, "e.yaml", yaml), "-o",
                            in_folder(program, "out", path), NULL };

    snprintf(text, sizeof text, "experiment: e\nseeds: 4\ncluster: {nodes: [{name: "
             "n, count: 1, gpus: {type: generic, count: 4}}]}\nworkload:\n%s\n"
             "policies: [fcfs, sjf]\noutput: {tables: [summary], plots: []}\n", jobs);
    write_file(yaml, text);
    if (run(program, words, &said) != 0)
        fail_msg("%s", said);
    return said;
}

#define MIX "\n  mix: [{recipe: trace, gpus: 1, duration: 1s}]"

/* The fewest jobs of any row of summary.csv, and how many rows have fewer than 20. */
static long fewest_jobs(const struct program *program, int *low)
{
    char path[160], cell[64];
    char *text = program_read(in_folder(program, "out/summary.csv", path));
    size_t at = csv_column(text, "jobs");
    long least = LONG_MAX;

    *low = 0;
    for (const char *line = strchr(text, '\n'); line && line[1];
         line = strchr(line + 1, '\n')) {
        csv_field(line + 1, at, cell, sizeof cell);
        *low += atol(cell) < 20;
        least = atol(cell) < least ? atol(cell) : least;
    }
    free(text);
    return least;
}

/* What is said is what the run had, of which each seed stands twice in the table. */
static void rates_that_end_before_all_jobs_came_are_told(void **state)
{
    const struct program *program = the_program(state);
    char want[160], *said;
    long least;
    int low;

    said = run_arrivals(program, "  arrival: {process: series, rates: {unit: /s, "
                        "points: [[0s, 1], [20s, 1]]}}\n  jobs: 20" MIX);
    least = fewest_jobs(program, &low);
    assert_true(least < 20 && low > 0 && low < 8);
    snprintf(want, sizeof want, "the rates of arrival end at 20 s, before all jobs "
             "came, in %d of 4 draws; the fewest are %ld of 20 jobs (base)", low / 2,
             least);
    has(said, want);
    free(said);
}

static void rates_that_suffice_are_not_told(void **state)
{
    static const char *const jobs[] = {
        "  arrival: {process: series, rates: {unit: /s, points: [[0s, 1], [20s, "
        "1]], after: hold}}\n  jobs: 20" MIX,
        "  arrival: {process: series, rates: {unit: /s, points: [[0s, 9], [20s, "
        "1]]}}\n  jobs: 20" MIX,
        "  arrival: {process: series, rates: {unit: /s, points: [[0s, 1], [20s, "
        "1]]}}\n  jobs: 20\n  for: 15s" MIX,
        /* the end of the rates is an end of arrivals */
        "  arrival: {process: series, rates: {unit: /s, points: [[0s, 1], [20s, "
        "1]]}}" MIX,
        ("  arrival: {process: fixed, times: [1s, 2s]}" MIX),
    };

    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++) {
        char *said = run_arrivals(the_program(state), jobs[i]);

        assert_null(strstr(said, "rates of arrival end"));
        free(said);
    }
}

static void requests_that_end_before_their_span_are_told(void **state)
{
    static const char service[] =
        "  services:\n    - name: chat\n      model: llama-3-8b\n      gpu: {tp: 1, "
        "types: [l40s]}\n      replicas: {min: 1, max: 1}\n      slo: {ttft: 1s}\n"
        "      requests: {prompt: 100, output: 10, for: %s, arrival: {process: series, "
        "rates: {unit: /s, points: [[0s, 1], [20s, 1]]}}}";
    const struct program *program = the_program(state);
    static const char *const spans[] = { "1m", "20s" };
    char yaml[160], text[1200], *said;
    const char *words[] = { "validate", in_folder(program, "e.yaml", yaml), NULL };

    for (size_t i = 0; i < 2; i++) {
        int n = snprintf(text, sizeof text, "experiment: e\ncluster: {nodes: [{name: "
                         "n, count: 1, gpus: {type: l40s, count: 4}, cpu: {type: "
                         "epyc-7763, sockets: 1}, memory: 512GB}]}\nworkload:\n");

        n += snprintf(text + n, sizeof text - (size_t)n, service, spans[i]);
        snprintf(text + n, sizeof text - (size_t)n, "\npolicies: [fcfs]\n");
        write_file(yaml, text);
        if (run(program, words, &said) != 0)
            fail_msg("%s", said);
        if (i == 0)
            has(said, "arrival of service chat end at 20 s, before `for`, 60 s: it has "
                "no requests");
        else
            assert_null(strstr(said, "rates of arrival"));
        free(said);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_matrix_becomes_a_series_for_each_result),
        cmocka_unit_test(an_answer_of_one_line_needs_no_end_of_it),
        cmocka_unit_test(files_may_have_any_name),
        cmocka_unit_test(answers_that_are_no_matrix_are_refused),
        cmocka_unit_test(arrivals_follow_a_measured_rate),
        cmocka_unit_test(arrivals_use_up_many_rates),
        cmocka_unit_test(the_rate_is_the_mean_of_a_round),
        cmocka_unit_test(counts_have_the_mean_of_the_integral),
        cmocka_unit_test(rates_that_are_wrong_are_refused),
        cmocka_unit_test(rates_that_end_before_all_jobs_came_are_told),
        cmocka_unit_test(rates_that_suffice_are_not_told),
        cmocka_unit_test(requests_that_end_before_their_span_are_told),
    };

    (void)argc;
    program_argv0 = argv[0];
    return cmocka_run_group_tests(tests, program_setup, program_teardown);
}
