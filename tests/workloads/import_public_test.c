/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * import_public_test.c - public traces are imported with the counts that their
 * publishers state.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/aid/import_aid.h"

static const char *shared_file(const char *file, char out[900])
{
    const char *shared = getenv("SHARED");

    snprintf(out, 900, "%s/traces/%s", shared ? shared : "../shared", file);
    if (access(out, R_OK) == 0)
        return out;
    print_message("skip: %s is not there\n", out);
    return NULL;
}

#define GAVEL_RATES "gavel/simulation_throughputs.json.gz"

static const struct {
    const char *format, *file, *side;
    const char *more[MORE_MAX - 2];
    const char *report[4];
} traces[] = {
    { "itp", "msitp/raw/cluster10.csv", NULL, { "--gpus", "16" },
      { "jobs         260\n", "GPU-hours    4023.491389\n" } },
    { "itp", "msitp/elasticflow/cluster06.csv", NULL, { NULL },
      { "jobs         2396\n" } },
    { "itp", "msitp/elasticflow/195job.csv", NULL, { NULL },
      { "jobs         195\n" } },
    { "philly", "philly/philly_2017-10.csv.gz", NULL, { "--sort" },
      { "jobs         47192\n", "24905 rows submitted before",
        "GPU-hours    438317.8228\n" } },
    { "tiresias", "tiresias/60_job.csv", NULL, { NULL },
      { "jobs         60\n" } },
    { "tiresias", "../conformance/c480.csv", NULL, { NULL },
      { "jobs         480\n" } },
    { "swf", "swf/LCG-2005-1.swf.gz", NULL,
      { "--skip", "run_time_not_positive" },
      { "rows         188041\n", "jobs         187520\n",
        "521 rows left out", "11 days" } },
    { "swf", "swf/hpc2n_alea_slice.swf", NULL,
      { "--skip", "run_time_not_positive" },
      { "rows         3170\n", "25 rows left out", "jobs         3145\n" } },
    { "swf", "swf/lublin_256.swf", NULL, { "--gpus", "256" },
      { "jobs         10000\n", "10000 jobs: no requested time" } },
    { "gavel", "gavel/msr_seed0/2869ce.trace", GAVEL_RATES,
      { "--gpu-type", "v100", "--skip", "no_length" },
      { "rows         533\n" } },
    { "gavel", "gavel/msr_seed0/ed69ec.trace", GAVEL_RATES,
      { "--gpu-type", "v100" }, { "jobs         951\n" } },
    { "gavel", "gavel/physical_cluster/max_min_fairness.trace", GAVEL_RATES,
      { "--gpu-type", "v100" }, { "jobs         96\n" } },
    { "shockwave", "shockwave/120_0.2_5_100_40_25_0,0.5,0.5_0.6,0.3,0.09,"
      "0.01_multigpu_dynamic.trace", NULL, { NULL },
      { "jobs         120\n", "run time s   min 720 ", "max 18000\n" } },
    { "openb", "openb/openb_pod_list_default.csv", NULL,
      { "--skip", "never_ran" },
      { "rows         8152\n", "897 rows left out: never_ran",
        "jobs         7255\n" } },
};

static void public_traces_hold_what_their_publishers_say(void **state)
{
    const struct program *program = the_program(state);
    size_t found = 0;

    for (size_t i = 0; i < sizeof traces / sizeof traces[0]; i++) {
        char path[900], side[900], *said;
        const char *more[MORE_MAX] = { NULL };
        size_t n = 0;

        if (!shared_file(traces[i].file, path) ||
            (traces[i].side && !shared_file(traces[i].side, side)))
            continue;
        for (; n < MORE_MAX - 2 && traces[i].more[n]; n++)
            more[n] = traces[i].more[n];
        if (traces[i].side) {
            more[n++] = "--lengths";
            more[n++] = side;
        }
        if (import(program, traces[i].format, path, more, &said) != 0)
            fail_msg("%s", said);
        for (size_t r = 0; r < 4 && traces[i].report[r]; r++)
            has(said, traces[i].report[r]);
        free(said);
        found++;
    }
    if (found == 0)
        skip();
}

static void all_workloads_of_pollux_and_sia_have_160_jobs(void **state)
{
    static const char *const file[] = {
        "sia/philly/workload-%d.csv",
        "pollux/simulator/workloads/workload-%d.csv" };
    const struct program *program = the_program(state);
    char name[128], path[900], side[160], *said;
    const char *more[MORE_MAX] = { "--lengths", side };

    write_file(in_folder(program, "side", side),
               "application,run_s\ncifar10,600\ndeepspeech2,3600\nncf,400\n"
               "bert,9000\nyolov3,7200\nimagenet,40000\n");
    for (int i = 0; i < 16; i++) {
        snprintf(name, sizeof name, file[i / 8], i % 8 + 1);
        if (!shared_file(name, path))
            skip();
        if (import(program, i < 8 ? "sia" : "pollux", path, more, &said) != 0)
            fail_msg("%s", said);
        has(said, "jobs         160\n");
        free(said);
    }
}

static void an_imported_cluster10_waits_as_published(void **state)
{
    static const char *const none[MORE_MAX] = { NULL };
    const struct program *program = the_program(state);
    char path[900], cell[64], *said, *summary;

    if (!shared_file("msitp/raw/cluster10.csv", path))
        skip();
    assert_int_equal(import(program, "itp", path, none, &said), 0);
    free(said);
    summary = fifo(program, "w.yaml", 2);
    assert_true(csv_cell(summary, "fcfs", NULL, "wait_mean_s", cell,
                         sizeof cell));
    snprintf(path, sizeof path, "%.3f", strtod(cell, NULL));
    assert_string_equal(path, "38365.788");
    free(summary);
}

int main(int argc, char **argv)
{
    struct program program;
#define WITH(TEST) cmocka_unit_test_prestate(TEST, &program)
    const struct CMUnitTest tests[] = {
        WITH(public_traces_hold_what_their_publishers_say),
        WITH(all_workloads_of_pollux_and_sia_have_160_jobs),
        WITH(an_imported_cluster10_waits_as_published),
    };
    int failed;

    (void)argc;
    program_open(&program, argv[0]);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    program_close(&program);
    return failed;
}
