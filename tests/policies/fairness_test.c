/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fairness_test.c - useful work and fairness on cases that are worked out by
 * hand, and what must hold of any run.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/aid/world.h"

#define EPS 1e-9

static void near(double a, double b)
{
    if (!(fabs(a - b) <= EPS * fmax(1, fabs(b))))
        fail_msg("%.17g, expected %.17g", a, b);
}

/* A trial of a trace on one node of so many GPUs; the rows of tenants.csv. */
static struct trial_result run(const struct world_job *job, uint32_t jobs,
                               uint32_t gpus, uint32_t tenants,
                               const char *policy, struct table **rows)
{
    struct world world = { .tenants = tenants };
    struct trial_tables tables = { 0 };
    struct trial_result result;

    if (!world_trace(&world, 1, gpus, job, jobs, policy))
        fail_msg("%s", world_error(&world));
    struct trial_spec spec = experiment_trial_spec(world.experiment, 0);
    tables.tenants = table_new(csv_tenants.columns, csv_tenants.count);
    if (!trial_run(&spec, &tables, &result, &world.err))
        fail_msg("%s", world_error(&world));
    *rows = tables.tenants;
    world_close(&world);
    return result;
}

/* Columns of row r of tenants.csv from the tenant on, as numbers. */
static double cell(const struct table *rows, uint32_t r, const char *name)
{
    size_t bytes;
    const char *at = table_bytes(rows, &bytes);

    while (r-- > 0)
        at = strchr(at, '\n') + 1;
    for (size_t c = 0; strcmp(csv_tenants.columns[c].name, name) != 0; c++)
        at = strchr(at, ',') + 1;
    return strtod(at, NULL);
}

static void a_job_alone_has_rho_1(void **state)
{
    struct world_job job[] = { { .submit_s = 5, .duration_s = 100, .gpus = 8 } };
    struct table *rows;
    struct trial_result r = run(job, 1, 8, 0, "[fcfs]", &rows);

    (void)state;
    near(r.value[METRIC_RHO_MEAN], 1);
    near(r.value[METRIC_RHO_MAX], 1);
    near(r.value[METRIC_RHO_OVER], 0);
    near(r.value[METRIC_SLOWDOWN_JAIN], 1);
    near(r.value[METRIC_WORK], 800);
    near(r.value[METRIC_HELD_WORK], 1);
    near(r.value[METRIC_FLOPS_KNOWN], 0);
    assert_true(isnan(r.value[METRIC_PFLOP]) && isnan(r.value[METRIC_HELD_MFU]));
    assert_true(isnan(r.value[METRIC_ENVY]) && isnan(r.value[METRIC_SHARE_JAIN]));
    assert_int_equal(r.tenant_count, 0);
    table_free(rows);
}

/* Two jobs of 8 of 8 GPUs for 100 s, both at 0.  The first: 2 in the system all
 * its life, 200 s on half the cluster: rho 100 / 200.  The second: 2 for 100 s
 * and 1 for 100 s, 1.5 in the mean, 150 s: rho 200 / 150.  Slowdowns 1 and 2:
 * Jain 9 / 10.  The second tenant asks for 8 GPUs for 200 s and would have had
 * 8 for 100 s in the place of the first; the first would have gained nothing. */
static void two_jobs_by_hand(void **state)
{
    struct world_job job[] = { { .duration_s = 100, .gpus = 8 },
                               { .duration_s = 100, .gpus = 8 } };
    struct table *rows;
    struct trial_result r = run(job, 2, 8, 2, "[fcfs]", &rows);

    (void)state;
    near(r.value[METRIC_RHO_MEAN], (0.5 + 4.0 / 3) / 2);
    near(r.value[METRIC_RHO_MAX], 4.0 / 3);
    near(r.value[METRIC_RHO_OVER], 0.5);
    near(r.value[METRIC_SLOWDOWN_JAIN], 0.9);
    near(r.value[METRIC_SHARE_JAIN], 1);
    near(r.value[METRIC_ENVY], 0.5);
    assert_int_equal(r.tenant_count, 2);
    near(cell(rows, 0, "envy"), 0);
    near(cell(rows, 0, "asked_gpu_seconds"), 800);
    near(cell(rows, 1, "envy"), 0.5);
    near(cell(rows, 1, "asked_gpu_seconds"), 1600);
    near(cell(rows, 1, "gpu_share"), 0.5);
    near(cell(rows, 1, "slowdown_mean"), 2);
    near(cell(rows, 1, "wait_mean_s"), 100);
    assert_true(fabs(cell(rows, 1, "ftf_rho_mean") - 4.0 / 3) < 1e-8);
    table_free(rows);
}

/* Who asks for little does not envy who holds much: 2 GPUs beside 6 of 8. */
static void nobody_envies_what_it_could_not_use(void **state)
{
    struct world_job job[] = { { .duration_s = 50, .gpus = 6 },
                               { .duration_s = 100, .gpus = 2 } };
    struct table *rows;
    struct trial_result r = run(job, 2, 8, 2, "[fcfs]", &rows);

    (void)state;
    near(r.value[METRIC_ENVY], 0);
    near(r.value[METRIC_SHARE_JAIN], 500.0 * 500 / (2 * (300.0 * 300 + 200 * 200)));
    table_free(rows);
}

/* Preempted with a restart of 30 s: that much is held and not useful. */
static void a_restart_is_not_useful(void **state)
{
    struct world_job job[] = {
        { .duration_s = 100, .gpus = 4 },
        { .submit_s = 10, .duration_s = 20, .gpus = 4 },
    };
    struct table *rows;
    struct trial_result r = run(job, 2, 4, 0,
                                "[{policy: srtf, preemption: {cost: 30s}}]",
                                &rows);

    (void)state;
    near(r.value[METRIC_PREEMPTIONS], 1);
    near(r.value[METRIC_WORK], 480);
    near(r.value[METRIC_HELD_WORK], 480.0 / 600);
    table_free(rows);
}

/* Of 100 s on 8 GPUs the first 40 are warm-up.  What was done and held then
 * does not count, of tenants neither; the job came before it and has no rho. */
static void a_warmup_is_left_out(void **state)
{
    struct world world = { 0 };
    struct trial_tables tables = { 0 };
    struct trial_result r;

    (void)state;
    strcpy(world.folder, "/tmp/clustersim-test-XXXXXX");
    assert_non_null(mkdtemp(world.folder));
    world_write(&world, "jobs.csv", "job,submit,duration,gpus,tenant\n"
                                    "0,0,100,8,a\n1,50,10,8,b\n");
    if (!world_open(&world, "experiment: t\nseeds: 1\nwarmup: 40s\ncluster: "
                            "{nodes: [{name: n, count: 1, gpus: {type: "
                            "generic, count: 8}}]}\n" WORLD_TRACE
                            "policies: [fcfs]\n"))
        fail_msg("%s", world_error(&world));
    struct trial_spec spec = experiment_trial_spec(world.experiment, 0);
    tables.tenants = table_new(csv_tenants.columns, csv_tenants.count);
    if (!trial_run(&spec, &tables, &r, &world.err))
        fail_msg("%s", world_error(&world));
    near(r.value[METRIC_WORK], 8 * 70);
    near(r.value[METRIC_HELD_WORK], 1);
    near(cell(tables.tenants, 0, "gpu_seconds"), 8 * 60);
    near(cell(tables.tenants, 0, "jobs"), 0);
    near(cell(tables.tenants, 1, "gpu_seconds"), 8 * 10);
    /* It waited from 50 to 100 and could have had all that the other had. */
    near(cell(tables.tenants, 1, "asked_gpu_seconds"), 8 * 60);
    assert_true(fabs(cell(tables.tenants, 1, "envy") - 5.0 / 6) < 1e-8);
    /* 60 s, of which 2 jobs were there for 50: 1 + 5/6 in the mean. */
    near(r.value[METRIC_RHO_MEAN], 60 / (10 * (1 + 5.0 / 6)));
    table_free(tables.tenants);
    world_close(&world);
}

/* Random traces under policies that differ in all: bounds of each index, sums
 * of tenants, and the same work whatever was held for it. */
static void what_holds_of_any_run(void **state)
{
    static const char *const policy[] = {
        "[fcfs]", "[{policy: fcfs, blocking: skip}]", "[fair-share]", "[sjf]",
        "[{policy: srtf, preemption: {cost: 20s}}]"
    };

    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct world_job job[120];
        double work = 0;

        world_random_jobs(seed, job, 120);
        for (int i = 0; i < 120; i++)
            work += (double)job[i].duration_s * job[i].gpus;
        for (size_t p = 0; p < sizeof policy / sizeof *policy; p++) {
            struct table *rows;
            struct trial_result r = run(job, 120, 8, 5, policy[p], &rows);
            const double *v = r.value;
            double held = 0, share = 0, jobs = 0, envy = 0;

            for (uint32_t t = 0; t < r.tenant_count; t++) {
                held += cell(rows, t, "gpu_seconds");
                share += cell(rows, t, "gpu_share");
                jobs += cell(rows, t, "jobs_done");
                envy = fmax(envy, cell(rows, t, "envy"));
            }
            assert_int_equal(r.tenant_count, 5);
            assert_true(v[METRIC_SLOWDOWN_JAIN] >= 1.0 / 120 - EPS &&
                        v[METRIC_SLOWDOWN_JAIN] <= 1 + EPS);
            assert_true(v[METRIC_SHARE_JAIN] >= 1.0 / 5 - EPS &&
                        v[METRIC_SHARE_JAIN] <= 1 + EPS);
            assert_true(v[METRIC_ENVY] >= 0 && v[METRIC_ENVY] <= 1);
            assert_true(fabs(v[METRIC_ENVY] - envy) <= 1e-8);
            assert_true(v[METRIC_RHO_MEAN] <= v[METRIC_RHO_MAX]);
            near(v[METRIC_WORK], work);
            assert_true(fabs(held * v[METRIC_HELD_WORK] / work - 1) <= 1e-7);
            assert_true(fabs(share - 1) <= 1e-7);
            near(jobs, 120);
            table_free(rows);
        }
    }
}

/* Training by one job alone: every step's FLOPs are kept once, and
 * the utilization of what was held is that of the rows of its phases. */
static const char trains[] =
    "experiment: t\nseeds: 1\n%s"
    "cluster: {nodes: [{name: n, count: %d, gpus: {type: a100-80, count: 8}, "
    "cpu: {type: epyc-7742, sockets: 2}, memory: 1TB}]}\n"
    "workload: {arrival: {process: fixed, every: 30d}, jobs: 1, mix: [{recipe: "
    "lora, name: a, model: llama-3.1-8b, batch: 64, sequence: 2048, "
    "micro_batch: 2, steps: 20, train: {gpus: 8, types: [a100-80]}}]}\n"
    "policies: [fcfs]\n";

static struct trial_result train(const char *more, int nodes)
{
    struct world world = { 0 };
    struct trial_result result = { .event_count = 0 };
    char text[2048];

    snprintf(text, sizeof text, trains, more, nodes);
    if (!world_open(&world, text) ||
        !world_run(&world, 0, NULL, NULL, &result))
        fail_msg("%s", world_error(&world));
    world_close(&world);
    return result;
}

static void flops_are_those_of_the_model(void **state)
{
    struct trial_result one = train("", 1), idle = train("", 5);
    double tokens = 20.0 * 64 * 2048, pflop = one.value[METRIC_PFLOP];

    (void)state;
    /* Adapters: 4 N a token and attention; N is 8.03e9. */
    assert_true(pflop > 4 * 8.0e9 * tokens / 1e15 &&
                pflop < 1.3 * 4 * 8.0e9 * tokens / 1e15);
    near(one.value[METRIC_FLOPS_KNOWN], 1);
    near(idle.value[METRIC_PFLOP], pflop);
    near(idle.value[METRIC_HELD_MFU], one.value[METRIC_HELD_MFU]);
    assert_true(idle.value[METRIC_GPU_UTILIZATION] <
                0.3 * one.value[METRIC_GPU_UTILIZATION]);
    /* Held for the whole makespan, on 8 GPUs of 312 TFLOPS. */
    near(one.value[METRIC_HELD_MFU],
         pflop * 1e15 / (8 * 312e12 * one.value[METRIC_MAKESPAN]));
    near(one.value[METRIC_PFLOP_USD], pflop / one.value[METRIC_HELD_COST]);
    assert_true(isnan(one.value[METRIC_WORK]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_alone_has_rho_1),
        cmocka_unit_test(two_jobs_by_hand),
        cmocka_unit_test(nobody_envies_what_it_could_not_use),
        cmocka_unit_test(a_restart_is_not_useful),
        cmocka_unit_test(a_warmup_is_left_out),
        cmocka_unit_test(what_holds_of_any_run),
        cmocka_unit_test(flops_are_those_of_the_model),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
