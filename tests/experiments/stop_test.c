/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stop_test.c - `seeds: {until: ...}` from the file to the folder.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/aid/program.h"

const char *program_argv0;

#define EXPERIMENT(seeds, duration) \
    "experiment: stop\nseeds: " seeds "\n" \
    "cluster: {nodes: [{name: n, count: 2, gpus: {type: generic, count: 8}}]}\n" \
    "workload:\n  arrival: {process: poisson, rate: 4/h}\n  jobs: 30\n" \
    "  mix: [{recipe: trace, gpus: 4, duration: " duration "}]\n" \
    "policies: [fcfs, {policy: random, name: other}]\n" \
    "output: {tables: [compare]}\n"
#define DRAWN "{exponential: {mean: 1h}}"
#define EXPECT(limit) "expect:\n  - {metric: jct_mean_s, policy: fcfs, " \
    "at_most: " limit "}\n"

static void folder_says(const struct program *program, const char *name,
                        const char *file, const char *part)
{
    char *text = program_result(program, name, file);

    assert_non_null(text);
    if (strstr(text, part) == NULL)
        fail_msg("%s/%s: no '%s' in: %s", name, file, part, text);
    free(text);
}

static void assert_same(const struct program *program, const char *a,
                        const char *b)
{
    static const char *const file[] = { "summary.csv", "compare.csv",
                                        "seeds.csv" };

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

static uint32_t rows(const struct program *program, const char *name)
{
    char *text = program_result(program, name, "summary.csv");
    uint32_t count = 0;

    assert_non_null(text);
    for (const char *c = text; *c != '\0'; c++)
        count += *c == '\n';
    free(text);
    return count - 1;
}

/* 40: looks at 8, 12, 18, 27 and 40. */
static void runs_until_wide_enough_whatever_the_threads(void **state)
{
    const struct program *program = *state;
    const char *file = program_write(program, "e.yaml", EXPERIMENT(
        "{until: \u00b118%, at_most: 40, of: [jct_mean_s]}", DRAWN));
    static const char *const one[] = { "-j", "1", NULL };
    static const char *const three[] = { "-j", "3", NULL };

    assert_int_equal(program_experiment(program, file, "a", one), 0);
    assert_int_equal(program_experiment(program, file, "b", three), 0);
    assert_same(program, "a", "b");
    folder_says(program, "a", "seeds.csv", ",1,");
    folder_says(program, "a", "seeds.csv",
                "all differences to fcfs are known to \u00b118%");
    folder_says(program, "a", "provenance.json", "\"seeds_at_most\": 40");
    uint32_t n = rows(program, "a") / 2;
    if (n != 8 && n != 12 && n != 18 && n != 27)
        fail_msg("%u seeds", n);
}

/* Nothing has a price, so the cost is 0, and no width is a part of it. */
static void a_mean_of_zero_is_told_as_left_out(void **state)
{
    const struct program *program = *state;
    const char *file = program_write(program, "e.yaml", EXPERIMENT(
        "{until: \u00b118%, at_most: 9}", DRAWN));

    assert_int_equal(program_experiment(program, file, "a", NULL), 0);
    folder_says(program, "a", "seeds.csv",
                "; left out: 1 without a mean over all jobs, or with one of 0");
}

/* The number that a rule comes to, given as a number, has the same trials. */
static void seeds_on_the_command_line_are_a_number(void **state)
{
    const struct program *program = *state;
    const char *file = program_write(program, "e.yaml", EXPERIMENT(
        "{until: \u00b11%, at_most: 9, of: [jct_mean_s]}", DRAWN));
    static const char *const five[] = { "--seeds", "5", NULL };
    static const char *const most[] = { "--seeds", "9", NULL };
    char *text;

    assert_int_equal(program_experiment(program, file, "a", NULL), 0);
    assert_int_equal(rows(program, "a"), 18);
    folder_says(program, "a", "seeds.csv", ",9,9,0,");
    folder_says(program, "a", "seeds.csv", "stopped at the most, 9 seeds: not "
                "all differences to fcfs are known");
    assert_int_equal(program_experiment(program, file, "b", five), 0);
    assert_int_equal(rows(program, "b"), 10);
    text = program_result(program, "b", "seeds.csv");
    assert_null(text);
    assert_int_equal(program_experiment(program, file, "c", most), 0);
    assert_int_equal(rows(program, "c"), 18);
    text = program_result(program, "c", "seeds.csv");
    assert_null(text);
}

static void a_shard_needs_a_number(void **state)
{
    const struct program *program = *state;
    const char *file = program_write(program, "e.yaml", EXPERIMENT(
        "{until: \u00b118%, at_most: 40, of: [jct_mean_s]}", DRAWN));
    const char *out = program_path(program, "o");
    const char *const rule[] = { "run", file, "-o", out, "--shard", "1/2", NULL };
    static const char *const number[] = { "--shard", "1/2", "--seeds", "20",
                                          NULL };
    static const char *const resume[] = { "--resume", NULL };
    char *said;

    assert_int_equal(program_say(program, rule, &said), 2);
    assert_non_null(strstr(said, "--shard needs a number of seeds"));
    free(said);
    /* What a shard of a number left is taken up. */
    assert_int_equal(program_experiment(program, file, "plain", NULL), 0);
    assert_int_equal(program_experiment(program, file, "o", number), 0);
    assert_int_equal(program_experiment(program, file, "o", resume), 0);
    assert_same(program, "plain", "o");
}

/* fcfs takes about 1.1 h: 10 h is decided at the first look (18 of 60); the mean
 * itself, from the first run, never. */
static void runs_until_decided_or_says_that_it_is_not(void **state)
{
    const struct program *program = *state;
    const char *file = program_write(program, "e.yaml", EXPERIMENT(
        "{until: decided, at_most: 60}", DRAWN) EXPECT("10h"));
    const char *const check[] = { "check", program_path(program, "a"), NULL };
    char mean[40], limit[80], *text, *said;

    assert_int_equal(program_experiment(program, file, "a", NULL), 0);
    assert_int_equal(rows(program, "a"), 36);
    folder_says(program, "a", "seeds.csv", "decided,60,18,1,");
    assert_int_equal(program_say(program, check, &said), 0);
    assert_non_null(strstr(said, "stopped at 18 of at most 60 seeds"));
    free(said);
    text = program_result(program, "a", "compare.csv");
    assert_true(csv_cell(text, "fcfs", "jct_mean_s", "mean", mean, sizeof mean));
    free(text);
    snprintf(limit, sizeof limit, "expect.0.at_most=%s", mean);
    const char *const more[] = { "--set", limit, "--set", "seeds.at_most=18",
                                 NULL };
    assert_int_equal(program_experiment(program, file, "b", more), 0);
    folder_says(program, "b", "seeds.csv", "18,18,0,");
    folder_says(program, "b", "checks.csv", "undecided");
    /* Nothing has a price: no policy is the cheapest. */
    folder_says(program, "b", "report.html", "</td><td>-</td></tr>");
    folder_says(program, "b", "report.html",
                "undecided: the interval lies on both sides of what is expected");
    const char *const again[] = { "check", program_path(program, "b"), NULL };
    assert_int_equal(program_say(program, again, &said), 1);
    assert_non_null(strstr(said, "1 of 1 expectations are undecided"));
    free(said);
}

/* A border runs points by themselves, and a fork one policy: neither has the expectations
 * that a rule needs.  Both take the most seeds, 3. */
static void border_and_fork_take_the_most_seeds(void **state)
{
    const struct program *program = *state;
    char file[192], *said;

    snprintf(file, sizeof file, "%s", program_write(program, "e.yaml", EXPERIMENT(
        "{until: decided, at_most: 3}", DRAWN)
        "expect:\n  - {claim: C, metric: jct_mean_s, policy: fcfs, at_most: 90min}\n"
        "border: [{claim: C, key: workload.arrival.rate, from: 1/h, to: 40/h}]\n"));
    const char *const border[] = { "border", file, "-o", program_path(program, "b"), NULL };

    assert_int_equal(program_say(program, border, &said), 0);
    assert_non_null(strstr(said, "(3 seeds, "));
    free(said);
    const char *const fork[] = { "fork", file, "--only", "fcfs", "--at", "1h", "--set",
                                 "policy=sjf", "-o", program_path(program, "f"), NULL };
    assert_int_equal(program_say(program, fork, &said), 0);
    assert_non_null(strstr(said, "stop, 3 seeds"));
    free(said);
}

/* The interval of a verdict is wider than that of so many seeds alone. */
static void looking_often_costs_width(void **state)
{
    const struct program *program = *state;
    const char *file = program_write(program, "e.yaml", EXPERIMENT(
        "{until: decided, at_most: 60}", DRAWN) EXPECT("10h"));
    static const char *const number[] = { "--seeds", "18", NULL };
    double high[2];

    for (int i = 0; i < 2; i++) {
        char cell[40], *text;

        assert_int_equal(program_experiment(program, file, i ? "n" : "r",
                                            i ? number : NULL), 0);
        text = program_result(program, i ? "n" : "r", "compare.csv");
        assert_true(csv_cell(text, "fcfs", "jct_mean_s", "ci95_high", cell,
                             sizeof cell));
        free(text);
        high[i] = strtod(cell, NULL);
    }
    assert_true(high[0] > 1.0001 * high[1]);
}

static void what_draws_nothing_is_run_once(void **state)
{
    const struct program *program = *state;
    const char *file = program_write(
        program, "e.yaml",
        "experiment: stop\nseeds: {until: \u00b12%, at_most: 40}\n"
        "cluster: {nodes: [{name: n, count: 2, gpus: {type: generic, count: 8}}]}\n"
        "workload: {trace: {file: t.csv, format: csv, columns: {job: j, submit: "
        "s, duration: d, gpus: g}}}\n"
        "policies: [fcfs, sjf]\noutput: {tables: [compare]}\n");

    (void)program_write(program, "t.csv", "j,s,d,g\na,0,60,16\nb,0,600,16\n"
                        "c,0,60,8\n");
    assert_int_equal(program_experiment(program, file, "a", NULL), 0);
    assert_int_equal(rows(program, "a"), 2);
    folder_says(program, "a", "seeds.csv", ",40,8,1,");
    folder_says(program, "a", "seeds.csv", "none of the differences to fcfs "
                "has an interval: nothing is drawn");
}

/* Jobs of a trace, of which one policy draws the order: its difference to fcfs, of which all
 * seeds are one, has an interval, whichever of the two is the baseline. */
static void one_side_that_draws_is_known_by_its_seeds(void **state)
{
    static const char *const base[] = { "fcfs", "random" };
    const struct program *program = *state;

    (void)program_write(program, "t.csv", "j,s,d,g\na,0,60,16\nb,0,600,16\nc,0,6000,16\n");
    for (int i = 0; i < 2; i++) {
        char text[1000], said[80];

        snprintf(text, sizeof text,
                 "experiment: stop\nseeds: {until: \u00b12%%, at_most: 8, of: [jct_mean_s]}\n"
                 "cluster: {nodes: [{name: n, count: 2, gpus: {type: generic, count: 8}}]}\n"
                 "workload: {trace: {file: t.csv, format: csv, columns: {job: j, submit: s, "
                 "duration: d, gpus: g}}}\n"
                 "policies: [fcfs, random]\nbaseline: %s\noutput: {tables: [compare]}\n",
                 base[i]);
        snprintf(said, sizeof said, "differences to %s are known to", base[i]);
        assert_int_equal(program_experiment(program, program_write(program, "e.yaml", text),
                                            base[i], NULL), 0);
        folder_says(program, base[i], "seeds.csv", said);
        snprintf(said, sizeof said, "the least known, jct_mean_s of %s, to", base[1 - i]);
        folder_says(program, base[i], "seeds.csv", said);
    }
}

/* Thirty jobs at 4 an hour take some 7.5 h to come, so that many are not done at 3 h: no
 * mean is over all of them, none has an interval, and no seeds would help. */
static void where_nothing_has_an_interval_nothing_is_reached(void **state)
{
    const struct program *program = *state;
    const char *file = program_write(program, "e.yaml", EXPERIMENT(
        "{until: \u00b11%, at_most: 40, of: [jct_mean_s]}", "1h") "until: 3h\n");
    static const char *const decided[] = {
        "--set", "seeds={until: decided, at_most: 40}", "--set",
        "expect=[{metric: jct_mean_s, policy: other, vs: fcfs, at_most: 0%}]", NULL
    };

    assert_int_equal(program_experiment(program, file, "a", NULL), 0);
    folder_says(program, "a", "seeds.csv", ",40,8,0,\"stopped at 8 of at most 40 seeds: none "
                "of the differences to fcfs has an interval: 1 without a mean over all jobs");
    assert_int_equal(program_experiment(program, file, "b", decided), 0);
    folder_says(program, "b", "seeds.csv", "decided,40,18,0,\"stopped at 18 of at most 40 "
                "seeds: 1 of 1 expectations are undecided, and no seeds can decide them\"");
}

/* A trial fails that has more events than the first look's fewest. */
static void a_failed_trial_ends_it(void **state)
{
    const struct program *program = *state;
    const char *file = program_write(program, "e.yaml", EXPERIMENT(
        "{until: \u00b11%, at_most: 40, of: [jct_mean_s]}", DRAWN)
        "event_count_max: 20\n");
    const char *out = program_path(program, "a");
    const char *const words[] = { "run", file, "-q", "-o", out, NULL };
    char *said;

    assert_int_equal(program_say(program, words, &said), 5);
    free(said);
    folder_says(program, "a", "seeds.csv", "40,8,0,stopped at 8 of at most 40 "
                "seeds: 16 trials failed");
}

static void validate_says_the_most_trials(void **state)
{
    const struct program *program = *state;
    const char *file = program_write(program, "e.yaml", EXPERIMENT(
        "{until: \u00b11%, at_most: 40}", DRAWN));
    const char *const words[] = { "validate", file, NULL };
    char *said;

    assert_int_equal(program_say(program, words, &said), 0);
    assert_non_null(strstr(said, "at most 40 seeds = 80 trials at most"));
    free(said);
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, program_setup, \
                                                   program_teardown)
    const struct CMUnitTest tests[] = {
        TEST(runs_until_wide_enough_whatever_the_threads),
        TEST(a_mean_of_zero_is_told_as_left_out),
        TEST(seeds_on_the_command_line_are_a_number),
        TEST(a_shard_needs_a_number),
        TEST(runs_until_decided_or_says_that_it_is_not),
        TEST(border_and_fork_take_the_most_seeds),
        TEST(looking_often_costs_width),
        TEST(what_draws_nothing_is_run_once),
        TEST(one_side_that_draws_is_known_by_its_seeds),
        TEST(where_nothing_has_an_interval_nothing_is_reached),
        TEST(a_failed_trial_ends_it),
        TEST(validate_says_the_most_trials),
    };

    (void)argc;
    program_argv0 = argv[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
