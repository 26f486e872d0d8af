/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * table_sizes_test.c - what is said of the tables before a run, against the
 * tables that the run wrote.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "experiments/preflight/table_sizes.h"
#include "experiments/spec/experiment.h"
#include "sim/base/arena.h"
#include "tests/aid/program.h"

#define NODES \
    "cluster: {nodes: [{name: n, count: 4, gpus: {type: a100-80, count: 8}, " \
    "cpu: {type: epyc-7763, sockets: 2}, memory: 1TB, nics: {type: ib-hdr, " \
    "count: 4}}], storage: {bandwidth: 20GB/s}}\n"
#define DPO \
    "{recipe: dpo, name: dpo, model: qwen2.5-0.5b, prompts: 32, " \
    "prompt_tokens: 128, response: {mean: 100, cv: 1, max: 512}, " \
    "steps: {uniform: [2, 9]}, checkpoint_every: 3, rollout: {gpus: 8}, " \
    "train: {gpus: 8}}"
#define LONG_DPO \
    "{recipe: dpo, name: dpo, model: qwen2.5-0.5b, prompts: 32, " \
    "prompt_tokens: 128, response: {mean: 100, cv: 1, max: 512}, " \
    "steps: 1000000, rollout: {gpus: 8}, train: {gpus: 8}}"

static void write_experiment(const struct program *program, const char *seeds,
                             const char *mix, char path[128])
{
    FILE *file;

    snprintf(path, 128, "%s/t.yaml", program->folder);
    file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "experiment: t\n%s%sworkload: {arrival: {process: poisson, "
            "rate: 90/h}, jobs: 20, mix: [%s]}\npolicies: [static, fcfs]\n",
            seeds, NODES, mix);
    assert_int_equal(fclose(file), 0);
}

static struct table_sizes sizes_of(struct arena *arena, const char *path)
{
    const struct experiment_options options = { 0 };
    struct err err = { 0 };
    const struct experiment *experiment = experiment_read(arena, path, &options, &err);

    if (experiment == NULL)
        fail_msg("%s", err.text);
    return table_sizes_of(arena, experiment);
}

static size_t rows_of(const struct program *program, const char *table,
                      size_t *bytes)
{
    char *text = program_result(program, "out", table);
    size_t lines = 0;

    assert_non_null(text);
    *bytes = strlen(text);
    for (const char *p = text; *p != '\0'; p++)
        lines += *p == '\n';
    free(text);
    return lines - 1;
}

static void assert_near(double value, double wanted, double part)
{
    if (!(value > wanted * (1 - part) && value < wanted * (1 + part)))
        fail_msg("%g is not near %g", value, wanted);
}

/* One seed: what is drawn is what is run, so rows are exact; bytes and
 * intervals are about so many. */
static void rows_said_before_are_those_written(void **state)
{
    struct arena *arena = arena_new(1 << 16);
    const struct program *program = *state;
    struct table_sizes sizes;
    char path[128];
    size_t bytes;

    write_experiment(program, "", DPO, path);
    sizes = sizes_of(arena, path);
    assert_int_equal(program_experiment(program, path, "out", NULL), 0);
    assert_true(sizes.rows[SIZED_JOBS] ==
                (double)rows_of(program, "jobs.csv", &bytes));
    assert_near(sizes.bytes[SIZED_JOBS], (double)bytes, 0.5);
    assert_true(sizes.rows[SIZED_PHASES] ==
                (double)rows_of(program, "phases.csv", &bytes));
    assert_near(sizes.bytes[SIZED_PHASES], (double)bytes, 0.5);
    assert_true(sizes.rows[SIZED_TIMELINE] >    /* the run is short */
                (double)rows_of(program, "timeline.csv", &bytes));
    assert_true(sizes.rows[SIZED_DECISIONS] == 0);  /* not asked for */
    arena_free(arena);
}

/* More seeds write more jobs, and the phases of one of them. */
static void detail_of_one_seed_does_not_grow_with_the_seeds(void **state)
{
    struct arena *arena = arena_new(1 << 16);
    struct table_sizes one, ten, all;
    char path[128];

    write_experiment(*state, "", DPO, path);
    one = sizes_of(arena, path);
    write_experiment(*state, "seeds: 10\n", DPO, path);
    ten = sizes_of(arena, path);
    write_experiment(*state, "seeds: 10\noutput: {detail_seeds: all}\n", DPO, path);
    all = sizes_of(arena, path);
    assert_true(ten.rows[SIZED_JOBS] == 10 * one.rows[SIZED_JOBS]);
    assert_true(ten.rows[SIZED_PHASES] == one.rows[SIZED_PHASES]);
    assert_true(all.rows[SIZED_PHASES] == 10 * one.rows[SIZED_PHASES]);
    arena_free(arena);
}

/* No more are drawn than it takes; the rest is as those were. */
static void a_thousand_million_jobs_are_not_two(void **state)
{
    const struct program *program = *state;
    const struct experiment_options billion = {
        .set = (const char *const[]) { "workload.jobs=1000000000" },
        .set_count = 1
    }, year = {
        .set = (const char *const[]) { "workload.jobs=1000000000",
                                       "workload.for=1000d" },
        .set_count = 2
    };
    struct arena *arena = arena_new(1 << 16);
    struct err err = { 0 };
    char path[128];

    write_experiment(program, "", DPO, path);
    const struct experiment *experiment = experiment_read(arena, path, &billion, &err);
    assert_non_null(experiment);
    assert_true(table_sizes_of(arena, experiment).rows[SIZED_JOBS] == 2e9);
    experiment = experiment_read(arena, path, &year, &err);   /* 90 an hour */
    assert_non_null(experiment);
    assert_near(table_sizes_of(arena, experiment).rows[SIZED_JOBS],
                2 * 1000 * 24 * 90, 0.01);
    arena_free(arena);
}

/* 20 jobs of a million steps under two policies, five phases a step and a
 * checkpoint every tenth. */
static void validate_says_when_tables_will_be_large(void **state)
{
    const struct program *program = *state;
    char path[128], log[128], *said;
    const char *argv[] = { program->path, "validate", path, NULL };

    snprintf(log, sizeof log, "%s/said", program->folder);
    write_experiment(program, "seeds: 3\n", LONG_DPO, path);
    assert_int_equal(program_spawn(argv, log), 0);
    said = program_read(log);
    assert_non_null(said);
    assert_non_null(strstr(said, "tables will take about "));
    assert_non_null(strstr(said, "  phases.csv        204000000 rows, "));
    assert_non_null(strstr(said, "GB, of 1 of 3 seeds"));
    free(said);
    write_experiment(program, "seeds: 3\n", DPO, path);
    assert_int_equal(program_spawn(argv, log), 0);
    said = program_read(log);
    assert_non_null(said);
    assert_null(strstr(said, "tables will take"));
    free(said);
}

int main(int argc, char *argv[])
{
    static struct program program;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(rows_said_before_are_those_written,
                                  &program),
        cmocka_unit_test_prestate(
            detail_of_one_seed_does_not_grow_with_the_seeds, &program),
        cmocka_unit_test_prestate(a_thousand_million_jobs_are_not_two,
                                  &program),
        cmocka_unit_test_prestate(validate_says_when_tables_will_be_large,
                                  &program),
    };

    (void)argc;
    program_open(&program, argv[0]);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    program_close(&program);
    return failed;
}
