/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * survivors_test.c - a mean over the jobs that were done says so, has no star
 * and is not compared; what is said of all jobs instead, by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "experiments/results/check.h"
#include "experiments/results/compare.h"
#include "experiments/results/grid.h"
#include "experiments/results/summary_table.h"
#include "experiments/results/survivors.h"
#include "tests/aid/program.h"
#include "tests/aid/world.h"

/* ---- one trial ------------------------------------------------------------ */

#define OWNED "{name: own, count: 1, gpus: {type: a100-80, count: 8}, cpu: " \
    "{type: epyc-7742, sockets: 2}, memory: 1TB, price: 10USD/h}"

static void run_until(const char *until, const char *policy,
                      const struct world_job *job, uint32_t jobs,
                      struct trial_result *r)
{
    struct world world = { 0 };
    char csv[1024], text[2048];
    size_t n = (size_t)sprintf(csv, "job,submit,duration,gpus,tenant\n");

    strcpy(world.folder, "/tmp/clustersim-test-XXXXXX");
    assert_non_null(mkdtemp(world.folder));
    for (uint32_t i = 0; i < jobs; i++)
        n += (size_t)sprintf(csv + n, "%u,%lld,%lld,%u,\n", i,
                             (long long)job[i].submit_s,
                             (long long)job[i].duration_s, job[i].gpus);
    world_write(&world, "jobs.csv", csv);
    snprintf(text, sizeof text, "experiment: t\nuntil: %s\ncluster: {nodes: ["
             OWNED "]}\n" WORLD_TRACE "policies: [%s]\n", until, policy);
    if (!world_open(&world, text) || !world_run(&world, 0, NULL, NULL, r))
        fail_msg("%s", world_error(&world));
    world_close(&world);
}

static bool near(double found, double expected)
{
    return fabs(found - expected) <= 1e-9 * fmax(1, fabs(expected));
}

/* Two end, at 3,600 and 10,800 s; one runs, and one waits, at 60,000 s. */
static const struct world_job four[] = {
    { 0, 3600, 8, 0, 0 }, { 100, 7200, 8, 0, 0 }, { 200, 100000, 8, 0, 0 },
    { 50000, 10, 8, 0, 0 },
};

static void a_restricted_mean_is_over_all_jobs(void **state)
{
    struct trial_result r;

    (void)state;
    run_until("60000s", "fcfs", four, 4, &r);
    assert_true(r.value[METRIC_JOBS] == 4 && r.value[METRIC_JOBS_DONE] == 2);
    assert_true(near(r.value[METRIC_JCT_MEAN], (3600 + 10700) / 2.0));
    assert_true(near(r.value[METRIC_JCT_RESTRICTED],
                     (3600 + 10700 + 59800 + 10000) / 4.0));
    assert_true(near(r.value[METRIC_COST], 10 * 60000 / 3600.0));
    assert_true(near(r.value[METRIC_COST_LAST_END], 10 * 10800 / 3600.0));
    assert_true(isnan(r.value[METRIC_REQUESTS]));
}

/* Nothing lost: the plain mean.  A horizon long after the last end costs. */
static void where_nothing_is_lost_it_is_the_mean(void **state)
{
    struct trial_result drained, late;

    (void)state;
    run_until("drained", "fcfs", four, 2, &drained);
    run_until("1000h", "fcfs", four, 2, &late);
    assert_true(near(drained.value[METRIC_JCT_RESTRICTED],
                     drained.value[METRIC_JCT_MEAN]));
    assert_true(drained.value[METRIC_COST_LAST_END] ==
                drained.value[METRIC_COST]);
    assert_true(near(late.value[METRIC_JCT_RESTRICTED],
                     late.value[METRIC_JCT_MEAN]));
    assert_true(near(late.value[METRIC_COST], 10000));
    assert_true(near(late.value[METRIC_COST_LAST_END], 30));
    assert_true(near(late.value[METRIC_COST_LAST_END],
                     drained.value[METRIC_COST]));
}

/* A job that was dropped has no horizon but `until`. */
static void dropped_jobs_are_lost_too(void **state)
{
    static const char drop[] =
        "{policy: fcfs, placement: best_fit, blocking: drop}";
    struct trial_result r;

    (void)state;
    run_until("drained", drop, four, 2, &r);
    assert_true(r.value[METRIC_JOBS] == 2 && r.value[METRIC_JOBS_DONE] == 1);
    assert_true(near(r.value[METRIC_JCT_MEAN], 3600));
    assert_true(isnan(r.value[METRIC_JCT_RESTRICTED]));
    run_until("5000s", drop, four, 2, &r);
    assert_true(near(r.value[METRIC_JCT_RESTRICTED], (3600 + 4900) / 2.0));
}

/* One replica that is asked far too much, until five minutes: what was not answered by
 * then and is late by then was not answered in time, whether requests are followed one by
 * one or counted.  What is not late yet is neither (by_hand_services_test.c). */
static void requests_that_are_late_at_the_end_are_lost(void **state)
{
    static const char *const how[] = { "", "aggregate: 1s, " };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct world world = { 0 };
        struct trial_result r;
        char text[2048];

        snprintf(text, sizeof text, "experiment: t\nuntil: 5min\nwarmup: "
                 "1min\ncluster: {nodes: [{name: l, count: 1, gpus: {type: "
                 "l40s, count: 8}, cpu: {type: epyc-7742, sockets: 2}, memory: "
                 "2TB}]}\nworkload:\n  services:\n    - {name: chat, model: "
                 "llama-3-8b, gpu: {tp: 1, types: [l40s], cores: 4}, replicas: "
                 "{min: 1, max: 1}, batch: 64, %srequests: {arrival: {process: "
                 "poisson, rate: 100/s}, prompt: {constant: 1000}, output: "
                 "{constant: 200}, for: 5min}, slo: {latency: 10s}}\n"
                 "policies: [fcfs]\n", how[i]);
        if (!world_open(&world, text) ||
            !world_run(&world, 0, NULL, NULL, &r))
            fail_msg("%s", world_error(&world));
        double part = r.value[METRIC_REQUESTS_DONE] /
                      r.value[METRIC_REQUESTS];
        if (!(fabs(r.value[METRIC_REQUESTS] - 24000) < 1000) ||
            !(part < 0.5) || fabs(r.value[METRIC_SLO] - part) > 1e-4)
            fail_msg("%s: %g of %g, as promised %g", how[i],
                     r.value[METRIC_REQUESTS_DONE], r.value[METRIC_REQUESTS],
                     r.value[METRIC_SLO]);
        world_close(&world);
    }
}

/* ---- tables and verdicts --------------------------------------------------- */

#define SEEDS 2
struct row {
    double jobs, done, jct, restricted, latency, came, answered;
};

static struct grid *make_grid(struct arena *arena, const struct row *row,
                              uint32_t policies)
{
    static const char *const point[] = { "base" }, *const policy[] = {
        "long", "short", "third" };
    static const uint32_t seed[] = { 0, 1 };
    struct grid *grid = arena_alloc(arena, 1, sizeof *grid);

    *grid = (struct grid) { .point = point, .point_count = 1,
                            .policy = policy, .policy_count = policies,
                            .seed_count = SEEDS, .seed = seed };
    grid_begin(arena, grid);
    for (uint32_t i = 0; i < policies * SEEDS; i++) {
        double value[METRIC_COUNT];
        const struct row *r = &row[i / SEEDS];

        for (int m = 0; m < METRIC_COUNT; m++)
            value[m] = 5;
        value[METRIC_JOBS] = r->jobs;
        value[METRIC_JOBS_DONE] = r->done;
        value[METRIC_JCT_MEAN] = r->jct + i % SEEDS;
        value[METRIC_JCT_RESTRICTED] = r->restricted + i % SEEDS;
        value[METRIC_SERVICE_LATENCY] = r->latency;
        value[METRIC_REQUESTS] = r->came;
        value[METRIC_REQUESTS_DONE] = r->answered;
        for (int m = 0; m < METRIC_COUNT; m++)
            grid_set(grid, 0, i / SEEDS, i % SEEDS, (enum metric)m, value[m]);
    }
    return grid;
}

static const struct row lost[] = {
    { 405, 405, 900, 900, 4, 1000, 1000 },
    { 405, 368, 300, 800, 3, 1000, 990 },
};
static const struct row whole[] = {
    { 405, 405, 900, 900, 4, 1000, 1000 },
    { 405, 405, 300, 300, 3, 1000, 1000 },
};

static char *closing(const struct grid *grid)
{
    char *text = NULL;
    size_t bytes;
    FILE *file = open_memstream(&text, &bytes);

    assert_non_null(file);
    summary_table_print(file, grid, "t", false);
    fclose(file);
    return text;
}

static void the_closing_table_marks_and_does_not_star(void **state)
{
    struct arena *arena = arena_new(1 << 16);
    char *text = closing(make_grid(arena, lost, 2));
    const char *line;

    (void)state;
    if (strstr(text, "(736 of 810): over the jobs that were done") == NULL)
        fail_msg("%s", text);
    line = strstr(text, "\nshort") + 1;
    /* Both seeds have the same count, which leaves ln 20 / 2 = 1.498 open. */
    assert_non_null(strstr(line, "368 \u00b1 1.50 of 405"));
    assert_non_null(strstr(line, "(736 of 810)"));
    assert_null(strstr(line, "*5.0"));
    /* Restricted to the horizon it is the best, and starred. */
    assert_non_null(strstr(line, "*13.3"));
    assert_non_null(strstr(text, "JCT to horizon"));
    free(text);
    text = closing(make_grid(arena, whole, 2));
    assert_null(strstr(text, " of 810"));
    assert_null(strstr(text, "JCT to horizon"));
    assert_non_null(strstr(text, "*5.0"));
    free(text);
    arena_free(arena);
}

/* Where "short" dropped jobs and there is no `until`, it has no mean to the horizon: nobody
 * is sent to that column. */
static void an_empty_column_is_recommended_to_nobody(void **state)
{
    struct arena *arena = arena_new(1 << 16);
    struct grid *grid = make_grid(arena, lost, 2);
    struct experiment_expect e = {
        .metric = METRIC_JCT_MEAN, .policy = "short", .versus = "long",
        .low = -INFINITY, .high = -10, .percent = true, .confidence = 0.95
    };

    (void)state;
    assert_true(survivors_restricted(grid, 0));
    for (uint32_t s = 0; s < SEEDS; s++)
        grid_set(grid, 0, grid_policy(grid, "short"), s, METRIC_JCT_RESTRICTED, NAN);
    assert_false(survivors_restricted(grid, 0));
    struct check_list list = check_expects(arena, grid, &e, 1);
    assert_string_equal(list.item[0].reason, "not compared: it is over 736 of 810 and 810 of "
                                             "810 jobs");
    char *text = closing(grid);
    assert_non_null(strstr(text, "over the jobs that were done"));
    assert_null(strstr(text, "JCT to horizon: over all jobs"));
    free(text);
    arena_free(arena);
}

/* Three policies over seeds 0 and 1, of which seed 1 costs much more.  "short" failed there,
 * so its mean of 10 is the least one, although it is dearer than "third" in seed 0; and it did
 * the most jobs. */
static struct grid *grid_without_a_seed(struct arena *arena)
{
    static const double cost[3][SEEDS] = { { 30, 90 }, { 10, NAN }, { 8, 40 } };
    static const struct row row[] = {
        { 405, 405, 900, 900, 4, 1000, 1000 }, { 405, 405, 900, 900, 4, 1000, 1000 },
        { 405, 405, 900, 900, 4, 1000, 1000 },
    };
    struct grid *grid = make_grid(arena, row, 3);

    for (uint32_t p = 0; p < 3; p++)
        for (uint32_t s = 0; s < SEEDS; s++) {
            grid_set(grid, 0, p, s, METRIC_COST, cost[p][s]);
            grid_set(grid, 0, p, s, METRIC_JOBS, 400 + s * 10 - 20 * (p == 1));
            grid_set(grid, 0, p, s, METRIC_JOBS_DONE, 400 + s * 10 - 20 * (p == 1));
        }
    for (int m = 0; m < METRIC_COUNT; m++)
        grid_set(grid, 0, 1, 1, (enum metric)m, NAN);
    grid_set(grid, 0, 2, 0, METRIC_WAIT_MEAN, NAN);
    grid->present[1 * SEEDS + 1] = false;
    grid->failed[1] = 1;
    return grid;
}

static void a_mean_over_fewer_seeds_is_marked_and_not_starred(void **state)
{
    struct arena *arena = arena_new(1 << 16);
    struct grid *grid = grid_without_a_seed(arena);
    struct survivors s = survivors_seeds(grid, 0, 1, METRIC_COST);
    char *text = closing(grid);
    const char *line = strstr(text, "\nshort") + 1;

    (void)state;
    assert_true(s.done == 1 && s.all == 2);
    assert_false(survivors_whole(grid, 0, 1, METRIC_COST));
    assert_true(survivors_whole(grid, 0, 0, METRIC_COST));
    s = survivors_seeds(grid, 0, 2, METRIC_COST);
    assert_true(s.done == 2 && s.all == 2);
    if (memchr(line, '*', strcspn(line, "\n")) != NULL ||
        strstr(line, "380 (1 of 2 seeds)         10 ") == NULL)
        fail_msg("%s", text);
    assert_non_null(strstr(strstr(text, "\nthird"), "5 s (1 of 2 seeds)\n"));
    /* The others are compared with each other: (8 + 40) / 2. */
    if (strstr(strstr(text, "\nthird"), "*24 \u00b1") == NULL)
        fail_msg("%s", text);
    assert_non_null(strstr(text, "short has no result in 1 of 2 seeds: its means are over fewer "
                                 "jobs than those of other policies, and none is called the best"));
    free(text);
    arena_free(arena);
}

/* Of two seeds one has no trial at all, so that the means are over the other one. */
static void seeds_of_which_all_trials_failed_are_not_counted(void **state)
{
    struct arena *arena = arena_new(1 << 16);
    struct grid *grid = make_grid(arena, whole, 2);
    char seeds[SURVIVORS_BYTES], *text;

    (void)state;
    survivors_run_text(grid, 0, 1, seeds);
    assert_string_equal(seeds, "2");
    grid->present[0 * SEEDS + 1] = false;
    survivors_run_text(grid, 0, 1, seeds);
    assert_string_equal(seeds, "2");            /* the other policy has it */
    grid->present[1 * SEEDS + 1] = false;
    text = closing(grid);
    assert_int_equal(strncmp(text, "t, 1 of 2 seeds\n", 16), 0);
    free(text);
    arena_free(arena);
}

/* The row of a metric of "short" in compare.csv. */
static char *compared(const struct row *row, const char *metric)
{
    struct arena *arena = arena_new(1 << 16);
    struct table *table = table_new(csv_compare.columns, csv_compare.count);
    char want[80], *out;
    size_t bytes;

    compare_rows(arena, make_grid(arena, row, 2), 0, table);
    const char *rows = table_bytes(table, &bytes);
    snprintf(want, sizeof want, "base,short,%s,", metric);
    rows = strstr(rows, want);
    assert_non_null(rows);
    out = strndup(rows, strcspn(rows, "\n"));
    table_free(table);
    arena_free(arena);
    return out;
}

static void a_mean_over_the_rest_has_no_difference(void **state)
{
    char *row = compared(lost, "jct_mean_s");

    (void)state;
    if (strstr(row, ",long,,,,,736 of 810,") == NULL)
        fail_msg("%s", row);
    free(row);
    row = compared(lost, "jct_restricted_mean_s");
    assert_non_null(strstr(row, ",long,-11.1"));
    free(row);
    row = compared(lost, "service_latency_p99_s");
    if (strstr(row, ",long,,,,,1980 of 2000,") == NULL)
        fail_msg("%s", row);
    free(row);
    row = compared(lost, "gpu_utilization");
    assert_non_null(strstr(row, ",long,0,"));
    free(row);
    row = compared(whole, "jct_mean_s");
    assert_non_null(strstr(row, ",long,-66.6"));
    assert_non_null(strstr(row, ",,,0,"));      /* none was lost */
    free(row);
}

static struct check_item judge(struct arena *arena, const struct row *row,
                               enum metric metric, const char *versus,
                               double high)
{
    struct experiment_expect *e = arena_alloc(arena, 1, sizeof *e);

    *e = (struct experiment_expect) {
        .metric = metric, .policy = "short", .versus = versus,
        .low = -INFINITY, .high = high, .percent = versus != NULL,
        .confidence = 0.95
    };
    struct check_list list = check_expects(arena, make_grid(arena, row, 2), e,
                                           1);
    assert_int_equal(list.count, 1);
    return list.item[0];
}

static void a_verdict_says_what_it_is_over(void **state)
{
    struct arena *arena = arena_new(1 << 16);
    struct check_item item;

    (void)state;
    item = judge(arena, lost, METRIC_JCT_MEAN, "long", -10);
    assert_int_equal(item.verdict, CHECK_UNDECIDED);
    assert_non_null(strstr(item.reason, "736 of 810 and 810 of 810 jobs"));
    assert_non_null(strstr(item.reason, "jct_restricted_mean_s"));
    item = judge(arena, lost, METRIC_JCT_MEAN, NULL, 1000);
    assert_int_equal(item.verdict, CHECK_HOLDS);
    assert_non_null(strstr(item.reason, "over 736 of 810 jobs alone"));
    item = judge(arena, lost, METRIC_JCT_RESTRICTED, "long", -10);
    assert_int_equal(item.verdict, CHECK_HOLDS);
    assert_null(strstr(item.reason, " of 810"));
    item = judge(arena, lost, METRIC_SERVICE_LATENCY, "long", -10);
    assert_int_equal(item.verdict, CHECK_UNDECIDED);
    assert_non_null(strstr(item.reason, "1980 of 2000 and 2000 of 2000 "
                                        "requests"));
    item = judge(arena, whole, METRIC_JCT_MEAN, "long", -10);
    assert_int_equal(item.verdict, CHECK_HOLDS);
    assert_null(strstr(item.reason, " of 810"));
    arena_free(arena);
}

static void two_folders_are_not_compared_by_the_rest(void **state)
{
    struct arena *arena = arena_new(1 << 16);
    char *text = NULL, *line;
    size_t bytes;
    FILE *file = open_memstream(&text, &bytes);

    (void)state;
    compare_print(file, make_grid(arena, whole, 2),
                  make_grid(arena, lost, 2));
    fclose(file);
    line = strstr(text, "jct_restricted_mean_s");
    assert_non_null(line);
    assert_non_null(strstr(text, "jobs_done"));
    /* 300 of all against 800 to the horizon. */
    assert_non_null(strchr(line, '%'));
    file = open_memstream(&line, &bytes);
    struct row less[2];
    memcpy(less, lost, sizeof less);
    less[1].jct = 200;
    compare_print(file, make_grid(arena, lost, 2), make_grid(arena, less, 2));
    fclose(file);
    if (strstr(line, "736 of 810 and 736 of 810: not compared") == NULL ||
        strchr(strstr(line, "jct_mean_s"), '%') != NULL)
        fail_msg("%s", line);
    free(line);
    free(text);
    arena_free(arena);
}

/* ---- as users see it -------------------------------------------------------- */

static void has(const struct program *program, const char *name,
                const char *words)
{
    char *text = program_result(program, "out", name);

    assert_non_null(text);
    if (strstr(text, words) == NULL)
        fail_msg("%s does not say: %s", name, words);
    free(text);
}

static void every_table_of_a_run_says_so(void **state)
{
    const struct program *program = *state;
    char jobs[128], yaml[128], out[128], log[128];
    FILE *file;

    snprintf(jobs, sizeof jobs, "%s/jobs.csv", program->folder);
    snprintf(yaml, sizeof yaml, "%s/e.yaml", program->folder);
    snprintf(out, sizeof out, "%s/out", program->folder);
    snprintf(log, sizeof log, "%s/log", program->folder);
    file = fopen(jobs, "w");
    fputs("job,submit,duration,gpus,tenant\n0,0,3600,8,\n1,100,7200,8,\n"
          "2,200,100000,8,\n3,300,10,8,\n", file);
    fclose(file);
    file = fopen(yaml, "w");
    fputs("experiment: t\nuntil: 60000s\ncluster: {nodes: [" OWNED "]}\n"
          WORLD_TRACE "policies: [fcfs, sjf]\nexpect:\n"
          "  - {metric: jct_mean_s, policy: sjf, vs: fcfs, at_most: 0%}\n"
          "  - {metric: jct_restricted_mean_s, policy: sjf, vs: fcfs, at_most: "
          "0%}\n", file);
    fclose(file);
    const char *run[] = { program->path, yaml, "-o", out, NULL };
    assert_int_equal(program_spawn(run, log), 0);
    has(program, "../log", "(2 of 4)");
    has(program, "../log", "(3 of 4)");
    has(program, "compare.csv", "jct_mean_s,1,5873.33333,,,fcfs,,,,,3 of 4,"
                                "2 of 4");
    has(program, "checks.csv", "undecided,not compared: it is over 3 of 4 and "
                               "2 of 4 jobs");
    has(program, "report.html", "<small>3 of 4</small>");
    has(program, "report.html", "JCT mean to the horizon");
    const char *check[] = { program->path, "check", out, NULL };
    assert_int_equal(program_spawn(check, log), 1);
    has(program, "../log", "1 of 2 checks hold");
}

int main(int argc, char **argv)
{
    struct program program;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(every_table_of_a_run_says_so, &program),
        cmocka_unit_test(a_restricted_mean_is_over_all_jobs),
        cmocka_unit_test(where_nothing_is_lost_it_is_the_mean),
        cmocka_unit_test(dropped_jobs_are_lost_too),
        cmocka_unit_test(requests_that_are_late_at_the_end_are_lost),
        cmocka_unit_test(the_closing_table_marks_and_does_not_star),
        cmocka_unit_test(a_mean_over_fewer_seeds_is_marked_and_not_starred),
        cmocka_unit_test(seeds_of_which_all_trials_failed_are_not_counted),
        cmocka_unit_test(an_empty_column_is_recommended_to_nobody),
        cmocka_unit_test(a_mean_over_the_rest_has_no_difference),
        cmocka_unit_test(a_verdict_says_what_it_is_over),
        cmocka_unit_test(two_folders_are_not_compared_by_the_rest),
    };
    (void)argc;
    program_open(&program, argv[0]);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    program_close(&program);
    return failed;
}
