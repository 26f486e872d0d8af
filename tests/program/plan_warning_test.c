/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plan_warning_test.c - who plans GPUs as alike that are not alike for its jobs is told so, by
 * validate, by run and in the report, and nobody else is; at any point of a sweep.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/aid/by_hand.h"
#include "tests/aid/program.h"

static struct program program;

#define ONE_KIND "[fcfs, optimus, afs, elasticflow, themis, shockwave, gavel]"
#define PROMISES "[fcfs, easy, conservative, srtf]"
#define CARD(NAME, TYPE) "    - {name: " NAME ", count: 1, gpus: {type: " TYPE ", count: 4}, " \
    "cpu: {type: epyc-7763, sockets: 1}, memory: 256GB, price: 1USD/h}\n"
#define JOBS(MORE) "workload: {arrival: {process: all_at_once}, jobs: 2, mix: [{recipe: trace, " \
    "name: j, gpus: 1, duration: 100s" MORE "}]}\n"
#define TYPES "workload: {trace: {file: jobs.csv, format: csv, columns: {job: job, submit: t, " \
    "duration: d, gpus: g, gpu_types: y}}}\n"

static char written[20000];     /* the experiment */

static void write_world(const char *nodes, const char *workload, const char *policies)
{
    snprintf(written, sizeof written, "experiment: e\nseeds: 1\ncluster:\n  nodes:\n%s%s"
             "policies: %s\noutput: {plots: []}\n", nodes, workload, policies);
    program_write(&program, "e.yaml", written);
}

static int count_words(const char *text, const char *word)
{
    int count = 0;

    for (const char *at = text; (at = strstr(at, word)) != NULL; at++)
        count++;
    return count;
}

/* Returns how often `validate` says it. */
static int warned(const char *nodes, const char *workload, const char *policies,
                  const char *words)
{
    const char *argv[] = { "validate", program_path(&program, "e.yaml"), NULL };
    char *said;

    write_world(nodes, workload, policies);
    assert_int_equal(program_say(&program, argv, &said), 0);
    int count = count_words(said, words);
    free(said);
    return count;
}

/* A row of a trace may name types of GPU, as an entry of a mix may name them or a pool. */
static void who_plans_one_kind_is_told_of_jobs_for_some_gpus(void **state)
{
    static const char nodes[] = CARD("a", "t4") CARD("b", "l4");
    static const char said[] = "plans all GPUs as one kind, and ";

    (void)state;
    program_write(&program, "jobs.csv", "job,t,d,g,y\nj,0,100,1,\nk,1,100,1,t4\n");
    assert_int_equal(warned(nodes, TYPES, ONE_KIND, said), 5);
    assert_int_equal(warned(nodes, TYPES, ONE_KIND, "may not use those of pool b"), 5);
    program_write(&program, "jobs.csv", "job,t,d,g,y\nj,0,100,1,\nk,1,100,1,t4|l4\n");
    assert_int_equal(warned(nodes, TYPES, ONE_KIND, said), 0);
    assert_int_equal(warned(nodes, JOBS(", role: {types: [l4]}"), ONE_KIND,
                            "may not use those of pool a"), 5);
    assert_int_equal(warned(nodes, JOBS(""), ONE_KIND, said), 0);
}

/* What preempts by a key deals GPUs by their number.  Jobs j and k want the T4s, and l may have
 * either: by the key it is the third, and waits 100 s beside the L4s, which nobody else may
 * use.  Speeds are no matter, as no end is planned. */
static void who_deals_a_number_of_gpus_is_told_of_jobs_for_some(void **state)
{
    static const char nodes[] = CARD("a", "t4") CARD("b", "l4");
    static const char dealers[] =
        "[srtf, srsf, fewest-gpus, las, dlas, gittins, {policy: time-slice, quantum: 100s}]";
    char *said, *jobs;

    (void)state;
    program_write(&program, "jobs.csv", "job,t,d,g,y\nj,0,100,4,t4\nk,0,100,4,t4\nl,0,100,4,\n");
    assert_int_equal(warned(nodes, TYPES, dealers, "may not use those of pool b: jobs may wait "
                            "beside idle GPUs"), 7);
    const char *argv[] = { "run", program_path(&program, "e.yaml"), "-q", "-o",
                           program_path(&program, "out"), NULL };
    assert_int_equal(program_say(&program, argv, &said), 0);
    jobs = program_result(&program, "out", "jobs.csv");
    assert_non_null(jobs);
    assert_int_equal(count_words(jobs, ",l,trace,0,100,200,100,200,4,l4,"), 7);
    free(said);
    free(jobs);
    assert_int_equal(warned(nodes, JOBS(", rates: {a: 1, b: 2}"), dealers, "as one kind"), 0);
}

/* By rates of pools, or by laws, which go by the type. */
static void who_plans_one_kind_is_told_of_unlike_speeds(void **state)
{
    static const char nodes[] = CARD("a", "t4") CARD("b", "l4");
    static const char alike[] = CARD("a", "l4") CARD("b", "l4");
    static const char slow[] = "j has another speed on b than on a";
    static const char law[] =
        "workload: {arrival: {process: all_at_once}, jobs: 2, mix: [{recipe: net, name: j, model: "
        "resnet-50, batch: 256, micro_batch: 64, steps: 10, train: {gpus: 1, cores: 4}}]}\n";

    (void)state;
    assert_int_equal(warned(nodes, JOBS(", rates: {a: 1, b: 2}"), ONE_KIND, slow), 5);
    assert_int_equal(warned(nodes, JOBS(", rates: {a: 1, b: 1}"), ONE_KIND, slow), 0);
    assert_int_equal(warned(nodes, law, ONE_KIND, slow), 5);
    assert_int_equal(warned(alike, law, ONE_KIND, slow), 0);
}

/* The second point of a sweep has what the first one has not. */
static void what_a_sweep_brings_is_told(void **state)
{
    static const char nodes[] = CARD("a", "t4") CARD("b", "l4");
    static const char quota[] = "[{policy: quota, quotas: \"ann=1\"}]\n"
        "sweep: {policies.0.quotas: [\"ann=1\", \"zed=1\"]}";
    static const char types[] = "[optimus]\nsweep: {workload.mix.j.role.types: [[t4, l4], [l4]]}";
    static const char policy[] = "[{policy: fcfs, name: n}]\n"
        "sweep: {policies.0.policy: [fcfs, srtf]}";
    static const char choice[] =
        "workload: {arrival: {process: all_at_once}, jobs: 1, mix: [{recipe: batch-infer, name: b, "
        "model: bert-large, prompts: 64, prompt_tokens: 128, steps: 1, infer: {gpus: 1, cpu: "
        "{cores: 28}}}]}\n";

    (void)state;
    assert_int_equal(warned(nodes, JOBS(", tenant: ann"), quota, "names 'zed', and no job"), 1);
    assert_int_equal(warned(nodes, JOBS(", role: {types: [t4]}"), types, "may not use those"), 1);
    assert_int_equal(warned(nodes, choice, policy, "uses the GPUs alone of role infer of b"), 1);
}

/* A run says it, and its report says it, too. */
static void run_and_report_say_it(void **state)
{
    const char *argv[] = { "run", program_path(&program, "e.yaml"), "-o",
                           program_path(&program, "out"), NULL };
    char *said, *page;

    (void)state;
    write_world(CARD("a", "t4") CARD("b", "l4"), JOBS(", rates: {a: 1, b: 2}"), ONE_KIND);
    assert_int_equal(program_say(&program, argv, &said), 0);
    page = program_result(&program, "out", "report.html");
    assert_non_null(page);
    assert_int_equal(count_words(said, "j has another speed on b than on a"), 5);
    assert_int_equal(count_words(page, "<p>policy afs plans all GPUs as one kind, and j has "
                                       "another speed on b than on a: jobs may end at other times "
                                       "than planned</p>"), 1);
    free(said);
    free(page);
}

/* So many nodes, each a group of its own; the last two are pool z. */
static const char *make_groups(int count)
{
    static char text[12000];
    char *at = text;

    for (int i = 0; i < count; i++)
        at += sprintf(at, "    - {name: n%d, pool: %s, count: 1, gpus: {type: generic, count: "
                      "1}}\n", i, i < count - 2 ? "a" : "z");
    return text;
}

static void who_promises_is_told_of_more_than_64_groups(void **state)
{
    static const char said[] = "counts 65 groups of nodes as one, as they are more than 64, and j "
        "may not use n0: promised starts may not hold";

    (void)state;
    assert_int_equal(warned(make_groups(65), JOBS(", role: {pool: z}"), PROMISES, said), 2);
    assert_int_equal(warned(make_groups(65), JOBS(""), PROMISES, "promised"), 0);
    assert_int_equal(warned(make_groups(64), JOBS(", role: {pool: z}"), PROMISES, "promised"), 0);
}

static void who_promises_is_told_of_more_than_8_types(void **state)
{
    static const char eight[] = CARD("a", "t4") CARD("b", "l4") CARD("c", "l40s") CARD("d", "h100")
        CARD("e", "h200") CARD("f", "a100-40") CARD("g", "a100-80") CARD("h", "b200");
    static const char nine[] = CARD("a", "t4") CARD("b", "l4") CARD("c", "l40s") CARD("d", "h100")
        CARD("e", "h200") CARD("f", "a100-40") CARD("g", "a100-80") CARD("h", "b200")
        CARD("i", "a10");
    static const char jobs[] = JOBS(", role: {types: [t4, l4, l40s, h100, h200, a100-40, a100-80, "
                                    "b200, a10]}");

    (void)state;
    assert_int_equal(warned(nine, jobs, PROMISES, "counts the 9 types of GPU of role "), 2);
    assert_int_equal(warned(eight, jobs, PROMISES, "types of GPU of role "), 0);
}

/* Two jobs of half a GPU and 100 s are both done after 100 s, and after 200 s where a half
 * counts as a whole.  Who is told, and nobody else, needs 200 s. */
static void who_counts_parts_as_whole_gpus_is_told(void **state)
{
    static const char *const counts[] = { "srtf", "srsf", "fewest-gpus", "las", "dlas", "gittins",
                                          "time-slice", "synergy" };
    static const char *const shares[] = {
        "fcfs", "sjf", "ljf", "hrrn", "wfp3", "edf", "fair-share", "easy", "conservative",
        "dynamic", "qssf", "drf", "gavel", "optimus", "afs", "elasticflow", "quota", "lucid",
        "shockwave", "pollux", "sia"
    };
    static const char node[] = "    - {name: a, count: 1, gpus: {type: t4, count: 1}, cpu: {type: "
        "epyc-7763, sockets: 1}, memory: 256GB, price: 1USD/h}\n";
    static const char jobs[] = "workload: {arrival: {process: all_at_once}, jobs: 2, mix: "
        "[{recipe: trace, name: j, gpus: 0.5, duration: 100s, role: {cores: 4}}]}\n";
    char policies[400] = "[";

    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        strcat(strcat(policies, counts[i]), ", ");
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        strcat(strcat(policies, shares[i]), i + 1 < sizeof shares / sizeof *shares ? ", " : "]");
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        char one[40];
        snprintf(one, sizeof one, "[%s]", counts[i]);
        assert_int_equal(warned(node, jobs, one, "counts a part of a GPU as a whole one"), 1);
    }
    assert_int_equal(warned(node, jobs, "[srtf]",
                            "Policies that count parts: fcfs, sjf, ljf, hrrn, wfp3."), 1);
    assert_int_equal(warned(node, jobs, policies, "counts a part of a GPU as a whole one"), 8);
    hand_run(&program, written, NULL);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        hand_near(hand_cell(&program, "summary.csv", counts[i], NULL, "makespan_s"), 200);
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        hand_near(hand_cell(&program, "summary.csv", shares[i], NULL, "makespan_s"), 100);
}

/* Types of GPU, which a trace counts with parts, are none; one part in a trace is enough. */
static void parts_are_found_in_traces(void **state)
{
    static const char said[] = "counts a part of a GPU as a whole one";

    (void)state;
    program_write(&program, "jobs.csv", "job,t,d,g,y\nj,0,100,1,\nk,1,100,1,t4\n");
    assert_int_equal(warned(CARD("a", "t4") CARD("b", "l4"), TYPES, "[fcfs, srtf]", said), 0);
    program_write(&program, "jobs.csv", "job,t,d,g,y\nj,0,100,2,\nk,1,100,0.5,\n");
    assert_int_equal(warned(CARD("a", "t4") CARD("b", "l4"), TYPES, "[fcfs, srtf]", said), 1);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_plans_one_kind_is_told_of_jobs_for_some_gpus),
        cmocka_unit_test(who_deals_a_number_of_gpus_is_told_of_jobs_for_some),
        cmocka_unit_test(who_plans_one_kind_is_told_of_unlike_speeds),
        cmocka_unit_test(what_a_sweep_brings_is_told),
        cmocka_unit_test(run_and_report_say_it),
        cmocka_unit_test(who_promises_is_told_of_more_than_64_groups),
        cmocka_unit_test(who_promises_is_told_of_more_than_8_types),
        cmocka_unit_test(who_counts_parts_as_whole_gpus_is_told),
        cmocka_unit_test(parts_are_found_in_traces),
    };

    (void)argc;
    program_open(&program, argv[0]);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    program_close(&program);
    return failed;
}
