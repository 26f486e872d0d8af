/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trace_rows_test.c - keys of a trace that look at more columns of its rows:
 * where, run_times, tenant_pools, gpu_memory_mib.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/aid/import_aid.h"

#define CLUSTER "cluster:\n  nodes:\n" \
    "    - {name: a, count: 1, pool: vcA, gpus: {type: generic, model: A, " \
    "count: 4}}\n" \
    "    - {name: b, count: 1, pool: vcB, gpus: {type: generic, model: B, " \
    "count: 4}}\n"
#define JOBS "id,t,run,n,vc,state,run_a,run_b\n" \
    "1,0,100,4,vcA,ok,100,400\n2,1,100,4,vcA,ok,100,\n" \
    "3,2,100,2,vcB,bad,100,300\n4,3,50,2,vcB,ok,50,25\n" \
    "5,4,50,9,vcB,,50,25\n"
#define COLUMNS "columns: {job: id, submit: t, duration: run, gpus: n, tenant: " \
    "vc}"

/* Runs the trace with these keys; the status, and what was said, to be freed. */
static int run_said(const struct program *program, const char *keys,
                    char **text)
{
    char path[160], yaml[160], experiment[2048];
    const char *words[] = { "run", in_folder(program, "e.yaml", yaml), "-o",
                            in_folder(program, "out", path), NULL };
    char csv[160];

    write_file(in_folder(program, "jobs.csv", csv), JOBS);
    snprintf(experiment, sizeof experiment, "experiment: e\n" CLUSTER
             "workload:\n  trace:\n    file: jobs.csv\n    %s\n"
             "policies: [{policy: fcfs, blocking: skip}]\n"
             "output: {tables: [summary, jobs], plots: []}\n", keys);
    write_file(yaml, experiment);
    return run(program, words, text);
}

/* The same, and of a good run its jobs.csv. */
static int run_trace(const struct program *program, const char *keys,
                     char **text)
{
    char csv[160];
    int status = run_said(program, keys, text);

    if (status != 0)
        return status;
    free(*text);
    *text = program_read(in_folder(program, "out/jobs.csv", csv));
    return 0;
}

/* The cell of a job in jobs.csv; "" if it is not there. */
static const char *cell_of(const char *text, const char *job,
                           const char *column, char out[64])
{
    size_t names = csv_column(text, "job"), at = csv_column(text, column);

    for (const char *line = strchr(text, '\n'); line && line[1];
         line = strchr(line, '\n')) {
        line++;
        csv_field(line, names, out, 64);
        if (strcmp(out, job) != 0)
            continue;
        csv_field(line, at, out, 64);
        return out;
    }
    out[0] = '\0';
    return out;
}

static void where_takes_rows_by_numbers_and_texts(void **state)
{
    static const struct { const char *where, *jobs; } want[] = {
        { "state != \"bad\" and n <= 4", "1 2 4" },
        { "vc == \"vcB\" and n < 4", "3 4" },
        { "id >= 2 and not (state == \"bad\") and n <= 4", "2 4" },
        { "run_b > 0 and n <= 4", "1 3 4" },    /* empty: does not hold */
        { "state == \"\" or id == 1", "1" },
    };
    char keys[400], found[64], cell[64], *text;

    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        snprintf(keys, sizeof keys, COLUMNS "\n    where: '%s'\n    skip: "
                 "{larger_than_cluster: true}", want[i].where);
        if (run_trace(the_program(state), keys, &text) != 0)
            fail_msg("%s", text);
        found[0] = '\0';
        for (char job[2] = "1"; job[0] <= '5'; job[0]++)
            if (cell_of(text, job, "job", cell)[0])
                sprintf(found + strlen(found), "%s%s", found[0] ? " " : "",
                        job);
        assert_string_equal(found, want[i].jobs);
        free(text);
    }
}

/* 1 / (n - 2) of n: 4, 4, 2, 2, 9; the root of 100 - run: 100, 100, 100, 50, 50.
 * An empty cell of run_b decides, and is no fault of the condition. */
static void rows_without_a_value_are_told_apart(void **state)
{
    static const struct { const char *where, *said; } want[] = {
        { "1 / (n - 2) > 0.2",
          "5 rows, 2 jobs; left out: 0 without run time, 0 without GPUs, 0 too "
          "large, 0 by other reasons, 0 outside the slice, 1 not taken by where, "
          "2 for which where has no value (x / 0, the root of -1); 0 blank" },
        { "sqrt(60 - run) > 0 and n < 9",
          "5 rows, 1 jobs; left out: 0 without run time, 0 without GPUs, 0 too "
          "large, 0 by other reasons, 0 outside the slice, 1 not taken by where, "
          "3 for which where has no value (x / 0, the root of -1); 0 blank" },
        { "run_b / 0 > 0 or run_b > 0 and n < 9",
          "1 not taken by where, 1 for which" },
        { "n < 9 and run_b > 0", "outside the slice, 2 not taken by where; 0 blank" },
    };
    char keys[400], *text;

    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        snprintf(keys, sizeof keys, COLUMNS "\n    where: '%s'", want[i].where);
        if (run_said(the_program(state), keys, &text) != 0)
            fail_msg("%s", text);
        has(text, want[i].said);
        free(text);
    }
}

/* A row that is left out is not read: its 9 GPUs are no fault.  Otherwise they
 * are. */
static void rows_that_where_leaves_out_are_no_faults(void **state)
{
    char *text;

    assert_int_equal(run_trace(the_program(state), COLUMNS
                               "\n    where: 'n < 9'", &text), 0);
    free(text);
    assert_int_equal(run_trace(the_program(state), COLUMNS
                               "\n    where: 'n > 0'", &text), 3);
    has(text, "jobs.csv:6:8: range error: job asks for 9 GPUs");
    free(text);
}

static void jobs_of_a_tenant_use_its_pool_alone(void **state)
{
    char cell[64], *text;

    assert_int_equal(run_trace(the_program(state), COLUMNS
                               "\n    where: 'n < 9'\n    tenant_pools: true",
                               &text), 0);
    assert_string_equal(cell_of(text, "2", "start_s", cell), "100");
    assert_string_equal(cell_of(text, "4", "start_s", cell), "3");
    assert_string_equal(cell_of(text, "1", "gpu_type", cell), "A");
    assert_string_equal(cell_of(text, "3", "gpu_type", cell), "B");
    free(text);
    /* without the key the second job takes the other node */
    assert_int_equal(run_trace(the_program(state), COLUMNS
                               "\n    where: 'n < 9'", &text), 0);
    assert_string_equal(cell_of(text, "2", "start_s", cell), "1");
    free(text);
}

/* One node and one job for each of many tenants: none shares the other's kind, so
 * none waits. */
static void many_tenants_have_a_pool_each(void **state)
{
    const struct program *program = the_program(state);
    char path[160], yaml[160], csv[160], text[8000], rows[2000], cell[64], job[12];
    const char *words[] = { "run", in_folder(program, "e.yaml", yaml), "-q",
                            "-o", in_folder(program, "out", path), NULL };
    char *said, *jobs;
    size_t used = 0, n = 0;

    used += (size_t)sprintf(text, "experiment: e\ncluster:\n  nodes:\n");
    n += (size_t)sprintf(rows, "id,t,run,n,vc\n");
    for (int i = 0; i < 24; i++) {
        used += (size_t)sprintf(text + used, "    - {name: n%d, pool: vc%d, "
                                "gpus: {type: generic, count: 4}}\n", i, i);
        n += (size_t)sprintf(rows + n, "%d,0,100,4,vc%d\n", i, i);
    }
    sprintf(text + used, "workload:\n  trace:\n    file: jobs.csv\n    "
            COLUMNS "\n    tenant_pools: true\npolicies: [{policy: fcfs, "
            "blocking: skip}]\noutput: {tables: [summary, jobs], plots: []}\n");
    write_file(yaml, text);
    write_file(in_folder(program, "jobs.csv", csv), rows);
    if (run(program, words, &said) != 0)
        fail_msg("%s", said);
    free(said);
    jobs = program_read(in_folder(program, "out/jobs.csv", csv));
    for (int i = 0; i < 24; i++) {
        snprintf(job, sizeof job, "%d", i);
        assert_string_equal(cell_of(jobs, job, "start_s", cell), "0");
    }
    free(jobs);
}

/* 25 s on B where the file says 50 s in general; job 2 never runs on B. */
static void run_times_hold_by_gpu_type(void **state)
{
    char cell[64], *text;

    assert_int_equal(run_trace(the_program(state), COLUMNS
                               "\n    where: 'n < 9'\n"
                               "    run_times: {A: run_a, vcB: run_b}", &text),
                     0);
    assert_string_equal(cell_of(text, "2", "gpu_type", cell), "A");
    assert_string_equal(cell_of(text, "2", "start_s", cell), "100");
    assert_string_equal(cell_of(text, "3", "end_s", cell), "302");
    assert_string_equal(cell_of(text, "4", "gpu_type", cell), "B");
    assert_string_equal(cell_of(text, "4", "end_s", cell), "28");
    free(text);
}

static void keys_that_are_wrong_are_told_at_their_place(void **state)
{
    static const struct { const char *keys, *said; } wrong[] = {
        { COLUMNS "\n    where: 'stat == \"ok\"'",
          "e.yaml:10:13: reference error: there is no column 'stat' of the" },
        { COLUMNS "\n    where: \"state == \\\"ok\\\" and stat == 1\"",
          "e.yaml:10:33: reference error: there is no column 'stat' of the" },
        { COLUMNS "\n    where: 'state == \"it''s\" and stat == 1'",
          "e.yaml:10:34: reference error: there is no column 'stat' of the" },
        { COLUMNS "\n    where: 'n + 1'", "where must be a condition" },
        { COLUMNS "\n    where: 'state > 3'", "e.yaml:10:" },
        { COLUMNS "\n    where: 'state'",
          "the expression must be a number or a condition, and is a text" },
        { COLUMNS "\n    where: 'n < 0'", "none of the 5 rows of" },
        { COLUMNS "\n    where: [n]", "where must be a condition, such as" },
        { COLUMNS "\n    where: 'n < 0'",
          "The condition `where` does not take the other 5 rows." },
        { COLUMNS "\n    where: 'n / 0 < 3 and n < 9'",
          "where` does not take: 1; for which it has no value (x / 0, the root of "
          "-1): 4." },
        { COLUMNS "\n    run_times: {C: run_a}",
          "run_times names C, which is no pool and no GPU type" },
        { COLUMNS "\n    run_times: {vcA: run_a, A: run_b}",
          "run_times.A is of a pool that a key above names, too" },
        { COLUMNS "\n    run_times: {vca: run_a}", "The nearest is vcA." },
        { COLUMNS "\n    rates: {A: 1, vcB: 1, B: 2}",
          "rates.B is of a pool that a key above names, too" },
        { COLUMNS "\n    run_times: {A: run_x}",
          "run_times names column run_x, which the trace does not have" },
        { COLUMNS "\n    run_times: {A: state}",
          "column state must be a number of seconds, found \"ok\"" },
        { COLUMNS "\n    run_times: {A: run_a}\n    rates: {A: 1}",
          "run_times and rates both say how fast jobs are" },
        { "columns: {submit: t, duration: run, gpus: n}\n    tenant_pools: true",
          "tenant_pools needs the column tenant" },
        { "columns: {submit: t, duration: run, gpus: n, tenant: state}\n"
          "    tenant_pools: true",
          "no pool of the cluster is its tenant's (column state is \"ok\")" },
    };
    char *text;

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        if (run_trace(the_program(state), wrong[i].keys, &text) != 3)
            fail_msg("%s: %s", wrong[i].keys, text);
        has(text, wrong[i].said);
        free(text);
    }
}

/* Runs jobs on a node of two T4 (15,360 MiB each) and one of two A100 of 80 GB; the
 * status, and jobs.csv or what was said, to be freed. */
static int run_memory(const struct program *program, const char *rows, const char *keys,
                      char **text)
{
    char path[160], yaml[160], csv[300], experiment[1024];
    const char *words[] = { "run", in_folder(program, "m.yaml", yaml), "-o",
                            in_folder(program, "memory", path), NULL };
    int status;

    snprintf(csv, sizeof csv, "job,t,run,n,mib\n%s", rows);
    write_file(in_folder(program, "memory.csv", path), csv);
    snprintf(experiment, sizeof experiment, "experiment: m\ncluster:\n  nodes:\n"
             "    - {name: t, gpus: {type: t4, count: 2}, cpu: {type: epyc-7742, sockets: 1},\n"
             "       memory: 256GB}\n"
             "    - {name: h, gpus: {type: a100-80, count: 2}, cpu: {type: epyc-7742,\n"
             "       sockets: 1}, memory: 256GB}\n"
             "workload:\n  trace: {file: memory.csv, format: csv, columns: {job: job,\n"
             "    submit: t, duration: run, gpus: n, gpu_memory_mib: mib}%s}\n"
             "policies: [fcfs]\noutput: {plots: []}\n", keys);
    write_file(yaml, experiment);
    in_folder(program, "memory", path);
    status = run(program, words, text);
    if (status == 0) {
        free(*text);
        *text = program_read(in_folder(program, "memory/jobs.csv", path));
    }
    return status;
}

/* Of whole GPUs, too: a job whose GPUs need more than a T4 has goes to the A100, or waits
 * for them beside idle T4; 15,360 MiB are a T4's; what no GPU has is refused. */
static void memory_of_gpus_rules_out_smaller_ones(void **state)
{
    char *text, cell[64];

    (void)state;
    assert_int_equal(run_memory(the_program(state),
                                "a,0,100,2,15361\nb,0,50,1,15360\nc,0,100,1,20000\n"
                                "d,0,10,0.5,20000\n", "", &text), 0);
    assert_string_equal(cell_of(text, "a", "gpu_type", cell), "a100-80");
    assert_string_equal(cell_of(text, "b", "gpu_type", cell), "t4");
    assert_string_equal(cell_of(text, "c", "start_s", cell), "100");
    assert_string_equal(cell_of(text, "c", "gpu_type", cell), "a100-80");
    assert_string_equal(cell_of(text, "d", "start_s", cell), "100");
    free(text);
    assert_int_equal(run_memory(the_program(state), "a,0,100,1,99999\n", "", &text), 3);
    has(text, "memory.csv:2:11: range error: column mib must be at most 81920, the most "
              "memory of a GPU that jobs may use, found \"99999\"");
    free(text);
    assert_int_equal(run_memory(the_program(state), "a,0,100,1,99999\nb,0,50,1,\n",
                                ", skip: {larger_than_cluster: true}", &text), 0);
    assert_string_equal(cell_of(text, "a", "start_s", cell), "");
    assert_string_equal(cell_of(text, "b", "start_s", cell), "0");
    free(text);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(where_takes_rows_by_numbers_and_texts),
        cmocka_unit_test(rows_without_a_value_are_told_apart),
        cmocka_unit_test(rows_that_where_leaves_out_are_no_faults),
        cmocka_unit_test(jobs_of_a_tenant_use_its_pool_alone),
        cmocka_unit_test(many_tenants_have_a_pool_each),
        cmocka_unit_test(run_times_hold_by_gpu_type),
        cmocka_unit_test(memory_of_gpus_rules_out_smaller_ones),
        cmocka_unit_test(keys_that_are_wrong_are_told_at_their_place),
    };

    (void)argc;
    program_argv0 = argv[0];
    return cmocka_run_group_tests(tests, program_setup, program_teardown);
}
