/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * quota_test.c - tenants' quotas, lent and taken back; the power cap; pools
 * that jobs are pinned to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/aid/world.h"

struct owned_job {
    int64_t submit_s, duration_s;
    uint32_t gpus;
    const char *tenant;
};

static bool open_owned(struct world *world, const struct owned_job *job,
                       uint32_t jobs, const char *nodes, const char *policies)
{
    char csv[64 * 200], text[2048];
    size_t n = (size_t)sprintf(csv, "job,submit,duration,gpus,tenant\n");

    strcpy(world->folder, "/tmp/clustersim-test-XXXXXX");
    assert_non_null(mkdtemp(world->folder));
    for (uint32_t i = 0; i < jobs; i++)
        n += (size_t)sprintf(csv + n, "%u,%lld,%lld,%u,%s\n", i,
                             (long long)job[i].submit_s,
                             (long long)job[i].duration_s, job[i].gpus,
                             job[i].tenant);
    world_write(world, "jobs.csv", csv);
    snprintf(text, sizeof text,
             "experiment: t\nseeds: 1\nuntil: drained\ncluster: {%s}\n"
             "workload: {trace: {file: jobs.csv, format: csv, origin: file, "
             "columns: {job: job, submit: submit, duration: duration, gpus: "
             "gpus, tenant: tenant}}}\npolicies: %s\n", nodes, policies);
    return world_open(world, text);
}

#define TWO_NODES "nodes: [{name: n, count: 2, gpus: {type: generic, count: 8}}]"

/* a has borrowed b's half; b comes at 100 s, has it at once, and a's second job
 * goes on when b is done, from where it was. */
static void what_is_lent_is_taken_back(void **state)
{
    struct owned_job job[] = { { 0, 1000, 8, "a" }, { 0, 1000, 8, "a" },
                               { 100, 500, 8, "b" } };
    struct world_job end[3];
    struct world world = { 0 };

    (void)state;
    if (!open_owned(&world, job, 3, TWO_NODES,
                    "[{policy: quota, quotas: a=8 b=50%}]") ||
        !world_run(&world, 0, NULL, end, NULL))
        fail_msg("%s", world_error(&world));
    assert_true(end[0].end_s == 1000);
    assert_true(end[2].start_s == 100 && end[2].end_s == 600);
    assert_true(end[1].end_s == 1500);
    world_close(&world);
}

/* Pools of 8 and 10 GPUs: nine in numbers and a half of all are enough for jobs of nine. */
static void a_share_is_one_of_all_pools(void **state)
{
    struct owned_job job[] = { { 0, 1000, 9, "a" }, { 0, 1000, 9, "b" } };
    struct world_job end[2];
    struct world world = { 0 };

    (void)state;
    if (!open_owned(&world, job, 2, "nodes: [{name: m, count: 1, gpus: {type: generic, count: "
                    "8}}, {name: n, count: 1, gpus: {type: generic, count: 10}}]",
                    "[{policy: quota, quotas: a=9 b=50%, borrow: false}]") ||
        !world_run(&world, 0, NULL, end, NULL))
        fail_msg("%s", world_error(&world));
    assert_true(end[0].start_s == 0 && end[1].start_s == 0);
    world_close(&world);
}

/* Nothing of a service or a trace may wait for ever without a word. */
static void what_may_never_start_ends_the_run_with_its_reason(void **state)
{
    static const struct {
        const char *policy, *tenant, *why;
        uint32_t gpus;
    } bad[] = {
        { "quotas: a=8, borrow: false", "c", "quotas does not name tenant c",
          4 },
        { "quotas: a=50%, borrow: false", "a",
          "the quota is smaller than a job of tenant a", 9 },
        { "borrow: false", "", "a job belongs to no tenant", 1 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct owned_job job = { 0, 10, bad[i].gpus, bad[i].tenant };
        struct world world = { 0 };
        char text[100];

        snprintf(text, sizeof text, "[{policy: quota, %s}]", bad[i].policy);
        if (!open_owned(&world, &job, 1, TWO_NODES, text))
            fail_msg("%s", world_error(&world));
        assert_false(world_run(&world, 0, NULL, NULL, NULL));
        assert_int_equal(world.err.kind, ERR_POLICY);
        if (strstr(world.err.text, bad[i].why) == NULL)
            fail_msg("%s", world_error(&world));
        world_close(&world);
    }
}

static void nothing_is_lent_or_taken_back_if_it_is_forbidden(void **state)
{
    struct owned_job job[] = { { 0, 1000, 8, "a" }, { 0, 1000, 8, "a" },
                               { 100, 500, 8, "b" } };
    const char *policy[] = {
        "[{policy: quota, quotas: a=8 b=8, borrow: false}]",
        "[{policy: quota, quotas: a=8 b=8, reclaim: false}]",
    };
    double starts[] = { 100, 1000 };

    (void)state;
    for (int p = 0; p < 2; p++) {
        struct world world = { 0 };
        struct world_job end[3];
        struct trial_result r;
        if (!open_owned(&world, job, 3, TWO_NODES, policy[p]) ||
            !world_run(&world, 0, NULL, end, &r))
            fail_msg("%s", world_error(&world));
        assert_true(end[2].start_s == starts[p]);
        assert_true(r.value[METRIC_PREEMPTIONS] == 0);
        assert_true(p == 1 || end[1].start_s == 1000);
        world_close(&world);
    }
}

static void quotas_that_are_none_fail_the_trial(void **state)
{
    struct owned_job job[] = { { 0, 10, 8, "a" } };
    const char *policy[] = { "[{policy: quota, quotas: a}]",
                             "[{policy: quota, quotas: a=x}]",
                             "[{policy: quota, quotas: a=5GPU}]" };

    (void)state;
    for (int p = 0; p < 3; p++) {
        struct world world = { 0 };
        assert_true(open_owned(&world, job, 1, TWO_NODES, policy[p]));
        assert_false(world_run(&world, 0, NULL, NULL, NULL));
        assert_non_null(strstr(world_error(&world), "quotas must be"));
        world_close(&world);
    }
}

/* Random tenants: every job is done, no job of a tenant within its quota is
 * stopped more often than others came. */
static void quotas_lose_no_job(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++) {
        struct world_job random[60];
        struct owned_job job[60];
        struct world world = { 0 };
        struct trial_result r;
        world_random_jobs(seed, random, 60);
        for (int i = 0; i < 60; i++)
            job[i] = (struct owned_job) {
                random[i].submit_s, random[i].duration_s, random[i].gpus,
                i % 3 == 0 ? "a" : i % 3 == 1 ? "b" : "c",
            };
        if (!open_owned(&world, job, 60, TWO_NODES,
                        "[{policy: quota, quotas: a=8 b=30%}]") ||
            !world_run(&world, 0, NULL, NULL, &r))
            fail_msg("%s", world_error(&world));
        assert_true(r.value[METRIC_JOBS_DONE] == 60);
        assert_true(r.value[METRIC_REFUSED] == 0);
        world_close(&world);
    }
}

/* Two nodes of 8 A100 at full load draw more than one may: the second job waits
 * for the first, though its GPUs are free. */
static void a_power_cap_delays_starts(void **state)
{
    struct owned_job job[] = { { 0, 1000, 8, "a" }, { 0, 1000, 8, "a" } };
    const char *cap[] = { "", ", power_cap: 12kW", ", power_cap: 9kW" };
    double starts[] = { 0, 0, 1000 };

    (void)state;
    for (int c = 0; c < 3; c++) {
        struct world world = { 0 };
        struct world_job end[2];
        char nodes[300];
        sprintf(nodes, "nodes: [{name: n, count: 2, gpus: {type: a100-80, "
                "count: 8}, cpu: {type: epyc-7742, sockets: 2}, memory: 1TB}]"
                ", pue: 1%s", cap[c]);
        if (!open_owned(&world, job, 2, nodes, "[fcfs]") ||
            !world_run(&world, 0, NULL, end, NULL))
            fail_msg("%s", world_error(&world));
        assert_true(end[0].start_s == 0);
        if (end[1].start_s != starts[c])
            fail_msg("cap %d: the second starts at %.0f s", c,
                     end[1].start_s);
        world_close(&world);
    }
}

/* A full node of 8 A100 draws 4.5 to 6 kW (see above), one that stands by 2 kW and more.  Under
 * 6 kW the second node is not ordered beside the first, which is full: the second job has that one
 * after 1000 s, and nothing is paid for the other.  Under 20 kW it comes after 100 s, and 1100 s of
 * it, the order included, are 11 USD. */
static void a_power_cap_delays_rented_nodes(void **state)
{
    struct owned_job job[] = { { 0, 1000, 8, "a" }, { 0, 1000, 8, "a" } };
    const char *cap[] = { "20kW", "6kW" };
    double starts[] = { 100, 1000 };

    (void)state;
    for (int c = 0; c < 2; c++) {
        struct trial_result result;
        struct world world = { 0 };
        struct world_job end[2];
        char nodes[500];
        sprintf(nodes, "nodes: [{name: n, count: 1, gpus: {type: a100-80, count: 8}, cpu: {type: "
                "epyc-7742, sockets: 2}, memory: 1TB, price: 0USD/h}, {name: r, count: 1, gpus: "
                "{type: a100-80, count: 8}, cpu: {type: epyc-7742, sockets: 2}, memory: 1TB, "
                "price: 36USD/h, rent: {start: 100s, keep: 60s, least: 0s}}], pue: 1, "
                "power_cap: %s", cap[c]);
        if (!open_owned(&world, job, 2, nodes, "[fcfs]") ||
            !world_run(&world, 0, NULL, end, &result))
            fail_msg("%s", world_error(&world));
        /* Energy of what is owned: 6 kW for 2000 s at 0.08 USD/kWh at most, 0.27 USD. */
        double usd = result.value[METRIC_COST];
        if (end[0].start_s != 0 || end[1].start_s != starts[c] ||
            (c == 0 ? usd < 11 : usd > 0.27))
            fail_msg("%s: the second starts at %.0f s, for %g USD", cap[c], end[1].start_s, usd);
        world_close(&world);
    }
}

static void jobs_pinned_to_a_pool_that_is_not_there_are_refused(void **state)
{
    const char *pool[] = { "site", "sight" };

    (void)state;
    for (int p = 0; p < 2; p++) {
        struct world world = { 0 };
        char text[800];
        sprintf(text, "experiment: t\nseeds: 1\nuntil: drained\ncluster: "
                "{nodes: [{name: site, gpus: {type: generic, count: 8}}, "
                "{name: cloud, count: 4, gpus: {type: generic, count: 8}}]}\n"
                "workload:\n  arrival: {process: all_at_once}\n  jobs: 3\n"
                "  mix:\n    - recipe: trace\n      gpus: 8\n      duration: "
                "100s\n      role: {pool: %s}\npolicies: [{policy: fcfs, "
                "blocking: skip}]\n", pool[p]);
        bool opened = world_open(&world, text);
        if (opened) {
            struct world_job end[3];
            if (!world_run(&world, 0, NULL, end, NULL))
                fail_msg("%s", world_error(&world));
            assert_true(end[2].start_s == 200);     /* one after the other */
        }
        assert_int_equal(opened, p == 0);
        assert_true(opened || strstr(world_error(&world), "sight"));
        world_close(&world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_may_never_start_ends_the_run_with_its_reason),
        cmocka_unit_test(what_is_lent_is_taken_back),
        cmocka_unit_test(a_share_is_one_of_all_pools),
        cmocka_unit_test(nothing_is_lent_or_taken_back_if_it_is_forbidden),
        cmocka_unit_test(quotas_that_are_none_fail_the_trial),
        cmocka_unit_test(quotas_lose_no_job),
        cmocka_unit_test(a_power_cap_delays_starts),
        cmocka_unit_test(a_power_cap_delays_rented_nodes),
        cmocka_unit_test(jobs_pinned_to_a_pool_that_is_not_there_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
