/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * service_mass_test.c - requests as a mass against requests one by one: counts,
 * time at work, mean and p99 of latency.
 *
 * The table that it prints is in models/serving/README.md.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "tests/aid/world.h"
#include "workloads/random/arrival.h"
#include "workloads/source.h"

#define MEAN_ERROR 0.06
#define P99_ERROR 0.12
#define NODES "{name: n, count: 16, gpus: {type: l40s, count: 4}, cpu: " \
    "{type: epyc-7763, sockets: 2}, memory: 512GB}"

static double column(const struct table *table, const char *name)
{
    return world_column(table, &csv_services, name);
}

/* services.csv of one trial on these nodes; the caller frees it. */
static struct table *serve_on(const char *nodes, const char *warmup, const char *service,
                              const char *more)
{
    struct world world = {0};
    struct trial_result result;
    char text[4096];

    snprintf(text, sizeof text, "experiment: t\nseeds: 1\nuntil: drained\n"
             "warmup: %s\n"
             "cluster: {nodes: [%s], storage: {bandwidth: 10GB/s}}\n"
             "workload: {services: [{name: s, %s%s}]}\npolicies: [fcfs]\n",
             warmup, nodes, more, service);
    if (!world_open(&world, text))
        fail_msg("%s", world_error(&world));
    struct trial_spec spec = experiment_trial_spec(world.experiment, 0);
    struct trial_tables tables = {
        .services = table_new(csv_services.columns, csv_services.count)};
    memset(&world.err, 0, sizeof world.err);
    if (!trial_run(&spec, &tables, &result, &world.err))
        fail_msg("%s", world_error(&world));
    world_close(&world);
    return tables.services;
}

static struct table *serve(const char *service, const char *more)
{
    return serve_on(NODES, "20min", service, more);
}

#define PASSES(REPLICAS, BATCH, DELAY, RATE) \
    "model: bert-base, precision: int8, gpu: {tp: 1}, replicas: {min: " \
    #REPLICAS ", max: " #REPLICAS "}, batch: " #BATCH DELAY ", times: " \
    "{batch: 4ms, request: 1ms}, slo: {latency: 50ms}, requests: {arrival: " \
    "{process: poisson, rate: " #RATE "/s}, prompt: 128, for: 2400s}"
#define ANSWERS(REPLICAS, RATE) \
    "model: llama-3-8b, gpu: {tp: 1}, replicas: {min: " #REPLICAS \
    ", max: " #REPLICAS "}, batch: 64, slo: {ttft: 1s}, requests: " \
    "{arrival: {process: poisson, rate: " #RATE "/s}, prompt: " \
    "{lognormal: {mean: 600, cv: 0.7}, max: 4000}, output: {lognormal: " \
    "{mean: 150, cv: 0.7}, max: 1000}, for: 12000s}"

static void masses_agree_with_single_requests(void **state)
{
    static const struct {
        const char *what, *service;
    } row[] = {
        {"passes, one at a time, half load", PASSES(4, 1, "", 400)},
        {"passes, one at a time, load 0.9", PASSES(4, 1, "", 720)},
        {"batches of up to 8, light", PASSES(4, 8, "", 200)},
        {"batches of up to 8, load 0.8", PASSES(4, 8, "", 2100)},
        {"batches that wait 10 ms", PASSES(4, 8, ", batch_delay: 10ms", 800)},
        {"answers, light", ANSWERS(4, 2)},
        {"answers, heavier", ANSWERS(4, 8)},
    };

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct table *one = serve(row[i].service, "");
        struct table *mass = serve(row[i].service, "aggregate: 1s, ");
        double n = column(mass, "done") / column(one, "done");
        double mean = column(mass, "latency_mean_s") /
                      column(one, "latency_mean_s") - 1;
        double p99 = column(mass, "latency_p99_s") /
                     column(one, "latency_p99_s") - 1;
        double busy = column(mass, "gpu_replica_utilization") /
                      column(one, "gpu_replica_utilization") - 1;

        print_message("| %s | %.1f ms | %.1f ms | %+.0f%% | %+.0f%% | %+.0f%% "
                      "|\n", row[i].what,
                      1e3 * column(one, "latency_mean_s"),
                      1e3 * column(mass, "latency_mean_s"), 100 * mean,
                      100 * p99, 100 * busy);
        assert_true(fabs(n - 1) < 0.02);
        assert_true(column(mass, "done") == column(mass, "requests"));
        if (fabs(mean) > MEAN_ERROR || fabs(p99) > P99_ERROR)
            fail_msg("%s is further off than stated", row[i].what);
        table_free(one);
        table_free(mass);
    }
}

/* services.csv of replicas whose passes take `times`; the caller frees it.  Of fast requests
 * some two million are counted, so that a mass takes a sample of them. */
static struct table *serve_passes(unsigned replicas, const char *times, const char *process,
                                  const char *more)
{
    char service[500];
    double per_s = strtod(strstr(process, "rate: ") + 6, NULL);

    snprintf(service, sizeof service, "model: bert-base, precision: int8, gpu: {tp: 1}, "
             "replicas: {min: %u, max: %u}, %s, requests: {arrival: {%s}, for: %.0fs}",
             replicas, replicas, times, process, fmin(4800, 1200 + 2e6 / per_s));
    return serve(service, more);
}

/* Requests one at a time, 5 ms each: with a load of u a request waits u x 5 / 2(1 - u) ms in
 * the mean (Pollaczek and Khinchine, M/D/1): 0.625, 2.5 and 10 ms. */
static void one_replica_is_a_queue_of_equal_times(void **state)
{
    static const struct { const char *process; double latency_s; } row[] = {
        { "process: poisson, rate: 40/s", 5.625e-3 },
        { "process: poisson, rate: 100/s", 7.5e-3 },
        { "process: poisson, rate: 160/s", 15e-3 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct table *mass = serve_passes(1, "batch: 1, times: {batch: 4ms, request: 1ms}",
                                          row[i].process, "aggregate: 1s, ");
        double mean = column(mass, "latency_mean_s") / row[i].latency_s - 1;

        if (!(fabs(mean) < 0.04))
            fail_msg("%s: mean latency is %+.1f%% off", row[i].process, 100 * mean);
        table_free(mass);
    }
}

#define SLOW "batch: 8, batch_delay: 5ms, times: {batch: 2ms, request: 8ms}"
#define QUICK "batch: 32, batch_delay: 10ms, times: {batch: 6ms, request: 500us}"
#define ALONE "batch: 1, times: {batch: 4ms, request: 1ms}"

/* Passes that grow with their batch, or hardly; one replica, or several that share requests by
 * their queues; gaps that are not exponential.  Single requests say what is right.  With
 * replicas that each have their own part of the requests, the fifth row would be 50% too
 * long; with waits that are even, p99 of the second half as long; with exponential gaps,
 * the last but one 57% too short. */
static void samples_of_a_mass_are_single_requests(void **state)
{
    static const struct { unsigned replicas; const char *times, *process; } row[] = {
        { 1, SLOW, "process: poisson, rate: 24/s" }, { 1, SLOW, "process: poisson, rate: 61/s" },
        { 1, SLOW, "process: poisson, rate: 97/s" }, { 4, SLOW, "process: poisson, rate: 244/s" },
        { 4, SLOW, "process: poisson, rate: 388/s" },
        { 16, SLOW, "process: poisson, rate: 970/s" },
        { 4, QUICK, "process: poisson, rate: 2900/s" },
        { 4, ALONE, "process: gamma, cv: 3, rate: 400/s" },
        { 4, SLOW, "process: gamma, cv: 3, rate: 240/s" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct table *one = serve_passes(row[i].replicas, row[i].times, row[i].process, "");
        struct table *mass = serve_passes(row[i].replicas, row[i].times, row[i].process,
                                          "aggregate: 1s, ");
        double mean = column(mass, "latency_mean_s") / column(one, "latency_mean_s") - 1;
        double p99 = column(mass, "latency_p99_s") / column(one, "latency_p99_s") - 1;

        if (!(fabs(mean) < 0.04) || !(fabs(p99) < 0.06))
            fail_msg("%u replicas, %s: the mean is %+.1f%% off, p99 %+.1f%%", row[i].replicas,
                     row[i].process, 100 * mean, 100 * p99);
        table_free(one);
        table_free(mass);
    }
}

/* Replicas are added for requests in the service: those that are at work, too, though a mass
 * that keeps up leaves none behind.  Without them there was one replica at each second look,
 * and p99 was a minute.  Single requests say what is right: hours of replicas, p99. */
static void scaling_sees_the_requests_at_work(void **state)
{
    static const char *const service[] = {
        "model: bert-base, precision: int8, gpu: {tp: 1}, replicas: {min: 1, max: 16}, scaling: "
        "{signal: concurrency, target: 2}, batch: 8, times: {batch: 4ms, request: 1ms}, requests: "
        "{arrival: {process: poisson, rate: 2000/s}, for: 2400s}",
        "model: llama-3-8b, gpu: {tp: 1}, replicas: {min: 1, max: 16}, scaling: {target: 16}, "
        "batch: 64, requests: {arrival: {process: poisson, rate: 20/s}, prompt: 600, output: 150, "
        "for: 9600s}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof service / sizeof service[0]; i++) {
        struct table *one = serve(service[i], ""), *mass = serve(service[i], "aggregate: 1s, ");
        double hours = column(mass, "gpu_replica_hours") / column(one, "gpu_replica_hours") - 1;
        double p99 = column(mass, "latency_p99_s") / column(one, "latency_p99_s") - 1;

        if (!(fabs(hours) < 0.10) || !(fabs(p99) < 0.10))
            fail_msg("service %zu: hours of replicas are %+.1f%% off, p99 %+.1f%%", i,
                     100 * hours, 100 * p99);
        table_free(one);
        table_free(mass);
    }
}

/* 200 requests a second and 42 for each replica are 4.8: five, for all of the 2400 s but the
 * first look.  A look counts the requests that came since the one before. */
static void scaling_sees_the_rate_of_a_mass(void **state)
{
    struct table *mass = serve("model: bert-base, precision: int8, gpu: {tp: 1}, replicas: {min: "
                               "1, max: 16}, scaling: {signal: rate, target: 42}, batch: 8, "
                               "times: {batch: 4ms, request: 1ms}, requests: {arrival: {process: "
                               "poisson, rate: 200/s}, for: 2400s}", "aggregate: 1s, ");

    (void)state;
    assert_true(fabs(column(mass, "gpu_replica_hours") / (5 * 2400 / 3600.0) - 1) < 0.03);
    table_free(mass);
}

/* Room for two beside a batch of eight, 260 requests a second and batches of 26 ms: a fifth is
 * dropped.  Single requests say how many. */
static void a_full_queue_drops_requests_of_a_mass(void **state)
{
    static const char times[] = "batch: 8, queue: 2, times: {batch: 2ms, request: 3ms}";
    struct table *one = serve_passes(1, times, "process: poisson, rate: 260/s", "");
    struct table *mass = serve_passes(1, times, "process: poisson, rate: 260/s",
                                      "aggregate: 1s, ");

    (void)state;
    assert_true(column(one, "dropped") > 0.15 * column(one, "requests"));
    assert_true(fabs(column(mass, "dropped") / column(one, "dropped") - 1) < 0.02);
    assert_true(column(mass, "done") + column(mass, "dropped") == column(mass, "requests"));
    table_free(one);
    table_free(mass);
}

/* Twice as much as four replicas can do for ten minutes: a third is left when
 * requests end, and answered later. */
static void what_cannot_be_served_is_carried_on(void **state)
{
    (void)state;
    struct table *mass = serve(PASSES(4, 1, "", 1600), "aggregate: 1s, ");
    struct table *few = serve(PASSES(4, 1, ", queue: 100", 1600),
                              "aggregate: 1s, ");

    assert_true(column(mass, "done") == column(mass, "requests"));
    assert_true(column(mass, "latency_p99_s") > 500);
    assert_true(column(few, "dropped") > 0.4 * column(few, "requests"));
    assert_true(column(few, "latency_p99_s") < 1);
    assert_true(column(few, "done") + column(few, "dropped") ==
                column(few, "requests"));
    table_free(mass);
    table_free(few);
}

/* A replica that does 200,000 a second starts for 64 s, while 10,000 a second come for 128 s.  The
 * request that comes at t is answered at 64 + t / 20: half of all wait for 64 - 0.95 t, 33.6 s in
 * the mean; those of the 3.37 s until none waits 1.68 s; the other 0.4737 of all for nothing.
 * The mean is 0.5 x 33.6 + 0.0263 x 1.68 = 16.84 s, and 1% wait for more than 64 - 0.95 x 1.28 =
 * 62.8 s.  With the work ahead as the only wait the mean were 0.9 s. */
static void a_start_is_waited_for(void **state)
{
    struct table *mass = serve_on(NODES, "0s", "model: bert-base, precision: int8, gpu: {tp: 1}, "
        "replicas: {min: 1, max: 1}, batch: 1, times: {batch: 0.004ms, request: 0.001ms}, slo: "
        "{latency: 50ms}, requests: {arrival: {process: poisson, rate: 10000/s}, prompt: 128, "
        "for: 128s}", "aggregate: 1s, ");

    (void)state;
    assert_true(fabs(column(mass, "latency_mean_s") / 16.84 - 1) < 0.05);
    assert_true(fabs(column(mass, "latency_p99_s") / 62.8 - 1) < 0.03);
    assert_true(fabs(column(mass, "slo_attained_fraction") - 0.4737) < 0.02);
    table_free(mass);
}

/* 20 requests, and six in the warm-up, are fewer than one is drawn from; each is answered in 5 ms,
 * and tokens are those of 20 answers of 100 tokens. */
static void few_requests_have_an_attainment(void **state)
{
    struct table *few = serve_on(NODES, "65s", "model: bert-base, precision: int8, gpu: {tp: 1}, "
        "replicas: {min: 1, max: 1}, batch: 1, times: {batch: 4ms, request: 1ms}, slo: {latency: "
        "50ms}, requests: {arrival: {process: gamma, cv: 0.01, rate: 0.1/s}, prompt: 128, "
        "for: 265s}", "aggregate: 1s, ");
    struct table *answers = serve_on(NODES, "65s", "model: llama-3-8b, gpu: {tp: 1}, replicas: "
        "{min: 1, max: 1}, batch: 64, slo: {ttft: 100s}, requests: {arrival: {process: gamma, cv: "
        "0.01, rate: 0.1/s}, prompt: 600, output: 100, for: 265s}", "aggregate: 1s, ");

    (void)state;
    assert_true(column(few, "requests") == 26);
    assert_true(column(few, "slo_attained_fraction") == 1);
    assert_true(column(answers, "slo_attained_fraction") == 1);
    double span_s = column(answers, "goodput_per_s") > 0
                        ? 20 / column(answers, "goodput_per_s") : 0;
    assert_true(fabs(column(answers, "tokens_per_s") * span_s - 2000) < 1);
    table_free(few);
    table_free(answers);
}

/* All requests come within the first step, which counts them: as many as with short steps. */
static void the_first_step_counts_what_came(void **state)
{
    static const char service[] = "model: bert-base, precision: int8, gpu: {tp: 1}, replicas: "
        "{min: 1, max: 1}, batch: 1, times: {batch: 4ms, request: 1ms}, slo: {latency: 50ms}, "
        "requests: {arrival: {process: gamma, cv: 0.01, rate: 2/s}, prompt: 128, for: 50s}";
    static const char *const steps[] = { "aggregate: 60s, ", "aggregate: 50s, ",
                                         "aggregate: 40s, ", "aggregate: 1s, ", "" };

    (void)state;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        struct table *mass = serve_on(NODES, "0s", service, steps[i]);
        if (fabs(column(mass, "requests") - 100) > 1 ||
            column(mass, "done") != column(mass, "requests"))
            fail_msg("%s%g came, %g are done", steps[i], column(mass, "requests"),
                     column(mass, "done"));
        table_free(mass);
    }
}

/* Long responses fill the KV cache before the batch is full, and more come than can be answered:
 * what waits is answered as fast as one by one, however long prompts and responses are. */
static void the_cache_bounds_what_a_mass_has_at_work(void **state)
{
    static const struct { unsigned prompt, output, rate; } row[] = {
        { 200, 4000, 4 }, { 4000, 1000, 8 }, { 4000, 4000, 4 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        char service[400];
        double latency_s[2];
        snprintf(service, sizeof service, "model: llama-3-8b, gpu: {tp: 1}, replicas: {min: 1, "
                 "max: 1}, batch: 1024, slo: {ttft: 100s}, requests: {arrival: {process: poisson, "
                 "rate: %u/s}, prompt: %u, output: %u, for: 600s}", row[i].rate, row[i].prompt,
                 row[i].output);
        for (int way = 0; way < 2; way++) {
            struct table *one = serve_on(NODES, "0s", service, way ? "aggregate: 1s, " : "");
            latency_s[way] = column(one, "latency_mean_s");
            table_free(one);
        }
        if (fabs(latency_s[1] / latency_s[0] - 1) > 0.15 || latency_s[0] < 600)
            fail_msg("%u, %u: %g s as a mass, %g s one by one", row[i].prompt, row[i].output,
                     latency_s[1], latency_s[0]);
    }
}

#define UNLIKE \
    "{name: a, count: 1, gpus: {type: l40s, count: 1}, cpu: {type: epyc-7763}, memory: 64GB}, " \
    "{name: b, count: 1, gpus: {type: t4, count: 1}, cpu: {type: epyc-7763}, memory: 64GB}"

/* An L40S and a T4 that have more to do than they can: both work at their own speed, as they do
 * for requests one by one. */
static void unlike_replicas_serve_at_their_own_speed(void **state)
{
    static const char service[] = "model: bert-base, precision: int8, gpu: {tp: 1, types: "
        "[l40s, t4]}, replicas: {min: 2, max: 2}, batch: 8, queue: 50, slo: {latency: 1s}, "
        "requests: {arrival: {process: poisson, rate: 5000/s}, prompt: 512, for: 70s}";
    double done[2];

    (void)state;
    for (int way = 0; way < 2; way++) {
        struct table *one = serve_on(UNLIKE, "65s", service, way ? "aggregate: 100ms, " : "");
        done[way] = column(one, "done");
        table_free(one);
    }
    if (!(fabs(done[1] / done[0] - 1) < 0.03) || done[0] > 25000)
        fail_msg("%g done as a mass, %g one by one", done[1], done[0]);
}

/* A T4 reads weights at 282 GB/s and an L40S at 716 GB/s, and a token takes one reading: a sample
 * of the mass has the time of either, as often as it serves. */
static void samples_are_of_all_kinds_of_replicas(void **state)
{
    static const char service[] = "model: llama-3.2-1b, gpu: {tp: 1, types: [l40s, t4]}, replicas: "
        "{min: 2, max: 2}, batch: 8, requests: {arrival: {process: poisson, rate: 2/s}, prompt: "
        "512, output: 100, for: 1000s}";
    double mean_s[2];

    (void)state;
    for (int way = 0; way < 2; way++) {
        struct table *one = serve_on(UNLIKE, "65s", service, way ? "aggregate: 100ms, " : "");
        mean_s[way] = column(one, "latency_mean_s");
        table_free(one);
    }
    if (!(fabs(mean_s[1] / mean_s[0] - 1) < MEAN_ERROR))
        fail_msg("%g s as a mass, %g s one by one", mean_s[1], mean_s[0]);
}

/* Means and variances of counts against the process itself. */
static void counts_are_those_of_the_process(void **state)
{
    static const struct arrival process[] = {
        {.process = ARRIVAL_POISSON, .rate_per_s = 0.7},
        {.process = ARRIVAL_POISSON, .rate_per_s = 50},
        {.process = ARRIVAL_GAMMA, .rate_per_s = 40, .cv = 2},
        {.process = ARRIVAL_DIURNAL, .rate_per_s = 5, .amplitude = 0.8,
         .peak_ns = INT64_C(50400000000000),
         .period_ns = INT64_C(86400000000000)},
    };

    (void)state;
    for (size_t p = 0; p < sizeof process / sizeof process[0]; p++) {
        double sum[2] = {0, 0}, square[2] = {0, 0};
        enum { RUNS = 300 };
        int64_t until = INT64_C(10000000000) * (p == 3 ? 100 : 1);

        for (uint32_t k = 0; k < RUNS; k++)
            for (int way = 0; way < 2; way++) {
                struct arrival_clock clock;
                uint64_t n = 0;

                arrival_start(&clock, &process[p], 5, k + 1000u * way);
                if (way == 1)
                    n = arrival_count(&clock, until);
                while (way == 0 && arrival_next(&clock) <= until)
                    n++;
                sum[way] += (double)n / RUNS;
                square[way] += (double)n * (double)n / RUNS;
            }
        double sd[2] = {sqrt(square[0] - sum[0] * sum[0]),
                        sqrt(square[1] - sum[1] * sum[1])};
        assert_true(fabs(sum[1] - sum[0]) < 5 * sd[0] / sqrt(RUNS) + 0.5);
        assert_true(fabs(sd[1] / sd[0] - 1) < 0.2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(masses_agree_with_single_requests),
        cmocka_unit_test(one_replica_is_a_queue_of_equal_times),
        cmocka_unit_test(samples_of_a_mass_are_single_requests),
        cmocka_unit_test(scaling_sees_the_requests_at_work),
        cmocka_unit_test(scaling_sees_the_rate_of_a_mass),
        cmocka_unit_test(a_full_queue_drops_requests_of_a_mass),
        cmocka_unit_test(what_cannot_be_served_is_carried_on),
        cmocka_unit_test(a_start_is_waited_for),
        cmocka_unit_test(few_requests_have_an_attainment),
        cmocka_unit_test(the_first_step_counts_what_came),
        cmocka_unit_test(the_cache_bounds_what_a_mass_has_at_work),
        cmocka_unit_test(unlike_replicas_serve_at_their_own_speed),
        cmocka_unit_test(samples_are_of_all_kinds_of_replicas),
        cmocka_unit_test(counts_are_those_of_the_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
