/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * train_test.c - evolution strategies and races: the same bytes however they are run,
 * what a training reports, and what a race may drop.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <cmocka.h>

#include "tests/aid/program.h"

static const char training[] =
    "experiment: t\nseed: 3\nseeds: 2\nuntil: drained\n"
    "cluster: {nodes: [{name: rollout, count: 2, gpus: {type: l40s, count: 8}, "
    "cpu: {type: epyc-7763}, memory: 1TB, nics: {type: ethernet-100}}, "
    "{name: train, count: 2, gpus: {type: a100-80, count: 8}, "
    "cpu: {type: epyc-7763}, memory: 1TB, nics: {type: ib-hdr}}], "
    "storage: {bandwidth: 20GB/s}}\n"
    "workload: {arrival: {process: poisson, rate: 60/h}, jobs: 4, mix: ["
    "{recipe: dpo, name: dpo, model: qwen2.5-0.5b, prompts: 32, prompt_tokens: 128, "
    "response: {mean: 100, cv: 1, max: 512}, steps: {uniform: [2, 5]}, "
    "rollout: {gpus: 8, min: 4, max: 16, types: [l40s, a100-80], start: wake}, "
    "train: {gpus: 8, min: 4, max: 16, types: [l40s, a100-80], start: wake}}]}\n"
    "policies: [advised, dynamic, hybrid]\n"
    "sweep: {workload.arrival.rate: [20/h, 60/h, 90/h]}\n"
    "train:\n  policy: advised\n  method: evolution\n  objective: held_cost_usd\n"
    "  population: 4\n  cells: 3\n  spread: 0.3\n  generations: %d\n"
    "  seeds: {from: 100, count: 50}\n  held_out: {from: 0, count: 2}\n"
    "  validation: {points: [arrival.rate=60/h], seeds: {from: 50, count: 1}, "
    "every: 2, patience: %d}\n  against: [dynamic, hybrid]\n";

static void write_training(const struct program *program, int generations,
                           int patience)
{
    char text[3000];

    snprintf(text, sizeof text, training, generations, patience);
    program_write(program, "t.yaml", text);
}

/* Trains into folder/name; to be freed. */
static char *train(const struct program *program, const char *name,
                   const char *threads, const char *more)
{
    char out[192], file[192], *said;
    const char *words[] = { "train", file, "-o", out, "-j", threads, more, NULL };

    snprintf(file, sizeof file, "%s/t.yaml", program->folder);
    snprintf(out, sizeof out, "%s/%s", program->folder, name);
    int status = program_say(program, words, &said);
    if (status != 0)
        fail_msg("%s", said);
    free(said);
    char *text = program_read(out);
    assert_non_null(text);
    return text;
}

static void two_threads_give_the_bytes_of_one(void **state)
{
    write_training(*state, 4, 9);
    char *one = train(*state, "one", "1", "-q"), *two = train(*state, "two", "2", "-q");
    assert_string_equal(one, two);
    assert_non_null(strstr(one, "\n  place: ["));
    free(one);
    free(two);
}

/* The verdict names every policy that it is set against, and the best of them. */
static void the_verdict_is_against_the_best_hand_written_policy(void **state)
{
    write_training(*state, 4, 9);
    char *text = train(*state, "w", "2", "-q");
    assert_non_null(strstr(text, "against dynamic"));
    assert_non_null(strstr(text, "against hybrid"));
    char *best = strstr(text, ", the best of them: ");
    assert_non_null(best);
    assert_null(strstr(best + 1, ", the best of them: "));
    free(text);
}

/* Trains for an objective, and returns what was learned; to be freed. */
static char *train_for(const struct program *program, const char *objective)
{
    char text[3000], whole[4000];

    snprintf(text, sizeof text, training, 6, 9);
    char *at = strstr(text, "held_cost_usd"), *end = at + strlen("held_cost_usd");
    *at = '\0';
    snprintf(whole, sizeof whole, "metrics: {saved: {of: 0 - held_cost_usd, better: more}}\n"
             "%s%s%s", text, objective, end);
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

/* Starts a training and interrupts it when a generation is done. */
static void interrupt_training(const struct program *program)
{
    char out[192], file[192], done[192];
    const struct timespec pause = { 0, 1000000 };
    const char *argv[] = { program->path, "train", file, "-o", out, "-j", "1", "-q",
                           NULL };

    snprintf(file, sizeof file, "%s/t.yaml", program->folder);
    snprintf(out, sizeof out, "%s/part", program->folder);
    snprintf(done, sizeof done, "%s/part.state", program->folder);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        execv(argv[0], (char *const *)(const void *)argv);
        _exit(127);
    }
    int status = 0;
    while (access(done, F_OK) != 0 && waitpid(pid, &status, WNOHANG) == 0)
        nanosleep(&pause, NULL);
    kill(pid, SIGINT);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 130);
    assert_int_equal(access(out, F_OK), -1);
    assert_int_equal(access(done, F_OK), 0);
}

static void a_training_that_goes_on_gives_the_bytes_of_a_whole_one(void **state)
{
    const struct program *program = *state;

    write_training(program, 30, 99);
    interrupt_training(program);
    char *whole = train(program, "whole", "2", "-q");
    char *part = train(program, "part", "2", "--resume");
    assert_string_equal(whole, part);
    assert_int_equal(access(program_path(program, "part.state"), F_OK), -1);
    free(whole);
    free(part);
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

/* A training that has no effect on jobs of one role. */
static void write_idle(const struct program *program, const char *keys, int generations)
{
    char text[900];

    snprintf(text, sizeof text, "experiment: t\nseeds: 2\n"
             "cluster: {nodes: [{name: a, count: 2, gpus: {type: generic, count: 8}}]}\n"
             "workload: {arrival: {process: poisson, rate: 20/h}, jobs: 9, mix: "
             "[{recipe: trace, name: w, gpus: 4, duration: 10min}]}\n"
             "policies: [learned, advised]\n"
             "train: {%s, objective: jct_mean_s, population: 4, generations: %d, "
             "seeds: {from: 10, count: 2}, held_out: {from: 0, count: 2}}\n", keys,
             generations);
    program_write(program, "t.yaml", text);
}

/* Trains into folder/name, which is refused and leaves no file. */
static void assert_refused(const struct program *program, const char *name,
                           const char *more)
{
    char out[192], left[200], *said;
    const char *words[] = { "train", program_path(program, "t.yaml"), "-o", out, more,
                            NULL };

    snprintf(out, sizeof out, "%s/%s", program->folder, name);
    snprintf(left, sizeof left, "%s.state", out);
    assert_int_equal(program_say(program, words, &said), 3);
    assert_part(said, "t.yaml:6:8: ");
    assert_part(said, "no weights changed jct_mean_s: of 4 vectors");
    assert_int_equal(access(out, F_OK), -1);
    assert_int_equal(access(left, F_OK), -1);
    free(said);
}

/* A weight of places that no job here may have, and a network without a choice. */
static void weights_that_change_nothing_are_not_written(void **state)
{
    static const char *const keys[] = { "policy: learned, elite: 2, features: [on_cores]",
                                        "policy: advised, method: evolution" };

    for (size_t i = 0; i < 2; i++) {
        write_idle(*state, keys[i], 2);
        assert_refused(*state, "w", NULL);
    }
    write_idle(*state, keys[0], 1000);
    interrupt_training(*state);
    assert_refused(*state, "part", "--resume");
}

/* ---- a race ---- */

/* Three points and two seeds: six cells, so 2, 4 and 6 of them in the three rounds. */
static void write_race(const struct program *program, const char *race, int seed,
                       int generations)
{
    char text[2000];

    snprintf(text, sizeof text, "experiment: t\nseed: %d\nseeds: 2\n"
             "cluster: {nodes: [{name: a, count: 2, gpus: {type: generic, count: 8}}]}\n"
             "workload: {arrival: {process: poisson, rate: 60/h}, jobs: 30, mix: ["
             "{recipe: trace, name: s, share: 2, gpus: 2, duration: 5min}, "
             "{recipe: trace, name: l, share: 1, gpus: 8, duration: 40min}]}\n"
             "policies: [learned]\nsweep: {workload.arrival.rate: [40/h, 60/h, 90/h]}\n"
             "train: {policy: learned, objective: jct_mean_s, population: 24, elite: 6, "
             "features: [age, gpus, job_left, start], generations: %d, %s"
             "seeds: {from: 10, count: 2}, held_out: {from: 0, count: 2}}\n", seed,
             generations, race);
    program_write(program, "t.yaml", text);
}

static void a_race_gives_the_same_bytes_with_two_threads_and_resumed(void **state)
{
    const struct program *program = *state;

    write_race(program, "race: true, ", 3, 40);
    interrupt_training(program);
    char *one = train(program, "one", "1", "-q"), *two = train(program, "two", "2", "-q");
    char *part = train(program, "part", "2", "--resume");
    assert_string_equal(one, two);
    assert_string_equal(one, part);
    free(one);
    free(two);
    free(part);
}

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
        TEST(objectives_below_zero_keep_their_order),
        TEST(patience_ends_a_training),
        TEST(a_training_that_goes_on_gives_the_bytes_of_a_whole_one),
        TEST(a_training_does_not_go_on_with_other_inputs),
        TEST(the_file_names_what_was_set),
        TEST(weights_that_change_nothing_are_not_written),
        TEST(a_race_gives_the_same_bytes_with_two_threads_and_resumed),
        TEST(a_race_finds_the_best_vectors_with_fewer_trials),
        TEST(a_race_is_refused_where_it_could_drop_nothing),
    };

    (void)argc;
    program_argv0 = argv[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
