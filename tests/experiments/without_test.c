/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * without_test.c - what an experiment cannot have, from the file to the verdict.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "experiments/columns/metric.h"
#include "experiments/results/without.h"
#include "tests/aid/program.h"

const char *program_argv0;

/* Two jobs of an hour each on a GPU of their own: nothing waits, and nothing is cut. */
#define EXPERIMENT(cluster, keys, policies) \
    "experiment: without\nseeds: 3\n" \
    "cluster:\n  nodes: [{name: n, count: 2, gpus: {type: generic, count: 8}}]\n" cluster \
    "workload:\n  arrival: {process: poisson, rate: 1/h}\n  jobs: 2\n" \
    "  mix: [{recipe: trace, gpus: 1, duration: 1h" keys "}]\n" \
    "policies: [" policies "]\noutput: {plots: []}\n" \
    "expect:\n  - {metric: gpu_down_fraction, policy: fcfs, at_most: 0.001}\n" \
    "  - {metric: jobs_dropped, policy: fcfs, at_most: 0.001}\n" \
    "  - {metric: gpu_bubble_fraction, policy: fcfs, at_most: 0.001}\n" \
    "  - {metric: gpu_switch_fraction, policy: fcfs, at_most: 0.001}\n"

static void run_says(const struct program *program, const char *text, const char *name,
                     const char *part)
{
    const char *file = program_write(program, "e.yaml", text);
    char *summary;

    assert_int_equal(program_experiment(program, file, name, NULL), 0);
    summary = program_result(program, name, "summary.csv");
    assert_non_null(summary);
    if (strstr(summary, part) == NULL)
        fail_msg("no '%s' in: %s", part, summary);
    free(summary);
}

/* Returns the status of `check` on the folder. */
static int check_folder(const struct program *program, const char *name)
{
    char dir[600];
    const char *argv[] = { program->path, "check", dir, NULL };

    snprintf(dir, sizeof dir, "%s/%s", program->folder, name);
    return program_spawn(argv, NULL);
}

static void a_folder_says_what_could_not_happen_and_is_judged_by_it(void **state)
{
    const struct program *program = *state;

    run_says(program, EXPERIMENT("", "", "fcfs"), "bare", ",fcfs,0,");
    run_says(program, EXPERIMENT("", "", "fcfs"), "bare",
             ",failures rent deadlines phases preemption resizing drops failed_jobs\n");
    assert_int_equal(check_folder(program, "bare"), 0);
    /* A node fails once in a million hours: no seed shows it, and it may happen. */
    run_says(program, EXPERIMENT("  failures: {node_mtbf: 1000000h, repair: 1h}\n",
                                 ", deadline: 9h", "fcfs, las"), "fails",
             ",rent phases preemption resizing drops failed_jobs\n");
    run_says(program, EXPERIMENT("  failures: {node_mtbf: 1000000h, repair: 1h}\n",
                                 ", deadline: 9h", "fcfs, las"), "fails",
             ",rent phases resizing drops failed_jobs\n");
    assert_int_equal(check_folder(program, "fails"), 1);
}

/* A scorer of 20 prompts has phases and makes no responses, so its GPUs have no tail. */
static void phases_without_responses_have_no_rollouts(void **state)
{
    static const char batch[] =
        "experiment: without\nseeds: 2\n"
        "cluster:\n  nodes: [{name: n, count: 2, gpus: {type: a10, count: 1}, "
        "cpu: {type: epyc-7763}, memory: 256GB}]\n"
        "workload:\n  arrival: {process: all_at_once}\n  jobs: 1\n"
        "  mix: [{recipe: batch-infer, model: qwen2.5-1.5b, prompts: 20, prompt_tokens: 100, "
        "steps: 2, %sinfer: {gpus: 1, types: [a10]}}]\n"
        "policies: [fcfs]\noutput: {plots: []}\n";
    char text[900];

    snprintf(text, sizeof text, batch, "");
    run_says(*state, text, "scores",
             ",failures rent deadlines preemption resizing drops failed_jobs rollouts\n");
    snprintf(text, sizeof text, batch, "response: {mean: 9, cv: 0.5, max: 30}, ");
    run_says(*state, text, "answers",
             ",failures rent deadlines preemption resizing drops failed_jobs\n");
}

/* An application of the catalogue takes some time to start, under `fcfs` too. */
static void an_application_has_phases(void **state)
{
    const struct program *program = *state;
    char dir[600], *summary;
    const char *argv[] = { program->path, "experiments/goodput.yaml", "-q", "--only", "fcfs",
                           "-o", dir, NULL };

    snprintf(dir, sizeof dir, "%s/starts", program->folder);
    assert_int_equal(program_spawn(argv, NULL), 0);
    summary = program_result(program, "starts", "summary.csv");
    assert_non_null(summary);
    if (strstr(summary, ",failures rent deadlines preemption resizing drops failed_jobs "
               "rollouts\n") == NULL)
        fail_msg("%s", summary);
    free(summary);
}

static void words_and_sets_are_read_back(void **state)
{
    char text[WITHOUT_BYTES];

    (void)state;
    without_text(without_read("drops later rent"), text);
    assert_string_equal(text, "rent drops");
    without_text(without_read(""), text);
    assert_string_equal(text, "");
    without_text(UINT32_MAX, text);             /* all of them have room */
    assert_string_equal(text, "failures rent deadlines phases preemption resizing drops "
                        "failed_jobs rollouts");
    /* An interruption is of failures or of rented nodes that are taken back. */
    assert_false(without_all(without_read("failures"), METRIC_INTERRUPTIONS));
    assert_true(without_all(without_read("failures rent"), METRIC_INTERRUPTIONS));
    assert_false(without_all(UINT32_MAX, METRIC_GPU_UTILIZATION));
    /* What goes on after it was stopped may take time to start, and so may phases. */
    assert_true(without_all(without_read("failures rent phases preemption resizing"),
                            METRIC_GPU_SWITCH));
    assert_false(without_all(without_read("failures rent phases resizing"), METRIC_GPU_SWITCH));
    assert_false(without_all(without_read("failures rent preemption resizing"),
                             METRIC_GPU_SWITCH));
    assert_false(without_all(without_read("rent phases preemption resizing"),
                             METRIC_GPU_SWITCH));
    /* A tail is of a rollout, and a rollout is a phase. */
    assert_true(without_all(without_read("rollouts"), METRIC_GPU_TAIL));
    assert_true(without_all(without_read("phases"), METRIC_GPU_TAIL));
    assert_false(without_all(without_read("rollouts"), METRIC_CPU_UTILIZATION));
    assert_false(without_all(without_read("failures rent"), METRIC_GPU_TAIL));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_folder_says_what_could_not_happen_and_is_judged_by_it,
                                        program_setup, program_teardown),
        cmocka_unit_test_setup_teardown(phases_without_responses_have_no_rollouts,
                                        program_setup, program_teardown),
        cmocka_unit_test_setup_teardown(an_application_has_phases, program_setup,
                                        program_teardown),
        cmocka_unit_test(words_and_sets_are_read_back),
    };

    (void)argc;
    program_argv0 = argv[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
