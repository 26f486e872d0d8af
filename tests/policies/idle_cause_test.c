/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * idle_cause_test.c - why free GPUs are free, by hand: jobs that want more
 * than is free, jobs held back behind one that does, jobs that fit on no node.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/aid/program.h"

#define CELL 64

/* summary.csv of these jobs under one policy; what it prints is freed. */
static char *run(const struct program *program, const char *jobs,
                 const char *nodes, const char *policy, const char *tables)
{
    char text[1024], path[128];

    program_write(program, "jobs.csv", jobs);
    snprintf(text, sizeof text,
             "experiment: t\nseeds: 1\nuntil: drained\ncluster: {nodes: "
             "[%s]}\nworkload: {trace: {file: jobs.csv, format: csv, "
             "columns: {job: job, submit: submit, duration: duration, gpus: "
             "gpus}, estimate: exact}}\npolicies:\n  - {%s, name: x}\n"
             "output: {tables: [%s], plots: []}\n", nodes, policy, tables);
    program_write(program, "t.yaml", text);
    snprintf(path, sizeof path, "%s/t.yaml", program->folder);
    assert_int_equal(program_experiment(program, path, "out", NULL), 0);
    char *summary = program_result(program, "out", "summary.csv");
    assert_non_null(summary);
    return summary;
}

/* GPU-seconds of a cause, of so many in all. */
static void assert_cause(const char *summary, const char *column, double gpu_s,
                         double all_s)
{
    char cell[CELL];

    assert_true(csv_cell(summary, "x", NULL, column, cell, sizeof cell));
    if (fabs(strtod(cell, NULL) - gpu_s / all_s) > 1e-8)
        fail_msg("%s: %s x %g, expected %g", column, cell, all_s, gpu_s);
}

/* a holds 3 of 4 GPUs for 100 s; b wants all from 1 s on, c one from 2 s on. */
static const char behind[] = "job,submit,duration,gpus\n"
                             "a,0,100,3\nb,1,10,4\nc,2,10,1\n";
#define ONE_NODE "{name: n, count: 1, gpus: {type: generic, count: 4}}"

/* Free: one GPU for 100 s, then b runs alone, and three while c does.  Both
 * ways of simulating a count of GPUs say the same. */
static void strict_order_keeps_gpus_free_behind_the_head(void **state)
{
    static const char *const tables[] = { "summary", "summary, phases" };

    for (int i = 0; i < 2; i++) {
        char *summary = run(*state, behind, ONE_NODE,
                            "policy: fcfs, placement: count", tables[i]);

        assert_cause(summary, "gpu_head_of_line_fraction", 98, 480);
        assert_cause(summary, "gpu_gang_fraction", 1, 480);
        assert_cause(summary, "gpu_fragment_fraction", 0, 480);
        assert_cause(summary, "gpu_idle_queued_fraction", 99, 480);
        assert_cause(summary, "gpu_idle_empty_fraction", 31, 480);
        free(summary);
    }
}

/* c starts at once; what is free until b starts, b cannot use. */
static void skipping_leaves_a_gang_and_no_head_of_line(void **state)
{
    char *summary = run(*state, behind, ONE_NODE,
                        "policy: fcfs, blocking: skip", "summary, phases");

    assert_cause(summary, "gpu_head_of_line_fraction", 0, 440);
    assert_cause(summary, "gpu_gang_fraction", 1 + 88, 440);
    assert_cause(summary, "gpu_fragment_fraction", 0, 440);
    free(summary);
}

/* c would end after a: its start would delay b, whose place is reserved. */
static void a_reservation_keeps_gpus_free_behind_the_head(void **state)
{
    static const char jobs[] = "job,submit,duration,gpus\n"
                               "a,0,100,3\nb,1,10,4\nc,2,200,1\n";
    static const char *const policy[] = {
        "policy: easy, placement: count",
        "policy: conservative, placement: count"
    };

    for (int i = 0; i < 2; i++) {
        char *summary = run(*state, jobs, ONE_NODE, policy[i], "summary");

        assert_cause(summary, "gpu_head_of_line_fraction", 98, 4 * 310);
        assert_cause(summary, "gpu_fragment_fraction", 0, 4 * 310);
        free(summary);
    }
}

/* Two nodes of two GPUs: from 10 s on a and b leave one GPU on each, which is
 * enough for c by number, but best fit wants them on one node: until 50 s.  Thus c is not
 * what holds back e, from 12 s on. */
static void a_head_that_fits_on_no_node_is_a_fragment(void **state)
{
    static const char jobs[] = "job,submit,duration,gpus\n"
                               "a,0,100,1\nd,0,10,1\nb,0,50,1\nc,11,10,2\ne,12,10,1\n";
    char *summary = run(*state, jobs, "{name: n, count: 2, gpus: "
                        "{type: generic, count: 2}}",
                        "policy: fcfs, placement: best_fit", "summary");

    assert_cause(summary, "gpu_fragment_fraction", 2 * 39, 400);
    assert_cause(summary, "gpu_head_of_line_fraction", 0, 400);
    assert_cause(summary, "gpu_gang_fraction", 0, 400);
    free(summary);
}

/* What waits is known by powers of two above 32: 34 GPUs are free for 60. */
static void a_head_alone_holds_nobody_back(void **state)
{
    static const char jobs[] = "job,submit,duration,gpus\n"
                               "a,0,100,30\nb,1,10,60\n";
    char *summary = run(*state, jobs, "{name: n, count: 8, gpus: "
                        "{type: generic, count: 8}}",
                        "policy: fcfs, placement: count", "summary, phases");

    assert_cause(summary, "gpu_head_of_line_fraction", 0, 64 * 110);
    free(summary);
}

int main(int argc, char *argv[])
{
    static struct program program;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(
            strict_order_keeps_gpus_free_behind_the_head, &program),
        cmocka_unit_test_prestate(
            skipping_leaves_a_gang_and_no_head_of_line, &program),
        cmocka_unit_test_prestate(
            a_reservation_keeps_gpus_free_behind_the_head, &program),
        cmocka_unit_test_prestate(
            a_head_that_fits_on_no_node_is_a_fragment, &program),
        cmocka_unit_test_prestate(a_head_alone_holds_nobody_back, &program),
    };

    (void)argc;
    program_open(&program, argv[0]);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    program_close(&program);
    return failed;
}
