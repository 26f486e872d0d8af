/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trial_count_test.c - trials in which GPUs are a count against the same
 * trials by the host: every row, every value, every event.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "experiments/run/trial_count.h"
#include "models/cluster/cluster.h"
#include "tests/aid/world.h"

#define JOBS 400

static const char *const clusters[] = {
    "{nodes: [{name: n, count: 3, gpus: {type: generic, count: 8}}]}",
    ("{nodes: [{name: n, count: 7, gpus: {type: a100-80, count: 4}, "
     "cpu: {type: epyc-7742, sockets: 2}, memory: 1TB, price: 17.3USD/h}]}"),
    "{nodes: [{name: n, count: 150, gpus: {type: generic, count: 1}}]}",
};

static const char *const policies[] = {
    "fcfs", "easy, depth_max: 100", "easy, depth_max: 3",
    "easy, depth_max: 9, estimate: requested",
    "easy, depth_max: 20, reservation: none",
};

/* Many at once, some for all GPUs, some for long and longer than they said;
 * names that are short, long and quoted. */
static void write_jobs(const struct world *world, uint64_t seed)
{
    char *text = malloc(128 * (JOBS + 1));
    size_t n = (size_t)sprintf(text, "job,submit,duration,gpus,limit,tenant,"
                             "priority\n");
    struct rng rng;
    double at = 0;

    assert_non_null(text);
    rng_init(&rng, seed, "count", 0);
    for (uint32_t i = 0; i < JOBS; i++) {
        static const char *const name[] = {
            "%u", "\"a, %u\"", "a-name-that-is-too-long-for-a-slot-%u" };
        double run = 1 + (double)rng_below(&rng, 2000) / 8;
        if (rng_below(&rng, 3) > 0)
            at += (double)rng_below(&rng, 900) / 7;
        n += (size_t)sprintf(text + n, name[rng_below(&rng, 3)], i);
        n += (size_t)sprintf(text + n, ",%.9g,%.9g,%u,%.9g\n", at, run,
                             (uint32_t)(1 + rng_below(&rng, 24) *
                                                rng_below(&rng, 24) / 23),
                             run * (double)rng_below(&rng, 30) / 10);
        n--;                    /* of four tenants, or of none */
        static const char names[] = "t0t1t2t3";
        uint32_t tenant = (uint32_t)rng_below(&rng, 5);
        n += (size_t)sprintf(text + n, ",%.*s,%u\n",
                             tenant == 4 ? 0 : 2, &names[tenant % 4 * 2], i % 3);
    }
    world_write(world, "jobs.csv", text);
    free(text);
}

struct answer {
    struct trial_result result;
    struct table *jobs, *tenants, *phases, *timeline;
};

/* What is wanted beside jobs and tenants. */
struct detail {
    bool phases, timeline;
    int64_t step_ns;            /* of the timeline; 0: as many as a chart shows */
};

static struct answer run(const struct world *world, const struct detail *detail,
                         bool by_host)
{
    struct trial_spec spec = experiment_trial_spec(world->experiment, 0);
    struct answer answer = {
        .jobs = table_new(csv_jobs.columns, csv_jobs.count),
        .tenants = table_new(csv_tenants.columns, csv_tenants.count)
    };
    struct trial_tables tables = { .jobs = answer.jobs,
                                   .tenants = answer.tenants,
                                   .timeline_step_ns = detail->step_ns };
    struct err err = { 0 };

    if (detail->phases)
        tables.phases = answer.phases = table_new(csv_phases.columns, csv_phases.count);
    if (detail->timeline)
        tables.timeline = answer.timeline = table_new(csv_timeline.columns,
                                                      csv_timeline.count);
    assert_true(trial_count_applies(&spec, &tables));
    spec.by_host = by_host;
    if (!trial_run(&spec, &tables, &answer.result, &err))
        fail_msg("%s", err.text);
    return answer;
}

static void rows_are_equal(const struct table *a, const struct table *b)
{
    size_t bytes, other;
    const char *rows = table_bytes(a, &bytes);
    const char *others = table_bytes(b, &other);

    assert_int_equal(bytes, other);
    assert_true(bytes > 0);
    assert_memory_equal(rows, others, bytes);
}

static void free_answer(struct answer *a)
{
    table_free(a->jobs);
    table_free(a->tenants);
    table_free(a->phases);
    table_free(a->timeline);
}

static void are_equal(const struct answer *a, const struct answer *b)
{
    rows_are_equal(a->jobs, b->jobs);
    rows_are_equal(a->tenants, b->tenants);
    if (a->phases != NULL)
        rows_are_equal(a->phases, b->phases);
    if (a->timeline != NULL)
        rows_are_equal(a->timeline, b->timeline);
    for (int m = 0; m < METRIC_COUNT; m++)
        if (memcmp(&a->result.value[m], &b->result.value[m],
                   sizeof(double)) != 0)
            fail_msg("%s: %.17g and %.17g", metric_info(NULL, m)->name,
                     a->result.value[m], b->result.value[m]);
    assert_int_equal(a->result.event_count, b->result.event_count);
    assert_int_equal(a->result.digest, b->result.digest);
    assert_int_equal(a->result.end_ns, b->result.end_ns);
    assert_memory_equal(a->result.status_count, b->result.status_count,
                        sizeof a->result.status_count);
    for (int c = AUDIT_CAPACITY; c < AUDIT_LINKS; c++)
        assert_true(a->result.audit_count[c] > 0);
}

static void a_count_gives_what_the_host_gives(void **state)
{
    static const struct detail details[] = {
        { false, false, 0 }, { true, true, 0 }, { false, true, 7000000000 }, { true, false, 0 },
    };

    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++)
        for (size_t p = 0; p < sizeof policies / sizeof *policies; p++) {
            struct world world = { 0 };
            char text[1024];

            strcpy(world.folder, "/tmp/clustersim-test-XXXXXX");
            assert_non_null(mkdtemp(world.folder));
            write_jobs(&world, seed);
            snprintf(text, sizeof text,
                     "experiment: t\nseeds: 1\nuntil: drained\n"
                     "cluster: %s\nworkload: {trace: {file: jobs.csv, "
                     "format: csv, estimate: requested, columns: {job: job, "
                     "submit: submit, duration: duration, gpus: gpus, limit: "
                     "limit, tenant: tenant, priority: priority}}}\n"
                     "policies: [{policy: %s, placement: count}]\n",
                     clusters[seed % 3], policies[p]);
            if (!world_open(&world, text))
                fail_msg("%s", world_error(&world));
            for (size_t d = 0; d < sizeof details / sizeof *details; d++) {
                struct answer count = run(&world, &details[d], false);
                struct answer host = run(&world, &details[d], true);

                are_equal(&count, &host);
                free_answer(&count);
                free_answer(&host);
            }
            world_close(&world);
        }
}

static void what_needs_nodes_goes_to_the_host(void **state)
{
    static const char *const others[] = {
        "[{policy: fcfs, placement: best_fit}]", "[sjf]", "[easy]",
        "[{policy: fcfs, placement: count, blocking: skip}]",
        "[{policy: fcfs, placement: count, tick: 1s}]",
        "[{policy: easy, placement: count, depth_max: 9, estimate: noisy}]",
    };
    struct world_job job[1] = { { .duration_s = 1, .gpus = 1 } };
    struct trial_tables none = { 0 }, rows = { 0 };

    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct world world = { 0 };
        assert_true(world_trace(&world, 2, 8, job, 1, others[i]));
        struct trial_spec spec = experiment_trial_spec(world.experiment, 0);
        assert_false(trial_count_applies(&spec, &none));
        world_close(&world);
    }
    struct world world = { 0 };
    assert_true(world_trace(&world, 2, 8, job, 1,
                            "[{policy: fcfs, placement: count}]"));
    struct trial_spec spec = experiment_trial_spec(world.experiment, 0);
    rows.decisions = table_new(csv_decisions.columns, csv_decisions.count);
    assert_true(trial_count_applies(&spec, &none));
    assert_false(trial_count_applies(&spec, &rows));
    struct cluster_spec capped = *spec.cluster;
    const struct cluster_spec *cluster = spec.cluster;
    capped.power_cap_w = 1e6;
    spec.cluster = &capped;
    assert_false(trial_count_applies(&spec, &none));
    spec.cluster = cluster;
    spec.until_ns = 10;
    assert_false(trial_count_applies(&spec, &none));
    table_free(rows.decisions);
    world_close(&world);
}

/* Parts of GPUs in a mix, and jobs of applications, which start anew and have a goodput. */
static void what_is_no_whole_gpu_for_a_time_goes_to_the_host(void **state)
{
    static const char cluster[] =
        "experiment: t\nseeds: 1\ncluster: {nodes: [{name: n, count: 2, gpus: {type: t4, "
        "count: 4}, cpu: {type: epyc-7742, sockets: 1}, memory: 192GB}]}\n"
        "policies: [{policy: fcfs, placement: count}]\n";
    static const char *const workload[] = {
        "workload: {arrival: {process: all_at_once}, jobs: 4, mix: [{recipe: trace, gpus: 1, "
        "duration: 1h}]}\n",
        "workload: {arrival: {process: all_at_once}, jobs: 4, mix: [{recipe: trace, gpus: 0.5, "
        "duration: 1h}]}\n",
        "workload: {trace: {file: %s/workloads/traces/goodput.csv, format: pollux, origin: file, "
        "lengths: applications}}\n",
    };
    struct trial_tables none = { 0 };

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct world world = { 0 };
        char here[500], jobs[800], text[1500];

        assert_non_null(getcwd(here, sizeof here));
        snprintf(jobs, sizeof jobs, workload[i], here);
        snprintf(text, sizeof text, "%s%s", cluster, jobs);
        if (!world_open(&world, text))
            fail_msg("%s", world_error(&world));
        struct trial_spec spec = experiment_trial_spec(world.experiment, 0);
        assert_int_equal(trial_count_applies(&spec, &none), i == 0);
        world_close(&world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_count_gives_what_the_host_gives),
        cmocka_unit_test(what_needs_nodes_goes_to_the_host),
        cmocka_unit_test(what_is_no_whole_gpu_for_a_time_goes_to_the_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
