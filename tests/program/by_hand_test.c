/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * by_hand_test.c - worlds of one or two nodes whose answer is worked out by hand,
 * from what the manual says.  The working stands above each test, and no law of the
 * product is called.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/aid/program.h"

static struct program program;

/* Runs an experiment of one seed into FOLDER/out.  jobs: a CSV that it reads, or NULL. */
static void run(const char *yaml, const char *jobs)
{
    char *said;

    program_write(&program, "e.yaml", yaml);
    if (jobs != NULL)
        program_write(&program, "jobs.csv", jobs);
    const char *words[] = { "run", program_path(&program, "e.yaml"), "-q", "-o",
                            program_path(&program, "out"), NULL };
    int status = program_say(&program, words, &said);
    if (status != 0)
        print_error("%s\n", said);
    free(said);
    assert_int_equal(status, 0);
}

/* The cell of a row of a table, by its policy and, where the table has one, its fourth
 * column (the job); "" is NAN. */
static double cell(const char *table, const char *policy, const char *job, const char *column)
{
    char *text = program_result(&program, "out", table), field[64];
    double value = NAN;
    bool found = false;

    assert_non_null(text);
    size_t wanted = csv_column(text, column);
    for (const char *line = strchr(text, '\n'); line && line[1] && !found;
         line = strchr(line + 1, '\n')) {
        csv_field(line + 1, 1, field, sizeof field);
        if (strcmp(field, policy) != 0)
            continue;
        csv_field(line + 1, 3, field, sizeof field);
        if (job != NULL && strcmp(field, job) != 0)
            continue;
        found = true;
        csv_field(line + 1, wanted, field, sizeof field);
        value = field[0] ? strtod(field, NULL) : NAN;
    }
    free(text);
    if (!found)
        fail_msg("%s has no row of %s, %s", table, policy, job ? job : "any job");
    return value;
}

static void near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-6 * fabs(expected)))
        fail_msg("%.9g for %.9g", value, expected);
}

/* A GPU brings 4 cores and 8 GB.  Half a GPU for an hour: 2 cores and 4 GB, so 7,200
 * core-seconds.  Two halves and a whole one for half an hour: of 256 GB for an hour
 * 4 + 4 + 8 / 2 GB are held. */
static void a_part_of_a_gpu_brings_its_part_of_cores_and_memory(void **state)
{
    (void)state;
    run("experiment: e\nseeds: 1\ncluster:\n  nodes:\n"
        "    - {name: a, count: 1, gpus: {type: generic, count: 2}, cores: 64,\n"
        "       memory: 256GB}\n"
        "workload:\n  trace: {file: jobs.csv, format: csv,\n"
        "    columns: {job: job, submit: t, duration: d, gpus: g},\n"
        "    role: {cores: 4, memory: 8GB}}\n"
        "policies: [fcfs, {policy: fcfs, name: best, placement: best_fit}]\n"
        "output: {plots: []}\n",
        "job,t,d,g\na,0,3600,0.5\nb,0,3600,0.5\nc,0,1800,1\n");
    const char *const policy[] = { "fcfs", "best" };
    for (int i = 0; i < 2; i++) {
        near(cell("jobs.csv", policy[i], "a", "core_seconds"), 7200);
        near(cell("jobs.csv", policy[i], "b", "core_seconds"), 7200);
        near(cell("jobs.csv", policy[i], "c", "core_seconds"), 7200);
        near(cell("summary.csv", policy[i], NULL, "memory_utilization"), 12.0 / 256);
    }
}

/* Two GPUs, first come first served.  a: 0 to 300 s on both, due at 400.  b waits for it
 * and ends at 500, due at 450: late.  c (900 s) runs from 300 s and is cut off at 1000 s:
 * due at 2000, of which nobody knows.  d comes at 600 s and is cut off too, due at 800:
 * late.  So one of three kept its deadline. */
static void a_deadline_after_the_end_of_the_run_is_neither_kept_nor_missed(void **state)
{
    (void)state;
    run("experiment: e\nseeds: 1\nuntil: 1000s\ncluster:\n  nodes:\n"
        "    - {name: a, count: 1, gpus: {type: generic, count: 2}}\n"
        "workload:\n  trace: {file: jobs.csv, format: csv,\n"
        "    columns: {job: job, submit: t, duration: d, gpus: g, deadline: due}}\n"
        "policies: [fcfs]\noutput: {plots: []}\n",
        "job,t,d,g,due\na,0,300,2,400\nb,50,200,1,450\nc,60,900,1,2000\n"
        "d,600,500,1,800\n");
    near(cell("jobs.csv", "fcfs", "a", "deadline_met"), 1);
    near(cell("jobs.csv", "fcfs", "b", "deadline_met"), 0);
    assert_true(isnan(cell("jobs.csv", "fcfs", "c", "deadline_met")));
    near(cell("jobs.csv", "fcfs", "c", "deadline_s"), 2000);
    near(cell("jobs.csv", "fcfs", "d", "deadline_met"), 0);
    near(cell("summary.csv", "fcfs", NULL, "slo_attained_fraction"), 1.0 / 3);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_of_a_gpu_brings_its_part_of_cores_and_memory),
        cmocka_unit_test(a_deadline_after_the_end_of_the_run_is_neither_kept_nor_missed),
    };

    (void)argc;
    program_open(&program, argv[0]);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    program_close(&program);
    return failed;
}
