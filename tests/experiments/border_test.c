/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * border_test.c - `clustersim border`: the verdicts at its values are those of
 * `check`, borders are as narrow as asked, and what cannot be known is told.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "experiments/sensitivity/turn.h"
#include "tests/aid/scratch.h"
#include "tests/aid/search_aid.h"

#define CLAIMS \
    "expect:\n" \
    "  - {claim: C1, metric: jct_mean_s, policy: sjf, vs: fcfs, at_most: -20%}\n" \
    "  - {claim: C2, metric: jobs, policy: fcfs, at_most: 500}\n" \
    "  - {claim: C3, metric: jobs, policy: fcfs, between: [100, 300]}\n"

static void border_has_the_verdicts_of_check(void **state)
{
    struct search_world *w = *state;
    search_cells key, holds, fails, sentence;

    search_write(w, CLAIMS
                 "border:\n"
                 "  - {claim: C1, key: workload.arrival.rate, from: 2/h, to: 20/h}\n"
                 "  - {claim: C1, key: cluster.nodes.gpu.count, from: 12, to: 1}\n");
    assert_int_equal(search_command(w, "border", "out", NULL, "2"), 0);
    search_column(w, "out/border.csv", "key", key);
    search_column(w, "out/border.csv", "holds_at", holds);
    search_column(w, "out/border.csv", "fails_at", fails);
    search_column(w, "out/border.csv", "sentence", sentence);
    assert_string_equal(key[1], "cluster.nodes.gpu.count");
    assert_string_equal(key[2], "");
    for (int i = 0; i < 2; i++) {
        assert_true(holds[i][0] != '\0' && fails[i][0] != '\0');
        search_assert_verdict(w, "C1", key[i], holds[i], "holds");
        search_assert_verdict(w, "C1", key[i], fails[i], "does not hold");
        assert_non_null(strstr(w->said, "C1"));
    }
    /* More load, or fewer nodes: a longer queue, in which order matters. */
    assert_true(atof(holds[0]) > atof(fails[0]));
    assert_non_null(strstr(sentence[0], "C1 holds from arrival.rate "));
    assert_true(atof(holds[1]) < atof(fails[1]));
    assert_non_null(strstr(sentence[1], "C1 holds up to nodes.gpu.count "));
    assert_non_null(strstr(sentence[1], "(12 seeds, "));
}

static void border_of_whole_numbers_is_exact(void **state)
{
    struct search_world *w = *state;
    search_cells holds, fails, trials;

    search_write(w, CLAIMS
                 "border:\n"
                 "  - {claim: C2, key: workload.jobs, from: 20, to: 1000,\n"
                 "     within: 0.1%}\n"
                 "  - {claim: C2, key: workload.jobs, from: 20, to: 1000,\n"
                 "     within: 10%, points: 0, log: true}\n");
    assert_int_equal(search_command(w, "border", "out", NULL, "2"), 0);
    search_column(w, "out/border.csv", "holds_at", holds);
    search_column(w, "out/border.csv", "fails_at", fails);
    search_column(w, "out/border.csv", "trials", trials);
    assert_string_equal(holds[0], "500");
    assert_string_equal(fails[0], "501");
    /* A tenth of log(50): a ratio of 1.48, in four halvings and the ends. */
    assert_true(atof(holds[1]) <= 500 && atof(fails[1]) > 500);
    assert_true(atof(fails[1]) / atof(holds[1]) < 1.5);
    assert_string_equal(trials[1], "72");
}

static void what_does_not_turn_once_is_told(void **state)
{
    struct search_world *w = *state;
    search_cells turns, sentence, holds;

    search_write(w, CLAIMS
                 "border:\n"
                 "  - {claim: C2, key: workload.jobs, from: 20, to: 100}\n"
                 "  - {claim: C3, key: workload.jobs, from: 20, to: 1000}\n");
    assert_int_equal(search_command(w, "border", "out", NULL, "2"), 0);
    search_column(w, "out/border.csv", "turns", turns);
    search_column(w, "out/border.csv", "sentence", sentence);
    search_column(w, "out/border.csv", "holds_at", holds);
    assert_string_equal(turns[0], "no");
    assert_non_null(strstr(sentence[0], "C2 does not turn from jobs 20 to 100: it holds "
                           "at all 5 values"));
    assert_string_equal(turns[1], "forth and back");
    assert_non_null(strstr(sentence[1], "does not hold at 20, holds at 265, does not "
                           "hold at 510"));
    assert_string_equal(holds[1], "");
}

static void failed_trials_make_a_border_unknown(void **state)
{
    struct search_world *w = *state;
    search_cells turns, sentence;

    search_write(w, CLAIMS
                 "event_count_max: 500\n"
                 "border: [{claim: C2, key: workload.jobs, from: 20, to: 1000}]\n");
    assert_int_equal(search_command(w, "border", "out", NULL, "2"), 5);
    search_column(w, "out/border.csv", "turns", turns);
    search_column(w, "out/border.csv", "sentence", sentence);
    assert_string_equal(turns[0], "not known");
    assert_non_null(strstr(sentence[0], "seed 0 of fcfs failed: event limit"));
}

static void swept_key_is_one_border_and_others_one_a_point(void **state)
{
    struct search_world *w = *state;
    search_cells point, sentence;

    search_write(w,
                 "sweep:\n"
                 "  workload.arrival.rate: [10/h, 20/h]\n"
                 "  cluster.nodes.gpu.count: [2, 3]\n"
                 "expect:\n"
                 "  - {claim: C1, metric: jct_mean_s, policy: sjf, vs: fcfs,\n"
                 "     at_most: -20%, point: arrival.rate=20/h}\n"
                 "border:\n"
                 "  - {claim: C1, key: workload.arrival.rate, from: 2/h, to: 20/h,\n"
                 "     within: 50%, points: 0}\n"
                 "  - {claim: C1, key: workload.jobs, from: 20, to: 60, within: 50%,\n"
                 "     points: 0}\n");
    assert_int_equal(search_command(w, "border", "out", NULL, "2"), 0);
    search_column(w, "out/border.csv", "point", point);
    search_column(w, "out/border.csv", "sentence", sentence);
    assert_string_equal(point[0], "nodes.gpu.count=2");
    assert_string_equal(point[1], "nodes.gpu.count=3");
    assert_string_equal(point[2], "arrival.rate=20/h nodes.gpu.count=2");
    assert_string_equal(point[3], "arrival.rate=20/h nodes.gpu.count=3");
    assert_string_equal(point[4], "");
    assert_non_null(strstr(sentence[1], "C1 (jct_mean_s of sjf vs fcfs, "
                           "nodes.gpu.count=3) "));
}

static void answers_do_not_depend_on_threads(void **state)
{
    struct search_world *w = *state;

    search_write(w, CLAIMS
                 "border: [{claim: C1, key: workload.arrival.rate, from: 20/h,\n"
                 "          to: 2/h}]\n");
    search_assert_threads(w, "border", "border.csv");
}

/* Results stay beside it; a new run takes it away, but not a file of others. */
static void border_lies_beside_results(void **state)
{
    struct search_world *w = *state;
    char *before, *after;

    search_write(w, CLAIMS
                 "output: {plots: []}\n"
                 "border: [{claim: C2, key: workload.jobs, from: 20, to: 100}]\n");
    assert_int_equal(search_command(w, "border", "out", NULL, "2"), 0);
    assert_int_equal(search_command(w, "run", "out", NULL, "2"), 0);
    assert_null(scratch_read(&w->scratch, "out/border.csv"));
    before = scratch_read(&w->scratch, "out/summary.csv");
    assert_int_equal(search_command(w, "border", "out", NULL, "2"), 0);
    after = scratch_read(&w->scratch, "out/summary.csv");
    assert_string_equal(before, after);
    assert_int_equal(access(scratch_path(&w->scratch, "out/border.csv"), R_OK), 0);
    assert_int_not_equal(access(scratch_path(&w->scratch, "out/.trials"), F_OK), 0);
    free(before);
    free(after);
    scratch_write(&w->scratch, "out/border.csv", "town,country\nBasel,CH\n");
    assert_int_equal(search_command(w, "border", "out", NULL, "2"), 4);
    assert_non_null(strstr(w->said, "is not a table of this program"));
    assert_int_equal(search_command(w, "run", "out", NULL, "2"), 0);
    before = scratch_read(&w->scratch, "out/border.csv");
    assert_string_equal(before, "town,country\nBasel,CH\n");
    free(before);
}

static void wrong_keys_are_told_before_any_trial(void **state)
{
    static const char *const wrong[][2] = {
        { "border: [{claim: C2, key: workload.jobz, from: 2, to: 9}]\n",
          ":13:27: schema error: workload.jobz cannot be 2: key 'jobz' is not known" },
        { "border: [{claim: C2, key: workload.jobs, from: 0, to: 9}]\n",
          ":13:48: range error: workload.jobs cannot be 0: 'jobs' must be from 1" },
        { "seed: 2\n", "the experiment has no key border" },
    };
    struct search_world *w = *state;
    char text[2000];

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        snprintf(text, sizeof text, "%s%s", CLAIMS, wrong[i][0]);
        search_write(w, text);
        assert_int_equal(search_command(w, "border", "out", NULL, "2"), 3);
        if (strstr(w->said, wrong[i][1]) == NULL)
            fail_msg("wanted '%s', got '%s'", wrong[i][1], w->said);
        assert_null(scratch_read(&w->scratch, "out/border.csv"));
        if (strncmp(wrong[i][0], "border", 6) != 0)
            continue;           /* an experiment needs no border */
        assert_int_equal(search_validate(w), 3);
        if (strstr(w->said, wrong[i][1]) == NULL)
            fail_msg("validate: wanted '%s', got '%s'", wrong[i][1], w->said);
    }
}

/* Each search has a key of its own. */
static void a_search_without_its_key_says_which(void **state)
{
    static const char *const command[] = { "border", "sensitivity", "tune" };
    struct search_world *w = *state;
    char says[60];

    search_write(w, CLAIMS "seed: 2\n");
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(search_command(w, command[i], "out", NULL, "2"), 3);
        snprintf(says, sizeof says, "the experiment has no key %s\n", command[i]);
        if (strstr(w->said, says) == NULL)
            fail_msg("wanted '%s', got '%s'", says, w->said);
        snprintf(says, sizeof says, "`clustersim explain %s`", command[i]);
        assert_non_null(strstr(w->said, says));
    }
}

/* Three values between the ends make five, and gaps of a quarter.  Each of two borders
 * halves its gap until it is narrow, and once more: an eighth is reached by one halving, a
 * tenth by two.  There are no more than twelve whole numbers from 12 to 1. */
static void a_search_tells_how_many_values_it_judges_at_most(void **state)
{
    static const struct {
        double within;
        bool whole;
        uint32_t most;
    } of[] = {
        { 0.5, false, 5 }, { 0.25, false, 5 }, { 0.125, false, 9 }, { 0.1, false, 11 },
        { 0.5, true, 5 }, { 0.1, true, 11 }, { 0.01, true, 12 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        struct turn_axis axis = { .within = of[i].within, .points = 3 };

        axis.range.from = 12;
        axis.range.to = 1;
        axis.range.whole = of[i].whole;
        assert_int_equal(turn_values_max(&axis), of[i].most);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(test) cmocka_unit_test_setup_teardown(test, search_setup, search_teardown)
        T(border_has_the_verdicts_of_check),
        T(border_of_whole_numbers_is_exact),
        T(what_does_not_turn_once_is_told),
        T(failed_trials_make_a_border_unknown),
        T(swept_key_is_one_border_and_others_one_a_point),
        T(answers_do_not_depend_on_threads),
        T(border_lies_beside_results),
        T(wrong_keys_are_told_before_any_trial),
        T(a_search_without_its_key_says_which),
        cmocka_unit_test(a_search_tells_how_many_values_it_judges_at_most),
#undef T
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
