/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * analytic_test.c - queues whose means are known in closed form lie inside
 * the 95% intervals that the tool itself reports (stats_mean, as compare.csv).
 *
 * Ten replicas each, the first jobs left out as warm-up.  An interval of 95%
 * leaves out the truth once in twenty times, so the seed is fixed; over seeds
 * 2 to 9 the means lie on both sides of theory, 62 of 64 intervals hold it.
 *
 * The queues run through the whole stack: a trace, a policy, leases, metrics;
 * the last one through the program, on jobs with phases, loading included.
 * Processor sharing is one link of sim/flow that all jobs divide.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sim/event/loop.h"
#include "sim/flow/flow.h"
#include "sim/stats/stats.h"
#include "tests/aid/program.h"
#include "tests/aid/world.h"

#define SEED 4                  /* fixed; see above */
#define REPLICAS 10
#define JOBS 6000
#define WARM_JOBS 500
#define MEAN_S 10.0             /* of the service time */

enum service { SERVICE_EXPONENTIAL, SERVICE_CONSTANT, SERVICE_LOGNORMAL };
#define LOGNORMAL_CV 1.5

static double service_s(enum service service, struct rng *rng)
{
    double var = log1p(LOGNORMAL_CV * LOGNORMAL_CV);

    switch (service) {
    case SERVICE_EXPONENTIAL: return rng_exponential(rng, MEAN_S);
    case SERVICE_CONSTANT: return MEAN_S;
    case SERVICE_LOGNORMAL:
        return rng_lognormal(rng, log(MEAN_S) - var / 2, sqrt(var));
    }
    return 0;
}

struct queue {
    enum service service;
    uint32_t servers;
    double load;                /* of each server, < 1 */
    const char *policy;
};

/* Poisson arrivals; times to the nanosecond. */
static void write_jobs(const struct world *world, const struct queue *queue,
                       uint32_t replica)
{
    char *csv = malloc(64 * (JOBS + 1));
    size_t n = (size_t)sprintf(csv, "job,submit,duration,gpus\n");
    double gap_s = MEAN_S / (queue->load * queue->servers), at_s = 0;
    struct rng arrival, length;

    rng_init(&arrival, SEED, "arrival", replica);
    rng_init(&length, SEED, "length", replica);
    for (uint32_t i = 0; i < JOBS; i++) {
        at_s += rng_exponential(&arrival, gap_s);
        double s = service_s(queue->service, &length);
        n += (size_t)sprintf(csv + n, "%u,%.9f,%.9f,1\n", i, at_s,
                             s > 1e-9 ? s : 1e-9);
    }
    world_write(world, "jobs.csv", csv);
    free(csv);
}

static double simulate(const struct queue *queue, uint32_t replica,
                       enum metric metric)
{
    struct world world = { 0 };
    struct trial_result result;
    char text[1024];

    strcpy(world.folder, "/tmp/clustersim-test-XXXXXX");
    assert_non_null(mkdtemp(world.folder));
    write_jobs(&world, queue, replica);
    snprintf(text, sizeof text,
             "experiment: queue\nseeds: 1\nuntil: drained\nwarmup: %.0fs\n"
             "cluster: {nodes: [{name: n, count: 1, gpus: {type: generic, "
             "count: %u}}]}\n"
             "workload: {trace: {file: jobs.csv, format: csv, columns: {job: "
             "job, submit: submit, duration: duration, gpus: gpus}}}\n"
             "policies: [%s]\n",
             WARM_JOBS * MEAN_S / (queue->load * queue->servers),
             queue->servers, queue->policy);
    if (!world_open(&world, text) ||
        !world_run(&world, 0, NULL, NULL, &result))
        fail_msg("%s", world_error(&world));
    assert_true(result.value[METRIC_JOBS_DONE] > JOBS - 2 * WARM_JOBS);
    /* L = lambda W, exactly, in whole nanoseconds (Little 1961). */
    assert_int_equal(result.audit_count[AUDIT_LITTLE], 1);
    world_close(&world);
    return result.value[metric];
}

static void inside(const double *x, double theory, const char *what)
{
    struct stats_mean mean = stats_mean(x, REPLICAS, 0.95);

    if (!(mean.low <= theory && theory <= mean.high))
        fail_msg("%s: theory %.6g, found %.6g in [%.6g, %.6g]", what, theory,
                 mean.mean, mean.low, mean.high);
    /* An interval that says nothing would hold anything. */
    assert_true(mean.high - mean.low < 0.35 * theory);
}

static void waits_agree(const struct queue *queue, double theory,
                        const char *what)
{
    double x[REPLICAS];

    for (uint32_t r = 0; r < REPLICAS; r++)
        x[r] = simulate(queue, r, METRIC_WAIT_MEAN);
    inside(x, theory, what);
}

/* M/M/1: Wq = rho / (1 - rho) * E[S]. */
static void mm1_waits_as_erlang_says(void **state)
{
    struct queue queue = { SERVICE_EXPONENTIAL, 1, 0.6, "fcfs" };

    (void)state;
    waits_agree(&queue, 0.6 / 0.4 * MEAN_S, "M/M/1");
}

/* M/M/1 again: W = E[S] / (1 - rho), sojourn. */
static void mm1_sojourns_as_erlang_says(void **state)
{
    struct queue queue = { SERVICE_EXPONENTIAL, 1, 0.6, "fcfs" };
    double x[REPLICAS];

    (void)state;
    for (uint32_t r = 0; r < REPLICAS; r++)
        x[r] = simulate(&queue, r, METRIC_JCT_MEAN);
    inside(x, MEAN_S / 0.4, "M/M/1 sojourn");
}

/* M/M/c: Wq = C(c, a) * E[S] / (c (1 - rho)), a = c rho, with Erlang's
 * C(c, a) = a^c/c! / (1 - rho) / (sum_{k<c} a^k/k! + a^c/c! / (1 - rho)). */
static double erlang_wait_s(int servers, double load)
{
    double a = servers * load, term = 1, sum = 0;

    for (int k = 0; k < servers; k++) {
        sum += term;
        term *= a / (k + 1);
    }
    double last = term / (1 - load);
    return last / (sum + last) * MEAN_S / (servers * (1 - load));
}

static void mmc_waits_as_erlang_says(void **state)
{
    struct queue queue = { SERVICE_EXPONENTIAL, 4, 0.7, "fcfs" };

    (void)state;
    waits_agree(&queue, erlang_wait_s(4, 0.7), "M/M/4");
}

/* M/G/1, Pollaczek and Khinchine: Wq = lambda E[S^2] / (2 (1 - rho))
 *                                    = rho E[S] (1 + cv^2) / (2 (1 - rho)). */
static double pollaczek_s(double load, double cv)
{
    return load * MEAN_S * (1 + cv * cv) / (2 * (1 - load));
}

static void md1_waits_as_pollaczek_and_khinchine_say(void **state)
{
    struct queue queue = { SERVICE_CONSTANT, 1, 0.7, "fcfs" };

    (void)state;
    waits_agree(&queue, pollaczek_s(0.7, 0), "M/D/1");
}

static void mg1_waits_as_pollaczek_and_khinchine_say(void **state)
{
    struct queue queue = { SERVICE_LOGNORMAL, 1, 0.5, "fcfs" };

    (void)state;
    waits_agree(&queue, pollaczek_s(0.5, LOGNORMAL_CV), "M/G/1");
}

/* With one server no order that looks away from lengths changes the mean
 * wait; shortest first must shorten it (Schrage & Miller 1966 for SRPT). */
static void srtf_waits_less_than_any_order_blind_to_lengths(void **state)
{
    struct queue fifo = { SERVICE_LOGNORMAL, 1, 0.5, "fcfs" };
    struct queue srtf = { SERVICE_LOGNORMAL, 1, 0.5, "srtf" };

    (void)state;
    for (uint32_t r = 0; r < REPLICAS; r++)
        assert_true(simulate(&srtf, r, METRIC_JCT_MEAN) <
                    simulate(&fifo, r, METRIC_JCT_MEAN));
}

/* ---- processor sharing ------------------------------------------------- */

struct sharing {
    struct loop *loop;
    struct flow_net *net;
    uint32_t link, arrived;
    enum service service;
    struct rng arrival, length;
    double gap_s, sojourn_s;
    int64_t came_ns[JOBS];
    uint32_t done;
};

static void leaves(void *self, uint64_t job)
{
    struct sharing *s = self;

    if (job < WARM_JOBS)
        return;
    s->done++;
    s->sojourn_s += clock_s_from_ns(loop_now_ns(s->loop) - s->came_ns[job]);
}

static void comes(struct loop *loop, void *self, uint64_t job)
{
    struct sharing *s = self;
    struct flow_use use = { s->link, 1.0 };
    struct flow_spec spec = {
        .work = service_s(s->service, &s->length), .weight = 1,
        .rate_max = INFINITY, .use = &use, .use_count = 1, .done = leaves,
        .self = s, .arg = job,
    };

    s->came_ns[job] = loop_now_ns(loop);
    flow_start(s->net, &spec);
    if (++s->arrived < JOBS)
        loop_at(loop,
                loop_now_ns(loop) +
                    (int64_t)(rng_exponential(&s->arrival, s->gap_s) * 1e9),
                LOOP_RANK_ARRIVAL, comes, s, s->arrived);
}

static double share(enum service service, double load, uint32_t replica)
{
    struct sharing *s = calloc(1, sizeof *s);

    assert_non_null(s);
    s->loop = loop_new((struct loop_limits) { CLOCK_NEVER_NS - 1, 10000000, NULL });
    s->net = flow_new(s->loop);
    s->link = flow_link_add(s->net, 1.0);
    s->service = service;
    s->gap_s = MEAN_S / load;
    rng_init(&s->arrival, SEED, "arrival", replica);
    rng_init(&s->length, SEED, "length", replica);
    loop_at(s->loop, 0, LOOP_RANK_ARRIVAL, comes, s, 0);
    assert_int_equal(loop_run(s->loop), LOOP_DRAINED);
    assert_int_equal(s->done, JOBS - WARM_JOBS);
    double mean_s = s->sojourn_s / s->done;
    flow_free(s->net);
    loop_free(s->loop);
    free(s);
    return mean_s;
}

/* M/G/1-PS: W = E[S] / (1 - rho), whatever the distribution of S (Sakata,
 * Noguchi & Oizumi 1969; Kleinrock 1976). */
static void processor_sharing_depends_on_the_mean_alone(void **state)
{
    static const enum service service[] = {
        SERVICE_EXPONENTIAL, SERVICE_LOGNORMAL, SERVICE_CONSTANT
    };
    double x[REPLICAS];

    (void)state;
    for (int k = 0; k < 3; k++) {
        for (uint32_t r = 0; r < REPLICAS; r++)
            x[r] = share(service[k], 0.6, r);
        inside(x, MEAN_S / (1 - 0.6), "M/G/1-PS");
    }
}

/* ---- the same through the program -------------------------------------- */

/* The interval of compare.csv holds theory. */
static void program_agrees(const struct program *program, const char *folder,
                           double theory)
{
    char *compare = program_result(program, folder, "compare.csv");
    char cell[64];

    assert_non_null(compare);
    assert_true(csv_cell(compare, "fcfs", "wait_mean_s", "ci95_low", cell,
                         sizeof cell));
    double low = strtod(cell, NULL);
    assert_true(csv_cell(compare, "fcfs", "wait_mean_s", "ci95_high", cell,
                         sizeof cell));
    double high = strtod(cell, NULL);
    if (!(low <= theory && theory <= high))
        fail_msg("theory %.6g, found [%.6g, %.6g]", theory, low, high);
    assert_true(high - low < 0.25 * theory);
    free(compare);
}

#define STEPS_MEAN 20.0

static void write_batches(const char *path)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs("experiment: batches\nseed: 4\nseeds: 10\nuntil: drained\n"
          "cluster: {nodes: [{name: n, count: 1, gpus: {type: a100-80, "
          "count: 8}, cpu: {type: epyc-7763, sockets: 2}, memory: 1536GB, "
          "nics: {type: ib-hdr, count: 4}}], storage: {bandwidth: 20GB/s}}\n"
          "workload: {arrival: {process: poisson, rate: 0.001/h}, jobs: "
          "2000, mix: [{recipe: batch-infer, model: qwen2.5-7b, prompts: "
          "4096, prompt_tokens: 512, steps: {exponential: {mean: 20}}, "
          "infer: {gpus: 8}}]}\n"
          "policies: [fcfs]\n"
          "output: {tables: [summary, compare, jobs, phases], plots: []}\n",
          file);
    assert_int_equal(fclose(file), 0);
}

/* A job alone takes d + t N seconds, with N steps: read off two jobs. */
static void measure(const struct program *program, double *d, double *t)
{
    char *phases = program_result(program, "one", "phases.csv");
    char *jobs = program_result(program, "one", "jobs.csv");
    char start[64], end[64], came[64];

    assert_non_null(phases);
    assert_non_null(jobs);
    assert_true(csv_cell(phases, "fcfs", "0", "start_s", start, 64));
    assert_true(csv_cell(phases, "fcfs", "0", "end_s", end, 64));
    assert_true(csv_cell(jobs, "fcfs", "0", "start_s", came, 64));
    *d = strtod(start, NULL) - strtod(came, NULL);
    *t = strtod(end, NULL) - strtod(start, NULL);
    free(phases);
    free(jobs);
}

/* N = max(1, round(X)), X exponential: P(N >= k) = exp(-(k - 1/2) / mean)
 * for k > 1, E[N] = sum P(N >= k), E[N^2] = sum (2k - 1) P(N >= k). */
static double batch_wait_s(double d, double t, double load, double *rate)
{
    double n1 = 1, n2 = 1;

    for (int k = 2; k < 2000; k++) {
        n1 += exp(-(k - 0.5) / STEPS_MEAN);
        n2 += (2 * k - 1) * exp(-(k - 0.5) / STEPS_MEAN);
    }
    double s1 = d + t * n1, s2 = d * d + 2 * d * t * n1 + t * t * n2;
    *rate = load / s1;
    return *rate * s2 / (2 * (1 - load));
}

static void batches_wait_as_pollaczek_and_khinchine_say(void **state)
{
    const struct program *program = *state;
    char path[128], rate_set[64], warm_set[64];
    const char *one[] = { "--seeds", "1", "--set", "workload.jobs=2", NULL };
    const char *all[] = { "--set", rate_set, "--set", warm_set, NULL };
    double d, t, rate;

    snprintf(path, sizeof path, "%s/batches.yaml", program->folder);
    write_batches(path);
    assert_int_equal(program_experiment(program, path, "one", one), 0);
    measure(program, &d, &t);
    assert_true(d > 0 && t > 0);
    double theory = batch_wait_s(d, t, 0.5, &rate);
    snprintf(rate_set, sizeof rate_set, "workload.arrival.rate=%.9f/h",
             rate * 3600);
    snprintf(warm_set, sizeof warm_set, "warmup=%.0fs", 200 / rate);
    assert_int_equal(program_experiment(program, path, "all", all), 0);
    program_agrees(program, "all", theory);
}

/* M/M/4 again, on jobs that recipe `trace` draws: 1 GPU, exponential. */
static void drawn_whole_jobs_wait_as_erlang_says(void **state)
{
    const struct program *program = *state;
    const char *none[] = { NULL };
    char path[128];

    snprintf(path, sizeof path, "%s/whole.yaml", program->folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "experiment: whole\nseed: %d\nseeds: %d\nuntil: drained\n"
            "warmup: 2000s\ncluster: {nodes: [{name: n, count: 1, gpus: "
            "{type: generic, count: 4}}]}\n"
            "workload: {arrival: {process: poisson, rate: 0.28/s}, jobs: "
            "%d, mix: [{recipe: trace, gpus: {choice: {1: 1}}, duration: "
            "{exponential: {mean: 10s}}}]}\npolicies: [fcfs]\n"
            "output: {tables: [summary, compare], plots: []}\n", SEED,
            REPLICAS, JOBS);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(program_experiment(program, path, "whole", none), 0);
    program_agrees(program, "whole", erlang_wait_s(4, 0.7));
}

int main(int argc, char **argv)
{
    struct program program;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mm1_waits_as_erlang_says),
        cmocka_unit_test(mm1_sojourns_as_erlang_says),
        cmocka_unit_test(mmc_waits_as_erlang_says),
        cmocka_unit_test(md1_waits_as_pollaczek_and_khinchine_say),
        cmocka_unit_test(mg1_waits_as_pollaczek_and_khinchine_say),
        cmocka_unit_test(srtf_waits_less_than_any_order_blind_to_lengths),
        cmocka_unit_test(processor_sharing_depends_on_the_mean_alone),
        cmocka_unit_test_prestate(batches_wait_as_pollaczek_and_khinchine_say,
                                  &program),
        cmocka_unit_test_prestate(drawn_whole_jobs_wait_as_erlang_says,
                                  &program),
    };

    program_open(&program, argc > 0 ? argv[0] : "");
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    program_close(&program);
    return failed;
}
