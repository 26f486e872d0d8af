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

#include "experiments/cli/cli.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/csv.h"
#include "tests/scratch.h"

#define HEAD \
    "experiment: turn\n" \
    "seeds: 12\n" \
    "cluster: {nodes: [{name: gpu, count: 2, gpus: {type: generic, count: 8}}]}\n" \
    "workload:\n" \
    "  arrival: {process: poisson, rate: 20/h}\n" \
    "  jobs: 100\n" \
    "  mix: [{recipe: trace, gpus: 4, duration: {lognormal: {mean: 900s, cv: 2}}}]\n" \
    "policies: [fcfs, sjf]\n"

#define CLAIMS \
    "expect:\n" \
    "  - {claim: C1, metric: jct_mean_s, policy: sjf, vs: fcfs, at_most: -20%}\n" \
    "  - {claim: C2, metric: jobs, policy: fcfs, at_most: 500}\n" \
    "  - {claim: C3, metric: jobs, policy: fcfs, between: [100, 300]}\n"

struct world {
    struct arena *arena;
    struct scratch scratch;
    char said[8192];            /* by the last command */
};

static int setup(void **state)
{
    struct world *w = calloc(1, sizeof *w);

    w->arena = arena_new(1 << 16);
    scratch_open(&w->scratch);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;

    scratch_close(&w->scratch);
    arena_free(w->arena);
    free(w);
    return 0;
}

/* `clustersim COMMAND FILE -o FOLDER [--set SET] [-j THREADS]`; its status. */
static int command(struct world *w, const char *name, const char *folder,
                   const char *set, const char *threads)
{
    char file[256], dir[256];
    char *argv[12] = { "clustersim", (char *)(uintptr_t)name, file, "-o", dir, "-j",
                       (char *)(uintptr_t)threads, "--set",
                       (char *)(uintptr_t)set };
    FILE *out = tmpfile();
    int status;

    snprintf(file, sizeof file, "%s", scratch_path(&w->scratch, "e.yaml"));
    snprintf(dir, sizeof dir, "%s", scratch_path(&w->scratch, folder));
    status = cli_main(set == NULL ? 7 : 9, argv, out, out);
    rewind(out);
    w->said[fread(w->said, 1, sizeof w->said - 1, out)] = '\0';
    fclose(out);
    return status;
}

/* The cells of a column, from the first row on; "" behind the last. */
static void read_column(struct world *w, const char *name, const char *column,
                        char cell[8][400])
{
    struct err err = { 0 };
    struct csv *in = csv_open(w->arena, scratch_path(&w->scratch, name), CSV_TABLE,
                              &err);
    size_t at, n = 0;

    assert_non_null(in);
    assert_true(csv_need_column(in, column, &at, &err));
    memset(cell, 0, 8 * sizeof cell[0]);
    while (csv_next(in, &err) == CSV_ROW)
        snprintf(cell[n++], 400, "%s", csv_text(in, at));
    csv_close(in);
}

/* What `check` says of the claim with the key at the value. */
static void assert_verdict(struct world *w, const char *claim, const char *key,
                           const char *value, const char *verdict)
{
    char set[200], claims[8][400], verdicts[8][400];

    snprintf(set, sizeof set, "%s=%s", key, value);
    (void)command(w, "check", "check", set, "2");
    read_column(w, "check/checks.csv", "claim", claims);
    read_column(w, "check/checks.csv", "verdict", verdicts);
    for (int i = 0; claims[i][0] != '\0'; i++)
        if (strcmp(claims[i], claim) == 0)
            assert_string_equal(verdicts[i], verdict);
}

static void border_has_the_verdicts_of_check(void **state)
{
    struct world *w = *state;
    char key[8][400], holds[8][400], fails[8][400], sentence[8][400];

    scratch_write(&w->scratch, "e.yaml", HEAD CLAIMS
                  "border:\n"
                  "  - {claim: C1, key: workload.arrival.rate, from: 2/h, to: 20/h}\n"
                  "  - {claim: C1, key: cluster.nodes.gpu.count, from: 12, to: 1}\n");
    assert_int_equal(command(w, "border", "out", NULL, "2"), 0);
    read_column(w, "out/border.csv", "key", key);
    read_column(w, "out/border.csv", "holds_at", holds);
    read_column(w, "out/border.csv", "fails_at", fails);
    read_column(w, "out/border.csv", "sentence", sentence);
    assert_string_equal(key[1], "cluster.nodes.gpu.count");
    assert_string_equal(key[2], "");
    for (int i = 0; i < 2; i++) {
        assert_true(holds[i][0] != '\0' && fails[i][0] != '\0');
        assert_verdict(w, "C1", key[i], holds[i], "holds");
        assert_verdict(w, "C1", key[i], fails[i], "does not hold");
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
    struct world *w = *state;
    char holds[8][400], fails[8][400], trials[8][400];

    scratch_write(&w->scratch, "e.yaml", HEAD CLAIMS
                  "border:\n"
                  "  - {claim: C2, key: workload.jobs, from: 20, to: 1000,\n"
                  "     within: 0.1%}\n"
                  "  - {claim: C2, key: workload.jobs, from: 20, to: 1000,\n"
                  "     within: 10%, points: 0, log: true}\n");
    assert_int_equal(command(w, "border", "out", NULL, "2"), 0);
    read_column(w, "out/border.csv", "holds_at", holds);
    read_column(w, "out/border.csv", "fails_at", fails);
    read_column(w, "out/border.csv", "trials", trials);
    assert_string_equal(holds[0], "500");
    assert_string_equal(fails[0], "501");
    /* A tenth of log(50): a ratio of 1.48, in four halvings and the ends. */
    assert_true(atof(holds[1]) <= 500 && atof(fails[1]) > 500);
    assert_true(atof(fails[1]) / atof(holds[1]) < 1.5);
    assert_string_equal(trials[1], "72");
}

static void what_does_not_turn_once_is_told(void **state)
{
    struct world *w = *state;
    char turns[8][400], sentence[8][400], holds[8][400];

    scratch_write(&w->scratch, "e.yaml", HEAD CLAIMS
                  "border:\n"
                  "  - {claim: C2, key: workload.jobs, from: 20, to: 100}\n"
                  "  - {claim: C3, key: workload.jobs, from: 20, to: 1000}\n");
    assert_int_equal(command(w, "border", "out", NULL, "2"), 0);
    read_column(w, "out/border.csv", "turns", turns);
    read_column(w, "out/border.csv", "sentence", sentence);
    read_column(w, "out/border.csv", "holds_at", holds);
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
    struct world *w = *state;
    char turns[8][400], sentence[8][400];

    scratch_write(&w->scratch, "e.yaml", HEAD CLAIMS
                  "event_count_max: 500\n"
                  "border: [{claim: C2, key: workload.jobs, from: 20, to: 1000}]\n");
    assert_int_equal(command(w, "border", "out", NULL, "2"), 5);
    read_column(w, "out/border.csv", "turns", turns);
    read_column(w, "out/border.csv", "sentence", sentence);
    assert_string_equal(turns[0], "not known");
    assert_non_null(strstr(sentence[0], "seed 0 of fcfs failed: event limit"));
}

static void swept_key_is_one_border_and_others_one_a_point(void **state)
{
    struct world *w = *state;
    char point[8][400], sentence[8][400];

    scratch_write(&w->scratch, "e.yaml", HEAD
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
    assert_int_equal(command(w, "border", "out", NULL, "2"), 0);
    read_column(w, "out/border.csv", "point", point);
    read_column(w, "out/border.csv", "sentence", sentence);
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
    struct world *w = *state;
    char *one, *two;

    scratch_write(&w->scratch, "e.yaml", HEAD CLAIMS
                  "border: [{claim: C1, key: workload.arrival.rate, from: 20/h,\n"
                  "          to: 2/h}]\n");
    assert_int_equal(command(w, "border", "one", NULL, "1"), 0);
    assert_int_equal(command(w, "border", "two", NULL, "4"), 0);
    one = scratch_read(&w->scratch, "one/border.csv");
    two = scratch_read(&w->scratch, "two/border.csv");
    assert_string_equal(one, two);
    free(one);
    free(two);
}

/* Results stay beside it; a new run takes it away, but not a file of others. */
static void border_lies_beside_results(void **state)
{
    struct world *w = *state;
    char *before, *after;

    scratch_write(&w->scratch, "e.yaml", HEAD CLAIMS
                  "output: {plots: []}\n"
                  "border: [{claim: C2, key: workload.jobs, from: 20, to: 100}]\n");
    assert_int_equal(command(w, "border", "out", NULL, "2"), 0);
    assert_int_equal(command(w, "run", "out", NULL, "2"), 0);
    assert_null(scratch_read(&w->scratch, "out/border.csv"));
    before = scratch_read(&w->scratch, "out/summary.csv");
    assert_int_equal(command(w, "border", "out", NULL, "2"), 0);
    after = scratch_read(&w->scratch, "out/summary.csv");
    assert_string_equal(before, after);
    assert_int_equal(access(scratch_path(&w->scratch, "out/border.csv"), R_OK), 0);
    assert_int_not_equal(access(scratch_path(&w->scratch, "out/.trials"), F_OK), 0);
    free(before);
    free(after);
    scratch_write(&w->scratch, "out/border.csv", "town,country\nBasel,CH\n");
    assert_int_equal(command(w, "border", "out", NULL, "2"), 4);
    assert_non_null(strstr(w->said, "is not a table of this program"));
    assert_int_equal(command(w, "run", "out", NULL, "2"), 0);
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
          ":13:27: range error: workload.jobs cannot be 0: 'jobs' must be from 1" },
        { "seed: 2\n", "the experiment has no key border" },
    };
    struct world *w = *state;
    char text[2000];

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        snprintf(text, sizeof text, "%s%s%s", HEAD, CLAIMS, wrong[i][0]);
        scratch_write(&w->scratch, "e.yaml", text);
        assert_int_equal(command(w, "border", "out", NULL, "2"), 3);
        if (strstr(w->said, wrong[i][1]) == NULL)
            fail_msg("wanted '%s', got '%s'", wrong[i][1], w->said);
        assert_null(scratch_read(&w->scratch, "out/border.csv"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
        T(border_has_the_verdicts_of_check),
        T(border_of_whole_numbers_is_exact),
        T(what_does_not_turn_once_is_told),
        T(failed_trials_make_a_border_unknown),
        T(swept_key_is_one_border_and_others_one_a_point),
        T(answers_do_not_depend_on_threads),
        T(border_lies_beside_results),
        T(wrong_keys_are_told_before_any_trial),
#undef T
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
