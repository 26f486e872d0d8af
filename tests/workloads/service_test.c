/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * service_test.c - services: queues against formulas, batches and decode steps
 * against cases worked out by hand, and no request lost, whatever happens to
 * replicas.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "models/cluster/cluster.h"
#include "models/types/gang.h"
#include "tests/aid/world.h"
#include "workloads/requests/services.h"
#include "workloads/source.h"

#define NODES "{name: n, count: 2, gpus: {type: l40s, count: 4}, cpu: {type: " \
    "epyc-7763, sockets: 2}, memory: 512GB}"
#define MANY 4096

/* One trial of one service; `more` stands beside nodes, `jobs` beside
 * services. */
static void open_service(struct world *world, const char *service,
                         const char *more, const char *jobs,
                         const char *policies)
{
    char text[MANY];

    snprintf(text, sizeof text, "experiment: t\nseeds: 1\nuntil: drained\n"
             "cluster: {nodes: [" NODES "], storage: {bandwidth: 10GB/s}%s}\n"
             "workload: {services: [{name: s, %s}]%s}\npolicies: %s\n", more,
             service, jobs, policies);
    if (!world_open(world, text))
        fail_msg("%s", world_error(world));
}

static double column(const struct table *table, const char *name)
{
    return world_column(table, &csv_services, name);
}

static struct table *run(struct world *world, uint32_t i,
                         struct trial_result *result)
{
    struct trial_spec spec = experiment_trial_spec(world->experiment, i);
    struct trial_tables tables = {
        .services = table_new(csv_services.columns, csv_services.count)
    };

    memset(&world->err, 0, sizeof world->err);
    if (!trial_run(&spec, &tables, result, &world->err))
        fail_msg("%s", world_error(world));
    return tables.services;
}

static void near(double value, double expected, double part)
{
    if (fabs(value - expected) > part * expected)
        fail_msg("%.9g is not within %g of %.9g", value, part, expected);
}

#define PASSES "model: bert-base, precision: int8, cpu: {cores: 8, process_start: 0s}, "

/* Pollaczek and Khinchine: wait = rho s / (2 (1 - rho)). */
static void one_replica_of_constant_service_is_m_d_1(void **state)
{
    struct world world = { 0 };
    struct trial_result result;

    (void)state;
    open_service(&world, PASSES "batch: 1, times: {request: 10ms}, requests: "
                 "{arrival: {process: poisson, rate: 80/s}, prompt: 128, for: "
                 "6000s}", "", "", "[fcfs]");
    struct table *t = run(&world, 0, &result);
    assert_true(column(t, "requests") > 450000);
    assert_true(column(t, "done") == column(t, "requests"));
    near(column(t, "latency_mean_s"), 0.010 + 0.8 * 0.010 / (2 * 0.2), 0.02);
    near(column(t, "cpu_replica_utilization"), 0.8, 0.01);
    table_free(t);
    world_close(&world);
}

/* Little: requests in the system = rate x latency, here through utilization
 * of replicas that round robin keeps apart: load 0.5 each. */
static void round_robin_divides_the_load(void **state)
{
    struct world world = { 0 };
    struct trial_result result;

    (void)state;
    open_service(&world, PASSES "batch: 1, route: round_robin, times: "
                 "{request: 10ms}, replicas: {min: 4, max: 4}, requests: "
                 "{arrival: {process: poisson, rate: 200/s}, prompt: 128, "
                 "for: 2000s}", "", "", "[fcfs]");
    struct table *t = run(&world, 0, &result);
    near(column(t, "cpu_replica_utilization"), 0.5, 0.015);
    /* Fewer waits than at random: gaps are Erlang-4, cv^2 = 1/4. */
    double wait_s = column(t, "latency_mean_s") - 0.010;
    assert_true(wait_s < 0.5 * 0.010 / (2 * 0.5) * 0.5);
    table_free(t);
    world_close(&world);
}

/* Poisson arrivals that a coin deals to four replicas are four queues of a quarter of the rate
 * each; and the coin of another seed falls otherwise. */
static void random_routing_makes_queues_of_their_own(void **state)
{
    struct world world = { 0 };
    struct trial_result result;

    (void)state;
    open_service(&world, PASSES "batch: 1, route: random, times: {request: 10ms}, replicas: "
                 "{min: 4, max: 4}, requests: {arrival: {process: poisson, rate: 280/s}, "
                 "prompt: 128, for: 2000s}", "", "", "[fcfs]");
    struct table *t = run(&world, 0, &result);
    near(column(t, "latency_mean_s"), 0.010 + 0.7 * 0.010 / (2 * 0.3), 0.03);
    near(column(t, "cpu_replica_utilization"), 0.7, 0.01);
    table_free(t);
    world_close(&world);
}

/* Three replicas that nothing stops: three starts, three at one time, three times the hours. */
static void replicas_are_counted_as_they_start_and_stand(void **state)
{
    struct world world = { 0 };
    struct trial_result result;

    (void)state;
    open_service(&world, PASSES "batch: 1, times: {request: 10ms}, replicas: {min: 3, max: 3}, "
                 "requests: {arrival: {process: fixed, every: 1s}, prompt: 128, for: 7200s}",
                 "", "", "[fcfs]");
    struct table *t = run(&world, 0, &result);
    assert_true(column(t, "cpu_replicas_max") == 3);
    assert_true(column(t, "cpu_replica_starts") == 3);
    near(column(t, "cpu_replica_hours"), 6, 0.001);
    assert_true(column(t, "gpu_replica_starts") == 0);
    table_free(t);
    world_close(&world);
}

/* One replica answers one request at a time.  A request comes every 8 ms and takes 10 ms, so
 * requests wait longer and longer.  Those that have waited for 25 ms give up: none of them is
 * answered, and the replica spends its time on others. */
static void requests_that_gave_up_cost_no_work(void **state)
{
    struct world world = { 0 };
    struct trial_result result;

    (void)state;
    open_service(&world, PASSES "batch: 1, timeout: 25ms, times: {request: 10ms}, requests: "
                 "{arrival: {process: fixed, every: 8ms}, prompt: 128, for: 400s}", "", "",
                 "[fcfs]");
    struct table *t = run(&world, 0, &result);
    near(column(t, "done"), 40000, 0.01);
    near(column(t, "dropped"), 10000, 0.04);
    near(column(t, "cpu_replica_utilization"), 1, 0.02);     /* its start apart */
    assert_true(column(t, "latency_p99_s") <= 0.0351);
    table_free(t);
    world_close(&world);
}

/* The first replica is requested after an interval of 15 s.  Until then requests come every 10 ms,
 * the first at 0 s, and give up after 25 ms: those of 14.97 s and before are gone, and the others
 * want one replica, at 16 requests each.  A queue of three has room for them.  Its 0.11 GB of
 * weights are there at 15.011 s, when the request of 14.98 s has given up too. */
static void requests_that_gave_up_take_no_room_and_want_no_replica(void **state)
{
    struct world world = { 0 };
    struct trial_result result;

    (void)state;
    open_service(&world, PASSES "batch: 1, replicas: {min: 0, max: 10}, queue: 3, timeout: 25ms, "
                 "times: {request: 5ms}, requests: {arrival: {process: fixed, every: 10ms}, "
                 "prompt: 128, for: 60s}", "", "", "[fcfs]");
    struct table *t = run(&world, 0, &result);
    assert_true(column(t, "dropped") == 1499 && column(t, "done") == 6000 - 1499);
    assert_true(column(t, "cpu_replica_starts") == 1);
    table_free(t);
    world_close(&world);
}

/* A request each 10 s from 0 s on, five in all, each answered alone in 10 ms.  A replica on cores
 * loads 8.03e9 weights of 2 bytes at 10 GB/s, then starts a process: as long as the file says, or
 * 6.6 s.  The first waits for both, and so do those of 10 and 20 s if the process takes 25 s. */
static void a_replica_on_cores_loads_and_starts(void **state)
{
    static const struct { const char *start; double first_s, sum_s; } row[] = {
        { "", 6.6, 6.6 }, { ", process_start: 0s", 0, 0 },
        { ", process_start: 25s", 25, 25 + 15 + 5 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct world world = { 0 };
        struct trial_result result;
        char text[400];

        snprintf(text, sizeof text, "model: llama-3-8b, cpu: {cores: 8, memory: 64GB%s}, batch: 1, "
                 "times: {request: 10ms}, requests: {arrival: {process: fixed, every: 10s}, "
                 "prompt: 128, for: 50s}", row[i].start);
        open_service(&world, text, "", "", "[fcfs]");
        struct table *t = run(&world, 0, &result);
        double load_s = 2 * 8.03e9 / 10e9, waits = row[i].first_s > 20 ? 3 : 1;
        double own_s = 5 * 0.010 + (waits == 3 ? 0.010 + 0.020 : 0);
        assert_true(column(t, "done") == 5 && column(t, "cpu_replica_starts") == 1);
        near(5 * column(t, "latency_mean_s"), row[i].sum_s + waits * load_s + own_s, 1e-4);
        table_free(t);
        world_close(&world);
    }
}

/* The mean time to the first token of `count` requests of one prompt that come within
 * milliseconds, while the replica starts. */
static double first_token_s(uint32_t count, uint32_t prompt)
{
    struct world world = { 0 };
    struct trial_result result;
    char text[400];

    snprintf(text, sizeof text, "model: llama-3.1-8b, gpu: {tp: 1}, replicas: {min: 1, max: 1}, "
             "batch: 64, chunk: 0, slo: {ttft: 10s}, requests: {arrival: {process: fixed, every: "
             "1ms}, prompt: %u, output: 1, for: %ums}", prompt, count);
    open_service(&world, text, "", "", "[fcfs]");
    struct table *t = run(&world, 0, &result);
    assert_true(column(t, "requests") == count && column(t, "done") == count);
    double mean_s = column(t, "ttft_mean_s") + 0.0005 * (count - 1);   /* from 0 s on */
    table_free(t);
    world_close(&world);
    return mean_s;
}

/* A pass computes prompts of 8,192 tokens at most, and one at least, so that one that is longer
 * goes alone: of `count` prompts the i-th is ready after i rounded up to whole passes. */
static void a_pass_computes_prompts_up_to_its_tokens(void **state)
{
    static const uint32_t prompts[] = { 2048, 2730, 2731, 4096, 4097, 8192, 8193, 20000 };

    (void)state;
    for (size_t p = 0; p < sizeof prompts / sizeof prompts[0]; p++) {
        uint32_t most = prompts[p] < 8192 ? 8192 / prompts[p] : 1;
        double one_s = first_token_s(1, prompts[p]);
        double each_s = (first_token_s(2, prompts[p]) - one_s) / (most > 1 ? 1 : 0.5);
        for (uint32_t count = 3; count <= 9; count += 2) {
            double sum = 0;
            for (uint32_t i = 0; i < count; i++) {
                uint32_t done = (i / most + 1) * most;
                sum += done < count ? done : count;
            }
            near(first_token_s(count, prompts[p]) - one_s, (sum / count - 1) * each_s, 0.02);
        }
    }
}

/* 50 requests a second are for cores, 400 for a GPU, and 150 for what is there.  A GPU is requested
 * at 915 s, the look after the rate has risen; cores answer until it has loaded, which their work
 * tells, of 1 ms each, and go at the next look.  Cores come back at 1815 s, and are there at once,
 * so that the GPU goes at 1830 s. */
static void a_side_goes_once_the_other_takes_requests(void **state)
{
    struct world world = { 0 };
    struct trial_result result;

    (void)state;
    open_service(&world, PASSES "gpu: {tp: 1}, replicas: {min: 1, max: 1}, cpu_replicas: {min: 1, "
                 "max: 1}, batch: 1, times: {request: 1ms}, switch: {cpu_below: 100/s, gpu_above: "
                 "200/s}, requests: {arrival: {process: series, rates: {points: [[0s, 50], "
                 "[600s, 150], [900s, 400], [1500s, 150], [1800s, 50], [2400s, 50]], unit: /s}}, "
                 "prompt: 128, for: 2400s}", "", "", "[fcfs]");
    struct table *t = run(&world, 0, &result);
    double cores_s = 3600 * column(t, "cpu_replica_hours"), gone_s = cores_s - (2400 - 1815);
    double busy_s = cores_s * column(t, "cpu_replica_utilization");
    double opened_s = 900 + (busy_s - 600 * 0.05 - 300 * 0.15 - (2400 - 1815) * 0.05) / 0.4;
    assert_true(column(t, "done") == column(t, "requests"));
    near(3600 * column(t, "gpu_replica_hours"), 1830 - 915, 1e-3);
    assert_true(column(t, "cpu_replica_starts") == 2 && column(t, "gpu_replica_starts") == 1);
    assert_true(fabs(fmod(gone_s + 1, 15) - 1) < 0.1);
    assert_true(gone_s > opened_s - 2 && gone_s < opened_s + 17 && gone_s > 916);
    table_free(t);
    world_close(&world);
}

/* A request each millisecond, batches of 4: the first waits 3 ms, the last
 * not at all, then 2 ms of work. */
static void a_batch_goes_when_it_is_full(void **state)
{
    struct world world = { 0 };
    struct trial_result result;

    (void)state;
    open_service(&world, PASSES "batch: 4, batch_delay: 100ms, times: {batch: "
                 "2ms}, requests: {arrival: {process: fixed, every: 1ms}, "
                 "prompt: 128, for: 400s}", "", "", "[fcfs]");
    struct table *t = run(&world, 0, &result);
    /* What came while the replica started is a few batches. */
    near(column(t, "latency_p50_s"), 0.0035, 0.2);
    assert_true(column(t, "dropped") == 0);
    table_free(t);
    world_close(&world);
}

static void a_batch_goes_when_its_first_has_waited_enough(void **state)
{
    struct world world = { 0 };
    struct trial_result result;

    (void)state;
    open_service(&world, PASSES "batch: 64, batch_delay: 5ms, times: {batch: "
                 "1ms}, requests: {arrival: {process: fixed, every: 10ms}, "
                 "prompt: 128, for: 400s}", "", "", "[fcfs]");
    struct table *t = run(&world, 0, &result);
    near(column(t, "latency_p50_s"), 0.006, 1e-6);
    table_free(t);
    world_close(&world);
}

static void full_queues_and_timeouts_drop_and_count(void **state)
{
    struct world world = { 0 };
    struct trial_result result;

    (void)state;
    open_service(&world, PASSES "batch: 1, queue: 3, timeout: 25ms, times: "
                 "{request: 10ms}, slo: {latency: 20ms}, requests: {arrival: "
                 "{process: poisson, rate: 150/s}, prompt: 128, for: 600s}",
                 "", "", "[fcfs]");
    struct table *t = run(&world, 0, &result);
    double done = column(t, "done"), dropped = column(t, "dropped");
    assert_true(done + dropped == column(t, "requests"));
    near(dropped / column(t, "requests"), 1 / 3.0, 0.2);
    assert_true(column(t, "latency_p99_s") <= 0.0351);
    assert_true(result.value[METRIC_SLO] < 1 - dropped / (done + dropped));
    table_free(t);
    world_close(&world);
}

#define CHAT(RATE, FOR) "model: llama-3-8b, gpu: {tp: 1}, requests: {arrival: " \
    "{process: poisson, rate: " RATE "}, prompt: {lognormal: {mean: 800, cv: " \
    "1}}, output: {lognormal: {mean: 150, cv: 1}, max: 2000}, for: " FOR "}, "

/* Each part of a promise alone: no answer is there within a microsecond, and all are in a day. */
static void each_part_of_a_promise_counts(void **state)
{
    static const char *const part[] = { "ttft", "tpot", "latency" };

    (void)state;
    for (int i = 0; i < 6; i++) {
        struct world world = { 0 };
        struct trial_result result;
        char text[500];

        snprintf(text, sizeof text, CHAT("1/s", "100s") "slo: {%s: %s}", part[i / 2],
                 i % 2 ? "24h" : "1us");
        open_service(&world, text, "", "", "[fcfs]");
        struct table *t = run(&world, 0, &result);
        assert_true(column(t, "slo_attained_fraction") == i % 2);
        table_free(t);
        world_close(&world);
    }
}

static void jumping_over_steps_changes_nothing(void **state)
{
    static const char *const same[] = {
        "ttft_mean_s", "tpot_mean_s", "latency_mean_s", "latency_p99_s"
    };
    struct world world = { 0 };
    struct trial_result result;

    (void)state;
    open_service(&world, CHAT("3/s", "600s"), "", "", "[fcfs]");
    struct service_spec *spec = (struct service_spec *)(uintptr_t)
        &workload_service(world.experiment->point[0].workload, 0)->spec;
    struct table *jumps = run(&world, 0, &result);
    uint64_t events = result.event_count;
    spec->one_step = true;
    struct table *steps = run(&world, 0, &result);
    if (result.event_count < 2 * events)
        fail_msg("%llu and %llu", (unsigned long long)events,
                 (unsigned long long)result.event_count);
    for (int i = 0; i < 4; i++)
        near(column(jumps, same[i]), column(steps, same[i]), 0.002);
    assert_true(column(jumps, "done") == column(steps, "done"));
    table_free(jumps);
    table_free(steps);
    world_close(&world);
}

/* At one request at a time, the answer takes a prefill and its steps. */
static void an_idle_replica_answers_at_the_speed_of_its_law(void **state)
{
    struct world world = { 0 };
    struct trial_result result;

    (void)state;
    open_service(&world, "model: llama-3-8b, gpu: {tp: 1}, requests: "
                 "{arrival: {process: fixed, every: 60s}, prompt: 1000, "
                 "output: 101, for: 1h}", "", "", "[fcfs]");
    const struct service_spec *spec =
        &workload_service(world.experiment->point[0].workload, 0)->spec;
    const struct cluster_spec *cluster = world.experiment->point[0].cluster;
    struct gang gang = {
        .gpu = cluster->group[0].gpu, .gpus = 1, .nodes = 1,
        .intra_bps = cluster->group[0].pcie_bps,
        .cpu = cluster->group[0].cpu, .cores = 1,
    };
    struct table *t = run(&world, 0, &result);
    double prefill = serve_prefill_s(&spec->side[SERVE_GPU].law, &gang, 1,
                                     1000);
    double step = serve_step_s(&spec->side[SERVE_GPU].law, &gang, 1, 1050);
    near(column(t, "ttft_p50_s"), prefill, 0.01);
    near(column(t, "tpot_p50_s"), step, 0.01);
    near(column(t, "latency_p50_s"), prefill + 100 * step, 0.01);
    table_free(t);
    world_close(&world);
}

/* `max` holds for a constant, as for each draw. */
static void a_constant_prompt_is_not_longer_than_its_max(void **state)
{
    static const char *const prompt[] = { "{constant: 9000, max: 1000}", "1000" };
    double ttft_s[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct world world = { 0 };
        struct trial_result result;
        char text[400];

        snprintf(text, sizeof text, "model: llama-3-8b, gpu: {tp: 1}, requests: {arrival: "
                 "{process: fixed, every: 60s}, prompt: %s, output: 11, for: 1h}", prompt[i]);
        open_service(&world, text, "", "", "[fcfs]");
        struct table *t = run(&world, 0, &result);
        ttft_s[i] = column(t, "ttft_mean_s");
        table_free(t);
        world_close(&world);
    }
    assert_true(ttft_s[0] > 0);
    assert_memory_equal(&ttft_s[0], &ttft_s[1], sizeof(double));
}

/* 70B in FP8 on 2 x 48 GB leaves room for few contexts.  Who looks for room after each step
 * throws out the same requests, at the same time. */
static void a_full_cache_throws_out_and_computes_again(void **state)
{
    struct world world = { 0 };
    struct trial_result result;

    (void)state;
    open_service(&world, "model: llama-3-70b, precision: fp8, gpu: {tp: 2}, "
                 "requests: {arrival: {process: all_at_once}, prompt: 200, "
                 "output: 3000, for: 1s}, batch: 64", "", "", "[fcfs]");
    world_close(&world);
    memset(&world, 0, sizeof world);
    open_service(&world, "model: llama-3-70b, precision: fp8, gpu: {tp: 2}, "
                 "batch: 256, requests: {arrival: {process: poisson, rate: "
                 "2/s}, prompt: 100, output: 2500, for: 120s}", "", "",
                 "[fcfs]");
    struct table *t = run(&world, 0, &result);
    assert_true(column(t, "recomputed") > 0);
    assert_true(column(t, "done") + column(t, "refused") ==
                column(t, "requests"));
    assert_true(column(t, "done") > 200);
    ((struct service_spec *)(uintptr_t)
     &workload_service(world.experiment->point[0].workload, 0)->spec)->one_step = true;
    struct table *steps = run(&world, 0, &result);
    assert_true(column(t, "done") == column(steps, "done"));
    near(column(t, "recomputed"), column(steps, "recomputed"), 0.02);
    near(column(t, "latency_mean_s"), column(steps, "latency_mean_s"), 0.002);
    near(column(t, "latency_p99_s"), column(steps, "latency_p99_s"), 0.002);
    table_free(steps);
    table_free(t);
    world_close(&world);
}

/* A small cache throws requests out while replicas come and go: those that wait go to another
 * replica, where nothing is left of them, and each is answered once. */
static void who_was_thrown_out_is_answered_by_another_replica(void **state)
{
    struct world world = { 0 };
    struct trial_result result;

    (void)state;
    open_service(&world, "model: qwen2.5-1.5b, gpu: {tp: 1, process_start: 1s}, kv_tokens: 1900, "
                 "replicas: {min: 1, max: 8}, scaling: {signal: concurrency, target: 20, interval: "
                 "5s, down: 5s}, requests: {arrival: {process: diurnal, rate: 2.5/s, amplitude: "
                 "0.9, peak: 0.2h, period: 0.3h}, for: 20min, prompt: {lognormal: {mean: 300, cv: "
                 "1}, max: 1200}, output: {lognormal: {mean: 300, cv: 1}, max: 700}}", "", "",
                 "[fcfs]");
    struct table *t = run(&world, 0, &result);
    assert_true(column(t, "recomputed") > 100);
    assert_true(column(t, "gpu_replica_starts") >= 2);
    assert_true(column(t, "done") + column(t, "refused") == column(t, "requests"));
    table_free(t);
    world_close(&world);
}

static void replicas_follow_the_load(void **state)
{
    struct world world = { 0 };
    struct trial_result result;

    (void)state;
    open_service(&world, "model: llama-3-8b, gpu: {tp: 1}, replicas: {min: 1, "
                 "max: 8}, scaling: {signal: rate, target: 2, down: 2min}, "
                 "requests: {arrival: {process: diurnal, rate: 6/s, "
                 "amplitude: 0.9, peak: 2h, period: 4h}, prompt: 400, output: "
                 "60, for: 8h}", "", "", "[fcfs]");
    struct table *t = run(&world, 0, &result);
    assert_true(column(t, "gpu_replicas_max") >= 6);
    assert_true(column(t, "gpu_replicas_max") <= 8);
    /* On average 6/s at 2/s each, and a little for looking back. */
    double mean = column(t, "gpu_replica_hours") / 8;
    assert_true(mean > 2.9 && mean < 4.5);
    assert_true(column(t, "done") == column(t, "requests"));
    table_free(t);
    world_close(&world);
}

static void the_side_switches_with_the_rate(void **state)
{
    struct world world = { 0 };
    struct trial_result result;

    (void)state;
    open_service(&world, "model: bert-base, precision: int8, gpu: {tp: 1}, "
                 "cpu: {cores: 32}, batch: 32, replicas: {min: 1, max: 2}, "
                 "cpu_replicas: {min: 1, max: 2}, switch: {cpu_below: 100/s, "
                 "gpu_above: 300/s}, requests: {arrival: {process: diurnal, "
                 "rate: 250/s, amplitude: 0.9, peak: 1h, period: 2h}, prompt: "
                 "128, for: 2h}", "", "", "[fcfs]");
    struct table *t = run(&world, 0, &result);
    assert_true(column(t, "gpu_replica_starts") >= 1);
    assert_true(column(t, "cpu_replica_starts") >= 2);  /* and back again */
    assert_true(column(t, "gpu_replica_hours") > 0.4);
    assert_true(column(t, "gpu_replica_hours") < 1.6);
    assert_true(column(t, "done") == column(t, "requests"));
    table_free(t);
    world_close(&world);
}

/* Failures and policies that stop replicas for other jobs: each request is
 * answered, begun anew where need be.  The audit runs in all of it. */
static void no_request_is_lost_with_its_replica(void **state)
{
    static const char *const jobs = ", arrival: {process: poisson, rate: "
        "20/h}, jobs: 30, mix: [{recipe: trace, gpus: {choice: {1: 0.5, 2: 0.3, 4: 0.2}}, "
        "duration: {uniform: [2min, 20min]}}]";
    static const char *const policies = "[fcfs, {policy: fcfs, name: skip, "
        "blocking: skip}, srtf, las, time-slice, easy, static, dynamic, "
        "hybrid, random, drf]";
    struct world world = { 0 };
    struct trial_result result;
    double rerouted = 0;

    (void)state;
    open_service(&world, CHAT("2/s", "2h") "replicas: {min: 1, max: 4}",
                 ", failures: {node_mtbf: 1h, job_mtbf: 30min, repair: 5min, "
                 "checkpoint: 1min}", jobs, policies);
    for (uint32_t i = 0; i < 11; i++) {
        struct table *t = run(&world, i, &result);

        assert_true(column(t, "requests") > 10000);
        assert_true(column(t, "done") == column(t, "requests"));
        assert_true(result.value[METRIC_JOBS_DONE] == 30);
        assert_true(result.value[METRIC_JOBS] == 30);
        rerouted += column(t, "rerouted");
        table_free(t);
    }
    assert_true(rerouted > 0);
    world_close(&world);
}

static void requests_do_not_depend_on_the_policy(void **state)
{
    struct world world = { 0 };
    struct trial_result result;

    (void)state;
    open_service(&world, CHAT("5/s", "900s") "replicas: {min: 2, max: 2}", "",
                 "", "[fcfs, las]");
    struct table *a = run(&world, 0, &result), *b = run(&world, 1, &result);
    assert_true(column(a, "requests") == column(b, "requests"));
    assert_true(column(a, "tokens_per_s") == column(b, "tokens_per_s"));
    table_free(a);
    table_free(b);
    world_close(&world);
}

static void wrong_services_are_refused(void **state)
{
    static const struct { const char *service, *says; } wrong[] = {
        { "model: llama-3-8b, requests: {arrival: {process: poisson, rate: "
          "1/s}, for: 1h}", "gpu or cpu is missing" },
        { "model: llama-3-8b, gpu: {}", "requests is missing" },
        { "model: lama-3-8b, gpu: {}", "no LLM of the catalogue" },
        { "model: llama-3-8b, gpu: {tp: 1, gpus: 2}, requests: {arrival: "
          "{process: poisson, rate: 1/s}, for: 1h}", "tp GPUs" },
        { "model: llama-3-8b, gpu: {tp: 3}, requests: {arrival: {process: "
          "poisson, rate: 1/s}, for: 1h}", "must divide" },
        { "model: llama-3.1-405b, gpu: {tp: 4}, requests: {arrival: {process: "
          "poisson, rate: 1/s}, for: 1h}", "" },
        { "model: llama-3-8b, gpu: {}, replicas: {min: 3, max: 2}, requests: "
          "{arrival: {process: poisson, rate: 1/s}, for: 1h}", "min <= max" },
        { "model: llama-3-8b, gpu: {}, requests: {arrival: {process: poisson, "
          "rate: -1/s}, for: 1h}", "rate" },
        { "model: llama-3-8b, gpu: {}, requests: {arrival: {process: poisson, "
          "rate: 1/s}}", "for" },
        { "model: llama-3-8b, cpu: {cores: 4, memory: 2GB}, requests: "
          "{arrival: {process: poisson, rate: 1/s}, for: 1h}",
          "memory for its weights" },
        { "model: llama-3-8b, gpu: {}, rout: random, requests: {arrival: "
          "{process: poisson, rate: 1/s}, for: 1h}", "rout" },
        { "model: llama-3-8b, gpu: {}, switch: {cpu_below: 9/s, gpu_above: "
          "1/s}, requests: {arrival: {process: poisson, rate: 1/s}, for: 1h}",
          "cpu_below <= gpu_above" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct world world = { 0 };
        char text[MANY];

        snprintf(text, sizeof text, "experiment: t\nseeds: 1\ncluster: "
                 "{nodes: [" NODES "]}\nworkload: {services: [{name: s, "
                 "%s}]}\npolicies: [fcfs]\n", wrong[i].service);
        if (world_open(&world, text))
            fail_msg("accepted: %s", wrong[i].service);
        if (!strstr(world_error(&world), wrong[i].says))
            fail_msg("%s: %s", wrong[i].service, world_error(&world));
        assert_true(world.err.pos.line > 0);
        world_close(&world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_replica_of_constant_service_is_m_d_1),
        cmocka_unit_test(a_constant_prompt_is_not_longer_than_its_max),
        cmocka_unit_test(round_robin_divides_the_load),
        cmocka_unit_test(random_routing_makes_queues_of_their_own),
        cmocka_unit_test(replicas_are_counted_as_they_start_and_stand),
        cmocka_unit_test(a_pass_computes_prompts_up_to_its_tokens),
        cmocka_unit_test(a_side_goes_once_the_other_takes_requests),
        cmocka_unit_test(requests_that_gave_up_cost_no_work),
        cmocka_unit_test(a_replica_on_cores_loads_and_starts),
        cmocka_unit_test(requests_that_gave_up_take_no_room_and_want_no_replica),
        cmocka_unit_test(a_batch_goes_when_it_is_full),
        cmocka_unit_test(a_batch_goes_when_its_first_has_waited_enough),
        cmocka_unit_test(full_queues_and_timeouts_drop_and_count),
        cmocka_unit_test(each_part_of_a_promise_counts),
        cmocka_unit_test(jumping_over_steps_changes_nothing),
        cmocka_unit_test(an_idle_replica_answers_at_the_speed_of_its_law),
        cmocka_unit_test(a_full_cache_throws_out_and_computes_again),
        cmocka_unit_test(who_was_thrown_out_is_answered_by_another_replica),
        cmocka_unit_test(replicas_follow_the_load),
        cmocka_unit_test(the_side_switches_with_the_rate),
        cmocka_unit_test(no_request_is_lost_with_its_replica),
        cmocka_unit_test(requests_do_not_depend_on_the_policy),
        cmocka_unit_test(wrong_services_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
