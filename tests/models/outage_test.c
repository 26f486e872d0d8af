/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * outage_test.c - failures: the laws of checkpoint and restart, simulated runs
 * against them, published rates, and no job lost under any policy.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "models/laws/outage.h"
#include "tests/aid/world.h"

#define HOUR_NS (INT64_C(3600) * CLOCK_NS_PER_S)
#define JOBS 80

/* A trace on nodes of 8 GPUs, with text for the cluster beside them. */
static bool open_failing(struct world *world, const struct world_job *job,
                         uint32_t jobs, uint32_t nodes, const char *cluster,
                         const char *policies, uint32_t seeds)
{
    char keys[2048];

    snprintf(keys, sizeof keys, "nodes: [{name: n, count: %u, gpus: {type: "
             "generic, count: 8}}], %s", nodes, cluster);
    return world_trace_on(world, keys, job, jobs, policies, seeds);
}

static void laws_have_their_limits(void **state)
{
    (void)state;
    assert_true(outage_young_s(50, 10000) == 1000);
    assert_true(fabs(outage_daly_s(50, 10000) - (1000 * (1 + 0.05 / 3 +
                     0.0025 / 9) - 50)) < 1e-9);
    assert_true(outage_daly_s(5000, 100) == 100);
    /* Failures so rare that only saves cost. */
    assert_true(fabs(outage_expected_s(1e4, 1000, 10, 60, 1e12) /
                     (1e4 * 1.01) - 1) < 1e-6);
    assert_true(outage_expected_s(1e4, 1000, 10, 60, INFINITY) == 1e4 * 1.01);
}

/* Daly's interval wastes no more than its neighbours. */
static void dalys_interval_is_near_the_best(void **state)
{
    double best = outage_daly_s(300, 11000);
    double at = outage_expected_s(1e6, best, 300, 600, 11000);

    (void)state;
    for (double f = 0.5; f < 2; f += 0.05)
        assert_true(at <= outage_expected_s(1e6, best * f, 300, 600, 11000) *
                          1.0001);
}

/* Rates of RSC-1 (Kokolis et al. 2024, arXiv 2410.21680): 6.5 failures in 1000
 * node-days, and what is left of 7.9 h at 1,024 GPUs as the rate of a job; of
 * Llama 3 (arXiv 2407.21783, table 5): 324 of 419 interruptions by hardware in
 * 54 days on 16,384 GPUs. */
static void a_rate_per_job_carries_from_one_cluster_to_another(void **state)
{
    struct outage_spec rsc = {
        .node_mtbf_ns = (int64_t)(24 / 6.5e-3 * (double)HOUR_NS),
    };
    double job_h = 1 / (1 / 7.9 - 128 * 6.5e-3 / 24), h = 3600;
    struct outage_spec llama = {
        .gpu_mtbf_ns = (int64_t)(16384 * 54 * 24 / 324.0 * (double)HOUR_NS),
        .job_mtbf_ns = (int64_t)(job_h * (double)HOUR_NS),
    };

    (void)state;
    assert_true(fabs(outage_mtti_s(&rsc, 1024, 128, 0) / h / 28.8 - 1) <
                0.01);                          /* hardware alone: wrong */
    rsc.job_mtbf_ns = llama.job_mtbf_ns;
    assert_true(fabs(outage_mtti_s(&rsc, 1024, 128, 0) / h - 7.9) < 0.01);
    /* Held out: OPT-175B on 992 A100, 7.5 h; Llama 3, 3.09 h. */
    assert_true(fabs(outage_mtti_s(&rsc, 992, 124, 0) / h / 7.5 - 1) < 0.10);
    assert_true(fabs(outage_mtti_s(&llama, 16384, 2048, 0) / h / 3.093 - 1) <
                0.10);
}

/* One job of 40 h that saves every hour, on a node of its own, interrupted
 * every 2 h and 10 minutes to start again: Daly's expectation without the cost
 * of saving. */
static void a_simulated_job_takes_as_long_as_the_law_says(void **state)
{
    struct world_job job[] = { { 0, 40 * 3600, 8, 0, 0 } };
    double expected = outage_expected_s(40 * 3600.0, 3600, 0, 600, 7200);
    struct world world = { 0 };
    double sum = 0, squares = 0;
    int n = 400;

    (void)state;
    assert_true(open_failing(&world, job, 1, 1, "failures: {job_mtbf: 2h, "
                             "restart: 10min, checkpoint: 1h}", "[fcfs]",
                             (uint32_t)n));
    for (int i = 0; i < n; i++) {
        assert_true(world_run(&world, (uint32_t)i, NULL, job, NULL));
        sum += job[0].end_s;
        squares += job[0].end_s * job[0].end_s;
    }
    double mean = sum / n, sd = sqrt((squares - sum * mean) / (n - 1));
    /* The law has the first start take a restart too: it does not here. */
    if (fabs(mean - expected) > 2.6 * sd / sqrt(n))
        fail_msg("mean %.0f s +- %.0f, the law says %.0f", mean,
                 2.6 * sd / sqrt(n), expected);
    world_close(&world);
}

/* 16 nodes of one job's 8 GPUs each, 20 h between failures of a node: the
 * time out of service is repair / (mtbf + repair) of all. */
static void nodes_are_down_for_as_long_as_repairs_take(void **state)
{
    struct world_job job[] = { { 0, 2000 * 3600, 1, 0, 0 } };
    struct world world = { 0 };
    struct trial_result result;
    double sum = 0;
    int n = 20;

    (void)state;
    assert_true(open_failing(&world, job, 1, 16, "failures: {node_mtbf: 20h, "
                             "repair: 5h, checkpoint: 1s}", "[fcfs]",
                             (uint32_t)n));
    for (int i = 0; i < n; i++) {
        assert_true(world_run(&world, (uint32_t)i, NULL, NULL, &result));
        sum += result.value[METRIC_GPU_DOWN];
    }
    if (fabs(sum / n - 5 / 25.0) > 0.004)
        fail_msg("%.4f of GPU time is out of service, expected 0.2", sum / n);
    world_close(&world);
}

static void without_checkpoints_a_job_begins_anew(void **state)
{
    struct world_job job[] = { { 0, 10000, 8, 0, 0 } };
    struct world world = { 0 };
    struct trial_result result;

    (void)state;
    assert_true(open_failing(&world, job, 1, 1, "failures: {job_mtbf: 1h}",
                             "[fcfs]", 1));
    assert_true(world_run(&world, 0, NULL, job, &result));
    assert_true(result.value[METRIC_INTERRUPTIONS] >= 1);
    /* Nothing but lost work and the last run of 10,000 s. */
    double lost = result.value[METRIC_GPU_LOST] * job[0].end_s;
    assert_true(fabs(job[0].end_s - 10000 - lost) < 1e-3);
    world_close(&world);
}

/* A node that fails from 1 to 2 s takes a second of the job's work, which begins anew at 2 s.  Its
 * own failures come after the same gaps as without that: so, where it has one at all, it ends a
 * second later than on a node that never fails. */
static void a_failed_node_leaves_the_gaps_of_a_job(void **state)
{
    struct world file = { .folder = "/tmp/clustersim-test-XXXXXX" };
    char path[96], trace[160];
    int own = 0;

    (void)state;
    assert_non_null(mkdtemp(file.folder));
    world_write(&file, "faults.csv", "series,time_s,value\ns,0,0\ns,1,1\ns,2,0\ns,1000000,0\n");
    snprintf(path, sizeof path, "%s/faults.csv", file.folder);
    snprintf(trace, sizeof trace, ", trace: {file: %s, servers: 1}", path);
    for (uint32_t seed = 0; seed < 8; seed++) {
        double end_s[2];
        for (int k = 0; k < 2; k++) {
            struct world_job job[] = { { 0, 2000, 8, 0, 0 } };
            struct world world = { 0 };
            char keys[300];
            snprintf(keys, sizeof keys, "failures: {job_mtbf: 1h, restart: 0s, checkpoint: 100h%s}",
                     k == 1 ? trace : "");
            if (!open_failing(&world, job, 1, 1, keys, "[fcfs]", 8) ||
                !world_run(&world, seed, NULL, job, NULL))
                fail_msg("%s", world_error(&world));
            end_s[k] = job[0].end_s;
            world_close(&world);
        }
        own += end_s[0] > 2000;
        if (end_s[0] > 2000 && fabs(end_s[1] - end_s[0] - 1) > 1e-6)
            fail_msg("seed %u: ends at %g s, and at %g s where a node fails", seed, end_s[0],
                     end_s[1]);
    }
    assert_true(own > 2);
    unlink(path);
    rmdir(file.folder);
}

#define ALL "[fcfs, {policy: fcfs, name: skip, blocking: skip}, sjf, ljf, " \
    "srtf, srsf, fewest-gpus, las, dlas, hrrn, wfp3, unicef, f1, edf, " \
    "fair-share, easy, conservative, static, dynamic, hybrid, random, " \
    "gittins, time-slice, qssf, drf]"
#define ALL_COUNT 25

/* The audit runs in each of these trials. */
static void no_policy_loses_a_job_to_failures(void **state)
{
    struct world_job job[JOBS];
    struct trial_result result;

    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct world world = { 0 };

        world_random_jobs(seed, job, JOBS);
        assert_true(open_failing(&world, job, JOBS, 4,
            "network: {leaf: 2 nodes}, failures: {gpu_mtbf: 2h, node_mtbf: "
            "1h, switch_mtbf: 1h, job_mtbf: 10min, repair: 3min, restart: "
            "20s, checkpoint: 30s}", ALL, 1));
        for (uint32_t i = 0; i < ALL_COUNT; i++) {
            if (!world_run(&world, i, NULL, NULL, &result))
                fail_msg("%u: %s", i, world_error(&world));
            assert_int_equal(result.status_count[JOB_DONE], JOBS);
            assert_true(result.value[METRIC_INTERRUPTIONS] > 0);
            assert_true(result.value[METRIC_GPU_DOWN] > 0);
        }
        world_close(&world);
    }
}

/* The last column of jobs.csv adds up to what the summary says. */
static void interruptions_are_told_of_each_job(void **state)
{
    struct table *table = table_new(csv_jobs.columns, csv_jobs.count);
    struct trial_tables tables = { .jobs = table };
    struct trial_result result;
    struct world world = { 0 };
    struct world_job job[JOBS];
    const char *row;
    size_t bytes, jobs = 0, hit = 0;
    double sum = 0;

    (void)state;
    world_random_jobs(5, job, JOBS);
    assert_true(open_failing(&world, job, JOBS, 4, "failures: {job_mtbf: "
                             "10min, node_mtbf: 5h, repair: 3min}", "[easy]",
                             1));
    struct trial_spec spec = experiment_trial_spec(world.experiment, 0);
    assert_true(trial_run(&spec, &tables, &result, &world.err));
    row = table_bytes(table, &bytes);
    for (const char *end = row + bytes; row < end; jobs++) {
        const char *cell = row;

        for (size_t c = 0; strcmp(csv_jobs.columns[c].name, "interruptions") != 0;
             c++)
            cell = strchr(cell, ',') + 1;
        sum += strtod(cell, NULL);
        hit += *cell != '0';
        row = (const char *)memchr(row, '\n', (size_t)(end - row)) + 1;
    }
    assert_int_equal(jobs, JOBS);
    assert_in_range(hit, 1, JOBS - 1);
    assert_true(sum == result.value[METRIC_INTERRUPTIONS]);
    table_free(table);
    world_close(&world);
}

/* Jobs of phases, leased whole and by phase, saving every 3 steps. */
static void no_policy_loses_a_phase_to_failures(void **state)
{
    static const char *const text =
        "experiment: t\nseeds: 2\nuntil: drained\ncluster: {nodes: [{name: "
        "n, count: 2, gpus: {type: a100-80, count: 8}, cpu: {type: epyc-7763, "
        "sockets: 2}, memory: 2TB, nics: {type: ib-hdr, count: 8}}], storage: "
        "{bandwidth: 10GB/s}, failures: {node_mtbf: 12h, job_mtbf: 1h, "
        "repair: 10min, restart: 1min}}\nworkload: {arrival: {process: "
        "poisson, rate: 6/h}, jobs: 12, mix: [{recipe: dpo, model: "
        "qwen2.5-1.5b, generation: online, prompts: 64, prompt_tokens: 300, "
        "responses: 2, response: {mean: 200, cv: 1, max: 1000}, steps: 9, "
        "checkpoint_every: 3, rollout: {gpus: 4}, train: {gpus: 4}}]}\n"
        "policies: [fcfs, easy, srtf, static, dynamic, hybrid, random]\n";
    struct trial_result result;
    struct world world = { 0 };
    double interruptions = 0;

    (void)state;
    if (!world_open(&world, text))
        fail_msg("%s", world_error(&world));
    for (uint32_t i = 0; i < 14; i++) {
        if (!world_run(&world, i, NULL, NULL, &result))
            fail_msg("%u: %s", i, world_error(&world));
        assert_int_equal(result.status_count[JOB_DONE], 12);
        interruptions += result.value[METRIC_INTERRUPTIONS];
    }
    assert_true(interruptions > 0);
    world_close(&world);
}

/* The same node fails at the same time whatever the policy does: a job that
 * is alone meets the same failures under both. */
static void failures_do_not_depend_on_the_policy(void **state)
{
    struct world_job a[] = { { 0, 500000, 8, 0, 0 } }, b[] = { a[0] };
    struct world world = { 0 };

    (void)state;
    assert_true(open_failing(&world, a, 1, 1, "failures: {node_mtbf: 10h, "
                             "repair: 1h, checkpoint: 1h}", "[fcfs, las]",
                             1));
    assert_true(world_run(&world, 0, NULL, a, NULL));
    assert_true(world_run(&world, 1, NULL, b, NULL));
    assert_true(a[0].end_s > 500000);
    assert_true(a[0].end_s == b[0].end_s);
    world_close(&world);
}

static void wrong_failures_are_refused(void **state)
{
    static const struct { const char *cluster, *says; } wrong[] = {
        { "failures: {gpu_mtbf: -1h}", "gpu_mtbf" },
        { "failures: {gpu_mtbf: 0s}", "gpu_mtbf" },
        { "failures: {gpu_mtfb: 9h}", "gpu_mtfb" },
        { "failures: {switch_mtbf: 9h}", "needs leaf switches" },
        { "failures: {repair: 0s}", "repair" },
    };
    struct world_job job[] = { { 0, 10, 8, 0, 0 } };

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct world world = { 0 };

        assert_false(open_failing(&world, job, 1, 1, wrong[i].cluster,
                                  "[fcfs]", 1));
        if (!strstr(world_error(&world), wrong[i].says))
            fail_msg("%s", world_error(&world));
        world_close(&world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laws_have_their_limits),
        cmocka_unit_test(dalys_interval_is_near_the_best),
        cmocka_unit_test(a_rate_per_job_carries_from_one_cluster_to_another),
        cmocka_unit_test(a_simulated_job_takes_as_long_as_the_law_says),
        cmocka_unit_test(nodes_are_down_for_as_long_as_repairs_take),
        cmocka_unit_test(a_failed_node_leaves_the_gaps_of_a_job),
        cmocka_unit_test(without_checkpoints_a_job_begins_anew),
        cmocka_unit_test(no_policy_loses_a_job_to_failures),
        cmocka_unit_test(interruptions_are_told_of_each_job),
        cmocka_unit_test(no_policy_loses_a_phase_to_failures),
        cmocka_unit_test(failures_do_not_depend_on_the_policy),
        cmocka_unit_test(wrong_failures_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
