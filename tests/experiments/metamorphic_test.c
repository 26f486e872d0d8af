/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * metamorphic_test.c - changes to an experiment that must not change what it
 * finds, and some that must, seen through the program's files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/aid/family_aid.h"

#define ALL "static, dynamic, hybrid, learned, random"

/* Two groups of equal nodes by these names, without home pools. */
static void write_experiment(const struct program *program, const char *name,
                             const char *groups, const char *policies)
{
    static const char *const node =
        "count: 2, gpus: {type: a100-80, count: 8}, cpu: {type: epyc-7763, "
        "sockets: 2}, memory: 1536GB, nics: {type: ib-hdr, count: 4}}";
    char path[192], a[32], b[32];
    FILE *file;

    assert_int_equal(sscanf(groups, "%31s %31s", a, b), 2);
    snprintf(path, sizeof path, "%s/%s.yaml", program->folder, name);
    file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "experiment: m\nseed: 7\nseeds: 2\nuntil: drained\n"
            "cluster: {nodes: [{name: %s, %s, {name: %s, %s], storage: "
            "{bandwidth: 20GB/s}}\n"
            "workload: {arrival: {process: poisson, rate: 90/h}, jobs: 6, "
            "mix: [%s, %s]}\n"
            "policies: [%s]\n"
            "output: {tables: [summary, compare, jobs, phases, timeline, "
            "decisions], plots: [], detail_seeds: all}\n",
            a, node, b, node,
            "{recipe: dpo, name: dpo, model: qwen2.5-0.5b, prompts: 32, "
            "prompt_tokens: 128, response: {mean: 100, cv: 1, max: 512}, "
            "steps: {uniform: [2, 5]}, rollout: {gpus: 8, min: 4, max: 16}, "
            "train: {gpus: 8, min: 4, max: 16}}",
            "{recipe: sft, name: sft, model: qwen2.5-0.5b, batch: 16, "
            "sequence: 512, steps: {uniform: [20, 90]}, train: {gpus: 4}}",
            policies);
    assert_int_equal(fclose(file), 0);
}

static void run(const struct program *program, const char *name,
                const char *out, const char *const *more)
{
    char path[192];

    snprintf(path, sizeof path, "%s/%s.yaml", program->folder, name);
    assert_int_equal(program_experiment(program, path, out, more), 0);
}

/* The rows of a policy and of seeds below `seeds`; to be freed. */
static char *rows_of_policy(const char *text, const char *policy,
                            unsigned seeds)
{
    char *out = malloc(strlen(text) + 1), field[64];
    size_t used = 0;

    assert_non_null(out);
    for (const char *line = strchr(text, '\n'); line && line[1];
         line = strchr(line + 1, '\n')) {
        size_t bytes = strcspn(line + 1, "\n") + 1;
        csv_field(line + 1, 1, field, sizeof field);
        if (strcmp(field, policy) != 0)
            continue;
        csv_field(line + 1, 2, field, sizeof field);
        if (strtoul(field, NULL, 10) >= seeds)
            continue;
        memcpy(out + used, line + 1, bytes);
        used += bytes;
    }
    out[used] = '\0';
    return out;
}

static bool same_rows(const struct program *program, const char *a,
                      const char *b, const char *file, const char *policy,
                      unsigned seeds)
{
    char *one = program_result(program, a, file);
    char *two = program_result(program, b, file);

    assert_non_null(one);
    assert_non_null(two);
    char *left = rows_of_policy(one, policy, seeds);
    char *right = rows_of_policy(two, policy, seeds);
    bool same = strcmp(left, right) == 0;
    assert_true(strlen(left) > 0);
    free(one);
    free(two);
    free(left);
    free(right);
    return same;
}

static const char *const tables[] = {
    "summary.csv", "jobs.csv", "phases.csv", "decisions.csv"
};
#define TABLES 4

static void names_of_equal_nodes_change_nothing(void **state)
{
    static const char *const policy[] = { "static", "dynamic", "hybrid",
                                          "learned", "random" };
    const struct program *program = *state;

    write_experiment(program, "ab", "left right", ALL);
    write_experiment(program, "ba", "right left", ALL);
    write_experiment(program, "xy", "north south", ALL);
    run(program, "ab", "ab", NULL);
    run(program, "ba", "ba", NULL);
    run(program, "xy", "xy", NULL);
    for (int t = 0; t < TABLES; t++)
        for (int p = 0; p < 5; p++) {
            assert_true(same_rows(program, "ab", "ba", tables[t], policy[p],
                                  2));
            assert_true(same_rows(program, "ab", "xy", tables[t], policy[p],
                                  2));
        }
}

static void another_policy_changes_no_row_of_the_others(void **state)
{
    static const char *const both[] = { "static", "dynamic", "random" };
    const struct program *program = *state;

    write_experiment(program, "few", "a b", "static, dynamic, random");
    write_experiment(program, "many", "a b", "fcfs, random, hybrid, dynamic, "
                                        "learned, static");
    run(program, "few", "few", NULL);
    run(program, "many", "many", NULL);
    for (int t = 0; t < TABLES; t++)
        for (int p = 0; p < 3; p++)
            assert_true(same_rows(program, "few", "many", tables[t], both[p],
                                  2));
}

static void more_seeds_leave_the_rows_of_the_first_as_they_are(void **state)
{
    static const char *const more[] = { "--seeds", "5", NULL };
    static const char *const policy[] = { "static", "dynamic", "random" };
    const struct program *program = *state;

    write_experiment(program, "seeds", "a b", "static, dynamic, random");
    run(program, "seeds", "two", NULL);
    run(program, "seeds", "five", more);
    for (int t = 0; t < TABLES; t++)
        for (int p = 0; p < 3; p++) {
            assert_true(same_rows(program, "two", "five", tables[t],
                                  policy[p], 2));
            assert_false(same_rows(program, "two", "five", tables[t],
                                   policy[p], 5));
        }
}

static void another_seed_changes_every_policy(void **state)
{
    static const char *const more[] = { "--set", "seed=8", NULL };
    const struct program *program = *state;

    write_experiment(program, "seed", "a b", "static, dynamic");
    run(program, "seed", "seed7", NULL);
    run(program, "seed", "seed8", more);
    assert_false(same_rows(program, "seed7", "seed8", "summary.csv", "static",
                           2));
    assert_false(same_rows(program, "seed7", "seed8", "summary.csv",
                           "dynamic", 2));
}

static void one_thread_and_two_write_the_same_bytes(void **state)
{
    static const char *const one[] = { "-j", "1", NULL };
    static const char *const two[] = { "-j", "2", NULL };
    static const char *const file[] = {
        "summary.csv", "jobs.csv", "phases.csv", "decisions.csv",
        "compare.csv", "timeline.csv", "audit.json"
    };
    const struct program *program = *state;

    write_experiment(program, "threads", "a b", ALL);
    run(program, "threads", "j1", one);
    run(program, "threads", "j2", two);
    for (int f = 0; f < 7; f++) {
        char *left = program_result(program, "j1", file[f]);
        char *right = program_result(program, "j2", file[f]);
        assert_non_null(left);
        assert_non_null(right);
        assert_string_equal(left, right);
        free(left);
        free(right);
    }
}

/* The mean JCT in one seed of one policy. */
static double jct(const struct program *program, const char *name,
                  const char *policy)
{
    char *text = program_result(program, name, "summary.csv"), cell[64];

    assert_non_null(text);
    assert_true(csv_cell(text, policy, "0", "jct_mean_s", cell,
                         sizeof cell));
    free(text);
    return strtod(cell, NULL);
}

static void jobs_that_come_apart_wait_no_longer_under_static(void **state)
{
    static const char *const slow[] = {
        "--set", "workload.arrival.rate=0.01/h", NULL
    };
    const struct program *program = *state;

    write_experiment(program, "rate", "a b", "static");
    run(program, "rate", "dense", NULL);
    run(program, "rate", "sparse", slow);
    assert_true(jct(program, "sparse", "static") <=
                jct(program, "dense", "static"));
    char *text = program_result(program, "sparse", "summary.csv"), cell[64];
    assert_true(csv_cell(text, "static", "0", "wait_mean_s", cell,
                         sizeof cell));
    assert_string_equal(cell, "0");
    free(text);
}

int main(int argc, char **argv)
{
    struct program program;
#define WITH_PROGRAM(TEST) cmocka_unit_test_prestate(TEST, &program)
    const struct CMUnitTest tests[] = {
        WITH_PROGRAM(names_of_equal_nodes_change_nothing),
        WITH_PROGRAM(another_policy_changes_no_row_of_the_others),
        WITH_PROGRAM(more_seeds_leave_the_rows_of_the_first_as_they_are),
        WITH_PROGRAM(another_seed_changes_every_policy),
        WITH_PROGRAM(one_thread_and_two_write_the_same_bytes),
        WITH_PROGRAM(jobs_that_come_apart_wait_no_longer_under_static),
    };

    program_open(&program, argc > 0 ? argv[0] : "");
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    program_close(&program);
    return failed;
}
