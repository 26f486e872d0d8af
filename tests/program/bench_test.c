/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bench_test.c - the suite of whole runs: its rows, its file, its usage.  No
 * time is judged here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/aid/program.h"

static struct program program;

static int bench(const char *log, const char *only, const char *csv)
{
    const char *argv[] = { program.path, "bench", "--suite", "cluster",
                           "--quick", "--only", only, "--csv", csv, NULL };
    return program_spawn(argv, log);
}

static void rows_say_what_was_run_and_what_it_cost(void **state)
{
    char csv[128], line[512];
    double cpu_s, jobs_per_s, peak_bytes;
    unsigned jobs, gpus;

    (void)state;
    snprintf(csv, sizeof csv, "%s/bench.csv", program.folder);
    assert_int_equal(bench(NULL, "fifo-count", csv), 0);
    FILE *file = fopen(csv, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    assert_string_equal(line,
                        "measure,jobs,gpus,burst_jobs,cpu_s,jobs_per_s,"
                        "event_ns,bare_s,bare_ratio,peak_bytes,job_bytes,"
                        "goal_s,goal_met,peer_jobs_per_s\n");
    assert_non_null(fgets(line, sizeof line, file));
    assert_int_equal(sscanf(line,
                            "fifo-count-written,%u,%u,0,%lf,%lf,%*f,%*f,%*f,"
                            "%lf", &jobs, &gpus, &cpu_s, &jobs_per_s,
                            &peak_bytes), 5);
    assert_int_equal(jobs, 100000);
    assert_int_equal(gpus, 10000);
    assert_true(cpu_s > 0 && jobs_per_s * cpu_s > 99000);
    assert_true(peak_bytes > 1e6);
    assert_null(fgets(line, sizeof line, file));
    fclose(file);
    unlink(csv);
}

/* A row for each load, each with its figures, its growth and its goal. */
static void growth_is_a_row_for_each_load(void **state)
{
    static const char *const loads[] = { "low", "over", "queue" };
    char csv[128], line[512], load[16];
    const char *argv[] = { program.path, "bench", "--suite", "growth", "--quick", "--only",
                           "edf", "--csv", csv, NULL };

    (void)state;
    snprintf(csv, sizeof csv, "%s/growth.csv", program.folder);
    assert_int_equal(program_spawn(argv, "/dev/null"), 0);
    FILE *file = fopen(csv, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    assert_string_equal(line, "measure,load,us_1,us_2,us_3,us_4,growth,goal,goal_met\n");
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
        double us_1, us_2, growth;
        assert_non_null(fgets(line, sizeof line, file));
        assert_int_equal(sscanf(line, "edf-skip,%15[a-z],%lf,%lf,,,%lf,1.3,", load, &us_1,
                                &us_2, &growth), 4);
        assert_string_equal(load, loads[i]);
        assert_true(us_1 > 0 && us_2 > 0);
        assert_true(growth * us_1 > 0.99 * us_2 && growth * us_1 < 1.01 * us_2);
    }
    assert_null(fgets(line, sizeof line, file));
    fclose(file);
    unlink(csv);
}

/* Panels of curves that were not measured stay empty. */
static void one_measure_makes_a_figure(void **state)
{
    char dir[128], path[160];
    const char *argv[] = { program.path, "bench", "--suite", "cluster",
                           "--quick", "--only", "accasim", "--plots", dir,
                           NULL };

    (void)state;
    snprintf(dir, sizeof dir, "%s/plots", program.folder);
    assert_int_equal(program_spawn(argv, "/dev/null"), 0);
    snprintf(path, sizeof path, "%s/scale.png", dir);
    assert_int_equal(unlink(path), 0);
    snprintf(path, sizeof path, "%s/scale.gp", dir);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(dir), 0);
}

static void what_is_not_there_is_a_usage_error(void **state)
{
    const char *suite[] = { program.path, "bench", "--suite", "nothing",
                            NULL };

    (void)state;
    assert_int_equal(bench(NULL, "no-such-row", "/dev/null"), 2);
    assert_int_equal(program_spawn(suite, NULL), 2);
}

/* The program stands beside clustersim; where it does not, that is said. */
static void a_program_that_is_not_there_is_an_error(void **state)
{
    (void)state;
    char alone[128], log[128];
    const char *copy[] = { "cp", program.path, alone, NULL };
    const char *argv[] = { alone, "bench", "--quick", NULL };

    snprintf(alone, sizeof alone, "%s/alone", program.folder);
    snprintf(log, sizeof log, "%s/alone.log", program.folder);
    assert_int_equal(program_spawn(copy, NULL), 0);
    assert_int_equal(program_spawn(argv, log), 4);
    char *text = program_read(log);
    assert_non_null(strstr(text, "/clustersim-bench': No such file"));
    assert_non_null(strstr(text, "`make bench`"));
    free(text);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_say_what_was_run_and_what_it_cost),
        cmocka_unit_test(growth_is_a_row_for_each_load),
        cmocka_unit_test(one_measure_makes_a_figure),
        cmocka_unit_test(what_is_not_there_is_a_usage_error),
        cmocka_unit_test(a_program_that_is_not_there_is_an_error),
    };
    (void)argc;
    program_open(&program, argv[0]);
    int status = cmocka_run_group_tests(tests, NULL, NULL);
    program_close(&program);
    return status;
}
