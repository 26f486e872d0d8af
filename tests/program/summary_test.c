/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * summary_test.c - summary.csv of more trials than one thread makes rows of at once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/aid/program.h"

const char *program_argv0;

/* 2 x 2 x 1300 trials. */
static const char experiment[] =
    "experiment: rows\nseeds: 1300\n"
    "cluster: {nodes: [{name: n, count: 1, gpus: {type: generic, count: 8}}]}\n"
    "workload:\n  arrival: {process: poisson, rate: 4/h}\n  jobs: 2\n"
    "  mix: [{recipe: trace, gpus: 4, duration: {exponential: {mean: 1h}}}]\n"
    "metrics: {half_s: {of: mean(jct_s) / 2, unit: s, better: less}}\n"
    "policies: [fcfs, sjf]\n"
    "sweep: {workload.arrival.rate: [4/h, 8/h]}\n"
    "output: {plots: [], tables: [summary, compare]}\n";

/* Each trial has one row, in order: points, then policies, then seeds. */
static void assert_rows(const char *row)
{
    static const char *const policy[] = { "fcfs", "sjf" };
    char want[64];

    for (int i = 0; i < 5200; i++) {
        row = strchr(row, '\n');
        assert_non_null(row);
        row++;
        snprintf(want, sizeof want, "arrival.rate=%d/h,%s,%d,2,2,",
                 i < 2600 ? 4 : 8, policy[i / 1300 % 2], i % 1300);
        if (strncmp(row, want, strlen(want)) != 0)
            fail_msg("row %d is '%.60s', not '%s'", i, row, want);
    }
    row = strchr(row, '\n');
    assert_true(row != NULL && row[1] == '\0');
}

static void any_number_of_threads_writes_the_same(void **state)
{
    static const char *const threads[] = { "1", "2", "40" };
    static const char *const name[] = { "summary.csv", "compare.csv" };
    const struct program *program = *state;
    const char *file = program_write(program, "e.yaml", experiment);
    char *first[2] = { NULL };

    for (size_t i = 0; i < sizeof threads / sizeof threads[0]; i++) {
        const char *const options[] = { "-j", threads[i], NULL };

        assert_int_equal(program_experiment(program, file, threads[i], options), 0);
        for (size_t f = 0; f < 2; f++) {
            char *text = program_result(program, threads[i], name[f]);

            assert_non_null(text);
            if (i == 0)
                first[f] = text;
            else if (strcmp(text, first[f]) != 0)
                fail_msg("-j %s: another %s", threads[i], name[f]);
            if (i > 0)
                free(text);
        }
    }
    assert_rows(first[0]);
    free(first[0]);
    free(first[1]);
}

/* Jobs of known length work for as long as they hold GPUs, also where failures cut them off:
 * no time is a bubble.  Sums of such times differ in their last digit. */
static const char failing[] =
    "experiment: b\nseeds: 6\n"
    "cluster:\n  nodes: [{name: n, count: 4, gpus: {type: generic, count: 8}}]\n"
    "  failures: {node_mtbf: 200h, repair: 2h}\n"
    "workload:\n  arrival: {process: poisson, rate: 12/h}\n  jobs: 60\n"
    "  mix: [{recipe: trace, gpus: {choice: {1: 1, 4: 1, 8: 1}}, "
    "duration: {exponential: {mean: 1h}}}]\n"
    "policies: [fcfs, srtf]\noutput: {plots: [], tables: [summary]}\n";

static void what_sums_leave_by_rounding_is_no_bubble(void **state)
{
    const struct program *program = *state;
    const char *file = program_write(program, "b.yaml", failing);

    assert_int_equal(program_experiment(program, file, "b", NULL), 0);
    char *summary = program_result(program, "b", "summary.csv");
    size_t column = csv_column(summary, "gpu_bubble_fraction");
    unsigned rows = 0;
    char cell[64];

    for (const char *row = strchr(summary, '\n') + 1; *row != '\0';
         row = strchr(row, '\n') + 1, rows++) {
        csv_field(row, column, cell, sizeof cell);
        assert_string_equal(cell, "0");
    }
    assert_int_equal(rows, 12);
    free(summary);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(any_number_of_threads_writes_the_same,
                                        program_setup, program_teardown),
        cmocka_unit_test_setup_teardown(what_sums_leave_by_rounding_is_no_bubble,
                                        program_setup, program_teardown),
    };

    (void)argc;
    program_argv0 = argv[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
