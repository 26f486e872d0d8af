/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * signal_search_test.c - a planner in a search that takes for ever is ended by a signal.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/aid/signals.h"

static const char planner[] =
    "experiment: planner\n"
    "cluster:\n  nodes:\n"
    "    - {name: t4, count: 48, gpus: {type: t4, count: 4},\n"
    "       cpu: {type: epyc-7742, sockets: 1}, memory: 192GB}\n"
    "workload:\n  trace: {file: %s/workloads/traces/goodput.csv, format: pollux,\n"
    "          lengths: applications}\n"
    "policies: [{policy: pollux, population: 1000, generations: 100000}]\n"
    "output: {tables: [summary], plots: []}\n";

static void a_planner_in_its_search_is_ended(void **state)
{
    char text[1200], here[400];

    (void)state;
    assert_non_null(getcwd(here, sizeof here));
    snprintf(text, sizeof text, planner, here);
    write_text("planner.yaml", text, 0600);
    cut_off_often("planner.yaml", 12, 600);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_planner_in_its_search_is_ended),
    };

    (void)argc;
    program_open(&signalled, argv[0]);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    program_close(&signalled);
    return failed;
}
