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

/* As open_owned(), of rows job,submit,duration,gpus,tenant,types. */
static void open_rows(struct world *world, const char *rows, const char *cluster,
                      const char *policies)
{
    char csv[500], text[1500];

    strcpy(world->folder, "/tmp/clustersim-test-XXXXXX");
    assert_non_null(mkdtemp(world->folder));
    snprintf(csv, sizeof csv, "job,submit,duration,gpus,tenant,types\n%s", rows);
    world_write(world, "jobs.csv", csv);
    snprintf(text, sizeof text,
             "experiment: t\nseeds: 1\nuntil: drained\ncluster: {%s}\n"
             "workload: {trace: {file: jobs.csv, format: csv, origin: file, "
             "columns: {job: job, submit: submit, duration: duration, gpus: "
             "gpus, tenant: tenant, gpu_types: types}}}\npolicies: %s\n", cluster, policies);
    if (!world_open(world, text))
        fail_msg("%s", world_error(world));
}

/* Runs all rows of one policy; job: has room for them. */
static void run_rows(const char *rows, const char *cluster, const char *policies,
                     struct world_job *job)
{
    struct world world = { 0 };

    open_rows(&world, rows, cluster, policies);
    if (!world_run(&world, 0, NULL, job, NULL))
        fail_msg("%s: %s", policies, world_error(&world));
    world_close(&world);
}

#define CPU_2 "cpu: {type: epyc-7742, sockets: 2}, memory: 500GB"
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

#define FOUR_AND_FOUR "nodes: [{name: a, count: 1, gpus: {type: v100-32, count: 4}, " CPU_2 \
    "}, {name: b, count: 1, gpus: {type: a100-80, count: 4}, " CPU_2 "}]"

/* x takes four V100 back at 10 s from y, whose other 990 s follow from 110 s on, whether
 * A100 are free (for z's job, at 20 s) or lent to z, who began last and keeps them. */
static void what_is_taken_back_lies_where_it_is_needed(void **state)
{
    struct world_job job[3];

    (void)state;
    run_rows("0,0,1000,4,y,V100\n1,10,100,4,x,V100\n2,20,50,2,z,A100\n", FOUR_AND_FOUR,
             "[{policy: quota, quotas: x=4}]", job);
    assert_true(job[1].start_s == 10 && job[1].end_s == 110);
    assert_true(job[0].end_s == 1100);
    assert_true(job[2].start_s == 20 && job[2].end_s == 70);
    run_rows("0,0,1000,4,y,V100\n1,1,1000,4,z,A100\n2,10,100,4,x,V100\n", FOUR_AND_FOUR,
             "[{policy: quota, quotas: x=4}]", job);
    assert_true(job[2].start_s == 10 && job[2].end_s == 110);
    assert_true(job[0].end_s == 1100);
    assert_true(job[1].start_s == 1 && job[1].end_s == 1001);
}

/* Each node of four has one GPU free: x's gang of two needs one of z's jobs of three to
 * stop, the later one, of which 994 s are left.  Beside x's own jobs of three GPUs on both
 * nodes a gang of two would fit nowhere, whatever stopped: nobody does. */
static void what_is_taken_back_makes_room_for_a_gang(void **state)
{
    static const char nodes[] = "nodes: [{name: n, count: 2, gpus: {type: generic, count: "
                                "4}}]";
    struct world_job job[5];

    (void)state;
    run_rows("0,0,1000,3,z,\n1,0,1000,3,z,\n2,6,100,2,x,\n3,10,50,1,z,\n", nodes,
             "[{policy: quota, quotas: x=4, placement: consolidate}]", job);
    assert_true(job[2].start_s == 6 && job[2].end_s == 106);
    assert_true(job[3].start_s == 10 && job[3].end_s == 60);
    assert_true(job[0].end_s == 1000 && job[1].end_s == 1100);
    run_rows("0,0,500,3,x,\n1,0,500,3,x,\n2,1,400,1,z,\n3,1,400,1,z,\n4,10,100,2,x,\n",
             nodes, "[{policy: quota, quotas: x=8, placement: consolidate}]", job);
    assert_true(job[2].end_s == 401 && job[3].end_s == 401);
    assert_true(job[4].start_s == 500 && job[4].end_s == 600);
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
        { "borrow: false", "c", "quotas does not name tenant c", 4 },
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

/* Four fifths of the five GPUs that there can be are four, also while those four are not
 * here yet, 60 s after they were ordered. */
static void a_share_counts_nodes_that_are_away(void **state)
{
    static const char rented[] =
        "nodes: [{name: a, count: 1, gpus: {type: v100-32, count: 1}, " CPU_2 "}, {name: r, "
        "count: 1, gpus: {type: v100-32, count: 4}, " CPU_2 ", rent: {start: 60s, keep: "
        "100s}}]";
    struct world_job job[1];

    (void)state;
    run_rows("0,0,500,4,a,\n", rented,
             "[{policy: quota, quotas: a=80%, borrow: false}]", job);
    assert_true(job[0].start_s == 60 && job[0].end_s == 560);
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

static void quotas_that_are_none_are_refused_where_they_stand(void **state)
{
    struct owned_job job[] = { { 0, 10, 8, "a" } };
    static const struct {
        const char *policy, *why;
    } bad[] = {
        { "[{policy: quota, quotas: a}]", "a share of each tenant, found 'a'" },
        { "[{policy: quota, quotas: a=x}]", "a share of each tenant, found 'a=x'" },
        { "[{policy: quota, quotas: a=5GPU}]", "a share of each tenant, found 'a=5GPU'" },
        { "[{policy: quota, quotas: a=4 a=0}]", "names a tenant twice, the second time in 'a=0'" },
        { "[{policy: quota, quotas: a=150%}]", "at most 100% of all GPUs, found 'a=150%'" },
    };

    (void)state;
    for (size_t p = 0; p < sizeof bad / sizeof bad[0]; p++) {
        struct world world = { 0 };
        assert_false(open_owned(&world, job, 1, TWO_NODES, bad[p].policy));
        assert_non_null(strstr(world_error(&world), bad[p].why));
        assert_int_equal(world.err.pos.line, 6);
        assert_int_equal(world.err.pos.col, 36);        /* behind "policies: [{... quotas: " */
        world_close(&world);
    }
}

/* One GPU.  a's quota of one holds two halves at a time, the third half follows at 100 s;
 * b, with none, is last.  Of halves each, c's borrowed 0.4 is stopped at 10 s for b's
 * half, which would not fit beside it, and goes on for 90 s from 100 s on. */
static void a_part_of_a_gpu_counts_as_a_part(void **state)
{
    static const char one[] = "nodes: [{name: n, count: 1, gpus: {type: generic, count: 1, "
                              "model: T4}}]";
    struct world_job job[4];

    (void)state;
    run_rows("0,0,100,0.5,a,\n1,0,100,0.5,a,\n2,0,100,0.5,a,\n3,10,100,1,b,\n", one,
             "[{policy: quota, quotas: a=1 b=0}]", job);
    assert_true(job[0].start_s == 0 && job[1].start_s == 0);
    assert_true(job[2].start_s == 100 && job[3].start_s == 200);
    run_rows("0,0,100,0.5,a,\n1,0,100,0.4,c,\n2,10,100,0.5,b,\n", one,
             "[{policy: quota, quotas: a=0.5 b=50%}]", job);
    assert_true(job[2].start_s == 10 && job[2].end_s == 110);
    assert_true(job[1].end_s == 190);
}

/* 29% of 100 GPUs are 29, and no more. */
static void a_share_is_no_less_by_rounding(void **state)
{
    struct owned_job job[] = { { 0, 10, 20, "a" }, { 0, 10, 9, "a" }, { 0, 10, 1, "a" } };
    struct world_job end[3];
    struct world world = { 0 };

    (void)state;
    if (!open_owned(&world, job, 3,
                    "nodes: [{name: n, count: 25, gpus: {type: generic, count: 4}}]",
                    "[{policy: quota, quotas: a=29%, borrow: false}]") ||
        !world_run(&world, 0, NULL, end, NULL))
        fail_msg("%s", world_error(&world));
    assert_true(end[0].start_s == 0 && end[1].start_s == 0 && end[2].start_s == 10);
    world_close(&world);
}

/* A name that is near a tenant is a slip of the pen; another one may be of a tenant that
 * has no jobs in a slice of a trace, though its name is near one that is named, too. */
static void a_tenant_that_is_none_is_refused(void **state)
{
    struct owned_job job[] = { { 0, 10, 8, "team-a" }, { 0, 10, 8, "team-b" } };
    struct world world = { 0 };

    (void)state;
    assert_false(open_owned(&world, job, 2, TWO_NODES,
                            "[{policy: quota, quotas: team-a=8 tema-b=50%}]"));
    assert_int_equal(world.err.kind, ERR_REFERENCE);
    assert_non_null(strstr(world_error(&world), "names 'tema-b', and no job or service is of "
                           "that tenant; tenants: team-a, team-b"));
    assert_non_null(strstr(world.err.hint, "Did you mean 'team-b'?"));
    world_close(&world);
    memset(&world, 0, sizeof world);
    assert_true(open_owned(&world, job, 2, TWO_NODES,
                           "[{policy: quota, quotas: team-a=8 team-b=50%}]"));
    world_close(&world);
    memset(&world, 0, sizeof world);
    assert_true(open_owned(&world, job, 2, TWO_NODES,
                           "[{policy: quota, quotas: team-a=8 team-b=4 team-c=4 vision=1}]"));
    world_close(&world);
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

/* Idle, a node of 8 V100 draws 8 x 45 W beside what one of 8 A100 draws beside its
 * 8 x 63 W: 8 x 181.5 + 2 x (60 + 68) W = 1,708 W; together 4,280 W.  Four A100 at work add
 * 4 x 337 W and at most half of two CPUs' 314 W: below 6 kW.  Eight V100 add 8 x 255 W:
 * above it, until the rented node, kept for 60 s after the end at 400 s, has gone.  No GPU
 * comes free then, but the power does. */
static void power_of_a_node_that_goes_is_free_for_a_job(void **state)
{
    static const char nodes[] =
        "nodes: [{name: a, count: 1, gpus: {type: v100-32, count: 8}, " CPU_2 "}, {name: r, "
        "count: 1, gpus: {type: a100-80, count: 8}, " CPU_2 ", rent: {start: 300s, keep: "
        "60s}}], pue: 1, power_cap: 6kW";
    static const char *const policy[] = { "[{policy: fcfs, blocking: skip}]", "[sjf]",
                                          "[las]", "[static]", "[drf]" };
    struct world_job job[2];

    (void)state;
    for (size_t p = 0; p < sizeof policy / sizeof policy[0]; p++) {
        run_rows("0,0,100,4,,A100\n1,350,1000,8,,V100\n", nodes, policy[p], job);
        assert_true(job[0].start_s == 300 && job[0].end_s == 400);
        if (job[1].start_s != 460)
            fail_msg("%s: starts at %g s", policy[p], job[1].start_s);
    }
}

#define TYPES_2 "nodes: [{name: a, count: 1, gpus: {type: a100-80, count: 2}, cpu: {type: " \
    "epyc-7742, sockets: 1}, memory: 500GB}, {name: b, count: 1, gpus: {type: t4, count: " \
    "2}, cpu: {type: epyc-7742, sockets: 1}, memory: 500GB}], pue: 1, power_cap: "

/* Idle, a node of two A100 draws 2 x (181.5 + 63) + 60 + 68 = 617 W, one of two T4 with
 * 2 x 10 W for its GPUs 511 W, together 1,128 W.  An A100 at work adds 337 W, a T4 60 W.
 *
 * At 1,600 W beside an A100 (1,465 W) no second one is allowed (1,802 W), but a T4 is
 * (1,525 W), and then two are (1,585 W).  best_fit likes the A100 of the node in use.
 *
 * At 1,500 W two A100 (1,802 W) are not allowed in the empty cluster, but two T4 are. */
static void what_a_power_cap_refuses_may_start_on_other_gpus(void **state)
{
    static const char *const policy[] = {
        "[{policy: fcfs, blocking: skip, placement: best_fit}]",
        "[{policy: static, placement: best_fit}]", "[{policy: dynamic, placement: best_fit}]",
    };
    struct world_job job[3];

    (void)state;
    for (size_t p = 0; p < sizeof policy / sizeof policy[0]; p++) {
        run_rows("0,0,1000,1,,A100\n1,1,100,1,,\n2,2,100,2,,\n", TYPES_2 "1600W", policy[p],
                 job);
        assert_true(job[0].start_s == 0 && job[0].end_s == 1000);
        if (job[1].start_s != 1 || job[2].start_s != 101)
            fail_msg("%s: start at %g s and %g s", policy[p], job[1].start_s, job[2].start_s);
        run_rows("0,0,100,2,,\n", TYPES_2 "1500W", policy[p], job);
        assert_true(job[0].start_s == 0 && job[0].end_s == 100);
    }
}

/* Idle, a node of eight A100 draws 8 x 244.5 + 128 W = 2,084 W (see above); 4,300 W let six
 * of them run (4,106 W), not seven.  Job 0 has three until 1,000 s; job 1, the head, is
 * promised five from then on.  Job 2 ends before.  Job 3 has the sixth beside the head, so
 * that job 4, as long, waits until the head has ended; job 5 ends before 1,000 s on the
 * sixth one.  Planned with eight GPUs, the head could start at once, and nothing may go
 * before it. */
static void plans_under_a_power_cap_count_the_gpus_that_it_lets_run(void **state)
{
    static const char nodes[] =
        "nodes: [{name: n, count: 1, gpus: {type: a100-80, count: 8}, cpu: {type: epyc-7742, "
        "sockets: 1}, memory: 1TB}], pue: 1, power_cap: 4300W";
    static const char *const policy[] = { "[easy]", "[conservative]" };
    static const double start_s[] = { 0, 1000, 2, 3, 2000, 5 };
    struct world_job job[6];

    (void)state;
    for (size_t p = 0; p < sizeof policy / sizeof policy[0]; p++) {
        run_rows("0,0,1000,3,,\n1,1,1000,5,,\n2,2,300,1,,\n3,3,2000,1,,\n4,4,2000,1,,\n"
                 "5,5,300,1,,\n", nodes, policy[p], job);
        for (int j = 0; j < 6; j++)
            if (job[j].start_s != start_s[j])
                fail_msg("%s: job %d starts at %g s", policy[p], j, job[j].start_s);
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

/* Each of two tenants owns 8 of 16 GPUs, and nothing is lent: the second job of `my team` waits
 * for its first.  A name without its second quote is none. */
static void a_tenant_may_have_blanks_in_its_name(void **state)
{
    static const char *const quotas[] = { "'my team'=8 b=8", "b=50% 'my team'=50%",
                                          "'my team=8 b=8", "'my team' =8 b=8" };

    (void)state;
    for (int q = 0; q < 4; q++) {
        struct owned_job job[] = { { 0, 100, 8, "my team" }, { 0, 100, 8, "my team" },
                                   { 0, 100, 8, "b" } };
        struct world world = { 0 };
        struct world_job end[3];
        char policies[200];

        snprintf(policies, sizeof policies, "[{policy: quota, borrow: false, quotas: \"%s\"}]",
                 quotas[q]);
        bool ends = open_owned(&world, job, 3, TWO_NODES, policies) &&
                    world_run(&world, 0, NULL, end, NULL);
        assert_int_equal(ends, q < 2);
        if (ends)
            assert_true(end[0].end_s == 100 && end[1].end_s == 200 && end[2].end_s == 100);
        else if (strstr(world_error(&world), "must be GPUs or a share") == NULL)
            fail_msg("%s: %s", quotas[q], world_error(&world));
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

/* Returns "" if a policy with 64 or 65 tenants, one of them with a name of that many bytes,
 * is read; else what is told. */
static const char *told_of_names(int tenants, int bytes)
{
    static const struct owned_job job = { 0, 60, 1, "zz" };
    static char said[400];
    struct world world = { .folder = "" };
    char policies[1200];
    int n = sprintf(policies, "[{policy: quota, quotas: '%0*d=1", bytes, 7);

    for (int i = 1; i < tenants; i++)
        n += sprintf(policies + n, " t%d=%d%%", i, i == 1 ? 100 : 1);
    sprintf(policies + n, "'}]");
    said[0] = '\0';
    if (!open_owned(&world, &job, 1, "nodes: [{name: a, count: 1, gpus: {type: generic, count: "
                    "8}}]", policies))
        snprintf(said, sizeof said, "%s", world.err.text);
    world_close(&world);
    return said;
}

static void quotas_are_read_up_to_their_bounds(void **state)
{
    (void)state;
    assert_string_equal(told_of_names(64, 47), "");
    assert_string_equal(told_of_names(65, 1), "'quotas' of policy quota must name at most 64 "
                        "tenants, found one more, 't64=1%'");
    assert_string_equal(told_of_names(2, 48), "'quotas' of policy quota must be GPUs or a share "
                        "of each tenant, found '000000000000000000000000000000000000000000000007"
                        "=1'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quotas_are_read_up_to_their_bounds),
        cmocka_unit_test(what_may_never_start_ends_the_run_with_its_reason),
        cmocka_unit_test(what_is_lent_is_taken_back),
        cmocka_unit_test(a_share_is_one_of_all_pools),
        cmocka_unit_test(a_share_counts_nodes_that_are_away),
        cmocka_unit_test(what_is_taken_back_lies_where_it_is_needed),
        cmocka_unit_test(what_is_taken_back_makes_room_for_a_gang),
        cmocka_unit_test(nothing_is_lent_or_taken_back_if_it_is_forbidden),
        cmocka_unit_test(quotas_that_are_none_are_refused_where_they_stand),
        cmocka_unit_test(a_part_of_a_gpu_counts_as_a_part),
        cmocka_unit_test(a_share_is_no_less_by_rounding),
        cmocka_unit_test(a_tenant_that_is_none_is_refused),
        cmocka_unit_test(quotas_lose_no_job),
        cmocka_unit_test(a_power_cap_delays_starts),
        cmocka_unit_test(what_a_power_cap_refuses_may_start_on_other_gpus),
        cmocka_unit_test(plans_under_a_power_cap_count_the_gpus_that_it_lets_run),
        cmocka_unit_test(power_of_a_node_that_goes_is_free_for_a_job),
        cmocka_unit_test(a_power_cap_delays_rented_nodes),
        cmocka_unit_test(a_tenant_may_have_blanks_in_its_name),
        cmocka_unit_test(jobs_pinned_to_a_pool_that_is_not_there_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
