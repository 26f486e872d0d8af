/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sensitivity_test.c - `clustersim sensitivity`: effects and indices where the answer
 * is known, turns that `check` confirms, and what cannot be known is told.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "experiments/cli/cli.h"
#include "experiments/spec/inputs.h"
#include "tests/aid/scratch.h"
#include "tests/aid/search_aid.h"

#define CLAIM \
    "expect:\n" \
    "  - {claim: C1, metric: jct_mean_s, policy: sjf, vs: fcfs, at_most: -20%}\n"
#define QUICK "  trajectories: 2\n  sobol: {inputs: 0}\n  points: 1\n"

/* The number of jobs is that of the key, whatever the other inputs are. */
static void effect_of_a_known_output_is_its_range(void **state)
{
    struct search_world *w = *state;
    search_cells input, effect, spread, first, total, rank, from, to, base, turns;

    search_write(w, "sensitivity:\n"
                 "  metric: jobs\n"
                 "  policy: fcfs\n"
                 "  inputs:\n"
                 "    workload.arrival.rate: {from: 10/h, to: 30/h}\n"
                 "    workload.jobs: {from: 20, to: 110, why: a guess}\n"
                 "    cluster.nodes.gpu.price: {from: 1USD/h, to: 2USD/h}\n"
                 "  trajectories: 4\n"
                 "  sobol: {inputs: 3, samples: 256}\n");
    assert_int_equal(search_command(w, "sensitivity", "out", NULL, "2"), 0);
    search_column(w, "out/sensitivity.csv", "input", input);
    search_column(w, "out/sensitivity.csv", "effect", effect);
    search_column(w, "out/sensitivity.csv", "spread", spread);
    search_column(w, "out/sensitivity.csv", "sobol_first", first);
    search_column(w, "out/sensitivity.csv", "sobol_total", total);
    search_column(w, "out/sensitivity.csv", "rank", rank);
    search_column(w, "out/sensitivity.csv", "value_from", from);
    search_column(w, "out/sensitivity.csv", "value_to", to);
    search_column(w, "out/sensitivity.csv", "base", base);
    search_column(w, "out/sensitivity.csv", "turns", turns);
    assert_string_equal(input[0], "workload.jobs");
    assert_string_equal(input[1], "workload.arrival.rate");
    assert_string_equal(effect[0], "90");
    assert_true(atof(spread[0]) < 1e-9);
    assert_string_equal(effect[1], "0");
    assert_string_equal(rank[0], "1");
    assert_true(fabs(atof(first[0]) - 1) < 0.05);
    assert_true(fabs(atof(total[0]) - 1) < 0.05);
    assert_string_equal(first[1], "");          /* nothing to share */
    assert_string_equal(from[0], "20");
    assert_string_equal(to[0], "110");
    assert_string_equal(from[1], "100");
    assert_string_equal(base[0], "100");
    assert_string_equal(base[1], "20/h");
    assert_string_equal(base[2], "");
    assert_string_equal(turns[0], "");          /* there is no limit to turn at */
    assert_non_null(strstr(w->said, "jobs of fcfs: 100 at base"));
}

/* The number of jobs is 20 or 40, 50 or 51, and 10, 40 or 100 at the places 0, 1/2 and 1.
 * So 20 and 1 are what crossing the range moves, and of three words a step from 10 to 100
 * moves 90 over 1, and one from 40 to 100 moves 60 over 1/2: from 90 to 120. */
static void effect_of_few_values_is_that_of_the_steps_between_them(void **state)
{
    static const struct { const char *values; double least, most; } known[] = {
        { "[20, 40]", 20, 20 },
        { "{from: 50, to: 51}", 1, 1 },
        { "[10, 40, 100]", 90.1, 119.9 },
    };
    struct search_world *w = *state;
    search_cells effect;

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        char keys[300];

        snprintf(keys, sizeof keys, "sensitivity:\n  metric: jobs\n  policy: fcfs\n"
                 "  inputs: {workload.jobs: %s}\n  trajectories: 8\n"
                 "  sobol: {inputs: 0}\n", known[i].values);
        search_write(w, keys);
        assert_int_equal(search_command(w, "sensitivity", "out", NULL, "2"), 0);
        search_column(w, "out/sensitivity.csv", "effect", effect);
        assert_true(atof(effect[0]) >= known[i].least - 1e-9);
        assert_true(atof(effect[0]) <= known[i].most + 1e-9);
    }
}

/* The values are those of the base, of each trajectory one more than there are inputs, of the
 * words alone, and of each sample two more than there are inputs of Sobol; each has 12 seeds, and
 * two sides where policies are compared: (1 + 8 x 2 + 3) x 12, and
 * (1 + 2 x 3 + 4 + 16 x 3) x 12 x 3. */
static void a_ranking_tells_how_many_trials_it_takes_at_most(void **state)
{
    struct search_world *w = *state;

    search_write(w, "sensitivity:\n  metric: jobs\n  policy: fcfs\n"
                 "  inputs: {workload.jobs: [10, 40, 100]}\n  trajectories: 8\n"
                 "  sobol: {inputs: 0}\n");
    assert_int_equal(search_command(w, "sensitivity", "out", NULL, "2"), 0);
    assert_non_null(strstr(w->said, "1 input: at most 240 trials\n"));
    search_write(w, CLAIM "  - {claim: C1, metric: jct_mean_s, policy: sjf, at_most: 10h}\n"
                 "sensitivity:\n  claim: C1\n  inputs: {workload.jobs: [10, 20], "
                 "workload.arrival.rate: [10/h, 30/h]}\n  trajectories: 2\n"
                 "  sobol: {inputs: 1, samples: 16}\n");
    (void)search_command(w, "sensitivity", "out", NULL, "2");
    if (strstr(w->said, "2 inputs: at most 2124 trials\n") == NULL)
        fail_msg("%s", w->said);
}

/* Of thirty places of a Latin hypercube one lies in each thirtieth of the range: ten are of
 * each of three whole numbers, 1 to 3. */
static void whole_numbers_are_drawn_alike(void **state)
{
    struct search_world *w = *state;
    struct input jobs = { .range = { .from_text = "1", .to_text = "3", .from = 1, .to = 3,
                                     .unit = "", .whole = true } };
    unsigned seen[3] = { 0 };

    for (int i = 0; i < 30; i++) {
        double u = (i + 0.5) / 30;
        int value = atoi(input_draw(w->arena, &jobs, &u));

        assert_in_range(value, 1, 3);
        assert_true(u == (value - 1) / 2.0);
        seen[value - 1]++;
    }
    for (int k = 0; k < 3; k++)
        assert_int_equal(seen[k], 10);
}

static void turn_is_what_check_says(void **state)
{
    struct search_world *w = *state;
    search_cells input, turns, at, sentence;

    search_write(w, CLAIM
                 "sensitivity:\n"
                 "  claim: C1\n"
                 "  inputs:\n"
                 "    workload.arrival.rate: {from: 2/h, to: 30/h}\n"
                 "    workload.mix.0.gpus: [2, 4, 8]\n"
                 "    cluster.nodes.gpu.price: {from: 1USD/h, to: 2USD/h}\n"
                 QUICK);
    assert_int_equal(search_command(w, "sensitivity", "out", NULL, "2"), 0);
    search_column(w, "out/sensitivity.csv", "input", input);
    search_column(w, "out/sensitivity.csv", "turns", turns);
    search_column(w, "out/sensitivity.csv", "turns_at", at);
    search_column(w, "out/sensitivity.csv", "sentence", sentence);
    for (int i = 0; i < 3; i++) {
        bool price = strstr(input[i], "price") != NULL;

        assert_string_equal(turns[i], price ? "no" : "yes");
        if (strstr(input[i], "gpus") != NULL)
            assert_string_equal(at[i], "2");
        if (strstr(input[i], "rate") != NULL)
            assert_in_range(atof(at[i]), 10, 19);
    }
    search_assert_verdict(w, "C1", "workload.arrival.rate", "20/h", "holds");
    assert_non_null(strstr(sentence[0], "C1 holds, and turns if "));
    assert_non_null(strstr(sentence[0], "arrival.rate falls below "));
    assert_non_null(strstr(sentence[0], "mix.0.gpus is 2"));
    assert_non_null(strstr(sentence[0], "; no other input turns it within its range"));
    search_assert_verdict(w, "C1", "workload.mix.0.gpus", "2", "does not hold");
}

/* Undecided counts as another verdict: the value is that of the first such one. */
static void verdict_at_the_turn_is_not_that_of_the_base(void **state)
{
    struct search_world *w = *state;
    search_cells at, clause;
    char set[500];

    search_write(w, CLAIM
                 "sensitivity:\n"
                 "  claim: C1\n"
                 "  inputs: {workload.arrival.rate: {from: 2/h, to: 30/h}}\n"
                 QUICK);
    assert_int_equal(search_command(w, "sensitivity", "out", NULL, "2"), 0);
    search_column(w, "out/sensitivity.csv", "turns_at", at);
    search_column(w, "out/sensitivity.csv", "sentence", clause);
    const char *below = strstr(clause[0], "falls below ");
    assert_non_null(below);
    snprintf(set, sizeof set, "%.*s", (int)strcspn(below + 12, ";"), below + 12);
    search_assert_verdict(w, "C1", "workload.arrival.rate", set, "holds");
    assert_true(atof(at[0]) < atof(set));
    snprintf(set, sizeof set, "workload.arrival.rate=%s", at[0]);
    assert_int_equal(search_command(w, "check", "check", set, "2"), 1);
}

/* At 20/h it is undecided.  It does not hold where jobs come seldom, and holds where they come
 * often: both turns are told, and `check` confirms the values that were tried. */
static void an_undecided_verdict_turns_on_both_sides(void **state)
{
    struct search_world *w = *state;
    search_cells at, sentence;
    char low[40], high[40];

    search_write(w, "expect:\n  - {claim: C1, metric: jct_mean_s, policy: sjf, vs: fcfs, "
                 "at_most: -45%}\n"
                 "sensitivity:\n"
                 "  claim: C1\n"
                 "  inputs: {workload.arrival.rate: {from: 2/h, to: 90/h}}\n"
                 QUICK);
    assert_int_equal(search_command(w, "sensitivity", "out", NULL, "2"), 0);
    search_column(w, "out/sensitivity.csv", "turns_at", at);
    search_column(w, "out/sensitivity.csv", "sentence", sentence);
    search_assert_verdict(w, "C1", "workload.arrival.rate", "20/h", "undecided");
    if (sscanf(at[0], "%39s or %39s", low, high) != 2)
        fail_msg("turns at %s; %s", at[0], sentence[0]);
    assert_true(atof(low) < 20 && atof(high) > 20);
    search_assert_verdict(w, "C1", "workload.arrival.rate", low, "does not hold");
    search_assert_verdict(w, "C1", "workload.arrival.rate", high, "holds");
    assert_non_null(strstr(sentence[0], "C1 is undecided, and turns if arrival.rate falls below "));
    assert_non_null(strstr(sentence[0], "/h or rises above "));
}

static void failed_trials_leave_an_input_unknown(void **state)
{
    struct search_world *w = *state;
    search_cells effect, total, why, turns;

    search_write(w, CLAIM
                 "event_count_max: 1000\n"
                 "sensitivity:\n"
                 "  claim: C1\n"
                 "  inputs:\n"
                 "    workload.jobs: {from: 50, to: 5000}\n"
                 "    workload.mix.0.gpus: [4, 8]\n"
                 "  trajectories: 2\n"
                 "  sobol: {inputs: 2, samples: 8}\n");
    assert_int_equal(search_command(w, "sensitivity", "out", NULL, "2"), 5);
    search_column(w, "out/sensitivity.csv", "effect", effect);
    search_column(w, "out/sensitivity.csv", "sobol_total", total);
    search_column(w, "out/sensitivity.csv", "why", why);
    search_column(w, "out/sensitivity.csv", "turns", turns);
    assert_string_equal(effect[1], "");
    assert_string_equal(total[0], "");
    assert_non_null(strstr(w->said, "event limit"));
    for (int i = 0; i < 2; i++)
        if (strcmp(turns[i], "not known") == 0)
            assert_non_null(strstr(why[i], "failed: event limit"));
    assert_non_null(strstr(w->said, "of 1 input it is not known"));
}

/* What the table says of all of its rows. */
static void assert_unknown(struct search_world *w, const char *reason)
{
    search_cells turns, why;

    search_column(w, "out/sensitivity.csv", "turns", turns);
    search_column(w, "out/sensitivity.csv", "why", why);
    for (int i = 0; i < 2; i++) {
        assert_string_equal(turns[i], "not known");
        assert_non_null(strstr(why[i], reason));
    }
}

/* The 100 jobs of the base are too many for the event limit, and those of both inputs are not.
 * The claim has no verdict at base, so nothing can be said to turn it. */
static void without_a_verdict_at_base_nothing_turns(void **state)
{
    struct search_world *w = *state;

    search_write(w, CLAIM
                 "event_count_max: 250\n"
                 "sensitivity:\n"
                 "  claim: C1\n"
                 "  inputs:\n"
                 "    workload.jobs: [20, 30]\n"
                 "    workload.mix.0.gpus: [4, 8]\n"
                 QUICK);
    assert_int_equal(search_command(w, "sensitivity", "out", NULL, "2"), 5);
    assert_unknown(w, "at base: seed 0 of sjf failed: event limit");
    assert_non_null(strstr(w->said, "C1 failed trial; of 2 inputs it is not known"));
}

/* Of the seeds one is run, so that nothing is judged anywhere. */
static void what_is_not_judged_does_not_turn(void **state)
{
    struct search_world *w = *state;
    char file[256], dir[256];
    char *argv[] = { "clustersim", "sensitivity", file, "-o", dir, "-q", "--seeds", "1", NULL };

    search_write(w, CLAIM
                 "sensitivity:\n"
                 "  claim: C1\n"
                 "  inputs:\n"
                 "    workload.arrival.rate: {from: 10/h, to: 30/h}\n"
                 "    workload.mix.0.gpus: [4, 8]\n"
                 QUICK);
    snprintf(file, sizeof file, "%s", scratch_path(&w->scratch, "e.yaml"));
    snprintf(dir, sizeof dir, "%s", scratch_path(&w->scratch, "out"));
    assert_int_equal(cli_main(8, argv, stdout, stderr), 5);
    assert_unknown(w, "at base: 1 sample, and 2 are needed");
}

static void base_is_that_of_the_point(void **state)
{
    struct search_world *w = *state;
    search_cells base, point;

    search_write(w, "sweep: {workload.arrival.rate: [15/h, 25/h]}\n" CLAIM
                 "sensitivity:\n"
                 "  claim: C1\n"
                 "  point: arrival.rate=25/h\n"
                 "  inputs: {workload.arrival.rate: {from: 20/h, to: 30/h}}\n"
                 QUICK);
    assert_int_equal(search_command(w, "sensitivity", "out", NULL, "2"), 0);
    search_column(w, "out/sensitivity.csv", "base", base);
    search_column(w, "out/sensitivity.csv", "point", point);
    assert_string_equal(base[0], "25/h");
    assert_string_equal(point[0], "arrival.rate=25/h");
    assert_string_equal(point[1], "");
}

static void page_says(struct search_world *w, const char *text, bool says)
{
    char *page = scratch_read(&w->scratch, "out/report.html");

    assert_non_null(page);
    if ((strstr(page, text) != NULL) != says)
        fail_msg("the page %s: %s", says ? "does not say" : "says", text);
    free(page);
}

static void report_shows_what_would_turn_the_verdicts(void **state)
{
    struct search_world *w = *state;
    search_cells border, sentence;

    search_write(w, CLAIM
                 "output: {plots: []}\n"
                 "border:\n"
                 "  - {claim: C1, key: workload.arrival.rate, from: 2/h, to: 30/h}\n"
                 "sensitivity:\n"
                 "  claim: C1\n"
                 "  inputs: {workload.jobs: {from: 50, to: 120, why: <b>guess</b>}}\n"
                 QUICK);
    assert_int_equal(search_command(w, "run", "out", NULL, "2"), 0);
    page_says(w, "What would turn the verdicts", false);
    assert_int_equal(search_command(w, "border", "out", NULL, "2"), 0);
    search_column(w, "out/border.csv", "sentence", border);
    page_says(w, "<h3>What would turn the verdicts</h3>", true);
    page_says(w, border[0], true);
    page_says(w, "index alone", false);
    assert_int_equal(search_command(w, "sensitivity", "out", NULL, "2"), 0);
    search_column(w, "out/sensitivity.csv", "sentence", sentence);
    page_says(w, border[0], true);
    page_says(w, sentence[0], true);
    page_says(w, "index alone", true);
    page_says(w, "<td>50 to 120</td>", true);
    page_says(w, "&lt;b&gt;guess", true);
    page_says(w, "href=\"border.csv\"", true);
    assert_int_equal(search_command(w, "run", "out", NULL, "2"), 0);
    page_says(w, "What would turn the verdicts", false);
}

static void answers_do_not_depend_on_threads(void **state)
{
    struct search_world *w = *state;

    search_write(w, CLAIM
                 "sensitivity:\n"
                 "  claim: C1\n"
                 "  inputs:\n"
                 "    workload.arrival.rate: {from: 2/h, to: 30/h, log: true}\n"
                 "    workload.jobs: {from: 50, to: 120}\n"
                 "  trajectories: 2\n"
                 "  sobol: {inputs: 2, samples: 8}\n");
    search_assert_threads(w, "sensitivity", "sensitivity.csv");
}

/* Before any trial, and by `validate`: an unknown key at its place, else the value, at its. */
static void values_that_a_key_refuses_are_told_before_any_trial(void **state)
{
    static const char *const wrong[][2] = {
        { "workload.arrival.rate: {from: 1/km, to: 4/km}",
          ":14:35: schema error: workload.arrival.rate cannot be 1/km: " },
        { "workload.mix.0.gpus: [4, 0]",
          ":14:30: range error: workload.mix.0.gpus cannot be 0: " },
        { "workload.mix.0.gpsu: [4, 8]",
          ":14:5: schema error: workload.mix.0.gpsu cannot be 4: key 'gpsu' " },
    };
    struct search_world *w = *state;
    char text[1000];

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        snprintf(text, sizeof text, "%ssensitivity:\n  claim: C1\n  inputs:\n    %s\n", CLAIM,
                 wrong[i][0]);
        search_write(w, text);
        assert_int_equal(search_command(w, "sensitivity", "out", NULL, "2"), 3);
        if (strstr(w->said, wrong[i][1]) == NULL)
            fail_msg("wanted '%s', got '%s'", wrong[i][1], w->said);
        assert_int_equal(search_validate(w), 3);
        if (strstr(w->said, wrong[i][1]) == NULL)
            fail_msg("validate: wanted '%s', got '%s'", wrong[i][1], w->said);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(test) cmocka_unit_test_setup_teardown(test, search_setup, search_teardown)
        T(effect_of_a_known_output_is_its_range),
        T(effect_of_few_values_is_that_of_the_steps_between_them),
        T(a_ranking_tells_how_many_trials_it_takes_at_most),
        T(whole_numbers_are_drawn_alike),
        T(turn_is_what_check_says),
        T(verdict_at_the_turn_is_not_that_of_the_base),
        T(an_undecided_verdict_turns_on_both_sides),
        T(failed_trials_leave_an_input_unknown),
        T(without_a_verdict_at_base_nothing_turns),
        T(what_is_not_judged_does_not_turn),
        T(base_is_that_of_the_point),
        T(report_shows_what_would_turn_the_verdicts),
        T(answers_do_not_depend_on_threads),
        T(values_that_a_key_refuses_are_told_before_any_trial),
#undef T
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
