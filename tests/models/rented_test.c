/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rented_test.c - rented nodes: what they cost, when they come and go, what a
 * reclaim costs, and faults at the worst instants.  Each trial audits itself:
 * that it ends well means that nothing was lost.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "models/cluster/fabric.h"
#include "models/cluster/rented.h"
#include "models/cluster/time_series.h"
#include "models/types/placement.h"
#include "models/types/rates.h"
#include "policies/leases/cost.h"
#include "sim/base/clock.h"
#include "sim/config/conf.h"
#include "sim/event/loop.h"
#include "sim/flow/flow.h"
#include "tests/aid/cluster_aid.h"
#include "tests/aid/world.h"

/* A trace on nodes and other keys of the cluster as text. */
static bool open_rented(struct world *world, const struct world_job *job,
                        uint32_t jobs, const char *cluster,
                        const char *policies, uint32_t seeds)
{
    return world_trace_on(world, cluster, job, jobs, policies, seeds);
}

#define NODE(KEYS) \
    "nodes: [{name: n, count: 4, gpus: {type: generic, count: 8}, " KEYS "}]"

static void run_all(struct world *world, uint32_t trials)
{
    for (uint32_t i = 0; i < trials; i++)
        if (!world_run(world, i, NULL, NULL, NULL))
            fail_msg("trial %u: %s", i, world_error(world));
}

/* ---- series ---------------------------------------------------------------- */

static const struct time_series *time_series(struct arena *arena, const char *text,
                                             struct err *err)
{
    const struct conf_node *conf;

    memset(err, 0, sizeof *err);
    conf = conf_parse(arena, "t.yaml", text, strlen(text), err);
    assert_non_null(conf);
    return time_series_read(arena, conf, "USD/h", err);
}

static void a_series_is_a_step_function_with_an_area(void **state)
{
    struct arena *arena = arena_new(1 << 16);
    struct err err = { 0 };
    const struct time_series *c =
        time_series(arena, "{unit: USD/h, points: [[1s, 2], [3s, 5], [4s, 0]]}",
                    &err);
    int64_t s = CLOCK_NS_PER_S;

    (void)state;
    assert_non_null(c);
    assert_true(time_series_at(c, 0) == 2 && time_series_at(c, 3 * s - 1) == 2);
    assert_true(time_series_at(c, 3 * s) == 5 && time_series_at(c, 9 * s) == 0);
    assert_true(time_series_area(c, 0, 4 * s) == 2 * 3 + 5);
    assert_true(time_series_area(c, 2 * s, 3 * s) == 2);
    assert_true(time_series_next_ns(c, 0) == s && time_series_next_ns(c, s) == 3 * s);
    assert_true(time_series_next_ns(c, 4 * s) == CLOCK_NEVER_NS);
    assert_true(time_series_over_ns(c, 4 * s) == 0);
    assert_true(time_series_over_ns(c, 5 * s) == s);
    arena_free(arena);
}

static void a_series_that_repeats_never_ends(void **state)
{
    struct arena *arena = arena_new(1 << 16);
    struct err err = { 0 };
    const struct time_series *c = time_series(
        arena, "{unit: USD/h, repeat: 10s, points: [[0s, 1], [5s, 3]]}", &err);
    int64_t s = CLOCK_NS_PER_S;

    (void)state;
    assert_non_null(c);
    assert_true(time_series_at(c, 27 * s) == 3 && time_series_at(c, 30 * s) == 1);
    assert_true(time_series_area(c, 0, 30 * s) == 60);
    assert_true(time_series_area(c, 4 * s, 26 * s) == 44);
    assert_true(time_series_next_ns(c, 7 * s) == 10 * s);
    assert_true(time_series_over_ns(c, 1000 * s) == 0);
    /* What stands before the first point is its value. */
    c = time_series(arena, "{unit: USD/h, repeat: 10s, points: [[4s, 1], [8s, 3]]}", &err);
    assert_non_null(c);
    assert_true(time_series_area(c, 0, 10 * s) == 14 && time_series_area(c, 2 * s, 5 * s) == 3);
    assert_true(time_series_area(c, 3 * s, 37 * s) == 11 + 2 * 14 + 7);
    arena_free(arena);
}

static void a_series_of_another_unit_is_refused(void **state)
{
    struct arena *arena = arena_new(1 << 16);
    struct err err = { 0 };

    (void)state;
    assert_null(time_series(arena, "{unit: EUR/h, points: [[0s, 1]]}", &err));
    assert_non_null(strstr(err.text, "unit must be USD/h"));
    assert_null(time_series(arena, "{unit: USD/h, points: [[5s, 1], [5s, 2]]}",
                            &err));
    assert_non_null(strstr(err.text, "in order of time"));
    assert_null(time_series(arena, "{unit: USD/h}", &err));
    assert_non_null(strstr(err.text, "neither"));
    arena_free(arena);
}

/* ---- money and time ---------------------------------------------------------- */

static void a_rental_is_billed_in_whole_units(void **state)
{
    struct rent_spec spec = { .unit_ns = 3600 * CLOCK_NS_PER_S,
                              .least_ns = 60 * CLOCK_NS_PER_S };

    (void)state;
    assert_true(rented_billed_ns(&spec, 1) == spec.unit_ns);
    assert_true(rented_billed_ns(&spec, spec.unit_ns) == spec.unit_ns);
    assert_true(rented_billed_ns(&spec, spec.unit_ns + 1) ==
                2 * spec.unit_ns);
    spec.unit_ns = CLOCK_NS_PER_S;
    assert_true(rented_billed_ns(&spec, 0) == spec.least_ns);
    assert_true(rented_billed_ns(&spec, 61 * CLOCK_NS_PER_S) ==
                61 * CLOCK_NS_PER_S);
}

/* Ordered at 0, there at 300 s, works until 3900 s; the second follows 1000 s
 * later, when the node was given back after 600 s; paid by the hour. */
static void a_node_comes_late_and_goes_when_it_is_idle(void **state)
{
    struct world_job job[] = { { 0, 3600, 8, 0, 0 },
                               { 4900, 100, 8, 0, 0 } };
    struct world world = { 0 };
    struct trial_result r;

    (void)state;
    assert_true(open_rented(&world, job, 2,
                            NODE("price: 8USD/h, rent: {start: 5min, "
                                 "keep: 10min, billing: hour}"),
                            "[fcfs]", 1));
    if (!world_run(&world, 0, NULL, job, &r))
        fail_msg("%s", world_error(&world));
    assert_true(job[0].start_s == 300 && job[0].end_s == 3900);
    assert_true(job[1].start_s == 5200 && job[1].end_s == 5300);
    /* 4500 s are two hours, 400 s one. */
    assert_true(fabs(r.value[METRIC_COST] - 24) < 1e-9);
    assert_true(fabs(r.value[METRIC_COST_COMPUTE] - 8 * 3700 / 3600.0) <
                1e-9);
    assert_true(fabs(r.value[METRIC_COST_FREE] - 8 * 600 / 3600.0) < 1e-9);
    assert_true(fabs(r.value[METRIC_COST_RENT] -
                     8 * (7200 - 4500 + 300 + 3600 - 100) / 3600.0) < 1e-9);
    world_close(&world);
}

static void nodes_are_ordered_for_what_has_waited_long_enough(void **state)
{
    struct world_job job[] = { { 0, 1000, 8, 0, 0 }, { 0, 1000, 8, 0, 0 } };
    struct world world = { 0 };

    (void)state;
    assert_true(open_rented(
        &world, job, 2,
        "nodes: [{name: own, gpus: {type: generic, count: 8}}, {name: n, "
        "count: 4, gpus: {type: generic, count: 8}, rent: {start: 1min, "
        "wait: 4min}}]", "[fcfs]", 1));
    assert_true(world_run(&world, 0, NULL, job, NULL));
    assert_true(job[0].start_s == 0);
    assert_true(job[1].start_s == 300);
    world_close(&world);
}

/* Of one role, on nodes of a price; the results of the only trial. */
static void run_role(struct world *world, const char *csv, const char *nodes,
                     const char *role, struct trial_result *out)
{
    char text[1024];

    strcpy(world->folder, "/tmp/clustersim-test-XXXXXX");
    assert_non_null(mkdtemp(world->folder));
    world_write(world, "jobs.csv", csv);
    snprintf(text, sizeof text,
             "experiment: t\nseeds: 1\nuntil: drained\ncluster: {nodes: [{"
             "name: n, count: 4, %s, price: 8USD/h, rent: {start: 1min, keep: "
             "5min}}]}\nworkload: {trace: {file: jobs.csv, format: csv, "
             "origin: file, columns: {job: job, submit: submit, duration: "
             "duration, gpus: gpus}, role: {%s}}}\npolicies: [fcfs]\n",
             nodes, role);
    if (!world_open(world, text) || !world_run(world, 0, NULL, NULL, out))
        fail_msg("%s", world_error(world));
}

/* Cores for four GPUs of a node: eight need two nodes, and memory likewise. */
static void a_gang_orders_the_nodes_that_have_its_cores_and_memory(
    void **state)
{
    static const char *const role[] = {
        "cores: 16, memory: 8GB", "cores: 1, memory: 100GB",
    };

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct world world = { 0 };
        struct trial_result r;
        run_role(&world, "job,submit,duration,gpus\n0,0,1000,8\n",
                 "gpus: {type: a100-80, count: 8}, cpu: {type: epyc-7742, "
                 "sockets: 1}, cores: 64, memory: 500GB", role[i], &r);
        assert_true(r.value[METRIC_MAKESPAN] == 1060);
        assert_true(fabs(r.value[METRIC_COST] -
                         2 * 8 * 1060 / 3600.0) < 1e-6);
        world_close(&world);
    }
}

static void parts_of_gpus_order_as_many_nodes_as_they_fill(void **state)
{
    struct world world = { 0 };
    struct trial_result r;
    char csv[1024];
    size_t n = (size_t)sprintf(csv, "job,submit,duration,gpus\n");

    (void)state;
    for (int i = 0; i < 32; i++)
        n += (size_t)sprintf(csv + n, "%d,0,1000,0.25\n", i);
    run_role(&world, csv, "gpus: {type: generic, count: 8}", "cores: 1", &r);
    assert_true(r.value[METRIC_MAKESPAN] == 1060);
    assert_true(fabs(r.value[METRIC_COST] - 8 * 1060 / 3600.0) < 1e-6);
    world_close(&world);
}

/* A job orders a node of its tenant's pool, and none of the other. */
static void nodes_are_ordered_in_the_pool_of_the_job(void **state)
{
    static const char *const tenant[] = { "a", "b" };

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct world world = { 0 };
        struct trial_result r;
        char csv[80];

        strcpy(world.folder, "/tmp/clustersim-test-XXXXXX");
        assert_non_null(mkdtemp(world.folder));
        snprintf(csv, sizeof csv, "job,submit,duration,gpus,who\n0,0,1000,8,%s\n", tenant[i]);
        world_write(&world, "jobs.csv", csv);
        if (!world_open(&world, "experiment: t\nseeds: 1\nuntil: drained\ncluster: {nodes: ["
                        "{name: a, count: 2, gpus: {type: generic, count: 8}, price: 8USD/h, rent: "
                        "{start: 1min, keep: 5min}}, {name: b, count: 2, gpus: {type: generic, "
                        "count: 8}, price: 3USD/h, rent: {start: 1min, keep: 5min}}]}\nworkload: "
                        "{trace: {file: jobs.csv, format: csv, origin: file, tenant_pools: true, "
                        "columns: {job: job, submit: submit, duration: duration, gpus: gpus, "
                        "tenant: who}}}\npolicies: [fcfs]\n") ||
            !world_run(&world, 0, NULL, NULL, &r))
            fail_msg("%s", world_error(&world));
        assert_true(r.value[METRIC_MAKESPAN] == 1060);
        assert_true(fabs(r.value[METRIC_COST] - (i == 0 ? 8 : 3) * 1060 / 3600.0) < 1e-6);
        world_close(&world);
    }
}

static void the_price_of_the_hour_is_paid(void **state)
{
    struct world_job job[] = { { 0, 7200, 8, 0, 0 } };
    struct world world = { 0 };
    struct trial_result r;

    (void)state;
    assert_true(open_rented(
        &world, job, 1, "nodes: [{name: n, gpus: {type: generic, count: 8}, "
        "price: {unit: USD/h, points: [[0h, 8], [30min, 2], [2h, 1]]}}]",
        "[fcfs]", 1));
    if (!world_run(&world, 0, NULL, job, &r))
        fail_msg("%s", world_error(&world));
    assert_true(fabs(r.value[METRIC_COST] - (8 * 0.5 + 2 * 1.5)) < 1e-9);
    assert_true(fabs(r.value[METRIC_HELD_COST] - r.value[METRIC_COST]) <
                1e-9);
    world_close(&world);
}

static void a_price_that_ends_before_the_run_is_an_error_or_counted(
    void **state)
{
    struct world_job job[] = { { 0, 7200, 8, 0, 0 } };
    const char *after[] = { "error", "hold" };
    struct trial_result r;

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct world world = { 0 };
        char cluster[300];
        sprintf(cluster, "nodes: [{name: n, gpus: {type: generic, count: 8}, "
                "price: {unit: USD/h, after: %s, points: [[0h, 8], [1h, 2]]}"
                "}]", after[i]);
        assert_true(open_rented(&world, job, 1, cluster, "[fcfs]", 1));
        bool done = world_run(&world, 0, NULL, NULL, &r);
        assert_int_equal(done, i);
        if (done) {
            assert_true(r.value[METRIC_SERIES_HELD] == 3600);
        } else {
            assert_non_null(strstr(world_error(&world), "ends 3600 s before"));
            assert_int_equal(world.err.pos.line, 4);
        }
        world_close(&world);
    }
}

/* 8 generic GPUs draw nothing: the node's CPUs do, always alike. */
static void carbon_follows_the_hour(void **state)
{
    struct world_job job[] = { { 0, 7200, 8, 0, 0 } };
    const char *carbon[] = { "100gCO2/kWh",
        "{unit: gCO2/kWh, repeat: 24h, points: [[0h, 300], [30min, 20]]}" };
    double kg[2];
    struct trial_result r;

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct world world = { 0 };
        char cluster[400];
        sprintf(cluster, "nodes: [{name: n, gpus: {type: generic, count: 8}, "
                "cpu: {type: epyc-7763}, memory: 1TB}], carbon: %s",
                carbon[i]);
        if (!open_rented(&world, job, 1, cluster, "[fcfs]", 1) ||
            !world_run(&world, 0, NULL, NULL, &r))
            fail_msg("%s", world_error(&world));
        kg[i] = r.value[METRIC_CARBON];
        world_close(&world);
    }
    assert_true(kg[0] > 0);
    assert_true(fabs(kg[1] / kg[0] - 0.01 * (300 * 0.25 + 20 * 0.75)) < 1e-9);
}

/* Two nodes far from the storage share one line to it; near ones cross none. */
static void far_nodes_share_the_line_to_the_storage(void **state)
{
    struct world_job job[] = { { 0, 10, 8, 0, 0 } };
    struct loop_limits limits = { .until_ns = 1, .event_count_max = 1 };
    struct loop *loop = loop_new(limits);
    struct flow_net *net = flow_new(loop);
    struct flow_use use[64];
    struct world world = { 0 };

    (void)state;
    assert_true(open_rented(
        &world, job, 1, "nodes: [{name: near, count: 2, gpus: {type: generic, "
        "count: 8}}, {name: far, count: 2, gpus: {type: generic, count: 8}, "
        "wan: 1GB/s}], storage: {bandwidth: 20GB/s}", "[fcfs]", 1));
    struct trial_spec spec = experiment_trial_spec(world.experiment, 0);
    struct fabric *fabric = fabric_new(world.arena, spec.cluster, net);
    uint32_t line = fabric_link(fabric, FABRIC_WAN, 2);
    assert_true(line == fabric_link(fabric, FABRIC_WAN, 3));
    assert_true(flow_link_capacity(net, line) == 1e9);
    assert_true(fabric_link(fabric, FABRIC_WAN, 0) == UINT32_MAX);
    struct demand_rates rates = { .storage_bytes = 4 };
    struct share share[] = { { .node = 2, .gpu_mask = 1 },
                             { .node = 3, .gpu_mask = 1 } };
    struct placement far = { share, 2 };
    double over = 0;
    for (uint32_t u = fabric_uses(fabric, &far, &rates, use); u-- > 0;)
        over += use[u].link == line ? use[u].per_unit : 0;
    assert_true(over == 4);
    share[0].node = 1;
    share[1].node = 2;
    over = 0;
    for (uint32_t u = fabric_uses(fabric, &far, &rates, use); u-- > 0;)
        over += use[u].link == line ? use[u].per_unit : 0;
    assert_true(over == 2);
    world_close(&world);
    flow_free(net);
    loop_free(loop);
}

/* ---- reclaims --------------------------------------------------------------- */

/* The one node that can be had is gone from 1000 s to 2000 s; the job goes on
 * for the time of notice, saves every 400 s, and starts again at 2000 s. */
static void a_pool_scaled_to_zero_gives_its_jobs_back(void **state)
{
    struct world_job job[] = { { 0, 3000, 8, 0, 0 } };
    struct world world = { 0 };
    struct trial_result r;

    (void)state;
    assert_true(open_rented(
        &world, job, 1,
        NODE("rent: {start: 0s, notice: 60s, available: {unit: nodes, "
             "after: hold, points: [[0s, 1], [1000s, 0], [2000s, 1]]}}")
        ", failures: {checkpoint: 400s}", "[fcfs]", 1));
    if (!world_run(&world, 0, NULL, job, &r))
        fail_msg("%s", world_error(&world));
    assert_true(r.value[METRIC_INTERRUPTIONS] == 1);
    assert_true(job[0].end_s == 2000 + 3000 - 800);
    world_close(&world);
}

static void who_saves_on_notice_loses_nothing(void **state)
{
    struct world_job job[] = { { 0, 3000, 8, 0, 0 } };
    struct world world = { 0 };

    (void)state;
    assert_true(open_rented(
        &world, job, 1,
        NODE("rent: {start: 0s, notice: 60s, on_notice: save, available: "
             "{unit: nodes, after: hold, points: [[0s, 1], [1000s, 0], "
             "[2000s, 1]]}}"), "[fcfs]", 1));
    if (!world_run(&world, 0, NULL, job, NULL))
        fail_msg("%s", world_error(&world));
    assert_true(job[0].end_s == 2000 + 3000 - 1000);
    world_close(&world);
}

/* Rentals of a mean of 10 h: the time without a reclaim is exponential. */
static void reclaims_come_at_their_rate(void **state)
{
    struct world_job job[] = { { 0, 100 * 3600, 32, 0, 0 } };
    struct world world = { 0 };
    struct trial_result r;
    double reclaims = 0;

    (void)state;
    assert_true(open_rented(&world, job, 1,
                            NODE("rent: {start: 0s, notice: 0s, reclaim: 10h}")
                            ", failures: {checkpoint: 1s}", "[fcfs]", 40));
    for (uint32_t i = 0; i < 40; i++) {
        if (!world_run(&world, i, NULL, NULL, &r))
            fail_msg("%s", world_error(&world));
        reclaims += r.value[METRIC_INTERRUPTIONS];
    }
    /* 4 nodes x 100 h / 10 h in each of 40 runs, 3 sd. */
    assert_true(fabs(reclaims / 40 - 40) < 3 * sqrt(40.0 / 40));
    world_close(&world);
}

static void jobs_that_cannot_ever_have_nodes_fail_the_trial(void **state)
{
    struct world_job job[] = { { 0, 3000, 8, 0, 0 } };
    struct world world = { 0 };

    (void)state;
    assert_true(open_rented(
        &world, job, 1, NODE("rent: {start: 0s, available: {unit: nodes, "
        "after: hold, points: [[0s, 0]]}}"), "[fcfs]", 1));
    assert_false(world_run(&world, 0, NULL, NULL, NULL));
    assert_non_null(strstr(world_error(&world), "waiting for ever"));
    world_close(&world);
}

/* ---- the worst instants ------------------------------------------------------ */

/* A job's end, a notice, its end and two failures meet at 600 s. */
static void everything_at_one_instant_loses_nothing(void **state)
{
    struct world_job job[] = { { 0, 600, 8, 0, 0 }, { 0, 900, 8, 0, 0 },
                               { 0, 540, 4, 0, 0 }, { 0, 600, 16, 0, 0 },
                               { 600, 60, 32, 0, 0 } };
    const char *save[] = { "work", "save" };

    (void)state;
    for (int s = 0; s < 2; s++)
        for (int notice = 0; notice <= 60; notice += 60) {
            struct world world = { 0 };
            char cluster[600];
            sprintf(cluster,
                    NODE("rent: {start: 0s, keep: 0s, notice: %ds, on_notice: "
                         "%s, reclaim: 600s, available: {unit: nodes, repeat: "
                         "1000s, points: [[0s, 4], [540s, 3], [600s, 0], "
                         "[660s, 4]]}}")
                    ", failures: {node_mtbf: 600s, job_mtbf: 600s, "
                    "checkpoint: 60s}, network: {leaf: 2}", notice,
                    save[s]);
            assert_true(open_rented(&world, job, 5, cluster,
                                    "[fcfs, srtf, time-slice]", 10));
            run_all(&world, 30);
            world_close(&world);
        }
}

/* Random pools, random jobs, all policies that preempt and some that do not:
 * every trial passes its audit and all jobs are done. */
static void chaos_loses_nothing(void **state)
{
    struct world_job job[40];

    (void)state;
    for (uint64_t seed = 0; seed < 12; seed++) {
        struct world world = { 0 };
        struct rng rng;
        char cluster[900], scale[40] = "always";

        rng_init(&rng, seed, "rented", 0);
        world_random_jobs(seed, job, 40);
        if (rng_below(&rng, 2))
            sprintf(scale, "queue, wait: %us", (unsigned)rng_below(&rng, 50));
        sprintf(cluster,
                "nodes: [{name: own, gpus: {type: generic, count: 8}, "
                "price: 3USD/h}, {name: a, count: %u, gpus: {type: generic, "
                "count: 8}, price: {unit: USD/h, after: hold, points: [[0s, "
                "4], [%us, 9]]}, rent: {start: %us, keep: %us, min: %u, "
                "reclaim: %us, notice: %us, on_notice: %s, billing: %s}}, "
                "{name: b, count: 2, gpus: {type: generic, count: 8}, rent: "
                "{start: 7s, scale: %s, available: {unit: nodes, "
                "repeat: %us, points: [[0s, 2], [50s, 1], [60s, 0], [70s, "
                "2]]}}}], failures: {node_mtbf: %us, switch_mtbf: 3000s, "
                "job_mtbf: 2000s, restart: 3s, checkpoint: 20s}, "
                "network: {leaf: 2}, storage: {bandwidth: 1GB/s, price: "
                "1USD/h, transfer: 0.01USD/GB}",
                1 + (unsigned)rng_below(&rng, 4),
                1 + (unsigned)rng_below(&rng, 900),
                (unsigned)rng_below(&rng, 20), (unsigned)rng_below(&rng, 60),
                (unsigned)rng_below(&rng, 2),
                100 + (unsigned)rng_below(&rng, 900),
                (unsigned)rng_below(&rng, 30),
                rng_below(&rng, 2) ? "save" : "work",
                rng_below(&rng, 2) ? "hour" : "second",
                scale,
                80 + (unsigned)rng_below(&rng, 300),
                500 + (unsigned)rng_below(&rng, 3000));
        if (!open_rented(&world, job, 40, cluster,
                         "[fcfs, {policy: sjf, blocking: skip}, easy, srtf, "
                         "las, time-slice, fair-share, conservative, "
                         "{policy: srsf, rounds: {length: 30s}}]", 2))
            fail_msg("%s", world_error(&world));
        run_all(&world, 18);
        world_close(&world);
    }
}

/* Where nothing is there when the first job comes, whoever sizes things by what
 * is there must look again. */
static void policies_that_resize_begin_on_nothing(void **state)
{
    struct world_job job[12] = { { 0, 60, 2, 0, 0 } };
    struct world world = { 0 };

    (void)state;
    for (int i = 0; i < 12; i++)
        job[i] = (struct world_job){ 90 * i, 100 + 50 * i, 1u << i % 4, 0, 0 };
    if (!open_rented(&world, job, 12,
                     NODE("rent: {start: 60s, keep: 300s, min: 0, scale: "
                          "queue}"),
                     "[fcfs, themis, elasticflow, optimus, afs, gavel, allox, "
                     "shockwave, lucid, sia, pollux]", 1))
        fail_msg("%s", world_error(&world));
    run_all(&world, 11);
    world_close(&world);
    /* Nobody comes after the first: the node is all that is new.  It stays for
     * longer than a round of Gavel's. */
    memset(&world, 0, sizeof world);
    if (!open_rented(&world, job, 1,
                     NODE("rent: {start: 60s, keep: 900s, min: 0, scale: "
                          "queue}"),
                     "[fcfs, themis, elasticflow, optimus, afs, gavel, allox, "
                     "shockwave, lucid, sia, pollux, conservative]", 1))
        fail_msg("%s", world_error(&world));
    run_all(&world, 12);
    world_close(&world);
}

/* Jobs that share GPUs, on nodes that are warned and taken away. */
static void parts_of_gpus_survive_reclaims(void **state)
{
    struct world world = { 0 };
    char csv[4096];
    size_t n = (size_t)sprintf(csv, "job,submit,duration,gpus\n");

    (void)state;
    strcpy(world.folder, "/tmp/clustersim-test-XXXXXX");
    assert_non_null(mkdtemp(world.folder));
    for (int i = 0; i < 90; i++)
        n += (size_t)sprintf(csv + n, "%d,%d,%d,%s\n", i, 11 * i,
                             40 + 37 * i % 600,
                             i % 4 == 3 ? "4" : i % 4 == 2 ? "1"
                             : i % 2 ? "0.3" : "0.5");
    world_write(&world, "jobs.csv", csv);
    assert_true(world_open(&world,
        "experiment: t\nseeds: 4\nuntil: drained\ncluster: {nodes: [{name: a, "
        "count: 3, gpus: {type: generic, count: 4}, rent: {start: 10s, keep: "
        "20s, reclaim: 5min, notice: 30s}}, {name: b, count: 3, gpus: {type: "
        "generic, count: 4}, rent: {start: 0s, keep: 0s, reclaim: 4min, "
        "notice: 9s, on_notice: save}}], failures: {node_mtbf: 20min, "
        "checkpoint: 10s}}\nworkload: {trace: {file: jobs.csv, format: "
        "csv, origin: file, columns: {job: job, submit: submit, duration: "
        "duration, gpus: gpus}}}\npolicies: [{policy: fcfs, blocking: skip}, "
        "{policy: sjf, placement: fgd}, srtf, quota]\n"));
    run_all(&world, 16);
    world_close(&world);
}

/* Jobs of phases on two rented pools, every policy that leases for a phase. */
static void phases_survive_chaos(void **state)
{
    (void)state;
    for (int save = 0; save < 2; save++) {
        struct world world = { 0 };
        char text[3000];

        sprintf(text,
            "experiment: t\nseeds: 3\nuntil: drained\ncluster:\n  nodes:\n"
            "    - {name: rollout, count: 3, gpus: {type: l40s, count: 8}, cpu: "
            "{type: epyc-7763}, memory: 1TB, nics: {type: ib-hdr}, price: "
            "8USD/h, rent: {start: 60s, keep: 60s, reclaim: 30min, notice: "
            "20s, on_notice: %s}}\n"
            "    - {name: train, count: 2, gpus: {type: a100-80, count: 8}, "
            "cpu: {type: epyc-7763}, memory: 1TB, nics: {type: ib-hdr}, "
            "price: 16USD/h, rent: {start: 90s, keep: 60s, reclaim: 1h, "
            "notice: 5s, on_notice: %s}}\n"
            "  storage: {bandwidth: 5GB/s, transfer: 0.01USD/GB}\n"
            "  failures: {node_mtbf: 4h, job_mtbf: 2h}\n"
            "workload:\n  arrival: {process: poisson, rate: 12/h}\n"
            "  jobs: 6\n  mix:\n    - recipe: grpo\n      name: grpo\n"
            "      model: llama-3.1-8b\n      method: lora\n"
            "      prompts: 32\n      responses: 4\n      prompt_tokens: 512\n"
            "      response: {mean: 400, cv: 1, max: 2048}\n"
            "      reward: {on: cpu, core_time: 20ms}\n"
            "      steps: 6\n      checkpoint_every: 2\n"
            "      rollout: {gpus: 8, types: [l40s]}\n"
            "      train: {gpus: 8, types: [a100-80]}\n"
            "      data: {cores: 4}\n"
            "policies: [fcfs, static, dynamic, hybrid]\n",
            save ? "save" : "work", save ? "work" : "save");
        if (!world_open(&world, text))
            fail_msg("%s", world_error(&world));
        run_all(&world, 12);
        world_close(&world);
    }
}

/* Two rented nodes (0, 1) of 8 GPUs at 16 USD/h, two owned ones (2, 3) of 4 GPUs at 2 USD/h, and
 * one without GPUs (4) of 4 cores at 8 USD/h.  A GPU is 2, half of one 1, an owned one 0.5, a core
 * 2 and 250 thousandths of one 0.5 USD/h.  Of n nodes the bytes are spread over, those to rented
 * ones are paid for. */
static void a_lease_pays_for_its_parts_and_for_what_rented_nodes_move(void **state)
{
    static const struct rent_spec rent;
    struct node_group group[3] = {
        { .node_count = 2, .gpus = 8, .cores = 64, .usd_per_h = 16, .rent = &rent },
        { .node_count = 2, .gpus = 4, .cores = 64, .usd_per_h = 2 },
        { .node_count = 1, .cores = 4, .usd_per_h = 8 },
    };
    struct cluster_spec spec = cluster_aid_new(group);
    for (int g = 0; g < 3; g++)
        cluster_aid_count(&spec, &group[g]);
    spec.rents = true;
    spec.transfer_usd_per_byte = 1e-9;
    static struct share all[] = {
        { .node = 0, .gpu_mask = 0x3, .cores = 9 },
        { .node = 1, .gpu_mask = 0x1, .gpu_milli = 500 },
        { .node = 2, .gpu_mask = 0x7 },
        { .node = 4, .cores = 2, .core_milli = 250 },
    };
    static const struct { uint32_t from, to; double usd_per_h, transfer; } row[] = {
        { 0, 1, 2 * 2, 12 }, { 0, 2, 2 * 2 + 1, 12 }, { 1, 2, 1, 12 },
        { 0, 3, 5 + 1.5, 8 }, { 1, 3, 1 + 1.5, 6 }, { 0, 4, 6.5 + 4.5, 6 },
        { 2, 3, 1.5, 0 }, { 2, 4, 1.5 + 4.5, 0 }, { 3, 4, 4.5, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct placement place = { &all[row[i].from], row[i].to - row[i].from };
        int64_t hour_ns = INT64_C(3600) * CLOCK_NS_PER_S;

        assert_true(fabs(host_gpu_usd_per_h(&spec, &place, 0) - row[i].usd_per_h) < 1e-12);
        assert_true(fabs(host_transfer_usd(&spec, &place, 12e9) - row[i].transfer) < 1e-9);
        assert_true(host_transfer_usd(&spec, &place, 0) == 0);
        /* From 3 h to 5 h. */
        assert_true(fabs(host_lease_usd(&spec, &place, 3 * hour_ns, 5 * hour_ns) -
                         2 * row[i].usd_per_h) < 1e-9);
        spec.rents = false;
        assert_true(host_transfer_usd(&spec, &place, 12e9) == 0);
        spec.rents = spec.unpriced = true;
        assert_true(host_lease_usd(&spec, &place, 3 * hour_ns, 5 * hour_ns) == 0);
        spec.unpriced = false;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_series_is_a_step_function_with_an_area),
        cmocka_unit_test(a_series_that_repeats_never_ends),
        cmocka_unit_test(a_series_of_another_unit_is_refused),
        cmocka_unit_test(a_rental_is_billed_in_whole_units),
        cmocka_unit_test(a_lease_pays_for_its_parts_and_for_what_rented_nodes_move),
        cmocka_unit_test(a_node_comes_late_and_goes_when_it_is_idle),
        cmocka_unit_test(nodes_are_ordered_for_what_has_waited_long_enough),
        cmocka_unit_test(
            a_gang_orders_the_nodes_that_have_its_cores_and_memory),
        cmocka_unit_test(parts_of_gpus_order_as_many_nodes_as_they_fill),
        cmocka_unit_test(nodes_are_ordered_in_the_pool_of_the_job),
        cmocka_unit_test(the_price_of_the_hour_is_paid),
        cmocka_unit_test(
            a_price_that_ends_before_the_run_is_an_error_or_counted),
        cmocka_unit_test(carbon_follows_the_hour),
        cmocka_unit_test(far_nodes_share_the_line_to_the_storage),
        cmocka_unit_test(a_pool_scaled_to_zero_gives_its_jobs_back),
        cmocka_unit_test(who_saves_on_notice_loses_nothing),
        cmocka_unit_test(reclaims_come_at_their_rate),
        cmocka_unit_test(jobs_that_cannot_ever_have_nodes_fail_the_trial),
        cmocka_unit_test(everything_at_one_instant_loses_nothing),
        cmocka_unit_test(chaos_loses_nothing),
        cmocka_unit_test(policies_that_resize_begin_on_nothing),
        cmocka_unit_test(parts_of_gpus_survive_reclaims),
        cmocka_unit_test(phases_survive_chaos),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
