/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * train_resume_test.c - a training that was interrupted and goes on gives the bytes of a whole
 * one, or is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "tests/aid/training.h"

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

/* Only a state that is not there means a new training; one that cannot be read is kept. */
static void a_state_that_cannot_be_read_is_not_begun_anew(void **state)
{
    const struct program *program = *state;
    char out[192], left[200], *said;
    const char *words[] = { "train", program_path(program, "t.yaml"), "-o", out, "--resume",
                            NULL };

    write_training(program, 3, 99);
    snprintf(out, sizeof out, "%s/w", program->folder);
    snprintf(left, sizeof left, "%s.state", out);
    assert_int_equal(mkdir(left, 0700), 0);
    assert_int_equal(program_say(program, words, &said), 4);
    assert_part(said, "w.state");
    assert_int_equal(access(out, F_OK), -1);
    free(said);
}

/* Training takes long: where it cannot be kept is told before. */
static void a_place_that_cannot_be_written_is_told_before_training(void **state)
{
    const struct program *program = *state;
    char out[192], *said;
    const char *words[] = { "train", program_path(program, "t.yaml"), "-o", out, NULL };

    write_training(program, 3, 99);
    snprintf(out, sizeof out, "%s/none/w", program->folder);
    assert_int_equal(program_say(program, words, &said), 4);
    assert_part(said, "none/w: file error: cannot be written: No such file");
    assert_null(strstr(said, "generation"));
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

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, program_setup, program_teardown)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(a_training_that_goes_on_gives_the_bytes_of_a_whole_one),
        TEST(a_state_that_cannot_be_read_is_not_begun_anew),
        TEST(a_place_that_cannot_be_written_is_told_before_training),
        TEST(weights_that_change_nothing_are_not_written),
        TEST(a_race_gives_the_same_bytes_with_two_threads_and_resumed),
    };

    (void)argc;
    program_argv0 = argv[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
