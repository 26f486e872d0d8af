/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * import_words_test.c - what `import` and `export` say, to the last line: formats that were
 * meant, wrong numbers, reports of series, nodes and jobs, and what a file of the Standard
 * Workload Format leaves out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/aid/import_aid.h"

/* A word of the summaries of `list formats` names all formats that have it; else the nearest name
 * is told, if one is near. */
static void a_wrong_format_names_what_was_meant(void **state)
{
    static const char *const row[][2] = {
        { "slurm", "Did you mean one of sacct, slurm-nodes?  `clustersim list formats` says" },
        { "Alibaba", "Did you mean one of openb, pai, spot2026, dlrm2025, openb-nodes?  " },
        { "grid", "Did you mean one of sge, carbon?  `" },
        { "common form", "Did you mean one of series?  " },
        { "columns job", "Did you mean one of csv?  " }, { "swff", "Did you mean swf?\n" },
        { "hash_ids", "Did you mean one of mooncake?  " },
        { "zzzzzz", "`clustersim list formats` names them.\n" },
    };
    const struct program *program = the_program(state);
    const char *none[] = { NULL };
    char in[160], text[100], *said;

    write_file(in_folder(program, "in", in), ITP);
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        assert_int_equal(import(program, row[i][0], in, none, &said), 2);
        snprintf(text, sizeof text, "usage error: there is no format '%s'\nhint: ", row[i][0]);
        has(said, text);
        has(said, row[i][1]);
        free(said);
    }
}

/* All keys of --columns are named, and the nearest is meant. */
static void a_wrong_column_names_all_keys(void **state)
{
    static const char keys[] = "keys are job, submit, duration, gpus, limit, tenant, priority, "
                               "deadline, cores, memory_mib, gpu_memory_mib, gpu_types\n";
    const struct program *program = the_program(state);
    char in[160], *said;

    write_file(in_folder(program, "in", in), ITP);
    const char *near[] = { "--columns", "job=job_id,tenent=x", NULL };
    assert_int_equal(import(program, "csv", in, near, &said), 2);
    has(said, "usage error: --columns knows no 'tenent': keys are job, submit");
    has(said, keys);
    has(said, "hint: Did you mean tenant?\n");
    free(said);
    const char *far[] = { "--columns", "colour=x", NULL };
    assert_int_equal(import(program, "csv", in, far, &said), 2);
    has(said, keys);
    assert_null(strstr(said, "hint"));
    free(said);
}

/* Six points of two series from 0 to 180 s, with a mean of 21.6 / 6; a step of 120 s or of 0 is
 * another than the first of 60 s. */
static void a_series_is_told_and_written_as_it_is(void **state)
{
    const struct program *program = the_program(state);
    const char *more[] = { "--sort", NULL };
    char in[160], *said, *text;

    write_file(in_folder(program, "in", in),
               "series,time_s,value\nb,0,1.5\nb,60,2\nb,180,0.1\n\"c,d\",5,3\nb,120,7\nb,120,8\n");
    assert_int_equal(import(program, "series", in, more, &said), 0);
    has(said, "in: format series\nseries       2 of ");
    has(said, "\npoints       6\n  1 points before the one above: sorted\n"
              "  1 points at the time of the one above: both are kept, the later row holds\n");
    has(said, "span         180 s, 0.002083 days\n"
              "values       min 0.1  mean of points 3.6  max 8\n");
    free(said);
    text = program_read(in_folder(program, "w.csv", in));
    assert_string_equal(text, "series,time_s,value\nb,0,1.5\nb,60,2\nb,120,7\nb,120,8\nb,180,0.1\n"
                              "\"c,d\",5,3\n");
    free(text);
    text = program_read(in_folder(program, "w.yaml", in));
    has(text, "# By clustersim import series.\n");
    has(text, "# 2 series, 6 points:\n");
    has(text, "  file: 'w.csv'\n");
    free(text);
}

static void a_list_of_nodes_is_told_and_written_as_it_is(void **state)
{
    const struct program *program = the_program(state);
    const char *none[] = { NULL };
    char in[160], *said, *text;

    write_file(in_folder(program, "in", in),
               "sn,cpu_milli,memory_mib,gpu,model\nn1,96000,393216,2,P100\n"
               "n4,96000,393216,2,P100\nn2,96000,393216,8,G2\nn3,64000,262144,0,\n");
    assert_int_equal(import(program, "openb-nodes", in, none, &said), 0);
    has(said, "in: format openb-nodes\nnodes        4, 3 with GPUs, in 3 groups\nGPUs         12\n"
              "  GPUs are of type generic: no speed, price or power is known of them\n"
              "  NICs, drives and racks are not said: the network never limits\n");
    free(said);
    text = program_read(in_folder(program, "w.yaml", in));
    has(text, "name: 'w'\nnodes:\n"
              "  - {name: n1, count: 2, pool: P100, cores: 96, memory: 393216MiB,\n"
              "     gpus: {type: generic, model: P100, count: 2}}\n"
              "  - {name: n2, count: 1, pool: G2, cores: 96, memory: 393216MiB,\n"
              "     gpus: {type: generic, model: G2, count: 8}}\n"
              "  - {name: n3, count: 1, pool: cpu, cores: 64, memory: 262144MiB}\n");
    free(text);
}

/* A number of a JSON is told without what follows it in its line, and where it stands. */
static void a_wrong_number_of_a_request_is_told_alone(void **state)
{
    static const char *const row[][2] = {
        { "\"timestamp\": -5, \"input_length\": 600, \"output_length\": 9}\n",
          "in:1:15: range error: milliseconds expected, found '-5'\n" },
        { "\"timestamp\": 5, \"input_length\": -600, \"output_length\": 9}\n",
          "in:1:34: range error: input_length must be a whole number of tokens from 1 to 10000000, "
          "found '-600'\n" },
        { "\"timestamp\": 5, \"input_length\": 600, \"output_length\": 9.5}\n",
          "in:1:56: range error: output_length must be a whole number of tokens from 0 to "
          "10000000, found '9.5'\n" },
        { "\"timestamp\": 5, \"input_length\": 600, \"output_length\": 9, "
          "\"hash_ids\": [0, -1]}\n",
          "in:1:75: range error: hash_ids must be whole numbers from 0, found '-1'\n" },
        { "\"timestamp\": 5, \"input_length\": 600, \"output_length\": 9, "
          "\"hash_ids\": [0, 1.5]}\n",
          "in:1:75: range error: hash_ids must be whole numbers from 0, found '1.5'\n" },
    };
    const struct program *program = the_program(state);
    const char *none[] = { NULL };
    char in[160], line[200], *said;

    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        snprintf(line, sizeof line, "{%s", row[i][0]);
        write_file(in_folder(program, "in", in), line);
        assert_int_equal(import(program, "mooncake", in, none, &said), 3);
        has(said, row[i][1]);
        free(said);
    }
}

#define KUBE_JOB(NAME, STATUS) "- apiVersion: batch/v1\n  kind: Job\n  metadata: {name: " NAME \
    ", namespace: n, creationTimestamp: \"2026-01-01T00:00:00Z\"}\n  spec: {parallelism: 1, " \
    "template: {spec: {containers: [{name: c, resources: {limits: {nvidia.com/gpu: \"2\"}}}]}}}\n" \
    "  status: {startTime: \"2026-01-01T00:01:00Z\", " STATUS "}\n"
#define KUBE_HOLDS(TYPE, HOLDS, MINUTE) "{type: " TYPE ", status: \"" HOLDS "\", " \
    "lastTransitionTime: \"2026-01-01T00:" MINUTE ":00Z\"}"

/* Of a job that failed the condition tells the end, after ten minutes; one that does not hold
 * tells nothing. */
static void a_job_of_kubernetes_failed_if_its_condition_holds(void **state)
{
    const struct program *program = the_program(state);
    const char *none[] = { NULL };
    char in[160], *said, *text;

    write_file(in_folder(program, "in", in), "apiVersion: v1\nkind: List\nitems:\n"
        KUBE_JOB("a", "conditions: [" KUBE_HOLDS("Failed", "True", "11") "]")
        KUBE_JOB("b", "completionTime: \"2026-01-01T00:21:00Z\", conditions: ["
                 KUBE_HOLDS("Complete", "True", "21") "]")
        KUBE_JOB("c", "completionTime: \"2026-01-01T00:31:00Z\", conditions: ["
                 KUBE_HOLDS("Failed", "False", "11") ", "
                 KUBE_HOLDS("Complete", "True", "31") "]"));
    assert_int_equal(import(program, "kube", in, none, &said), 0);
    has(said, "jobs         3\n  1 jobs: failed or were cancelled; replayed as they ran\n");
    has(said, "GPU-hours    2\n");         /* two GPUs for 10, 20 and 30 minutes */
    free(said);
    text = program_read(in_folder(program, "w.csv", in));
    has(text, "n/a,1767225600,600,2,n\nn/b,1767225600,1200,2,n\nn/c,1767225600,1800,2,n\n");
    free(text);
}

/* Writes jobs, imports them, and exports them as SWF; returns what was said.  *swf: the file. */
static char *export_swf(const struct program *program, const char *jobs, char **swf)
{
    const char *more[] = { "--columns", "job=job,submit=submit,duration=run,gpus=gpus,"
                           "tenant=tenant,priority=prio,cores=cores,memory_mib=mem", NULL };
    char in[160], yaml[160], out[160], *said;

    write_file(in_folder(program, "in", in), jobs);
    assert_int_equal(import(program, "csv", in, more, &said), 0);
    free(said);
    const char *words[PROGRAM_ARGS_MAX] = {
        "export", in_folder(program, "w.yaml", yaml), "-o", in_folder(program, "z.swf", out),
        "--format", "swf"
    };
    assert_int_equal(run(program, words, &said), 0);
    *swf = program_read(out);
    return said;
}

/* Of four jobs three have names that are none, two a tenant, two times with parts, and so on. */
static void what_swf_has_no_field_for_is_counted(void **state)
{
    const struct program *program = the_program(state);
    char *swf, *said = export_swf(program,
        "job,tenant,submit,run,gpus,prio,cores,mem\nalpha,ann,0,10.5,1,1,2,0\n"
        "7,12,5,20,0.5,0,0,100\nbeta,bob,9,30,2,0,0,0\nbeta2,,9.25,30,2,3,1,5\n", &swf);

    has(said, "z.swf: 4 jobs\n"
        "  3 jobs: have a name that is no whole number above 0; all are numbered from 1\n"
        "  2 jobs: have a tenant that is no whole number above 0; all are numbered, see the "
        "file's notes\n"
        "  2 jobs: have times with parts of a second, which some readers of SWF refuse\n"
        "  1 jobs: take a part of a GPU: written as a whole one\n"
        "  3 jobs: ask for cores, memory or types of GPU, for which SWF has no field\n"
        "  2 jobs: have a priority, for which SWF has no field\n");
    has(swf, "; MaxJobs: 4\n; MaxRecords: 4\n; Note: a processor is a GPU\n"
        "; Note: user 1 is ann\n; Note: user 2 is 12\n; Note: user 3 is bob\n"
        "1 0 -1 10.5 1 -1 -1 1 -1 -1 1 1 -1 -1 -1 -1 -1 -1\n"
        "2 5 -1 20 1 -1 -1 1 -1 -1 1 2 -1 -1 -1 -1 -1 -1\n"
        "3 9 -1 30 2 -1 -1 2 -1 -1 1 3 -1 -1 -1 -1 -1 -1\n"
        "4 9.25 -1 30 2 -1 -1 2 -1 -1 1 -1 -1 -1 -1 -1 -1 -1\n");
    free(said);
    free(swf);
    /* Names and tenants that are numbers stay as they are. */
    said = export_swf(program, "job,tenant,submit,run,gpus,prio,cores,mem\n"
                               "17,12,5,20,1,0,0,0\n9,3,6,20,1,0,0,0\n", &swf);
    has(said, "z.swf: 2 jobs\n");
    assert_null(strstr(said, " jobs: "));
    has(swf, "GPU\n17 0 -1 20 1 -1 -1 1 -1 -1 1 12 -1 -1 -1 -1 -1 -1\n"
             "9 1 -1 20 1 -1 -1 1 -1 -1 1 3 -1 -1 -1 -1 -1 -1\n");
    free(said);
    free(swf);
}

int main(int argc, char **argv)
{
    struct program program;
#define WITH(TEST) cmocka_unit_test_prestate(TEST, &program)
    const struct CMUnitTest tests[] = {
        WITH(a_wrong_format_names_what_was_meant),
        WITH(a_wrong_column_names_all_keys),
        WITH(a_series_is_told_and_written_as_it_is),
        WITH(a_list_of_nodes_is_told_and_written_as_it_is),
        WITH(a_wrong_number_of_a_request_is_told_alone),
        WITH(a_job_of_kubernetes_failed_if_its_condition_holds),
        WITH(what_swf_has_no_field_for_is_counted),
    };
    int failed;

    (void)argc;
    program_open(&program, argv[0]);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    program_close(&program);
    return failed;
}
