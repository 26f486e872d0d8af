/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * whole_policy_test.c - the policies that lease to whole jobs: against the
 * oracle where it knows them, against cases worked out by hand where a formula
 * orders the queue, and against what their names promise.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "policies/phases.h"
#include "policies/registry/registry.h"
#include "tests/oracles/oracle.h"
#include "tests/aid/world.h"

#define JOBS 120

/* Runs one policy over jobs on one node of 8 GPUs or, with 120, on two. */
static void run(const char *policy, struct world_job *job, uint32_t jobs)
{
    struct world world = { 0 };

    if (!world_trace(&world, jobs == JOBS ? 2 : 1, 8, job, jobs, policy) ||
        !world_run(&world, 0, NULL, job, NULL))
        fail_msg("%s: %s", policy, world_error(&world));
    world_close(&world);
}

static void agree(enum oracle_rule rule, const char *policy)
{
    struct world_job job[JOBS];
    struct oracle_job expect[JOBS];

    for (uint64_t seed = 1; seed <= 12; seed++) {
        world_random_jobs(seed, job, JOBS);
        run(policy, job, JOBS);
        oracle_run(rule, 16, job, JOBS, expect);
        for (uint32_t i = 0; i < JOBS; i++) {
            assert_int_equal((int64_t)job[i].end_s, expect[i].end);
            assert_int_equal((int64_t)job[i].start_s, expect[i].start);
        }
    }
}

static void srsf_agrees_with_the_oracle(void **state)
{
    (void)state;
    agree(ORACLE_SRSF, "[{policy: srsf, placement: count}]");
}

static void fewest_gpus_agrees_with_the_oracle(void **state)
{
    (void)state;
    agree(ORACLE_FEWEST, "[{policy: fewest-gpus, placement: count}]");
}

static void las_agrees_with_the_oracle(void **state)
{
    (void)state;
    agree(ORACLE_LAS, "[{policy: las, placement: count, quantum: 20s}]");
}

/* The oracle gives each job its place when it is submitted and never takes
 * it back: so nobody starts later than promised, and nobody earlier. */
static void conservative_keeps_every_reservation(void **state)
{
    struct world_job job[JOBS];
    struct oracle_job expect[JOBS];

    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        world_random_jobs(seed, job, JOBS);
        run("[{policy: conservative, placement: count}]", job, JOBS);
        oracle_conservative(16, job, JOBS, expect);
        for (uint32_t i = 0; i < JOBS; i++)
            assert_int_equal((int64_t)job[i].start_s, expect[i].start);
    }
}

/* 0 ends at 50, where 100 s were asked for: 1 and 3 go at once, but 2 was tried
 * when 3 still had its place up to 160, and keeps that promise: nothing ends
 * then. */
static void conservative_starts_a_promised_job_where_nothing_ends(void **state)
{
    struct world world = { .arena = NULL };
    struct world_job job[4];

    (void)state;
    strcpy(world.folder, "/tmp/clustersim-test-XXXXXX");
    assert_non_null(mkdtemp(world.folder));
    world_write(&world, "jobs.csv", "job,submit,duration,gpus,limit\n"
                "0,0,50,8,100\n1,1,100,2,100\n2,2,10,8,10\n3,3,60,4,60\n");
    if (!world_open(&world, "experiment: t\nseeds: 1\nuntil: drained\ncluster: "
                    "{nodes: [{name: n, count: 1, gpus: {type: generic, count: "
                    "8}}]}\nworkload: {trace: {file: jobs.csv, format: csv, "
                    "columns: {job: job, submit: submit, duration: duration, "
                    "gpus: gpus, limit: limit}, estimate: requested}}\n"
                    "policies: [{policy: conservative, placement: count}]\n") ||
        !world_run(&world, 0, NULL, job, NULL))
        fail_msg("%s", world_error(&world));
    assert_true(job[1].start_s == 50);
    assert_true(job[3].start_s == 50);
    assert_true(job[2].start_s == 160);
    world_close(&world);
}

/* Runs so many jobs of a GPU for 100 s that all come at 0 s, and returns how many of them
 * start then. */
static uint32_t start_at_once(const char *nodes, const char *role, uint32_t jobs,
                              const char *policy)
{
    struct world world = { 0 };
    struct world_job job[JOBS];
    char text[800];
    uint32_t count = 0;

    assert_true(jobs <= JOBS);
    snprintf(text, sizeof text, "experiment: t\nseeds: 1\nuntil: drained\ncluster: {nodes: "
             "[%s]}\nworkload: {arrival: {process: all_at_once}, jobs: %u, mix: [{recipe: "
             "trace, gpus: 1, duration: 100s%s}]}\npolicies: [{policy: %s}]\n", nodes, jobs,
             role, policy);
    if (!world_open(&world, text) || !world_run(&world, 0, NULL, job, NULL))
        fail_msg("%s: %s", policy, world_error(&world));
    for (uint32_t j = 0; j < jobs; j++)
        count += job[j].start_s == 0;
    world_close(&world);
    return count;
}

/* Doubles say 0.29 * 100 = 28.999999999999996 and 0.14 * 100 = 14.000000000000002: a kind may
 * have 29 GPUs, and 86 are lent besides the one at home.  Of 13.5% 14 are kept, too; of 29.9% of
 * the GPUs a kind may have 29. */
static void shares_of_gpus_are_whole_gpus(void **state)
{
    static const char nodes[] = "{name: n, count: 25, gpus: {type: generic, count: 4}}";
    static const char lends[] = "{name: h, count: 1, gpus: {type: generic, count: 1}}, "
                                "{name: n, count: 25, gpus: {type: generic, count: 4}}";

    (void)state;
    assert_int_equal(start_at_once(nodes, "", 110, "static, share_max: 29%"), 29);
    assert_int_equal(start_at_once(nodes, "", 110, "static, share_max: 29.9%"), 29);
    assert_int_equal(start_at_once(lends, ", role: {home: h}", 110, "hybrid, reserve: 14%"), 87);
    assert_int_equal(start_at_once(lends, ", role: {home: h}", 110, "hybrid, reserve: 13.5%"), 87);
    assert_int_equal(start_at_once(lends, ", role: {home: h}", 110, "hybrid, reserve: 0%"), 101);
}

/* Runs easy over jobs of parts of one V100, which has 32,768 MiB. */
static void run_on_v100(const char *jobs, struct world_job *job)
{
    struct world world = { .folder = "/tmp/clustersim-test-XXXXXX" };

    assert_non_null(mkdtemp(world.folder));
    world_write(&world, "jobs.csv", jobs);
    if (!world_open(&world, "experiment: t\nseeds: 1\nuntil: drained\ncluster: {nodes: [{name: "
                    "n, count: 1, gpus: {type: v100-32, count: 1}, cpu: {type: epyc-7763}, "
                    "memory: 128GB}]}\nworkload: {trace: {file: jobs.csv, columns: {job: job, "
                    "submit: submit, duration: run, gpus: gpus, gpu_memory_mib: mib}}}\n"
                    "policies: [easy]\n") ||
        !world_run(&world, 0, NULL, job, NULL))
        fail_msg("%s", world_error(&world));
    world_close(&world);
}

/* Job 2 stands in front.  It has its part of the GPU at once, but its memory at 100 s, when
 * job 0 ends: 32,768 - 10,000 MiB are free then.  Job 3 may run beside it, on 0.3 of the GPU
 * and 2,768 MiB, from 2 s on. */
static void easy_promises_memory_with_a_part_of_a_gpu(void **state)
{
    struct world_job job[4];

    (void)state;
    run_on_v100("job,submit,run,gpus,mib\n0,0,100,0.2,20000\n1,0,1000,0.2,10000\n"
                "2,1,100,0.5,20000\n3,2,500,0.3,2000\n", job);
    assert_true(job[2].start_s == 100);
    assert_true(job[3].start_s == 2);
}

/* At 100 s, when job 0 ends, job 2 is to have 0.6 of the GPU and 20,000 MiB beside job 1.
 * That leaves 0.3 and 2,768 MiB.  Job 3 of 5,000 MiB would keep it waiting until 502 s, job 4
 * of 2,000 would not.  768 MiB are left then: too few for job 5, enough for job 6. */
static void easy_leaves_the_memory_that_it_promised(void **state)
{
    struct world_job job[7];

    (void)state;
    run_on_v100("job,submit,run,gpus,mib\n0,0,100,0.5,10000\n1,0,1000,0.1,10000\n"
                "2,1,100,0.6,20000\n3,2,500,0.3,5000\n4,3,500,0.2,2000\n"
                "5,4,500,0.05,769\n6,5,500,0.05,768\n", job);
    assert_true(job[2].start_s == 100);
    assert_true(job[3].start_s == 200);
    assert_true(job[4].start_s == 3);
    assert_true(job[5].start_s == 200);
    assert_true(job[6].start_s == 5);
}

/* With every estimate too short or too long, all the same all jobs end, and
 * a hole that a short job leaves is used at once. */
static void conservative_survives_wrong_estimates(void **state)
{
    struct world_job job[JOBS];

    (void)state;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        world_random_jobs(seed, job, JOBS);
        run("[{policy: conservative, placement: count, estimate: noisy, "
            "noise: 2}]", job, JOBS);
        for (uint32_t i = 0; i < JOBS; i++)
            assert_true(job[i].end_s ==
                        job[i].start_s + (double)job[i].duration_s);
    }
}

static void conservative_promises_more_jobs_than_easy(void **state)
{
    /* 1 runs on 6 of 8 GPUs until 10; 2 is the head and waits for all 8; 3
     * is promised 6 GPUs at 20.  4 fits beside 1 and beside 2's promise in
     * neither; 5 ends before 10 and may go first. */
    struct world_job job[5] = {
        { 0, 10, 6, 0, 0 }, { 1, 10, 8, 0, 0 }, { 2, 10, 6, 0, 0 },
        { 3, 30, 2, 0, 0 }, { 4, 6, 2, 0, 0 },
    };

    (void)state;
    run("[{policy: conservative, placement: count}]", job, 5);
    assert_true(job[1].start_s == 10);
    assert_true(job[2].start_s == 20);
    assert_true(job[3].start_s == 20);
    assert_true(job[4].start_s == 4);
}

static void las_shares_equally(void **state)
{
    struct world_job job[4] = { { 0, 100, 8, 0, 0 }, { 0, 100, 8, 0, 0 },
                                { 0, 100, 8, 0, 0 }, { 0, 100, 8, 0, 0 } };

    (void)state;
    run("[{policy: las, placement: count, quantum: 5s}]", job, 4);
    for (int i = 0; i < 4; i++)         /* each had a turn in every 20 s */
        assert_true(job[i].start_s < 20 && job[i].end_s >= 385);
}

static void las_counts_time_and_gpus(void **state)
{
    /* While both wait for the same GPUs, one of 8 GPUs gets half of the time
     * of one of 4: after 30 s 10 and 20; the second is over then. */
    struct world_job job[2] = { { 0, 40, 8, 0, 0 }, { 0, 20, 4, 0, 0 } };

    (void)state;
    run("[{policy: las, placement: count, quantum: 1s}]", job, 2);
    assert_true(job[1].end_s >= 29 && job[1].end_s <= 31);
    assert_true(job[0].end_s == 60);
}

static void dlas_does_not_stop_a_job_for_its_equals(void **state)
{
    /* 10 s x 8 GPUs are the limit: each runs 10 s in the first queue, and in
     * the second to its end, in the order they got there. */
    struct world_job job[2] = { { 0, 100, 8, 0, 0 }, { 5, 100, 8, 0, 0 } };

    (void)state;
    run("[{policy: dlas, placement: count, limit_1: 80s, limit_2: 7200s}]",
        job, 2);
    assert_true(job[1].start_s == 10);
    assert_true(job[0].end_s == 110);
    assert_true(job[1].end_s == 200);
}

/* All GPUs are busy until 100.  Then 1 has waited 90 s for its 90 s on 8
 * GPUs, 2 44 s for its 40 s on 5, 3 40 s for its 80 s on 7. */
static void wait_for(const char *policy, struct world_job *job)
{
    static const struct world_job queue[4] = {
        { 0, 100, 8, 0, 0 }, { 10, 90, 8, 0, 0 }, { 56, 40, 5, 0, 0 },
        { 60, 80, 7, 0, 0 },
    };

    memcpy(job, queue, sizeof queue);
    run(policy, job, 4);
}

/* Of a part of a GPU its demotion is due four times as late; and a node that
 * comes back is news. */
static void dlas_knows_parts_of_gpus_and_nodes_that_return(void **state)
{
    static const char *const text[] = {
        "experiment: t\nseeds: 1\nuntil: drained\nevent_count_max: 200\n"
        "cluster: {nodes: [{name: n, count: 1, gpus: {type: generic, count: "
        "1}}]}\nworkload: {arrival: {process: fixed, times: [0s]}, mix: "
        "[{recipe: trace, gpus: 0.25, duration: 20h}]}\npolicies: [dlas]\n",
        "experiment: t\nseed: 14\nseeds: 1\nuntil: drained\ncluster:\n  "
        "nodes:\n    - {name: a, count: 1, gpus: {type: generic, count: 2}}\n"
        "    - {name: b, count: 2, gpus: {type: generic, count: 4}}\n"
        "  failures: {gpu_mtbf: 100h, repair: 1h, restart: 60s}\n"
        "workload:\n  arrival: {process: poisson, rate: 10/h}\n  jobs: 80\n"
        "  mix:\n    - {recipe: trace, gpus: {choice: {1: 1, 3: 1}}, "
        "duration: {exponential: {mean: 1h}}, rates: {a: 1, b: 3}}\n"
        "policies: [dlas]\n",
    };
    struct trial_result result;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct world world = { 0 };
        if (!world_open(&world, text[i]) ||
            !world_run(&world, 0, NULL, NULL, &result))
            fail_msg("%s", world_error(&world));
        assert_int_equal(result.status_count[JOB_DONE], i == 0 ? 1 : 80);
        world_close(&world);
    }
}

static void hrrn_orders_by_wait_and_estimate(void **state)
{
    struct world_job job[4];

    (void)state;        /* 2: 1.1, 1: 1, 3: 0.5; at 140 1: 1.4, 3: 1 */
    wait_for("[{policy: hrrn, placement: count}]", job);
    assert_true(job[2].start_s == 100);
    assert_true(job[1].start_s == 140);
    assert_true(job[3].start_s == 230);
}

static void wfp3_orders_by_the_cube_and_gpus(void **state)
{
    struct world_job job[4];

    (void)state;        /* 1: 1 x 8, 2: 1.331 x 5 = 6.7, 3: 0.125 x 7; at 190
                           2: 3.35^3 x 5 = 188, 3: 1.625^3 x 7 = 30 */
    wait_for("[{policy: wfp3, placement: count}]", job);
    assert_true(job[1].start_s == 100);
    assert_true(job[2].start_s == 190);
    assert_true(job[3].start_s == 230);
}

static void unicef_orders_by_log2_of_gpus(void **state)
{
    struct world_job job[4];
    struct world_job lone[3] = { { 0, 100, 8, 0, 0 }, { 10, 10, 8, 0, 0 },
                                 { 99, 50, 1, 0, 0 } };

    (void)state;        /* 2: 1.1 / 2.32 = 0.47, 1: 1 / 3, 3: 0.5 / 2.81 */
    wait_for("[{policy: unicef, placement: count}]", job);
    assert_true(job[2].start_s == 100);
    assert_true(job[1].start_s == 140);
    assert_true(job[3].start_s == 230);
    /* log2(1) is 0: one GPU goes before all others. */
    run("[{policy: unicef, placement: count}]", lone, 3);
    assert_true(lone[2].start_s == 100);
    assert_true(lone[1].start_s == 150);
}

static void f1_orders_by_its_formula(void **state)
{
    /* Above 870 log10(1000): 1: 3 x 8 = 24; 2: 3.8 + 1 x 8 = 11.8; 3: 36 +
     * 8 = 44. */
    struct world_job job[4] = {
        { 0, 1200, 8, 0, 0 }, { 1000, 1000, 8, 0, 0 },
        { 1010, 10, 8, 0, 0 }, { 1100, 10, 8, 0, 0 },
    };

    (void)state;
    run("[{policy: f1, placement: count}]", job, 4);
    assert_true(job[2].start_s == 1200);
    assert_true(job[1].start_s == 1210);
    assert_true(job[3].start_s == 2210);
}

/* 870 log10(s) of 0 s counts as that of 0.1 s, -870, to which 0 and 8 are added; of 0.05 s it is
 * -1132. */
static void f1_takes_a_tenth_of_a_second_for_none(void **state)
{
    struct world_job job[3];
    struct world world = { 0 };

    (void)state;
    strcpy(world.folder, "/tmp/clustersim-test-XXXXXX");
    assert_non_null(mkdtemp(world.folder));
    world_write(&world, "jobs.csv", "job,submit,duration,gpus,tenant\n0,0,1,8,\n1,0,10,8,\n"
                                    "2,0.05,10,8,\n");
    if (!world_open(&world, "experiment: t\nseeds: 1\nuntil: drained\ncluster: {nodes: [{name: n, "
                            "count: 1, gpus: {type: generic, count: 8}}]}\n" WORLD_TRACE
                            "policies: [{policy: f1, placement: count}]\n") ||
        !world_run(&world, 0, NULL, job, NULL))
        fail_msg("%s %s", world_error(&world), world.err.hint);
    assert_true(job[0].start_s == 0);
    assert_true(job[2].start_s == 1 && job[1].start_s == 11);
    world_close(&world);
}

static void ljf_starts_the_longest_first(void **state)
{
    struct world_job job[4];

    (void)state;
    wait_for("[{policy: ljf, placement: count}]", job);
    assert_true(job[1].start_s == 100);
    assert_true(job[3].start_s == 190);
    assert_true(job[2].start_s == 270);
}

/* Tenants a (three jobs) and b (two, a second later), all of 8 GPUs. */
static void fair_share_goes_by_what_tenants_used(void **state)
{
    static const double start_s[5] = { 0, 20, 40, 10, 30 };
    struct world_job job[5];
    struct world world = { 0 };

    (void)state;
    strcpy(world.folder, "/tmp/clustersim-test-XXXXXX");
    assert_non_null(mkdtemp(world.folder));
    world_write(&world, "jobs.csv",
                "job,submit,duration,gpus,who\n0,0,10,8,a\n1,0,10,8,a\n"
                "2,0,10,8,a\n3,1,10,8,b\n4,1,10,8,b\n");
    if (!world_open(&world,
                    "experiment: t\nseeds: 1\nuntil: drained\ncluster: "
                    "{nodes: [{name: n, count: 1, gpus: {type: generic, "
                    "count: 8}}]}\nworkload: {trace: {file: jobs.csv, "
                    "format: csv, origin: file, columns: {job: job, submit: "
                    "submit, duration: duration, gpus: gpus, tenant: who}}}\n"
                    "policies: [fair-share]\n") ||
        !world_run(&world, 0, NULL, job, NULL))
        fail_msg("%s", world_error(&world));
    for (int i = 0; i < 5; i++)
        assert_true(job[i].start_s == start_s[i]);
    world_close(&world);
}

static void watch_decide(void *self, struct cs_host *host)
{
    (void)self;
    for (uint32_t i = 1; i < cs_pending_count(host); i++) {
        struct job_id a = cs_task(host, cs_pending(host, i - 1))->job;
        struct job_id b = cs_task(host, cs_pending(host, i))->job;
        assert_true(cs_request(host, a)->deadline_ns <=
                    cs_request(host, b)->deadline_ns);
    }
    while (cs_pending_count(host) > 0 &&
           cs_start(host, cs_pending(host, 0)) == CS_DONE)
        continue;
}

static void edf_keeps_the_queue_in_order_of_deadlines(void **state)
{
    struct cs_policy table = *registry_find("edf");
    struct trial_result result;
    struct world world = { 0 };

    (void)state;
    table.decide = watch_decide;
    struct host_policy policy = world_policy(&table);
    if (!world_open(&world,
                    "experiment: t\nseeds: 1\nuntil: drained\ncluster: "
                    "{nodes: [{name: n, count: 1, gpus: {type: a100-80, "
                    "count: 8}, cpu: {type: epyc-7763, sockets: 2}, memory: "
                    "1536GB}]}\nworkload: {arrival: {process: "
                    "all_at_once}, jobs: 40, mix: [{recipe: batch-infer, "
                    "model: qwen2.5-1.5b, prompts: 10, prompt_tokens: 9, "
                    "steps: 5, deadline: {uniform: [1h, 9h]}, infer: {gpus: "
                    "8}}]}\npolicies: [edf]\n") ||
        !world_run(&world, 0, &policy, NULL, &result))
        fail_msg("%s", world_error(&world));
    assert_true(result.value[METRIC_JOBS_DONE] == 40);
    world_close(&world);
}

static void every_whole_job_policy_ends_all_jobs(void **state)
{
    static const char *const name[] = {
        "ljf", "hrrn", "wfp3", "unicef", "f1", "edf", "fair-share", "srsf",
        "fewest-gpus", "las", "dlas", "conservative",
    };
    struct world_job job[JOBS];
    char policy[96];

    (void)state;
    for (size_t p = 0; p < sizeof name / sizeof name[0]; p++)
        for (int rule = 0; rule < 2; rule++) {
            world_random_jobs(70 + p, job, JOBS);
            snprintf(policy, sizeof policy, "[{policy: %s, placement: pack%s}]",
                     name[p], !world_accepts(name[p], ", blocking") ? "" :
                     rule ? ", blocking: skip" : ", blocking: strict");
            run(policy, job, JOBS);
            for (uint32_t i = 0; i < JOBS; i++)
                assert_true(job[i].end_s >=
                            (double)(job[i].submit_s + job[i].duration_s));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(srsf_agrees_with_the_oracle),
        cmocka_unit_test(fewest_gpus_agrees_with_the_oracle),
        cmocka_unit_test(las_agrees_with_the_oracle),
        cmocka_unit_test(conservative_keeps_every_reservation),
        cmocka_unit_test(shares_of_gpus_are_whole_gpus),
        cmocka_unit_test(easy_promises_memory_with_a_part_of_a_gpu),
        cmocka_unit_test(easy_leaves_the_memory_that_it_promised),
        cmocka_unit_test(conservative_survives_wrong_estimates),
        cmocka_unit_test(
            conservative_starts_a_promised_job_where_nothing_ends),
        cmocka_unit_test(conservative_promises_more_jobs_than_easy),
        cmocka_unit_test(las_shares_equally),
        cmocka_unit_test(las_counts_time_and_gpus),
        cmocka_unit_test(dlas_does_not_stop_a_job_for_its_equals),
        cmocka_unit_test(dlas_knows_parts_of_gpus_and_nodes_that_return),
        cmocka_unit_test(hrrn_orders_by_wait_and_estimate),
        cmocka_unit_test(wfp3_orders_by_the_cube_and_gpus),
        cmocka_unit_test(unicef_orders_by_log2_of_gpus),
        cmocka_unit_test(f1_orders_by_its_formula),
        cmocka_unit_test(f1_takes_a_tenth_of_a_second_for_none),
        cmocka_unit_test(ljf_starts_the_longest_first),
        cmocka_unit_test(fair_share_goes_by_what_tenants_used),
        cmocka_unit_test(edf_keeps_the_queue_in_order_of_deadlines),
        cmocka_unit_test(every_whole_job_policy_ends_all_jobs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
