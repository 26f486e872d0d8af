/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * own_metrics_test.c - `metrics:` from the file to all that shows a metric.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "experiments/columns/columns.h"
#include "tests/aid/program.h"

const char *program_argv0;

#define EXPERIMENT_OF(seeds, more, metrics) \
    "experiment: own\nseeds: " seeds "\n" more \
    "cluster: {nodes: [{name: n, count: 2, gpus: {type: generic, count: 8}, " \
    "price: 16USD/h}]}\n" \
    "workload:\n  arrival: {process: poisson, rate: 4/h}\n  jobs: 30\n" \
    "  mix:\n" \
    "    - {recipe: trace, name: one, gpus: 1, duration: {exponential: {mean: 1h}}, " \
    "share: 0.5}\n" \
    "    - {recipe: trace, name: six, gpus: 6, duration: {exponential: {mean: 2h}}, " \
    "share: 0.5}\n" \
    "policies: [fcfs, easy]\nmetrics:\n" metrics
#define EXPERIMENT(more, metrics) EXPERIMENT_OF("4", more, metrics)

static void run(const struct program *program, const char *text, const char *name,
                const char *const *more)
{
    const char *file = program_write(program, "e.yaml", text);

    assert_int_equal(program_experiment(program, file, name, more), 0);
}

static void folder_says(const struct program *program, const char *name,
                        const char *file, const char *part)
{
    char *text = program_result(program, name, file);

    assert_non_null(text);
    if (strstr(text, part) == NULL)
        fail_msg("%s/%s: no '%s' in: %s", name, file, part, text);
    free(text);
}

static double mean_of(const char *compare, const char *policy, const char *metric)
{
    char cell[64];

    if (!csv_cell(compare, policy, metric, "mean", cell, sizeof cell))
        fail_msg("no row of %s, %s", policy, metric);
    return *cell == '\0' ? NAN : atof(cell);
}

static void assert_near(const char *what, double found, double wanted)
{
    if (!(fabs(found - wanted) <= 1e-8 * fabs(wanted) + 1e-9))
        fail_msg("%s: %.12g, not %.12g", what, found, wanted);
}

static void aggregates_are_the_built_in_metrics(void **state)
{
    static const struct { const char *own, *built_in; } same[] = {
        { "a", "jct_mean_s" }, { "b", "jct_p95_s" }, { "c", "wait_mean_s" },
        { "d", "wait_p99_s" }, { "e", "jobs" }, { "f", "jobs_done" },
        { "g", "held_cost_usd" }, { "h", "cost_per_job_usd" }, { "i", "makespan_s" },
        { "j", "preemptions" }, { "k", "jct_p50_s" },
    };
    const struct program *program = *state;

    run(program, EXPERIMENT("",
        "  a: {of: mean(jct_s)}\n  b: {of: 'quantile(jct_s, 95%)'}\n"
        "  c: {of: sum(wait_s) / count(wait_s)}\n  d: {of: p99(wait_s)}\n"
        "  e: {of: count()}\n  f: {of: count(where status == 'done')}\n"
        "  g: {of: sum(cost_usd)}\n  h: {of: cost_usd / f}\n"
        "  i: {of: max(end_s) - min(submit_s)}\n  j: {of: sum(preemptions)}\n"
        "  k: {of: p50(jct_s)}\n"), "out", NULL);
    char *compare = program_result(program, "out", "compare.csv");
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
        assert_near(same[i].own, mean_of(compare, "easy", same[i].own),
                    mean_of(compare, "easy", same[i].built_in));
    free(compare);
}

/* The sum of a column of jobs.csv over the jobs of a policy, by seed. */
static double sum_of(const char *jobs, const char *policy, const char *column)
{
    size_t at = csv_column(jobs, column);
    char cell[64];
    double sum = 0;

    for (const char *line = strchr(jobs, '\n') + 1; *line != '\0';
         line = strchr(line, '\n') + 1) {
        csv_field(line, 1, cell, sizeof cell);
        if (strcmp(cell, policy) != 0)
            continue;
        csv_field(line, at, cell, sizeof cell);
        sum += atof(cell);
    }
    return sum;
}

static void each_cell_is_that_of_jobs_csv(void **state)
{
    const struct program *program = *state;
    char text[8192];
    size_t used = (size_t)snprintf(text, sizeof text, "%s", EXPERIMENT("", ""));

    for (unsigned c = 0; c < JOB_CELL_COUNT; c++)
        if (csv_jobs.columns[3 + c].type != TABLE_TEXT)
            used += (size_t)snprintf(text + used, sizeof text - used,
                                     "  x%u: {of: 'coalesce(sum(%s), 0)'}\n", c,
                                     csv_jobs.columns[3 + c].name);
    run(program, text, "out", NULL);
    char *compare = program_result(program, "out", "compare.csv");
    char *jobs = program_result(program, "out", "jobs.csv");
    for (unsigned c = 0; c < JOB_CELL_COUNT; c++) {
        const char *column = csv_jobs.columns[3 + c].name;
        char name[8];

        if (csv_jobs.columns[3 + c].type == TABLE_TEXT)
            continue;
        snprintf(name, sizeof name, "x%u", c);
        assert_near(column, mean_of(compare, "fcfs", name),
                    sum_of(jobs, "fcfs", column) / 4);
    }
    free(compare);
    free(jobs);
}

#define THREE \
    "  small_s: {of: 'mean(jct_s where kind == \"one\")', unit: s, better: less}\n" \
    "  in_time: {of: count(where jct_s <= 2h) / jobs, unit: fraction, over: all}\n" \
    "  nothing: {of: cost_usd / (jobs - jobs), better: less}\n"

static void they_are_the_last_columns_and_have_rows(void **state)
{
    const struct program *program = *state;

    run(program, EXPERIMENT("", THREE), "out", NULL);
    folder_says(program, "out", "summary.csv",
                ",deterministic,without,small_s,in_time,nothing\n");
    folder_says(program, "out", "metrics.csv", "small_s,\"mean(jct_s where kind == "
                "\"\"one\"\")\",s,less,jobs_done,small_s,,8,0,\n");
    folder_says(program, "out", "metrics.csv", "nothing,cost_usd / (jobs - jobs),1,less,"
                "all,nothing,,8,8,it divides by zero (8 trials)\n");
    folder_says(program, "out", "report.html", "small_s");
}

/* A table that is damaged, or has a row that is no metric of the folder's own, is told where it
 * is, and no figures are shown. */
static void a_damaged_table_of_them_is_an_error(void **state)
{
    static const char head[] = "metric,of,unit,better,over,title,help,trials,empty,why\n";
    static const struct { const char *row, *says; int status; } damage[] = {
        { "\037\213garbage", "metrics.csv: file error: the gzip data is corrupt", 4 },
        { "metric,of\nx,y\n", "metrics.csv:1:1: schema error: the column 'unit' is missing", 3 },
        { "x,y,1,least,all,x,,8,0,\n", "better must be more, less or neither", 3 },
        { "x,y,1,less,some,x,,8,0,\n", "over must be all, ", 3 },
        { "x,y,1,less,all,x,,many,0,\n", "metrics.csv:2", 3 },
        { "jct_mean_s,y,1,less,all,x,,8,0,\n", "'jct_mean_s' is a built-in metric", 3 },
    };
    const struct program *program = *state;
    char path[256], *said;

    run(program, EXPERIMENT("", THREE), "out", NULL);
    snprintf(path, sizeof path, "%s", program_path(program, "out"));
    const char *words[] = { "compare", path, path, NULL };
    for (size_t i = 0; i < sizeof damage / sizeof damage[0]; i++) {
        char text[400];
        snprintf(text, sizeof text, "%s%s", i < 2 ? "" : head, damage[i].row);
        (void)program_write(program, "out/metrics.csv", text);
        int status = program_say(program, words, &said);
        if (status != damage[i].status || strstr(said, damage[i].says) == NULL)
            fail_msg("row %zu: status %d: %s", i, status, said);
        free(said);
    }
}

static void what_is_below_zero_has_a_panel_of_the_sweep(void **state)
{
    const struct program *program = *state;

    run(program, EXPERIMENT("sweep: {workload.arrival.rate: [2/h, 4/h]}\n"
                            "output: {plots: [sweep]}\n",
                            "  gain: {of: 0 - jct_mean_s, unit: s, better: more}\n"),
        "out", NULL);
    folder_says(program, "out/plots", "sweep.gp", "present = '1 2 3 4 5'\n");
    folder_says(program, "out/plots", "sweep.gp", "array below[5] = [0, 0, 0, 0, 1]\n");
}

static void assert_same(const struct program *program, const char *a, const char *b)
{
    static const char *const file[] = { "summary.csv", "compare.csv", "metrics.csv" };

    for (size_t i = 0; i < sizeof file / sizeof file[0]; i++) {
        char *x = program_result(program, a, file[i]);
        char *y = program_result(program, b, file[i]);

        assert_true(x != NULL && y != NULL);
        if (strcmp(x, y) != 0)
            fail_msg("%s and %s: %s differs", a, b, file[i]);
        free(x);
        free(y);
    }
}

static void threads_and_shards_change_no_byte(void **state)
{
    static const char *const one[] = { "-j", "1", NULL };
    static const char *const three[] = { "-j", "3", NULL };
    static const char *const first[] = { "--shard", "1/2", NULL };
    static const char *const second[] = { "--shard", "2/2", "--resume", NULL };
    static const char *const resume[] = { "--resume", NULL };
    const struct program *program = *state;

    run(program, EXPERIMENT("", THREE), "a", one);
    run(program, EXPERIMENT("", THREE), "b", three);
    assert_same(program, "a", "b");
    run(program, EXPERIMENT("", THREE), "c", first);
    run(program, EXPERIMENT("", THREE), "c", second);
    run(program, EXPERIMENT("", THREE), "c", resume);
    assert_same(program, "a", "c");
}

/* Jobs are left at 4 hours: what is of those that were done is not compared. */
static void metrics_of_what_was_done_follow_the_rule(void **state)
{
    static const struct { const char *name; bool compared; } rule[] = {
        { "small_s", false }, { "in_time", true }, { "held", true },
        { "per_job", false }, { "share", true }, { "later", false },
    };
    const struct program *program = *state;

    run(program, EXPERIMENT("until: 4h\n", THREE
        "  held: {of: sum(gpu_seconds) / jobs}\n  per_job: {of: cost_usd / jobs_done}\n"
        "  share: {of: jobs_done / jobs}\n  later: {of: 2 * small_s}\n"), "out", NULL);
    char *compare = program_result(program, "out", "compare.csv");
    for (size_t i = 0; i < sizeof rule / sizeof rule[0]; i++) {
        char of[64], delta[64];

        assert_true(csv_cell(compare, "easy", rule[i].name, "of", of, sizeof of));
        assert_true(csv_cell(compare, "easy", rule[i].name, "delta_percent", delta,
                             sizeof delta));
        if ((*of == '\0') != rule[i].compared || (*delta != '\0') != rule[i].compared)
            fail_msg("%s: of '%s', %s", rule[i].name, of, delta);
    }
    free(compare);
}

static void expectations_and_seeds_may_name_them(void **state)
{
    const struct program *program = *state;
    char out[192], file[192];
    const char *const check[] = { "check", out, NULL };
    const char *const list[] = { "list", "metrics", file, NULL };
    char *said;

    snprintf(out, sizeof out, "%s", program_path(program, "out"));
    snprintf(file, sizeof file, "%s", program_path(program, "e.yaml"));
    run(program, EXPERIMENT_OF("{until: '\u00b130%', at_most: 16, of: [small_s]}",
        "expect:\n  - {metric: small_s, policy: easy, vs: fcfs, at_most: 100%}\n"
        "  - {metric: small_s, policy: easy, at_most: 200h}\n"
        "  - {metric: in_time, policy: easy, at_least: 1%}\n", THREE),
        "out", NULL);
    assert_int_equal(program_say(program, check, &said), 0);
    assert_non_null(strstr(said, "3 of 3 checks hold"));
    free(said);
    assert_int_equal(program_say(program, list, &said), 0);
    assert_non_null(strstr(said, "over jobs_done"));
    free(said);
}

static void another_expression_is_not_compared(void **state)
{
    const struct program *program = *state;
    char a[192], b[192];
    const char *const compare[] = { "compare", a, b, NULL };
    const char *const check[] = { "check", b, "--baseline", a, NULL };
    const char *const allow[] = { "check", b, "--baseline", a, "--allow-not-judged", NULL };
    char *said;

    snprintf(a, sizeof a, "%s", program_path(program, "a"));
    snprintf(b, sizeof b, "%s", program_path(program, "b"));
    run(program, EXPERIMENT("", "  x: {of: cost_usd, better: less}\n"), "a", NULL);
    run(program, EXPERIMENT("", "  x: {of: 2 * cost_usd, better: less}\n"), "b", NULL);
    assert_int_equal(program_say(program, compare, &said), 0);
    assert_non_null(strstr(said, "x is not compared"));
    assert_non_null(strstr(said, "no metric moved"));
    free(said);
    assert_int_equal(program_say(program, check, &said), 1);
    assert_non_null(strstr(said, "x is not compared: the baseline has another"));
    assert_non_null(strstr(said, "0 of 2 checks hold, 2 not judged"));
    free(said);
    assert_int_equal(program_say(program, allow, &said), 0);
    free(said);
    run(program, EXPERIMENT("", "  y: {of: cost_usd, better: less}\n"), "b", NULL);
    assert_int_equal(program_say(program, check, &said), 1);
    assert_non_null(strstr(said, "x is not compared: it is in the baseline alone"));
    free(said);
}

/* The second run has half the price, and so half the cost: it is worse where more is better.  The
 * run says which way is better, and not the baseline. */
static void which_way_is_better_is_what_the_run_says(void **state)
{
    static const struct { const char *before, *now; int status; } of[] = {
        { EXPERIMENT("", "  x: {of: cost_usd, better: less}\n"),
          EXPERIMENT("", "  x: {of: cost_usd, better: more}\n"), 1 },
        { EXPERIMENT("", "  x: {of: cost_usd}\n"),
          EXPERIMENT("", "  x: {of: cost_usd, better: more}\n"), 1 },
        { EXPERIMENT("", "  x: {of: cost_usd, better: more}\n"),
          EXPERIMENT("", "  x: {of: cost_usd, better: less}\n"), 0 },
    };
    static const char *const half[] = { "--set", "cluster.nodes.n.price=8USD/h", NULL };
    const struct program *program = *state;
    char a[192], b[192];
    const char *const check[] = { "check", b, "--baseline", a, NULL };
    char *said;

    snprintf(a, sizeof a, "%s", program_path(program, "a"));
    snprintf(b, sizeof b, "%s", program_path(program, "b"));
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        run(program, of[i].before, "a", NULL);
        run(program, of[i].now, "b", half);
        assert_int_equal(program_say(program, check, &said), of[i].status);
        assert_true((strstr(said, "x worse in 4 of 4 seeds") != NULL) == (of[i].status == 1));
        free(said);
    }
}

/* A baseline whose metrics.csv was not stored with it has a column that nobody knows. */
static void a_column_that_nobody_knows_is_not_judged(void **state)
{
    const struct program *program = *state;
    char a[192], b[192];
    const char *const check[] = { "check", b, "--baseline", a, NULL };
    char *said;

    snprintf(a, sizeof a, "%s", program_path(program, "a"));
    snprintf(b, sizeof b, "%s", program_path(program, "b"));
    run(program, EXPERIMENT("", "  x: {of: cost_usd, better: less}\n"), "a", NULL);
    run(program, EXPERIMENT("", "  x: {of: cost_usd, better: less}\n"), "b", NULL);
    assert_int_equal(program_say(program, check, &said), 0);
    free(said);
    assert_int_equal(remove(program_path(program, "a/metrics.csv")), 0);
    assert_int_equal(program_say(program, check, &said), 1);
    assert_non_null(strstr(said, "x is not compared: this program has no such metric"));
    assert_non_null(strstr(said, "0 of 2 checks hold, 2 not judged"));
    free(said);
}

/* Each on its line, where the mistake is, all of them at once. */
static void mistakes_are_told_within_the_expression(void **state)
{
    static const char *const say[] = {
        "e.yaml:12:19: reference error: there is no column 'cost' of summary.csv",
        "e.yaml:13:16: schema error: sum stands within another aggregate",
        "e.yaml:14:28: schema error: 'mean' needs a number, found a text",
        "e.yaml:15:29: schema error: '=' compares nothing",
        "e.yaml:19:9: reference error: there is no column 'jobz' of summary.csv",
        "e.yaml:20:3: schema error: 'jobs' is a built-in metric",
        "e.yaml:21:3: schema error: a metric's name must be of at most 60 small letters",
        "e.yaml:22:3: schema error: 'where' already has a meaning here",
    };
    const struct program *program = *state;
    const char *file = program_write(program, "e.yaml", EXPERIMENT("",
        "  a: {of: 2 * 3 + cost}\n  b: {of: mean(sum(jct_s))}\n"
        "  c: {of: 'cost_usd + mean(tenant)'}\n"
        "  d: {of: \"count(where kind = \\\"x\\\")\"}\n"
        "  e:\n    of: >-\n      cost_usd /\n        jobz\n"
        "  jobs: {of: cost_usd}\n  B: {of: cost_usd}\n  where: {of: cost_usd}\n"));
    const char *const words[] = { "validate", file, NULL };
    char *said;

    assert_int_equal(program_say(program, words, &said), 3);
    for (size_t i = 0; i < sizeof say / sizeof say[0]; i++)
        if (strstr(said, say[i]) == NULL)
            fail_msg("no '%s' in: %s", say[i], said);
    free(said);
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, program_setup, \
                                                   program_teardown)
    const struct CMUnitTest tests[] = {
        TEST(aggregates_are_the_built_in_metrics),
        TEST(each_cell_is_that_of_jobs_csv),
        TEST(they_are_the_last_columns_and_have_rows),
        TEST(a_damaged_table_of_them_is_an_error),
        TEST(what_is_below_zero_has_a_panel_of_the_sweep),
        TEST(threads_and_shards_change_no_byte),
        TEST(metrics_of_what_was_done_follow_the_rule),
        TEST(expectations_and_seeds_may_name_them),
        TEST(another_expression_is_not_compared),
        TEST(a_column_that_nobody_knows_is_not_judged),
        TEST(which_way_is_better_is_what_the_run_says),
        TEST(mistakes_are_told_within_the_expression),
    };

    (void)argc;
    program_argv0 = argv[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
