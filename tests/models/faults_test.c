/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * faults_test.c - nodes that fail as recorded, and jobs that save as often as
 * wastes least.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "models/cluster/cluster.h"
#include "models/cluster/faults.h"
#include "models/jobs/job.h"
#include "models/laws/outage.h"
#include "models/laws/phase.h"
#include "tests/aid/world.h"
#include "workloads/source.h"

#define NODES "cluster: {nodes: [{name: n, count: %u, gpus: {type: %s, " \
    "count: 8}, cpu: {type: epyc-7763, sockets: 2}, memory: 1TB}], storage: " \
    "{bandwidth: 20GB/s}, %s}\n"

static void begin(struct world *world, const char *csv)
{
    strcpy(world->folder, "/tmp/clustersim-test-XXXXXX");
    assert_non_null(mkdtemp(world->folder));
    world_write(world, "f.csv", csv);
}

static void end(struct world *world)
{
    char path[128];

    snprintf(path, sizeof path, "%s/f.csv", world->folder);
    unlink(path);
    world_close(world);
}

static bool open_with(struct world *world, const char *failures,
                      const char *workload)
{
    char text[4096];
    size_t n = (size_t)snprintf(text, sizeof text, "experiment: t\nseeds: 3\n"
                                "until: drained\n" NODES, 2u, "a100-80",
                                failures);

    snprintf(text + n, sizeof text - n, "workload: %s\npolicies: [fcfs]\n",
             workload);
    return world_open(world, text);
}

/* Four spans, of which one server has two; the run begins 10 s in. */
#define ROWS "series,time_s,value\na,5,1\na,12,0\na,40,1\na,45,2\na,50,1\n" \
    "a,60,0\nb,30,1\nc,1,1\nc,2,0\n"
#define TRACE "failures: {trace: {file: f.csv, servers: 4, from: 10s}}"
#define FIXED "{arrival: {process: fixed, times: [0s]}, jobs: 1, mix: " \
    "[{recipe: trace, gpus: 16, duration: 100s, share: 1}]}"

static void spans_are_cut_at_the_beginning_of_the_run(void **state)
{
    struct world world = { 0 };

    (void)state;
    begin(&world, ROWS);
    if (!open_with(&world, TRACE, FIXED))
        fail_msg("%s", world_error(&world));
    const struct faults *f =
        experiment_trial_spec(world.experiment, 0).cluster->failures->recorded;

    assert_int_equal(f->servers, 4);
    assert_int_equal(f->count, 3);          /* c was well again before */
    assert_true(f->fault[0].down_ns == 0);
    assert_true(f->fault[0].up_ns == 2 * CLOCK_NS_PER_S);
    assert_true(f->fault[1].down_ns == 20 * CLOCK_NS_PER_S);
    assert_true(f->fault[1].up_ns == CLOCK_NEVER_NS);   /* b */
    assert_true(f->fault[2].down_ns == 30 * CLOCK_NS_PER_S);
    assert_true(f->fault[2].up_ns == 50 * CLOCK_NS_PER_S);
    end(&world);
}

/* All servers alike: whichever two are played, both nodes go at 10 s and come
 * back at 25 s; the job of 30 s begins anew. */
static void nodes_fail_when_their_servers_did(void **state)
{
    struct trial_result result;
    struct world world = { 0 };

    (void)state;
    begin(&world, "series,time_s,value\na,10,1\na,25,0\nb,10,1\nb,25,0\n"
                  "c,10,1\nc,25,0\n");
    if (!open_with(&world, "failures: {trace: {file: f.csv}}",
                   "{arrival: {process: fixed, times: [0s]}, jobs: 1, mix: "
                   "[{recipe: trace, gpus: 16, duration: 30s, share: 1}]}"))
        fail_msg("%s", world_error(&world));
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(world_run(&world, i, NULL, NULL, &result));
        assert_true(fabs(result.value[METRIC_JCT_MEAN] - 55) < 1e-6);
        assert_true(result.value[METRIC_INTERRUPTIONS] == 1);
    }
    end(&world);
}

/* Each node fails about once a second and is repaired after 100 s; of 10 s to 300 s the record
 * says that all are out of service.  A node that failed before 10 s is repaired at 100 to 110 s,
 * and still out: a job of a millisecond that comes at 50 s ends at 300.001 s. */
static void a_record_keeps_a_node_out_that_is_down(void **state)
{
    struct trial_result result;
    struct world world = { 0 };

    (void)state;
    begin(&world, "series,time_s,value\na,10,1\na,300,0\nb,10,1\nb,300,0\n");
    if (!open_with(&world, "failures: {node_mtbf: 1s, repair: 100s, trace: {file: f.csv}}",
                   "{arrival: {process: fixed, times: [50s]}, jobs: 1, mix: "
                   "[{recipe: trace, gpus: 8, duration: 1ms, share: 1}]}"))
        fail_msg("%s", world_error(&world));
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(world_run(&world, i, NULL, NULL, &result));
        assert_true(fabs(result.value[METRIC_JCT_MEAN] - 250.001) < 1e-6);
    }
    end(&world);
}

static void which_server_a_node_plays_is_drawn(void **state)
{
    struct trial_result result;
    bool spared = false, struck = false;

    (void)state;
    for (uint32_t seed = 0; seed < 20; seed++) {
        struct world world = { 0 };
        char text[2048];
        size_t n = (size_t)snprintf(text, sizeof text, "experiment: t\nseed: "
                                    "%u\nseeds: 1\nuntil: drained\n" NODES,
                                    seed, 2u, "a100-80", "failures: {trace: "
                                    "{file: f.csv, servers: 4}}");

        snprintf(text + n, sizeof text - n,
                 "workload: " FIXED "\npolicies: [fcfs]\n");
        begin(&world, "series,time_s,value\na,10,1\na,25,0\n");
        assert_true(world_open(&world, text));
        assert_true(world_run(&world, 0, NULL, NULL, &result));
        if (result.value[METRIC_INTERRUPTIONS] > 0)
            struck = true;
        else
            spared = true;
        end(&world);
    }
    assert_true(spared && struck);
}

static void traces_that_cannot_be_are_refused(void **state)
{
    static const struct { const char *rows, *trace, *says; } bad[] = {
        { "series,time_s,value\na,5,1\n", "{file: f.csv}",
          "1 servers and the cluster 2 nodes" },
        { ROWS, "{file: f.csv, servers: 2}", "at least the 3" },
        { "series,time_s,value\na,5,1\na,4,0\n", "{file: f.csv}",
          "earlier than the one before" },
        { "series,time_s,value\na,5,1\nb,4,0\na,9,0\n", "{file: f.csv}",
          "must stand together" },
        { "series,time_s,value\na,x,1\n", "{file: f.csv}", "a row must be" },
        { ROWS, "{file: none.csv}", "series names the file" },
        { ROWS, "{servers: 4}", "file" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct world world = { 0 };
        char failures[256];

        begin(&world, bad[i].rows);
        snprintf(failures, sizeof failures, "failures: {trace: %s}",
                 bad[i].trace);
        assert_false(open_with(&world, failures, FIXED));
        if (strstr(world_error(&world), bad[i].says) == NULL)
            fail_msg("'%s' is not in: %s", bad[i].says, world_error(&world));
        end(&world);
    }
}

#define TRAIN "{arrival: {process: fixed, times: [0s]}, jobs: 1, mix: " \
    "[{recipe: pretrain, model: llama-3-8b, batch: 256, sequence: 4096, " \
    "steps: 4000, zero: 3, recompute: full, train: {gpus: 16}%s}]}"

/* The saves of a job and the steps between them. */
static double interval_steps(const char *failures, const char *keys)
{
    struct world world = { 0 };
    char workload[1024];
    double steps = 0;

    begin(&world, ROWS);
    snprintf(workload, sizeof workload, TRAIN, keys);
    if (!open_with(&world, failures, workload))
        fail_msg("%s", world_error(&world));
    const struct job_form *form =
        workload_form(experiment_trial_spec(world.experiment, 0).workload, 0);

    for (uint32_t p = 0; p < form->phase_count; p++)
        if (form->phase[p].kind == PHASE_CHECKPOINT)
            steps = form->phase[p].every *
                    (double)phase_law_usual(&form->phase[0])->repeats;
    end(&world);
    return steps;
}

/* Four times as rare failures, twice the interval (Young 1974). */
static void youngs_interval_grows_with_the_root_of_the_time_between(
    void **state)
{
    double often = interval_steps("failures: {node_mtbf: 200h}",
                                  ", checkpoint: young");
    double rare = interval_steps("failures: {node_mtbf: 800h}",
                                 ", checkpoint: young");

    (void)state;
    assert_true(often >= 10);
    assert_true(fabs(rare / often - 2) < 0.1);
    assert_true(interval_steps("failures: {node_mtbf: 200h}",
                               ", checkpoint: daly") <= often);
    /* Nothing fails: nothing is saved.  And as said, where it is said. */
    assert_true(interval_steps("failures: {}", ", checkpoint: young") == 0);
    assert_true(interval_steps("pue: 1.1", ", checkpoint_every: 50") == 50);
    assert_true(interval_steps(TRACE, ", checkpoint: young") > 0);
}

/* Steps between checkpoints of a job of several phases, of which the first prepares data on
 * `cores` cores. */
static double steps_of_phases(unsigned cores)
{
    struct world world = { 0 };
    char workload[1024];
    double steps = 0;

    begin(&world, ROWS);
    snprintf(workload, sizeof workload, "{arrival: {process: fixed, times: [0s]}, jobs: 1, mix: "
             "[{recipe: dpo, model: qwen2.5-1.5b, method: lora, prompts: 64, responses: 2, "
             "prompt_tokens: 500, response: {mean: 16, cv: 1, max: 32}, reward: {core_time: "
             "10us}, steps: 4000, checkpoint: young, rollout: {gpus: 8}, train: {gpus: 8}, data: "
             "{cores: %u}}]}", cores);
    if (!open_with(&world, "failures: {node_mtbf: 2000000h}", workload))
        fail_msg("%s", world_error(&world));
    const struct job_form *form =
        workload_form(experiment_trial_spec(world.experiment, 0).workload, 0);
    for (uint32_t p = 0; p < form->phase_count; p++)
        if (form->phase[p].kind == PHASE_CHECKPOINT)
            steps = form->phase[p].every;
    end(&world);
    return steps;
}

/* Young's time is the same whatever a step takes, so the inverse of the steps is as the seconds of
 * a step, to which the preparation of data adds its seconds of one core over the cores. */
static void youngs_interval_counts_the_preparation_of_data(void **state)
{
    double most = 1e4 / steps_of_phases(32), each = 1e4 / steps_of_phases(1) - most;

    (void)state;
    assert_true(each > 0.012);
    for (unsigned cores = 2; cores <= 16; cores *= 2) {
        double more = each * (1.0 / cores - 1.0 / 32) / (1 - 1.0 / 32);
        assert_true(fabs(1e4 / steps_of_phases(cores) - most - more) < 3e-4);
    }
}

/* Two nodes below two leaf switches are interrupted twice as often as below one: the interval is
 * shorter by the root of 2. */
static void youngs_interval_counts_the_leaf_switches_of_the_gang(void **state)
{
    double one = interval_steps("network: {leaf: 2 nodes}, failures: {switch_mtbf: 800h}",
                                ", checkpoint: young");
    double two = interval_steps("network: {leaf: 1 nodes}, failures: {switch_mtbf: 800h}",
                                ", checkpoint: young");

    (void)state;
    assert_true(two >= 20 && fabs(one / two - sqrt(2)) < 0.05);
}

/* Young's time is the same whatever is read.  Where decoding is what a step waits for by far, four
 * times the images take four times as long, and a quarter of the steps fit into it. */
static void youngs_interval_counts_what_a_step_waits_for(void **state)
{
    const char *mtbf = "failures: {node_mtbf: 8000h}";
    double few = interval_steps(mtbf, ", checkpoint: young, loader: {kind: image, size: 1e6, "
                                "per_sequence: 10000, from: memory}");
    double many = interval_steps(mtbf, ", checkpoint: young, loader: {kind: image, size: 1e6, "
                                 "per_sequence: 40000, from: memory}");

    (void)state;
    assert_true(many >= 10);
    assert_true(fabs(few / many - 4) < 0.2);
    assert_true(interval_steps(mtbf, ", checkpoint: young") > 2 * few);
}

/* Runs between two checkpoints of a training on 32 cores. */
static double interval_on_cores(const char *mtbf)
{
    struct world world = { 0 };
    char text[1000];
    double runs = 0;

    snprintf(text, sizeof text, "experiment: t\nseeds: 1\ncluster: {nodes: [{name: c, count: 2, "
             "cpu: {type: epyc-7763, sockets: 2}, memory: 512GB, nics: {type: ethernet-100, "
             "count: 1}}], storage: {bandwidth: 2GB/s}, failures: {job_mtbf: %s}}\n"
             "workload: {arrival: {process: all_at_once}, jobs: 1, mix: [{recipe: sft, name: s, "
             "model: qwen2.5-0.5b, batch: 8, sequence: 512, steps: 2000, checkpoint: young, "
             "train: {types: [cpu], cpu: {cores: 32}}}]}\npolicies: [fcfs]\n", mtbf);
    if (!world_open(&world, text))
        fail_msg("%s", world_error(&world));
    const struct job_form *form =
        workload_form(experiment_trial_spec(world.experiment, 0).workload, 0);
    for (uint32_t p = 0; p < form->phase_count; p++)
        if (form->phase[p].kind == PHASE_CHECKPOINT)
            runs = form->phase[p].every * (double)phase_law_usual(&form->phase[0])->repeats;
    world_close(&world);
    return runs;
}

/* State crosses no PCIe slot there. */
static void youngs_interval_is_known_on_cores(void **state)
{
    double often = interval_on_cores("10h"), rare = interval_on_cores("40h");

    (void)state;
    assert_true(often >= 10);
    assert_true(fabs(rare / often - 2) < 0.1);
}

static void an_interval_needs_something_that_fails(void **state)
{
    struct world world = { 0 };
    char workload[1024];

    (void)state;
    begin(&world, ROWS);
    snprintf(workload, sizeof workload, TRAIN, ", checkpoint: daly");
    assert_false(open_with(&world, "pue: 1.1", workload));
    assert_non_null(strstr(world_error(&world), "has no failures"));
    end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_are_cut_at_the_beginning_of_the_run),
        cmocka_unit_test(nodes_fail_when_their_servers_did),
        cmocka_unit_test(a_record_keeps_a_node_out_that_is_down),
        cmocka_unit_test(which_server_a_node_plays_is_drawn),
        cmocka_unit_test(traces_that_cannot_be_are_refused),
        cmocka_unit_test(
            youngs_interval_grows_with_the_root_of_the_time_between),
        cmocka_unit_test(youngs_interval_counts_the_preparation_of_data),
        cmocka_unit_test(youngs_interval_counts_the_leaf_switches_of_the_gang),
        cmocka_unit_test(youngs_interval_counts_what_a_step_waits_for),
        cmocka_unit_test(youngs_interval_is_known_on_cores),
        cmocka_unit_test(an_interval_needs_something_that_fails),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
