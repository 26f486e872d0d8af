/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * train_test.c - evolution strategies and races: what a training reports, what it refuses, and
 * what a race may drop; train_resume_test.c has what is interrupted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/aid/training.h"

static void two_threads_give_the_bytes_of_one(void **state)
{
    write_training(*state, 4, 9);
    char *one = train(*state, "one", "1", "-q"), *two = train(*state, "two", "2", "-q");
    assert_string_equal(one, two);
    assert_non_null(strstr(one, "\n  place: ["));
    free(one);
    free(two);
}

/* The verdict names every policy that it is set against, and the best of them; above it stands
 * the command, on a line of its own. */
static void the_verdict_is_against_the_best_hand_written_policy(void **state)
{
    write_training(*state, 4, 9);
    char *text = train(*state, "w", "2", "-q");
    assert_non_null(strstr(text, "/t.yaml`\n# Trained on seeds 100 to 149 of seed 3"));
    assert_non_null(strstr(text, "against dynamic"));
    assert_non_null(strstr(text, "against hybrid"));
    char *best = strstr(text, ", the best of them: ");
    assert_non_null(best);
    assert_null(strstr(best + 1, ", the best of them: "));
    free(text);
}

/* Jobs of 8 GPUs come at 0, 10 and 20 s to 8 GPUs, and the shortest runs for 100 s: a policy
 * that drops who does not fit at once drops two of three, in each of two seeds. */
static void the_verdict_tells_what_rivals_left_undone(void **state)
{
    program_write(*state, "t.yaml", "experiment: t\nseeds: 2\n"
        "cluster: {nodes: [{name: n, count: 1, gpus: {type: generic, count: 8}}]}\n"
        "workload: {arrival: {process: fixed, times: [0s, 10s, 20s]}, jobs: 3, mix: ["
        "{recipe: trace, name: x, gpus: 8, duration: {uniform: [100s, 900s]}}]}\n"
        "policies: [fcfs, learned, {policy: fcfs, name: drops, blocking: drop}]\n"
        "train: {policy: learned, objective: jct_mean_s, population: 8, elite: 2, "
        "generations: 1, features: [job_left], seeds: {from: 1000, count: 2}, "
        "held_out: {from: 0, count: 2}, against: [fcfs, drops]}\n");
    char *text = train(*state, "w", "1", "-q"), *fcfs = strstr(text, "against fcfs");
    char *drops = strstr(text, "against drops"), *undone = strstr(text, "left undone");

    assert_non_null(fcfs);
    assert_non_null(drops);
    assert_true(undone > drops);        /* fcfs left none */
    assert_non_null(strstr(drops, "cell by cell; jobs left undone: 4 -> 0\n"));
    free(text);
}

/* Trains for an objective, and returns what was learned; to be freed. */
static char *train_for(const struct program *program, const char *objective)
{
    char whole[4000], *text;

    write_training(program, 6, 9);
    text = program_read(program_path(program, "t.yaml"));
    assert_non_null(text);
    char *at = strstr(text, "held_cost_usd"), *end = at + strlen("held_cost_usd");
    *at = '\0';
    snprintf(whole, sizeof whole, "metrics: {saved: {of: 0 - held_cost_usd, better: more}}\n"
             "%s%s%s", text, objective, end);
    free(text);
    program_write(program, "t.yaml", whole);
    return train(program, objective, "2", "-q");
}

/* More is better of the cost with the other sign, so the same vectors win, and the same
 * policy is the best of the others. */
static void objectives_below_zero_keep_their_order(void **state)
{
    char *cost = train_for(*state, "held_cost_usd"), *saved = train_for(*state, "saved");

    assert_string_equal(strstr(cost, "\nweights:"), strstr(saved, "\nweights:"));
    assert_non_null(strstr(cost, "against hybrid, the best of them: -"));
    assert_non_null(strstr(saved, "against hybrid, the best of them: +"));
    free(cost);
    free(saved);
}

/* Where the first validation is no better and patience is 1, training ends at
 * once, and what is kept is at least as good as the start by validation. */
static void patience_ends_a_training(void **state)
{
    write_training(*state, 40, 1);
    char *text = train(*state, "w", "2", "-q");
    unsigned generations;
    double kept;
    assert_int_equal(sscanf(strstr(text, "of seed 3, "), "of seed 3, %u", &generations),
                     1);
    assert_int_equal(sscanf(strstr(text, "points for validation,"),
                            "points for validation,\n# %lf of its start", &kept), 1);
    assert_true(generations < 40 && generations % 2 == 0);
    assert_true(kept <= 1);
    free(text);
}

static void a_training_does_not_go_on_with_other_inputs(void **state)
{
    static const char *const set[] = { "train.objective=jct_mean_s", "seed=4",
                                       "workload.jobs=5", "train.validation.every=3" };
    const struct program *program = *state;
    char out[192], *said;

    write_training(program, 30, 99);
    interrupt_training(program);
    snprintf(out, sizeof out, "%s/part", program->folder);
    for (int i = 0; i < 5; i++) {
        const char *words[] = { "train", program_path(program, "t.yaml"), "-o", out,
                                "--resume", i < 4 ? "--set" : NULL, i < 4 ? set[i] : NULL,
                                NULL };

        if (i == 4)
            write_training(program, 31, 99);
        assert_int_equal(program_say(program, words, &said), 3);
        assert_non_null(strstr(said, "began with other inputs"));
        free(said);
    }
}

/* What was set on the command line belongs to what makes the file again. */
static void the_file_names_what_was_set(void **state)
{
    const struct program *program = *state;
    char file[192], out[192], *said;

    write_training(program, 9, 9);
    snprintf(file, sizeof file, "%s/t.yaml", program->folder);
    snprintf(out, sizeof out, "%s/w", program->folder);
    const char *words[] = { "train", file, "-o", out, "-q", "--set", "train.generations=6",
                            "--set", "seed=\n3", NULL };
    if (program_say(program, words, &said) != 0)
        fail_msg("%s", said);
    free(said);
    char *text = program_read(out);
    assert_non_null(strstr(text, "/t.yaml --set \"train.generations=6\" --set "
                           "\"seed=\\u000a3\"`\n"));
    free(text);
}

/* ---- a race ---- */

/* Trains one generation; returns how good its best vector is, and stores the number of
 * trials. */
static double train_best(const struct program *program, unsigned *trials)
{
    char out[192], *said;
    double first, best;
    const char *words[] = { "train", program_path(program, "t.yaml"), "-o", out, NULL };

    snprintf(out, sizeof out, "%s/w", program->folder);
    assert_int_equal(program_say(program, words, &said), 0);
    const char *line = strstr(said, "generation 1 of 1: ");
    assert_non_null(line);
    assert_int_equal(sscanf(line, "generation 1 of 1: jct_mean_s at %lf of its start, best so "
                            "far %lf", &first, &best), 2);
    free(said);
    char *text = program_read(out), *count = strstr(text, "# Trials in all: ");
    *trials = 0;
    if (count != NULL)
        assert_int_equal(sscanf(count, "# Trials in all: %u", trials), 1);
    free(text);
    return best;
}

/* Of the same vectors of a first generation, a race finds one that is nearly as good as
 * the best of all, though most of them met a third of the cells: one that is dropped
 * wrongly is worse on those. */
static void a_race_finds_the_best_vectors_with_fewer_trials(void **state)
{
    const struct program *program = *state;
    unsigned same = 0, trials;

    for (int seed = 1; seed <= 4; seed++) {
        write_race(program, "", seed, 1);
        double all = train_best(program, &trials);
        write_race(program, "race: true, ", seed, 1);
        double raced = train_best(program, &trials);
        /* Six of the reference and 2 x 6 of the verdict; 24 on two cells, twelve and at
         * most the mean on two, six and at most the mean on two. */
        assert_in_range(trials, 6 + 12 + 84, 6 + 12 + 88);
        assert_true(all < 1);
        assert_true(raced >= all && raced <= all + 0.5 * (1 - all));
        same += raced == all;
    }
    assert_true(same >= 2);
}

static void assert_race_refused(const struct program *program, const char *part)
{
    char *said;
    const char *words[] = { "validate", program_path(program, "t.yaml"), NULL };

    assert_int_equal(program_say(program, words, &said), 3);
    assert_part(said, "t.yaml:8:137: range error: ");
    assert_part(said, part);
    free(said);
}

static void a_race_is_refused_where_it_could_drop_nothing(void **state)
{
    write_race(*state, "race: true, method: evolution, ", 1, 1);
    assert_race_refused(*state, "race: evolution compares the two vectors of a pair");
    write_race(*state, "race: true, cells: 2, ", 1, 1);
    assert_race_refused(*state, "race: the first round takes 2 cells, and a generation has 2");
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, program_setup, program_teardown)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(two_threads_give_the_bytes_of_one),
        TEST(the_verdict_is_against_the_best_hand_written_policy),
        TEST(the_verdict_tells_what_rivals_left_undone),
        TEST(objectives_below_zero_keep_their_order),
        TEST(patience_ends_a_training),
        TEST(a_training_does_not_go_on_with_other_inputs),
        TEST(the_file_names_what_was_set),
        TEST(a_race_finds_the_best_vectors_with_fewer_trials),
        TEST(a_race_is_refused_where_it_could_drop_nothing),
    };

    (void)argc;
    program_argv0 = argv[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
