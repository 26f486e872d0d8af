/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * export_test.c - `clustersim export`: the way there and back, and what a run
 * of an imported trace says and gives.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/aid/import_aid.h"

/* clustersim export WORKLOAD -o NAME --format FORMAT --seed 3 */
static void export_to(const struct program *program, const char *workload,
                      const char *name, const char *format)
{
    char path[160], *said;
    const char *words[] = { "export", workload, "-o",
                            in_folder(program, name, path), "--format",
                            format, "--seed", "3", NULL };

    if (run(program, words, &said) != 0)
        fail_msg("%s", said);
    free(said);
}

static void same_files(const struct program *program, const char *a,
                       const char *b)
{
    char path[160];
    char *left = program_read(in_folder(program, a, path));
    char *right = program_read(in_folder(program, b, path));

    assert_non_null(left);
    assert_non_null(right);
    if (strcmp(left, right) != 0)
        fail_msg("%s and %s differ", a, b);
    free(left);
    free(right);
}

static void what_was_exported_is_imported_unchanged(void **state)
{
    static const char *const workloads[] = {
        "workloads/whole_jobs.yaml", "workloads/trace_c480.yaml",
        "workloads/trace_sample.yaml" };
    static const char *const none[MORE_MAX] = { NULL };
    const struct program *program = the_program(state);
    char path[160], *said;

    for (size_t i = 0; i < sizeof workloads / sizeof workloads[0]; i++) {
        export_to(program, workloads[i], "x.csv", "csv");
        import(program, "csv", in_folder(program, "x.csv", path), none,
               &said);
        free(said);
        same_files(program, "x.csv", "w.csv");
    }
    /* SWF numbers jobs from 1, as a CSV does those without a name. */
    export_to(program, workloads[0], "x.csv", "csv");
    export_to(program, workloads[0], "x.swf", "swf");
    import(program, "swf", in_folder(program, "x.swf", path), none, &said);
    free(said);
    same_files(program, "x.csv", "w.csv");
    /* And once more from the workload that was imported. */
    in_folder(program, "w.yaml", path);
    export_to(program, path, "y.swf", "swf");
    export_to(program, path, "y.csv", "csv");
    import(program, "swf", in_folder(program, "y.swf", path), none, &said);
    free(said);
    same_files(program, "y.csv", "w.csv");
}

/* One tenant that is no number among many that are: each gets a number, and a note. */
static void tenants_that_are_numbers_are_numbered_beside_names(void **state)
{
    const struct program *program = the_program(state);
    char csv[8000] = "submit,run,gpus,tenant\n0,10,1,alice\n", path[160], *text;
    size_t notes = 0;

    for (int i = 1; i < 200; i++)
        snprintf(csv + strlen(csv), sizeof csv - strlen(csv), "%d,10,1,%d\n", i, 5000 + i);
    write_file(in_folder(program, "t.csv", path), csv);
    write_file(in_folder(program, "t.yaml", path),
               "trace: {file: t.csv, format: csv, estimate: exact,\n"
               "  columns: {submit: submit, duration: run, gpus: gpus, tenant: tenant}}\n");
    export_to(program, path, "t.swf", "swf");
    text = program_read(in_folder(program, "t.swf", path));
    assert_non_null(text);
    for (const char *at = text; (at = strstr(at, "; Note: user ")) != NULL; at++)
        notes++;
    assert_int_equal(notes, 200);
    has(text, "; Note: user 1 is alice\n");
    has(text, "; Note: user 200 is 5199\n");
    has(text, "\n200 199 -1 10 1 -1 -1 1 -1 -1 1 200 -1");
    free(text);
}

/* Exports four jobs of an entry, beside a service; returns what is said. */
static char *export_entry(const struct program *program, const char *keys)
{
    char yaml[160], cluster[160], csv[160], text[1000], *said;
    const char *words[] = { "export", in_folder(program, "kinds.yaml", yaml), "--cluster",
                            in_folder(program, "cl.yaml", cluster), "-o",
                            in_folder(program, "x.csv", csv), NULL };

    write_file(cluster, "nodes:\n"
               "  - {name: a, count: 1, gpus: {type: t4, count: 8}, cpu: {type: epyc-7763, "
               "sockets: 1}, memory: 256GB}\n"
               "  - {name: b, count: 1, gpus: {type: l4, count: 8}, cpu: {type: epyc-7763, "
               "sockets: 1}, memory: 256GB}\n");
    snprintf(text, sizeof text, "arrival: {process: all_at_once}\njobs: 4\nmix: [{recipe: trace, "
             "name: j, gpus: 1, duration: 1h%s}]\nservices:\n  - {name: s, model: llama-3.1-8b, "
             "gpu: {types: [l4], cores: 4}, requests: {arrival: {process: poisson, rate: 1/s}, "
             "prompt: 100, output: 10, for: 1min}}\n", keys);
    write_file(yaml, text);
    if (run(program, words, &said) != 0)
        fail_msg("%s", said);
    return said;
}

static void what_no_format_holds_is_counted(void **state)
{
    static const struct { const char *keys, *said; } row[] = {
        { ", elastic: {min: 1, max: 2, scaling: linear}", "  4 jobs: are elastic: " },
        { ", rates: {a: 1, b: 2}", "  4 jobs: have rates by pool or type of GPU: " },
        { ", packing: {j: 0.7}", "  4 jobs: may share GPUs by `packing`: " },
        { ", role: {pool: b}", "  4 jobs: name a pool, cores or memory of their role: " },
        { ", role: {types: [l4]}", "  4 jobs: name types of GPU, as all of their entry do: " },
        { "", NULL },
    };

    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        char *said = export_entry(the_program(state), row[i].keys);
        const char *at = strchr(said, '\n');

        assert_non_null(at);
        if (row[i].said != NULL) {
            if (strncmp(at + 1, row[i].said, strlen(row[i].said)) != 0)
                fail_msg("%s: %s", row[i].keys, said);
            at = strchr(at + 1, '\n');
        }
        assert_string_equal(at, "\n  4 jobs: have the name of their entry of `mix:`, the kind of "
                            "results: not written\n  services are no jobs: not written\n");
        free(said);
    }
}

static void jobs_with_phases_are_not_exported(void **state)
{
    const struct program *program = the_program(state);
    char path[160], *said;
    const char *words[] = { "export", "workloads/dpo_mix.yaml", "--cluster",
                            "models/clusters/mixed_64.yaml", "-o",
                            in_folder(program, "no.csv", path), NULL };

    assert_int_equal(run(program, words, &said), 3);
    has(said, "it has phases");
    assert_int_not_equal(access(path, F_OK), 0);
    free(said);
}

/* What a trace left out is said by whoever runs it. */
static void a_run_says_what_its_trace_left_out(void **state)
{
    const struct program *program = the_program(state);
    char yaml[160], out[160], text[1000], *said;
    const char *words[] = { "run", in_folder(program, "left.yaml", yaml),
                            "-o", in_folder(program, "left", out), NULL };

    snprintf(text, sizeof text,
             "experiment: left\ncluster: {nodes: [{name: gpu, count: 1, "
             "gpus: {type: generic, count: 8}}]}\nworkload: {trace: {file: "
             "in, format: openb, skip: " SKIP_ALL "}}\npolicies: [fcfs]\n"
             "output: {tables: [summary], plots: []}\n");
    write_file(yaml, text);
    write_file(in_folder(program, "in", text),
               OPENB "p0,1,1,2,1000,,LS,Running,1,30,10\n"
               "p1,1,1,2,460,,LS,Running,2,30,10\n"
               "p2,0,1,0,0,,BE,Failed,3,30,10\n\n");
    if (run(program, words, &said) != 0)
        fail_msg("%s", said);
    has(said, "traces\n  base: 3 rows, 1 jobs; left out: 0 without run time, "
        "1 without GPUs, 0 too large, 1 by other reasons, 0 outside the "
        "slice; 1 blank lines\n");
    assert_null(strstr(said, "are never drawn"));       /* nothing is drawn in blocks */
    free(said);
}

/* One row, and two, of 19 fields, of which the last is not read: told in the same line. */
static void a_run_says_how_many_rows_are_longer(void **state)
{
    static const char longer[] = "1 0 -1 10 2 -1 -1 4 60 -1 1 7 -1 -1 -1 -1 -1 -1 9\n";
    const struct program *program = the_program(state);
    char yaml[160], out[160], path[160], text[1000], *said;
    const char *words[] = { "run", in_folder(program, "long.yaml", yaml),
                            "-o", in_folder(program, "long", out), NULL };

    write_file(yaml, "experiment: long\ncluster: {nodes: [{name: gpu, count: 1, gpus: {type: "
               "generic, count: 8}}]}\nworkload: {trace: {file: in, format: swf}}\n"
               "policies: [fcfs]\noutput: {tables: [summary], plots: []}\n");
    for (int rows = 1; rows <= 2; rows++) {
        snprintf(text, sizeof text, "%s2%s", longer, rows == 1 ? &SWF_1[1] : &longer[1]);
        write_file(in_folder(program, "in", path), text);
        if (run(program, words, &said) != 0)
            fail_msg("%s", said);
        snprintf(text, sizeof text, "\ntraces\n  base: 2 rows, 2 jobs; left out: 0 without run "
                 "time, 0 without GPUs, 0 too large, 0 by other reasons, 0 outside the slice; "
                 "0 blank lines, %d rows of more than 18 fields\n", rows);
        has(said, text);
        free(said);
    }
}

static void an_imported_trace_runs_as_the_trace_itself(void **state)
{
    static const char *const none[MORE_MAX] = { NULL };
    const struct program *program = the_program(state);
    char here[600], direct[800], *said, *imported, *read;

    assert_int_equal(import(program, "tiresias", "workloads/traces/c480.csv",
                            none, &said), 0);
    free(said);
    assert_non_null(getcwd(here, sizeof here));
    snprintf(direct, sizeof direct, "{trace: {file: %s/workloads/traces/"
             "c480.csv, columns: {job: job_id, submit: submit_time, "
             "duration: duration, gpus: num_gpu}}}", here);
    imported = fifo(program, "w.yaml", 8);
    read = fifo(program, direct, 8);
    assert_string_equal(imported, read);
    has(read, "10539.57");
    free(imported);
    free(read);
}

int main(int argc, char **argv)
{
    struct program program;
#define WITH(TEST) cmocka_unit_test_prestate(TEST, &program)
    const struct CMUnitTest tests[] = {
        WITH(what_was_exported_is_imported_unchanged),
        WITH(tenants_that_are_numbers_are_numbered_beside_names),
        WITH(what_no_format_holds_is_counted),
        WITH(jobs_with_phases_are_not_exported),
        WITH(a_run_says_what_its_trace_left_out),
        WITH(a_run_says_how_many_rows_are_longer),
        WITH(an_imported_trace_runs_as_the_trace_itself),
    };
    int failed;

    (void)argc;
    program_open(&program, argv[0]);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    program_close(&program);
    return failed;
}
