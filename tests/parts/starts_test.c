/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * starts_test.c - what a new process of a role takes, by the hardware that the lease has.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "models/jobs/job.h"
#include "tests/aid/workload_aid.h"
#include "tests/aid/world.h"

#define INFER "recipe: batch-infer, model: bert-base, prompts: %d, prompt_tokens: 128, steps: 1, " \
    "infer: "
#define TRAIN "recipe: lora, model: qwen2.5-0.5b, sequence: 512, batch: 8, steps: 10, train: "
#define CORES "cores: 14, memory: 32GB"

/* Measured: 64 s of an engine and 34 s of a trainer on GPUs, 6.6 s on cores, 0.4 s to wake a
 * process that sleeps.  What the role says holds on both, what `cpu` says on cores.  A role on
 * cores alone has one start, wherever that is said. */
static void what_is_said_goes_before_what_is_measured(void **state)
{
    static const struct { const char *entry; double start_s, wake_s, cores_s, cores_wake_s; }
    row[] = {
        { INFER "{gpus: 1}", 64, 64, 0, 0 },
        { INFER "{gpus: 1, cpu: {" CORES "}}", 64, 64, 6.6, 6.6 },
        { INFER "{gpus: 1, start: wake, cpu: {" CORES "}}", 64, 0.4, 6.6, 0.4 },
        { INFER "{gpus: 1, process_start: 9s, cpu: {" CORES "}}", 9, 9, 9, 9 },
        { INFER "{gpus: 1, cpu: {" CORES ", process_start: 2s}}", 64, 64, 2, 2 },
        { INFER "{gpus: 1, process_start: 9s, start: wake, cpu: {" CORES ", process_start: "
          "0.1s}}", 9, 0.4, 0.1, 0.1 },
        { INFER "{gpus: 1, process_start: 0s, cpu: {" CORES ", process_start: 2s}}", 0, 0, 2, 2 },
        { INFER "{types: [cpu], cpu: {" CORES "}}", 6.6, 6.6, 6.6, 6.6 },
        { INFER "{types: [cpu], process_start: 9s, cpu: {" CORES "}}", 9, 9, 9, 9 },
        { INFER "{types: [cpu], cpu: {" CORES ", process_start: 0s}}", 0, 0, 0, 0 },
        { TRAIN "{gpus: 1}", 34, 34, 0, 0 },
        { TRAIN "{gpus: 1, cpu: {" CORES "}}", 34, 34, 6.6, 6.6 },
        { TRAIN "{gpus: 1, start: wake, cpu: {" CORES ", process_start: 2s}}", 34, 0.4, 2, 0.4 },
        { TRAIN "{types: [cpu], start: wake, cpu: {" CORES "}}", 6.6, 0.4, 6.6, 0.4 },
    };
    struct aid aid;

    (void)state;
    aid_open(&aid);
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        char entry[512], text[700];
        snprintf(entry, sizeof entry, row[i].entry, 1000);
        snprintf(text, sizeof text, "arrival: {process: all_at_once}\njobs: 1\nmix: [{%s}]\n",
                 entry);
        const struct workload_spec *spec = aid_workload(&aid, "w.yaml", text);
        if (spec == NULL)
            fail_msg("%s", aid_message(&aid));
        const struct role_spec *role = &workload_form(spec, 0)->role[0];
        assert_near(role->start_s, row[i].start_s, 1e-9);
        assert_near(role->wake_s, row[i].wake_s, 1e-9);
        assert_near(role->on_cores.start_s, row[i].cores_s, 1e-9);
        assert_near(role->on_cores.wake_s, row[i].cores_wake_s, 1e-9);
        assert_int_equal(job_role_is_up_at_once(role),
                         row[i].start_s + row[i].cores_s < 1e-9);
    }
    aid_close(&aid);
}

static void a_start_on_cores_alone_is_said_once(void **state)
{
    struct aid aid;

    (void)state;
    aid_open(&aid);
    assert_null(aid_workload(&aid, "w.yaml", "arrival: {process: all_at_once}\njobs: 1\nmix:\n- "
                             "{recipe: batch-infer, model: bert-base, prompts: 1, prompt_tokens: "
                             "128, steps: 1,\n   infer: {types: [cpu], process_start: 9s, "
                             "cpu: {" CORES ", process_start: 2s}}}\n"));
    assert_non_null(strstr(aid_message(&aid), "w.yaml:5:26: key 'process_start' does nothing "
                           "here"));
    aid_close(&aid);
}

/* ---- runs --------------------------------------------------------------- */

/* A T4, and two sockets of 56 cores; nothing but the start differs between runs. */
#define WORLD "experiment: t\nseeds: 1\nuntil: drained\ncluster:\n  nodes:\n" \
    "    - {name: gpu, count: 1, gpus: {type: t4, count: 1}, cpu: {type: " \
    "xeon-silver-4310, sockets: 1}, memory: 64GB}\n" \
    "    - {name: cpu, count: 1, cpu: {type: xeon-platinum-8480+, sockets: 2}, memory: 512GB}\n" \
    "  storage: {bandwidth: 10GB/s}\nworkload: {arrival: {process: fixed, times: [0s]}, mix: [{%s" \
    "}]}\npolicies: [%s]\n"

/* Runs one job.  gpus: it had the T4. */
static double end_of(const char *entry, const char *policy, bool *gpus)
{
    struct world world = { 0 };
    struct trial_tables tables = { 0 };
    struct trial_result result;
    char text[2000];

    snprintf(text, sizeof text, WORLD, entry, policy);
    if (!world_open(&world, text))
        fail_msg("%s", world_error(&world));
    struct trial_spec spec = experiment_trial_spec(world.experiment, 0);
    tables.jobs = table_new(csv_jobs.columns, csv_jobs.count);
    if (!trial_run(&spec, &tables, &result, &world.err))
        fail_msg("%s", world_error(&world));
    double end_s = world_column(tables.jobs, &csv_jobs, "end_s");
    *gpus = world_column(tables.jobs, &csv_jobs, "gpu_seconds") > 0;
    table_free(tables.jobs);
    world_close(&world);
    return end_s;
}

/* Under a policy without forecasts the first of `types` is taken. */
static void a_lease_starts_as_its_hardware_does(void **state)
{
    static const struct { const char *role; bool gpus; double infer_s, train_s; } row[] = {
        { "{types: [cpu], cpu: {" CORES "%s}}", false, 6.6, 6.6 },
        { "{gpus: 1, types: [t4, cpu], cpu: {" CORES "%s}}", true, 64, 34 },
        { "{gpus: 1, types: [cpu, t4], cpu: {" CORES "%s}}", false, 6.6, 6.6 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
        for (int trains = 0; trains < 2; trains++) {
            static const char *const said[] = { "", "}, process_start: 0s, start: process",
                                                "}, process_start: 20s, start: process" };
            double end_s[3];
            for (int k = 0; k < 3; k++) {
                char role[200], entry[600];
                bool gpus;
                snprintf(role, sizeof role, row[i].role, said[k]);
                if (k > 0)          /* the brace of `cpu` stands in said[] */
                    role[strlen(role) - 1] = '\0';
                snprintf(entry, sizeof entry, trains ? TRAIN : INFER, 1000);
                strcat(entry, role);
                end_s[k] = end_of(entry, "fcfs", &gpus);
                assert_int_equal(gpus, row[i].gpus);
            }
            assert_near(end_s[0] - end_s[1], trains ? row[i].train_s : row[i].infer_s, 1e-6);
            assert_near(end_s[2] - end_s[1], 20, 1e-6);
        }
}

/* In FP32 14 cores take longer for the texts than the T4, by some seconds: less than the start
 * of an engine there is longer.  So a policy that forecasts takes the cores, unless it is said
 * that starts take the same time, or that one on cores takes 90 s. */
static void a_forecast_counts_the_start_of_each_hardware(void **state)
{
    static const struct { const char *role; bool gpus; } row[] = {
        { "{gpus: 1, types: [t4, cpu], cpu: {" CORES "}}", false },
        { "{gpus: 1, types: [t4, cpu], process_start: 20s, cpu: {" CORES "}}", true },
        { "{gpus: 1, types: [t4, cpu], cpu: {" CORES ", process_start: 90s}}", true },
    };
    static const char *const policy[] = { "dynamic", "hybrid" };

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
        for (size_t p = 0; p < sizeof policy / sizeof policy[0]; p++) {
            char entry[600];
            bool gpus;
            snprintf(entry, sizeof entry, INFER, 2000);
            strcat(entry, row[i].role);
            strcat(entry, ", precision: fp32");
            end_of(entry, policy[p], &gpus);
            assert_int_equal(gpus, row[i].gpus);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_said_goes_before_what_is_measured),
        cmocka_unit_test(a_start_on_cores_alone_is_said_once),
        cmocka_unit_test(a_lease_starts_as_its_hardware_does),
        cmocka_unit_test(a_forecast_counts_the_start_of_each_hardware),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
