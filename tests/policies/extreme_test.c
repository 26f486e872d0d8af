/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * extreme_test.c - values at the ends of what the keys allow, and no memory.
 *
 * Whatever is asked, the program answers, refuses (3) or gives the trial up
 * (5); it ends with status 70 only where memory runs out, and then it does so
 * whatever it was about to do.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "policies/policy.h"
#include "policies/registry/registry.h"
#include "tests/aid/program.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

/* Rounds as long as the policy takes them: 146 years hold many short ones. */
static const char *long_rounds(const char *policy)
{
    static const char *const rounds[][2] = {
        { "las", ", quantum: 1e9s" }, { "gittins", ", quantum: 1e9s" },
        { "time-slice", ", quantum: 1e9s" }, { "gavel", ", round: 1e6s" },
        { "themis", ", lease: 1e6s" }, { "optimus", ", interval: 1e6s" },
        { "elasticflow", ", slot: 1e6s" }, { "shockwave", ", round: 1e6s" },
        { "pollux", ", interval: 3e7s" }, { "sia", ", interval: 3e7s" },
    };

    for (size_t i = 0; i < sizeof rounds / sizeof rounds[0]; i++)
        if (strcmp(policy, rounds[i][0]) == 0)
            return rounds[i][1];
    return "";
}

static void ends_well(const struct program *program, const char *policy,
                      const char *more)
{
    char text[1024], path[128], out[128], log[128];
    const char *argv[] = { program->path, path, "-q", "-o", out, NULL };

    snprintf(text, sizeof text,
             "experiment: extreme\n"
             "cluster: {nodes: [{name: gpu, count: 1, "
             "gpus: {type: generic, count: 2}}]}\n"
             "workload: {trace: {file: t.csv, format: csv, columns: "
             "{job: job, submit: submit, duration: duration, gpus: gpus}}}\n"
             "output: {plots: []}\n%s"
             "policies: [{policy: %s%s}]\n", more, policy,
             long_rounds(policy));
    program_write(program, "e.yaml", text);
    snprintf(path, sizeof path, "%s/e.yaml", program->folder);
    snprintf(out, sizeof out, "%s/out", program->folder);
    snprintf(log, sizeof log, "%s/log", program->folder);
    int status = program_spawn(argv, log);
    if (status != 0 && status != 3 && status != 5) {
        char *said = program_read(log);
        fail_msg("%s ends with %d: %s", policy, status, said ? said : "");
    }
}

/* 9e9 s are 285 years: twice that is more than a time can be. */
static void no_policy_adds_times_beyond_the_last(void **state)
{
    program_write(*state, "t.csv", "job,submit,duration,gpus\n"
                                "a,0,9e9,1\nb,0,9e9,1\nc,5,9e9,2\nd,9,1,1\n");
    const struct cs_policy *policy;

    for (size_t i = 0; (policy = registry_at(i)) != NULL; i++) {
        ends_well(*state, policy->name, "");
        ends_well(*state, policy->name, "until: 104166d\n");
    }
}

/* 12,000 nodes for 10^6 s are 1.2e19 node-nanoseconds, more than 64 bits hold. */
static void many_rented_nodes_are_counted_over_long_times(void **state)
{
    const struct program *program = *state;
    char path[128], cell[64], *summary;

    program_write(program, "t.csv", "job,submit,duration,gpus\na,0,1e6,1\n");
    program_write(program, "e.yaml",
               "experiment: rented\n"
               "cluster: {nodes: [{name: gpu, count: 12000, gpus: {type: "
               "generic, count: 1}, price: 1USD/h, rent: {start: 0s, min: "
               "12000, keep: 0s, billing: second}}]}\n"
               "workload: {trace: {file: t.csv, format: csv, columns: "
               "{job: job, submit: submit, duration: duration, gpus: gpus}}}\n"
               "output: {plots: []}\npolicies: [fcfs]\n");
    snprintf(path, sizeof path, "%s/e.yaml", program->folder);
    assert_int_equal(program_experiment(program, path, "out", NULL), 0);
    summary = program_result(program, "out", "summary.csv");
    assert_non_null(summary);
    assert_true(csv_cell(summary, "fcfs", NULL, "rented_nodes_mean", cell,
                         sizeof cell));
    assert_string_equal(cell, "12000");
    free(summary);
}

#ifndef SANITIZED
static void limit_memory(rlim_t bytes)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_AS, &limit), 0);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
}
#endif

/* Each limit stops it at another place: in the parser, in its tree, in what is
 * made of it; below the least it does not start (126, 127). */
static void no_memory_is_status_70_wherever_it_runs_out(void **state)
{
#ifdef SANITIZED
    (void)state;
    print_message("skip: a sanitizer reserves more memory than there is\n");
    skip();
#else
    const struct program *program = *state;
    char path[128], log[128];
    const char *argv[] = { program->path, "validate", path, NULL };
    unsigned out = 0;
    FILE *file;

    snprintf(path, sizeof path, "%s/big.yaml", program->folder);
    snprintf(log, sizeof log, "%s/log", program->folder);
    file = fopen(path, "wb");
    assert_non_null(file);
    fputs("experiment: [", file);
    for (int i = 0; i < 300000; i++)
        fprintf(file, "%d, ", i);
    fputs("\"", file);
    for (int i = 0; i < 200000; i++)
        fputs("long text ", file);
    fputs("\"]\n", file);
    assert_int_equal(fclose(file), 0);
    for (rlim_t mib = 20; mib < 100; mib += 2) {
        limit_memory(mib << 20);
        int status = program_spawn(argv, log);
        limit_memory(RLIM_INFINITY);
        if (status == 70)
            out++;
        else if (status < 126 && status != 3)
            fail_msg("with %u MiB: status %d", (unsigned)mib, status);
        char *said = program_read(log);
        assert_non_null(said);
        if (status == 3 && strstr(said, "memory") != NULL)
            fail_msg("with %u MiB: %s", (unsigned)mib, said);
        free(said);
    }
    assert_in_range(out, 3, 39);
#endif
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(no_policy_adds_times_beyond_the_last,
                                        program_setup, program_teardown),
        cmocka_unit_test_setup_teardown(
            many_rented_nodes_are_counted_over_long_times, program_setup, program_teardown),
        cmocka_unit_test_setup_teardown(
            no_memory_is_status_70_wherever_it_runs_out, program_setup, program_teardown),
    };

    assert(argc > 0);
    program_argv0 = argv[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
