/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * conformance_test.c - what other simulators print, reproduced to their last
 * digit by the program: YAML in, CSV out.
 *
 * The expected values are printed by Tiresias (Gu et al., NSDI 2019), Helios
 * (Hu et al., SC 2021), AccaSim (Galleguillos et al., 2020), Starburst (Luo
 * et al., ATC 2024), PAI's simulator and Gavel (Narayanan et al., OSDI 2020)
 * on the same traces; those of EASY (Lifka 1995) and of the larger traces by
 * a program of ninety lines written from their semantics alone.  Each is
 * compared as text, with as many digits as it was printed with.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/aid/program.h"

struct expected {
    const char *policy, *column, *value;
};

/* The cell, a number, printed with the digits that the value has. */
static void agree(const char *summary, const struct expected *expected)
{
    char cell[64], text[64];
    const char *point = strchr(expected->value, '.');
    int digits = point ? (int)strlen(point + 1) : 0;

    assert_true(csv_cell(summary, expected->policy, NULL, expected->column,
                         cell, sizeof cell));
    snprintf(text, sizeof text, "%.*f", digits, strtod(cell, NULL));
    if (strcmp(text, expected->value) != 0)
        fail_msg("%s of %s: expected %s, found %s (%s)", expected->column,
                 expected->policy, expected->value, text, cell);
}

static void agree_all(const struct program *program, const char *name,
                      const char *trace, const struct expected *expected)
{
    char yaml[128], set[640];
    const char *more[] = { "--set", set, NULL };

    snprintf(yaml, sizeof yaml, "experiments/conformance/%s.yaml", name);
    snprintf(set, sizeof set, "workload.trace.file=%s", trace ? trace : "");
    assert_int_equal(program_experiment(program, yaml, name,
                                        trace ? more : NULL), 0);
    char *summary = program_result(program, name, "summary.csv");
    assert_non_null(summary);
    for (; expected->policy; expected++)
        agree(summary, expected);
    free(summary);
}

/* Traces that are not part of the project stand in SHARED; without them the
 * test is skipped. */
static void agree_shared(const struct program *program, const char *name,
                         const char *file, const struct expected *expected)
{
    const char *shared = getenv("SHARED");
    char here[300], path[600];

    if (!getcwd(here, sizeof here))
        here[0] = '\0';
    snprintf(path, sizeof path, "%s%s%s/traces/%s",
             shared && shared[0] == '/' ? "" : here,
             shared && shared[0] == '/' ? "" : "/",
             shared ? shared : "../shared", file);
    if (access(path, R_OK) != 0) {
        print_message("skip: %s is not there\n", path);
        skip();
    }
    agree_all(program, name, path, expected);
}

static void c480_agrees_with_tiresias_helios_starburst_and_gavel(void **state)
{
    static const struct expected expected[] = {
        { "fifo-strict", "jct_mean_s", "10539.5729" },
        { "fifo-strict", "makespan_s", "165443" },
        { "fifo-strict", "preemptions", "0" },
        { "fifo-skip", "jct_mean_s", "7290.8062" },
        { "fifo-skip", "makespan_s", "160343" },
        { "sjf-strict", "jct_mean_s", "7334.4271" },
        { "sjf-strict", "makespan_s", "168327" },
        { "srtf", "jct_mean_s", "6893.0854" },
        { "srtf", "makespan_s", "170640" },
        { "srtf", "preemptions", "361" },
        { "easy", "jct_mean_s", "7960.7250" },
        { "easy", "makespan_s", "163385" },
        { "first-fit", "jct_mean_s", "27235.5312" },
        { "first-fit", "makespan_s", "204965" },
        { "best-fit", "jct_mean_s", "26316.0687" },
        { "best-fit", "makespan_s", "201759" },
        { "rounds", "jct_mean_s", "11448.690" },
        { "rounds", "makespan_s", "167927" },
        { "rounds", "jobs_done", "480" },
        { "gavel", "jct_mean_s", "20705.190" },
        { "gavel", "makespan_s", "189735" },
        { "gavel", "jobs_done", "480" },
        { "dlas-tiresias", "jct_mean_s", "6813.6875" },
        { "dlas-tiresias", "makespan_s", "161828" },
        { "dlas-tiresias", "preemptions", "161" },
        { "dlas-corrected", "jct_mean_s", "6818.03" },
        { "helios", "jct_mean_s", "6878.6500" },
        { "helios", "makespan_s", "170503" },
        { "helios", "preemptions", "368" },
        { "accasim", "jct_mean_s", "7290.8062" },
        { NULL, NULL, NULL }
    };

    agree_all(*state, "c480", NULL, expected);
}

/* Other settings, on half the GPUs; written out in the experiment's head. */
static void c480_on_half_the_gpus_agrees_with_what_the_rules_say(void **state)
{
    static const struct expected expected[] = {
        { "sjf", "jct_mean_s", "26893.3458" },
        { "sjf", "makespan_s", "321205" },
        { "sjf-backfill", "jct_mean_s", "24491.3354" },
        { "sjf-backfill", "makespan_s", "311458" },
        { "f1", "jct_mean_s", "66958.6083" },
        { "f1", "makespan_s", "312481" },
        { "unicef-repaired", "jct_mean_s", "17606.2917" },
        { "unicef-repaired", "makespan_s", "301560" },
        { "srsf", "jct_mean_s", "12762.0896" },
        { "srsf", "makespan_s", "285710" },
        { "srsf", "preemptions", "362" },
        { "dlas", "jct_mean_s", "18829.2562" },
        { "dlas", "makespan_s", "277707" },
        { "dlas", "preemptions", "637" },
        { "dlas-time", "jct_mean_s", "29894.6792" },
        { "dlas-time", "makespan_s", "274893" },
        { "dlas-time", "preemptions", "1127" },
        { "dlas-gpu-2", "jct_mean_s", "25650.6875" },
        { "dlas-gpu-2", "makespan_s", "272557" },
        { "dlas-gpu-2", "preemptions", "2323" },
        { "dlas-gpu-8", "jct_mean_s", "28935.1458" },
        { "dlas-gpu-8", "makespan_s", "274373" },
        { "dlas-gpu-8", "preemptions", "3078" },
        { "helios", "jct_mean_s", "17227.4833" },
        { "helios", "makespan_s", "287915" },
        { "helios", "preemptions", "769" },
        { "best-fit-skip", "jct_mean_s", "26842.8104" },
        { "best-fit-skip", "makespan_s", "282048" },
        { "first-fit-skip", "jct_mean_s", "26861.6688" },
        { "first-fit-skip", "makespan_s", "282968" },
        { "gavel-720", "jct_mean_s", "119578.4396" },
        { "gavel-720", "makespan_s", "411855" },
        { "gavel-60", "jct_mean_s", "89417.5646" },
        { "gavel-60", "makespan_s", "343635" },
        { NULL, NULL, NULL }
    };

    agree_all(*state, "c480_32", NULL, expected);
}

static void tiresias_60_agrees_with_tiresias(void **state)
{
    static const struct expected expected[] = {
        { "srtf", "jobs_done", "60" },
        { "srtf", "jct_mean_s", "192.1167" },
        { "srtf", "makespan_s", "3271" },
        { "srtf", "preemptions", "4" },
        { "gavel", "jct_mean_s", "2186.667" },
        { "gavel", "makespan_s", "5923" },
        { "gavel-each-round", "jct_mean_s", "710.567" },
        { "gavel-each-round", "makespan_s", "4174" },
        { NULL, NULL, NULL }
    };

    agree_shared(*state, "tiresias_60", "tiresias/60_job.csv", expected);
}

#define TRACE_ROW(JOBS, STRICT, SKIP, SJF, EASY, MAKESPAN) { \
    { "fifo-strict", "jobs_done", JOBS }, \
    { "fifo-strict", "wait_mean_s", STRICT }, \
    { "fifo-skip", "wait_mean_s", SKIP }, \
    { "sjf-strict", "wait_mean_s", SJF }, \
    { "easy", "wait_mean_s", EASY }, \
    { "fifo-strict", "makespan_s", MAKESPAN }, { NULL, NULL, NULL } }

static void msitp_cluster10_agrees(void **state)
{
    static const struct expected expected[] = TRACE_ROW(
        "260", "38365.788", "37376.238", "24951.712", "38141.008",
        "2969377");

    agree_shared(*state, "cluster10", "msitp/raw/cluster10.csv", expected);
}

static void msitp_cluster01_agrees(void **state)
{
    static const struct expected expected[] = TRACE_ROW(
        "1595", "7497.330", "3443.098", "3495.239", "5994.605", "2952852");

    agree_shared(*state, "cluster01", "msitp/raw/cluster01.csv", expected);
}

static void msitp_cluster06_agrees(void **state)
{
    static const struct expected expected[] = TRACE_ROW(
        "2396", "56777.051", "18021.408", "10647.826", "43951.213",
        "5171996");

    agree_shared(*state, "cluster06", "msitp/raw/cluster06.csv", expected);
}

static void swf_lublin_agrees(void **state)
{
    static const struct expected expected[] = TRACE_ROW(
        "10000", "2388443.760", "63772.640", "275304.223", "97155.995",
        "12482549");

    agree_shared(*state, "lublin_256", "swf/lublin_256.swf", expected);
}

/* RLScheduler admits an arrival only where nothing it could start waits, and
 * never thinks again about what it has chosen. */
static void swf_lublin_1024_agrees_with_rlscheduler(void **state)
{
    static const struct expected expected[] = {
        { "sjf", "jobs_done", "1024" },
        { "sjf", "wait_mean_s", "20448.66" },
        { "sjf-committed", "wait_mean_s", "29516.58" },
        { "fcfs", "wait_mean_s", "169001.232" },
        { "fcfs-committed", "wait_mean_s", "169001.232" },
        { "sjf-committed", "bounded_slowdown_mean", "362" },
        { "easy", "wait_mean_s", "12815.40" },
        { "accasim", "wait_mean_s", "8739.13" },
        { "fifo-skip", "wait_mean_s", "8739.13" },
        { "wfp3", "bounded_slowdown_mean", "13805" },
        { "wfp3-repaired", "bounded_slowdown_mean", "411" },
        { "wfp3-backfill", "bounded_slowdown_mean", "76" },
        { "wfp3-backfill-repaired", "bounded_slowdown_mean", "67" },
        { "unicef", "bounded_slowdown_mean", "13992" },
        { "unicef-repaired", "bounded_slowdown_mean", "513" },
        { "unicef-backfill", "bounded_slowdown_mean", "205" },
        { "unicef-backfill-repaired", "bounded_slowdown_mean", "45" },
        { NULL, NULL, NULL }
    };

    agree_shared(*state, "lublin_1024", "swf/lublin_256.swf", expected);
}

static void swf_hpc2n_agrees(void **state)
{
    static const struct expected expected[] = TRACE_ROW(
        "3145", "5627.883", "3216.812", "2757.765", "3550.419", "5309576");

    agree_shared(*state, "hpc2n", "swf/hpc2n_alea_slice.swf", expected);
}

/* With requested times, which are not exact, and jobs that come at one instant:
 * a program of sixty lines written from RLScheduler's main loop says the same. */
static void swf_hpc2n_agrees_with_rlscheduler(void **state)
{
    static const struct expected expected[] = {
        { "sjf-committed", "wait_mean_s", "4025.863" },
        { "sjf-committed", "bounded_slowdown_mean", "40.3886" },
        { "unicef-backfill", "wait_mean_s", "5272.635" },
        { "unicef-backfill", "bounded_slowdown_mean", "37.0362" },
        { "wfp3-backfill-repaired", "wait_mean_s", "3494.178" },
        { "wfp3-backfill-repaired", "bounded_slowdown_mean", "30.8066" },
        { NULL, NULL, NULL }
    };

    agree_shared(*state, "hpc2n", "swf/hpc2n_alea_slice.swf", expected);
}

/* The experiment that is shipped says the same, and judges itself. */
static void the_shipped_conformance_experiment_passes_its_check(void **state)
{
    const struct program *program = *state;
    char log[128];
    const char *argv[] = { program->path, "check", "OUT", NULL };
    char out[128];

    snprintf(out, sizeof out, "%s/shipped", program->folder);
    snprintf(log, sizeof log, "%s/check.log", program->folder);
    argv[2] = out;
    assert_int_equal(program_experiment(program, "experiments/conformance/c480.yaml",
                                        "shipped", NULL), 0);
    assert_int_equal(program_spawn(argv, log), 0);
    char *said = program_read(log);
    assert_non_null(said);
    assert_null(strstr(said, "FAIL"));
    free(said);
}

int main(int argc, char **argv)
{
    struct program program;
    const struct CMUnitTest tests[] = {
#define WITH_PROGRAM(TEST) cmocka_unit_test_prestate(TEST, &program)
        WITH_PROGRAM(c480_agrees_with_tiresias_helios_starburst_and_gavel),
        WITH_PROGRAM(c480_on_half_the_gpus_agrees_with_what_the_rules_say),
        WITH_PROGRAM(tiresias_60_agrees_with_tiresias),
        WITH_PROGRAM(msitp_cluster10_agrees),
        WITH_PROGRAM(msitp_cluster01_agrees),
        WITH_PROGRAM(msitp_cluster06_agrees),
        WITH_PROGRAM(swf_lublin_agrees),
        WITH_PROGRAM(swf_lublin_1024_agrees_with_rlscheduler),
        WITH_PROGRAM(swf_hpc2n_agrees),
        WITH_PROGRAM(swf_hpc2n_agrees_with_rlscheduler),
        WITH_PROGRAM(the_shipped_conformance_experiment_passes_its_check),
    };

    program_open(&program, argc > 0 ? argv[0] : "");
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    program_close(&program);
    return failed;
}
