/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * published_policy_test.c - gittins, time-slice, qssf and drf do in cases that
 * were worked out by hand what their papers say, and lose no job in others.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "policies/registry/registry.h"
#include "tests/aid/world.h"

#define JOBS 120

static void run(const char *policy, uint32_t gpus, struct world_job *job,
                uint32_t jobs)
{
    struct world world = { 0 };

    if (!world_trace(&world, 1, gpus, job, jobs, policy) ||
        !world_run(&world, 0, NULL, job, NULL))
        fail_msg("%s: %s", policy, world_error(&world));
    world_close(&world);
}

/* Three jobs of 10 s and one of 100 s have ended.  A job that has had 8 s will
 * most likely end within 2: its index is 3/4 / 2, that of a new one 3/4 / 10.
 * One that has had 20 s needs 80 more: 1 / 80. */
static void gittins_weighs_the_chance_to_end_by_what_it_takes(void **state)
{
    struct world_job job[8] = {
        { 0, 10, 1, 0, 0 }, { 20, 10, 1, 0, 0 }, { 40, 10, 1, 0, 0 },
        { 60, 100, 1, 0, 0 },
        { 200, 10, 1, 0, 0 }, { 208, 10, 1, 0, 0 },
        { 300, 100, 1, 0, 0 }, { 320, 10, 1, 0, 0 },
    };

    (void)state;
    run("[{policy: gittins, placement: count, quantum: 1s}]", 1, job, 8);
    assert_true(job[4].end_s == 210);
    assert_true(job[5].start_s == 210);
    assert_true(job[7].start_s == 320);
    assert_true(job[7].end_s == 330);
    assert_true(job[6].end_s == 410);
}

static void gittins_is_least_attained_service_before_any_job_ends(void **state)
{
    struct world_job job[2] = { { 0, 100, 1, 0, 0 }, { 10, 50, 1, 0, 0 } };

    (void)state;
    run("[{policy: gittins, placement: count, quantum: 5s}]", 1, job, 2);
    assert_true(job[1].start_s == 10);
    assert_true(job[1].end_s > 90 && job[1].end_s < 115);
}

static void time_slice_gives_turns_of_a_quantum(void **state)
{
    struct world_job job[3] = { { 0, 120, 1, 0, 0 }, { 0, 120, 1, 0, 0 },
                                { 70, 10, 1, 0, 0 } };

    (void)state;
    run("[{policy: time-slice, placement: count}]", 1, job, 3);
    assert_true(job[1].start_s == 60);
    assert_true(job[0].end_s == 180);       /* turns from 0 and from 120 */
    assert_true(job[2].start_s == 180);
    assert_true(job[1].end_s == 250);
}

static void time_slice_stops_nobody_while_there_is_room(void **state)
{
    struct world_job job[2] = { { 0, 300, 1, 0, 0 }, { 10, 300, 1, 0, 0 } };

    (void)state;
    run("[{policy: time-slice, placement: count}]", 2, job, 2);
    assert_true(job[0].end_s == 300 && job[1].end_s == 310);
}

static bool tenants_open(struct world *world, const char *rows,
                         const char *policy)
{
    char text[1024], csv[512];

    strcpy(world->folder, "/tmp/clustersim-test-XXXXXX");
    assert_non_null(mkdtemp(world->folder));
    snprintf(csv, sizeof csv, "job,submit,duration,gpus,who\n%s", rows);
    world_write(world, "jobs.csv", csv);
    snprintf(text, sizeof text,
             "experiment: t\nseeds: 1\nuntil: drained\ncluster: {nodes: "
             "[{name: n, count: 1, gpus: {type: generic, count: 1}}]}\n"
             "workload: {trace: {file: jobs.csv, format: csv, origin: file, "
             "columns: {job: job, submit: submit, duration: duration, gpus: "
             "gpus, tenant: who}}}\npolicies: [%s]\n", policy);
    return world_open(world, text);
}

/* b's jobs have been short, a's long: b goes first, and is wrong. */
static void qssf_predicts_from_what_the_tenant_ran_before(void **state)
{
    struct world world = { 0 };
    struct world_job job[5];

    (void)state;
    if (!tenants_open(&world, "0,0,100,1,a\n1,0,5,1,b\n2,200,50,1,c\n"
                      "3,201,1,1,a\n4,202,30,1,b\n", "qssf") ||
        !world_run(&world, 0, NULL, job, NULL))
        fail_msg("%s", world_error(&world));
    assert_true(job[2].start_s == 200);
    assert_true(job[4].start_s == 250);
    assert_true(job[3].start_s == 280);
    world_close(&world);
}

struct watched {
    uint32_t of_a, of_b;
};

static void (*drf_itself)(void *self, struct cs_host *host);
static struct watched first;

static void watch_drf(void *self, struct cs_host *host)
{
    drf_itself(self, host);
    if (cs_now_ns(host) > 0)
        return;
    for (uint32_t i = 0; i < cs_running_count(host); i++) {
        const char *tenant = cs_request(host, cs_running(host, i))->tenant;

        first.of_a += strcmp(tenant, "a") == 0;
        first.of_b += strcmp(tenant, "b") == 0;
    }
}

/* Of 8 GPUs and 128 cores, a's jobs take 1 and 60, b's 2 and 2: shares rise as
 * a 0.47, b 0.25, b 0.5, a 0.94, b 0.75, and no third of a fits.  With 30 cores they rise as
 * a 0.23, b 0.25, a 0.47, b 0.5, a 0.7; of b no third fits, and a has 0.94. */
static void drf_evens_out_dominant_shares(void **state)
{
    static const struct { unsigned cores, of_a, of_b; } row[] = { { 60, 2, 3 }, { 30, 4, 2 } };
    struct cs_policy table = *registry_find("drf");

    (void)state;
    drf_itself = table.decide;
    table.decide = watch_drf;
    struct host_policy policy = world_policy(&table);
    policy.rules.blocking = HOST_SKIP;
    policy.params = NULL;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct world world = { 0 };
        struct trial_result result;
        char text[700];
        snprintf(text, sizeof text, "experiment: t\nseeds: 1\nuntil: drained\ncluster: "
                 "{nodes: [{name: n, count: 1, gpus: {type: a100-80, count: 8}, cpu: {type: "
                 "epyc-7763, sockets: 2}, memory: 1536GB}]}\nworkload: {arrival: {process: "
                 "all_at_once}, jobs: 40, mix: [{recipe: trace, name: a, tenant: a, gpus: 1, "
                 "duration: 10s, role: {cores: %u}}, {recipe: trace, name: b, tenant: b, gpus: "
                 "2, duration: 10s, role: {cores: 1}}]}\npolicies: [drf]\n", row[i].cores);
        first = (struct watched) { 0, 0 };
        if (!world_open(&world, text) || !world_run(&world, 0, &policy, NULL, &result))
            fail_msg("%s", world_error(&world));
        assert_int_equal(first.of_a, row[i].of_a);
        assert_int_equal(first.of_b, row[i].of_b);
        assert_true(result.value[METRIC_JOBS_DONE] == 40);
        world_close(&world);
    }
}

/* Of 8 GPUs and 136 cores, a's jobs take 28 cores and no GPU, four of which fill the node
 * without GPUs; b's take 2 GPUs.  Shares rise as a 0.21, b 0.25, a 0.41, b 0.5, a 0.62,
 * b 0.75, a 0.82, b 1.  If a's jobs counted as ones on GPUs (0.125 each), a would take two
 * GPUs, and b have three jobs. */
static void drf_counts_no_gpu_of_a_job_on_cores(void **state)
{
    struct cs_policy table = *registry_find("drf");
    struct world world = { 0 };

    (void)state;
    first = (struct watched) { 0, 0 };
    drf_itself = table.decide;
    table.decide = watch_drf;
    struct host_policy policy = world_policy(&table);
    policy.rules.blocking = HOST_SKIP;
    policy.params = NULL;
    if (!world_open(&world,
                    "experiment: t\nseeds: 1\nuntil: drained\ncluster: {nodes: [{name: g, "
                    "count: 1, gpus: {type: t4, count: 8}, cpu: {type: xeon-silver-4310, "
                    "sockets: 2}, memory: 256GB}, {name: c, count: 1, cpu: {type: "
                    "xeon-platinum-8480+, sockets: 2}, memory: 512GB}], storage: {bandwidth: "
                    "10GB/s}}\nworkload: {arrival: {process: all_at_once}, jobs: 40, mix: ["
                    "{recipe: batch-infer, name: a, tenant: a, model: bert-base, precision: "
                    "fp32, prompts: 20000, prompt_tokens: 128, steps: 1, infer: {gpus: 1, "
                    "types: [cpu, t4], cpu: {cores: 28, memory: 20GB}}}, {recipe: trace, name: "
                    "b, tenant: b, gpus: 2, duration: 10s, role: {cores: 1}}]}\n"
                    "policies: [drf]\n") ||
        !world_run(&world, 0, &policy, NULL, NULL))
        fail_msg("%s", world_error(&world));
    assert_int_equal(first.of_a, 4);
    assert_int_equal(first.of_b, 4);
    world_close(&world);
}

/* One GPU is owned, 4 can be had by the hour.  Of five jobs that come while the
 * first runs for 100 s: one may wait 50 s, a quarter of its run time, and
 * bursts; one of 800 s may wait 200 s and has the owned GPU at 100; one of 2 GPUs
 * cannot run there and bursts at once.  320 s may wait 80. */
static void starburst_waits_for_what_the_cloud_would_cost(void **state)
{
    struct world world = { 0 };
    struct world_job job[5];
    struct trial_result result;

    (void)state;
    strcpy(world.folder, "/tmp/clustersim-test-XXXXXX");
    assert_non_null(mkdtemp(world.folder));
    world_write(&world, "jobs.csv", "job,submit,duration,gpus\n0,0,100,1\n"
                "1,0,200,1\n2,0,800,1\n3,0,60,2\n4,0,320,1\n");
    if (!world_open(&world,
                    "experiment: t\nseeds: 1\nuntil: drained\ncluster: "
                    "{nodes: [{name: own, count: 1, gpus: {type: generic, "
                    "count: 1}, price: 1USD/h}, {name: cloud, count: 4, gpus: "
                    "{type: generic, count: 1}, price: 9USD/h, billing: held}]}"
                    "\nworkload: {trace: {file: jobs.csv, format: csv, origin: "
                    "file, columns: {job: job, submit: submit, duration: "
                    "duration, gpus: gpus}}}\npolicies: [{policy: starburst, "
                    "wait: runtime, factor: 0.25, blocking: skip}]\n") ||
        !world_run(&world, 0, NULL, job, &result))
        fail_msg("%s", world_error(&world));
    assert_true(job[1].start_s == 50 && job[1].end_s == 250);
    assert_true(job[2].start_s == 100 && job[2].end_s == 900);
    assert_true(job[3].start_s == 0 && job[4].start_s == 80);
    /* 900 s of what is owned; 200, 320 and twice 60 s of the cloud. */
    assert_true(result.value[METRIC_COST] > 900 / 3600.0 + 9 * 640 / 3600.0 -
                                            1e-9 &&
                result.value[METRIC_COST] < 900 / 3600.0 + 9 * 640 / 3600.0 +
                                            1e-9);
    world_close(&world);
}

/* While the first job has both owned GPUs for 1000 s, another of two GPUs and 100 s waits not at
 * all, the budget, a quarter of its run time or of its GPU-time, or until they come free. */
static void starburst_waits_by_the_rule_that_is_named(void **state)
{
    static const struct { const char *keys; double start_s; } rule[] = {
        { "wait: none", 0 }, { "wait: constant, budget: 70s", 70 },
        { "wait: runtime, factor: 0.25", 25 }, { "wait: compute, factor: 0.25", 50 },
        { "wait: infinite", 1000 },
    };
    char entry[120];

    (void)state;
    for (size_t i = 0; i < sizeof rule / sizeof rule[0]; i++) {
        struct world_job job[] = { { .duration_s = 1000, .gpus = 2 },
                                   { .duration_s = 100, .gpus = 2 } };
        struct world world = { 0 };

        snprintf(entry, sizeof entry, "[{policy: starburst, cloud: cloud, %s}]", rule[i].keys);
        if (!world_trace_on(&world, "nodes: [{name: own, count: 1, gpus: {type: generic, count: "
                            "2}}, {name: cloud, count: 1, gpus: {type: generic, count: 2}}]", job,
                            2, entry, 1) ||
            !world_run(&world, 0, NULL, job, NULL))
            fail_msg("%s", world_error(&world));
        if (job[0].start_s != 0 || job[1].start_s != rule[i].start_s)
            fail_msg("%s: %g", rule[i].keys, job[1].start_s);
        world_close(&world);
    }
}

/* One of two nodes is under repair from 100 to 300 s: by the seed the owned one, or the cloud's.  A
 * job that comes at 150 s waits for owned GPUs, however long: it starts at 150 s or at 300 s, and
 * never in the cloud, which alone has a price. */
static void starburst_waits_for_an_owned_node_under_repair(void **state)
{
    int repairs = 0;

    (void)state;
    for (int seed = 0; seed < 6; seed++) {
        struct world world = { 0 };
        struct world_job job[1];
        struct trial_result result;
        char text[700], path[96];

        strcpy(world.folder, "/tmp/clustersim-test-XXXXXX");
        assert_non_null(mkdtemp(world.folder));
        world_write(&world, "jobs.csv", "job,submit,duration,gpus\n0,150,500,4\n");
        world_write(&world, "faults.csv", "series,time_s,value\ns1,100,1\ns1,300,0\n");
        snprintf(text, sizeof text, "experiment: t\nseed: %d\nseeds: 1\nuntil: drained\ncluster:\n"
                 "  nodes:\n    - {name: own, count: 1, gpus: {type: generic, count: 4}}\n"
                 "    - {name: cloud, count: 1, gpus: {type: generic, count: 4}, price: 9USD/h, "
                 "billing: held}\n  failures: {trace: {file: faults.csv, servers: 2}}\n"
                 "workload: {trace: {file: jobs.csv, format: csv, origin: file, columns: {job: "
                 "job, submit: submit, duration: duration, gpus: gpus}}}\n"
                 "policies: [{policy: starburst, wait: infinite}]\n", seed);
        if (!world_open(&world, text) || !world_run(&world, 0, NULL, job, &result))
            fail_msg("%s", world_error(&world));
        if (result.value[METRIC_COST] != 0 || (job[0].start_s != 150 && job[0].start_s != 300))
            fail_msg("seed %d: at %g s for %g USD", seed, job[0].start_s,
                     result.value[METRIC_COST]);
        repairs += job[0].start_s == 300;
        snprintf(path, sizeof path, "%s/faults.csv", world.folder);
        unlink(path);
        world_close(&world);
    }
    assert_true(repairs > 0 && repairs < 6);
}

#define NODE(name, nodes, gpu) \
    "    - {name: " name ", count: " nodes ", gpus: {type: " gpu ", count: 2}, cpu: " \
    "{type: epyc-7763, sockets: 2}, memory: 1TB, price: 1USD/h}\n"
#define CLOUD \
    "    - {name: cloud, count: 1, gpus: {type: h100, count: 4}, cpu: {type: epyc-7763, " \
    "sockets: 2}, memory: 1TB, price: 9USD/h, billing: held}\n"

/* Job 0 holds two owned L40S from 0 to 1000 s.  Job 1 of 100 s waits for owned GPUs if these can
 * ever hold it, and starts at 1000 s; else it starts in the cloud at 0.  A gang of four has GPUs
 * of one type, a pod those of one node, a GPU of 48 GB holds no 60,000 MiB, and a job without a
 * run time in a pool does not run there. */
static void starburst_lets_no_job_wait_for_gpus_that_never_hold_it(void **state)
{
    static const struct {
        const char *nodes, *row, *columns;
        double start_s;
    } on[] = {
        { NODE("own", "1", "l40s") NODE("other", "1", "l40s"), "4,100,100,100,100,1", "", 1000 },
        { NODE("own", "1", "l40s") NODE("other", "1", "a10"), "4,100,100,100,100,1", "", 0 },
        { NODE("own", "1", "l40s"), "2,100,,100,100,1", "", 1000 },
        { NODE("own", "1", "l40s"), "2,,,100,100,1", "", 0 },
        { NODE("own", "1", "l40s") NODE("other", "1", "a10"), "2,100,,100,100,1", "", 1000 },
        { NODE("own", "1", "l40s") NODE("other", "1", "a10"), "3,100,,100,100,1", "", 0 },
        { NODE("own", "1", "l40s"), "1,100,,100,100,60000", "", 0 },
        { NODE("own", "2", "l40s"), "3,100,,100,100,1", "", 1000 },
        { NODE("own", "2", "l40s"), "3,100,,100,100,1", ", cores: 4, memory_mib: 999", 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof on / sizeof on[0]; i++) {
        struct world_job job[2];
        struct world world = { 0 };
        char text[2000];

        strcpy(world.folder, "/tmp/clustersim-test-XXXXXX");
        assert_non_null(mkdtemp(world.folder));
        snprintf(text, sizeof text, "job,submit,gpus,own,other,cloud,all,mib\n"
                 "0,0,2,1000,,,1000,1\n1,0,%s\n", on[i].row);
        world_write(&world, "jobs.csv", text);
        snprintf(text, sizeof text, "experiment: t\nseeds: 1\nuntil: drained\ncluster:\n  nodes:"
                 "\n%s" CLOUD "workload: {trace: {file: jobs.csv, format: csv, origin: file, "
                 "columns: {job: job, submit: submit, duration: all, gpus: gpus, gpu_memory_mib: "
                 "mib%s}, run_times: {own: own, %scloud: cloud}}}\n"
                 "policies: [{policy: starburst, wait: infinite}]\n", on[i].nodes,
                 on[i].columns, strstr(on[i].nodes, "other") ? "other: other, " : "");
        if (!world_open(&world, text) || !world_run(&world, 0, NULL, job, NULL))
            fail_msg("%zu: %s", i, world_error(&world));
        if (job[0].start_s != 0 || job[1].start_s != on[i].start_s)
            fail_msg("%zu: %g and %g", i, job[0].start_s, job[1].start_s);
        world_close(&world);
    }
}

/* At 100 s the owned GPU comes free and the second job has waited enough: it
 * bursts, as in their simulator, and the third has the GPU. */
static void starburst_bursts_though_a_gpu_comes_free_just_then(void **state)
{
    struct world_job job[] = {
        { .submit_s = 0, .duration_s = 100, .gpus = 1 },
        { .submit_s = 0, .duration_s = 400, .gpus = 1 },
        { .submit_s = 0, .duration_s = 800, .gpus = 1 },
    };
    struct world world = { 0 };

    (void)state;
    assert_true(world_trace_on(&world, "nodes: [{name: own, count: 1, gpus: "
                               "{type: generic, count: 1}}, {name: cloud, "
                               "count: 4, gpus: {type: generic, count: 1}}]",
                               job, 3, "[{policy: starburst, wait: runtime, "
                               "factor: 0.25}]", 1));
    assert_true(world_run(&world, 0, NULL, job, NULL));
    assert_true(job[1].start_s == 100 && job[2].start_s == 100);
    world_close(&world);
}

/* Two jobs on one GPU, and a restart of 30 s: each has its turn of a quantum,
 * not of a restart. */
static void restarts_do_not_keep_equals_from_their_turns(void **state)
{
    static const char *const name[] = { "las", "gittins", "time-slice" };
    char policy[96];

    (void)state;
    for (size_t p = 0; p < 3; p++) {
        struct world_job job[2] = { { 0, 1000, 1, 0, 0 },
                                    { 10, 1000, 1, 0, 0 } };
        snprintf(policy, sizeof policy, "[{policy: %s, placement: count, "
                 "quantum: 100s, preemption: {cost: 30s}}]", name[p]);
        run(policy, 1, job, 2);
        assert_true(job[0].end_s < 3500 && job[1].end_s < 3500);
    }
}

static void every_published_policy_ends_all_jobs(void **state)
{
    static const char *const name[] = {
        "gittins", "time-slice", "qssf", "drf"
    };
    struct world_job job[JOBS];
    char policy[96];

    (void)state;
    for (size_t p = 0; p < sizeof name / sizeof name[0]; p++)
        for (int rule = 0; rule < 2; rule++) {
            world_random_jobs(90 + p, job, JOBS);
            snprintf(policy, sizeof policy, "[{policy: %s, placement: pack%s}]",
                     name[p], !world_accepts(name[p], ", blocking") ? "" :
                     rule ? ", blocking: skip" : ", blocking: strict");
            run(policy, 8, job, JOBS);
            for (uint32_t i = 0; i < JOBS; i++)
                assert_true(job[i].end_s >=
                            (double)(job[i].submit_s + job[i].duration_s));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gittins_weighs_the_chance_to_end_by_what_it_takes),
        cmocka_unit_test(
            gittins_is_least_attained_service_before_any_job_ends),
        cmocka_unit_test(time_slice_gives_turns_of_a_quantum),
        cmocka_unit_test(time_slice_stops_nobody_while_there_is_room),
        cmocka_unit_test(qssf_predicts_from_what_the_tenant_ran_before),
        cmocka_unit_test(drf_evens_out_dominant_shares),
        cmocka_unit_test(drf_counts_no_gpu_of_a_job_on_cores),
        cmocka_unit_test(starburst_waits_for_what_the_cloud_would_cost),
        cmocka_unit_test(starburst_waits_by_the_rule_that_is_named),
        cmocka_unit_test(starburst_waits_for_an_owned_node_under_repair),
        cmocka_unit_test(starburst_lets_no_job_wait_for_gpus_that_never_hold_it),
        cmocka_unit_test(starburst_bursts_though_a_gpu_comes_free_just_then),
        cmocka_unit_test(restarts_do_not_keep_equals_from_their_turns),
        cmocka_unit_test(every_published_policy_ends_all_jobs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
