/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * merge_test.c - shards that are put together are one run, to the byte; what cannot be
 * put together is refused with the reason.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/aid/shell.h"

const char *program_argv0;

static const char drawn[] =
    "experiment: x\n"
    "seeds: 9\n"
    "policies: [{policy: ljf, placement: count, estimate: noisy}, {policy: sjf, "
    "placement: count, estimate: noisy}, {policy: fcfs, placement: count}]\n"
    "output: {plots: []}\n";

static int setup(void **state)
{
    *state = shell_new(drawn);
    return 0;
}

static void assert_same(struct shell *w, const char *folder)
{
    static const char *const file[] = {
        "summary.csv", "compare.csv", "jobs.csv", "phases.csv", "timeline.csv", "audit.json"
    };

    for (size_t i = 0; i < sizeof file / sizeof file[0]; i++) {
        char a[64], b[64], *one, *two;

        snprintf(a, sizeof a, "one/%s", file[i]);
        snprintf(b, sizeof b, "%s/%s", folder, file[i]);
        one = scratch_read(&w->scratch, a);
        two = scratch_read(&w->scratch, b);
        assert_non_null(one);
        assert_non_null(two);
        assert_string_equal(one, two);
        free(one);
        free(two);
    }
}

static void shards_put_together_are_one_run(void **state)
{
    struct shell *w = *state;

    run_line(w, "$C run e.yaml -q -o one", 0, NULL);
    for (int i = 1; i <= 3; i++) {
        char words[64];

        snprintf(words, sizeof words, "$C run e.yaml -q -o s%d --shard %d/3 -j %d", i, i, i);
        run_line(w, words, 0, NULL);
    }
    run_line(w, "$C merge s3 s1 s2 -o all", 0, "19 trials were known already");
    assert_same(w, "all");
    /* They stay, and may be put together again, or in one of them. */
    run_line(w, "$C merge s1 s2 s3 -o all -q", 0, NULL);
    run_line(w, "$C merge s1 s2 s3 -o s1 -q", 0, NULL);
    assert_same(w, "s1");
    run_line(w, "$C check all --baseline one", 0, NULL);
}

/* Options of the shards are those of the whole. */
static void options_of_the_shards_are_kept(void **state)
{
    struct shell *w = *state;
    static const char *const options = " --seeds 4 --only ljf,sjf --set 'policies.0.noise=0.3' "
                                       "--set policies.1.noise=0.5";
    char words[256];

    snprintf(words, sizeof words, "$C run e.yaml -q -o one%s", options);
    run_line(w, words, 0, NULL);
    for (int i = 1; i <= 2; i++) {
        snprintf(words, sizeof words, "$C run e.yaml -q -o s%d --shard %d/2%s", i, i, options);
        run_line(w, words, 0, NULL);
    }
    run_line(w, "$C merge s1 s2 -o all -q", 0, NULL);
    assert_same(w, "all");
}

/* 700 lines "set 22 policies.0.noise=0.3" are 20 KB, and the last setting is another one.
 * Of a text that was cut, the merge must not make a shorter list. */
static void all_options_of_a_shard_are_kept_and_a_cut_list_is_refused(void **state)
{
    struct shell *w = *state;

    run_line(w, "S=\"$(yes -- '--set policies.0.noise=0.3' | head -n 700) --seeds 1 "
             "--set policies.1.noise=0.5\"; $C run e.yaml -q -o one $S && "
             "$C run e.yaml -q -o s1 --shard 1/2 $S && $C run e.yaml -q -o s2 --shard 2/2 $S",
             0, NULL);
    run_line(w, "$C merge s1 s2 -o all -q", 0, NULL);
    assert_same(w, "all");
    run_line(w, "f=s1/.trials/clustersim-trials.txt; head -c 16383 $f >cut && cp cut $f && "
             "$C merge s1 s2 -o other -q", 4, "clustersim-trials.txt is not whole");
}

static void what_is_missing_is_said_and_can_be_run(void **state)
{
    struct shell *w = *state;
    char *none;

    run_line(w, "$C run e.yaml -q -o one", 0, NULL);
    run_line(w, "$C run e.yaml -q -o s1 --shard 1/3", 0, NULL);
    run_line(w, "$C run e.yaml -q -o s3 --shard 3/3", 0, NULL);
    run_line(w, "$C merge s1 s3 -o all", 5, "13 of 19 trials are there:\n"
             "  shard 2/3 has 0 of 6: it is not among the folders");
    none = scratch_read(&w->scratch, "all/summary.csv");
    assert_null(none);
    run_line(w, "$C run e.yaml -o all --resume", 0, "13 trials were known already");
    assert_same(w, "all");
}

static void other_experiments_are_refused(void **state)
{
    struct shell *w = *state;
    char text[600];

    run_line(w, "$C run e.yaml -q -o s1 --shard 1/2", 0, NULL);
    run_line(w, "$C run e.yaml -q -o s2 --shard 2/2 --seeds 8", 0, NULL);
    run_line(w, "$C merge s1 s2 -o all", 4,
             "s2: file error: is a shard of another experiment than s1");
    run_line(w, "$C merge s1 nowhere -o all", 4, "nowhere: file error: is no shard");
    run_line(w, "$C run e.yaml -q -o whole", 0, NULL);
    run_line(w, "$C merge whole -o all", 4, "whole: file error: is no shard");
    run_line(w, "$C merge s1", 2, "merge needs -o DIR");
    run_line(w, "$C merge -o all", 2, "merge needs an operand");
    snprintf(text, sizeof text, "%swarmup: 100s\n", drawn);
    scratch_experiment(&w->scratch, text);
    run_line(w, "$C merge s1 -o all", 4, "is no longer the experiment of the shards");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, shell_teardown)

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        TEST(shards_put_together_are_one_run),
        TEST(options_of_the_shards_are_kept),
        TEST(all_options_of_a_shard_are_kept_and_a_cut_list_is_refused),
        TEST(what_is_missing_is_said_and_can_be_run),
        TEST(other_experiments_are_refused),
    };

    assert(argc > 0);
    program_argv0 = argv[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
