/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * train_test.c - evolution strategies: the same bytes however they are run, and
 * what a training reports.
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
    const struct program *program = *state;
    char out[192], *said;

    write_training(program, 30, 99);
    interrupt_training(program);
    write_training(program, 31, 99);
    snprintf(out, sizeof out, "%s/part", program->folder);
    const char *words[] = { "train", program_path(program, "t.yaml"), "-o", out,
                            "--resume", NULL };
    assert_int_equal(program_say(program, words, &said), 3);
    assert_non_null(strstr(said, "began with other inputs"));
    free(said);
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

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, program_setup, program_teardown)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(two_threads_give_the_bytes_of_one),
        TEST(the_verdict_is_against_the_best_hand_written_policy),
        TEST(patience_ends_a_training),
        TEST(a_training_that_goes_on_gives_the_bytes_of_a_whole_one),
        TEST(a_training_does_not_go_on_with_other_inputs),
        TEST(weights_that_change_nothing_are_not_written),
    };

    (void)argc;
    program_argv0 = argv[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
