/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * signal_start_test.c - a run that still reads its trace is ended by a signal.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "tests/aid/signals.h"

static const char huge[] =
    "experiment: huge\n"
    "cluster: {nodes: [{name: n, count: 100, gpus: {type: generic, count: 8}}]}\n"
    "workload:\n  trace: {file: huge.csv, format: csv,\n"
    "          columns: {job: j, submit: s, duration: d, gpus: g}}\n"
    "policies: [{policy: srtf, placement: pack}]\n"
    "output: {tables: [summary], plots: []}\n";

static void write_trace(void)
{
    char path[300];
    FILE *file;

    snprintf(path, sizeof path, "%s/huge.csv", signalled.folder);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs("j,s,d,g\n", file);
    for (int i = 0; i < 1000000; i++)
        fprintf(file, "%d,%d,%d,%d\n", i, i, 100 + i * 37 % 1001, 1 << i % 4);
    assert_int_equal(fclose(file), 0);
}

static void a_start_that_reads_much_is_ended(void **state)
{
    (void)state;
    write_text("huge.yaml", huge, 0600);
    write_trace();
    cut_off_often("huge.yaml", 16, 500);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_start_that_reads_much_is_ended),
    };

    (void)argc;
    program_open(&signalled, argv[0]);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    program_close(&signalled);
    return failed;
}
