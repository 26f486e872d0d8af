/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cores_test.c - jobs that compute on cores, alone or in the place of GPUs:
 * where they start, for how long they run, what they load and cost.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/aid/world.h"

/* One T4, two sockets of 56 cores for 5.6 USD an hour, 10 GB/s of storage. */
#define WORLD "experiment: t\nseeds: 1\nuntil: drained\ncluster:\n  nodes:\n" \
    "    - {name: gpu, count: 1, gpus: {type: t4, count: 1}, cpu: {type: " \
    "xeon-silver-4310, sockets: 1}, memory: 64GB, price: 1USD/h}\n" \
    "    - {name: cpu, count: 1, cpu: {type: xeon-platinum-8480+, sockets: 2}, " \
    "memory: 512GB, price: 5.6USD/h}\n" \
    "  storage: {bandwidth: 10GB/s}\n"
/* A pass over 20,000 texts of 128 tokens; a job makes `STEPS` of them. */
#define JOBS(AT, STEPS, INFER) "workload:\n  arrival: {process: fixed, times: " \
    AT "}\n  mix:\n    - {recipe: batch-infer, name: c, model: bert-base, " \
    "precision: fp32, prompts: 20000, prompt_tokens: 128, steps: " STEPS \
    ", infer: {" INFER "}}\n"
#define ALONE "types: [cpu], cpu: {cores: 28, memory: 20GB}"
#define EITHER "gpus: 1, types: [t4, cpu], cpu: {cores: 28, memory: 20GB}"
#define CORES_FIRST "gpus: 1, types: [cpu, t4], cpu: {cores: 28, memory: 20GB}"

/* Four T4 and a node without GPUs, and six jobs. */
#define HEAD_OF_FOUR FOUR_AT("[0s, 1s, 2s, 3s, 4s, 5s]")
#define FOUR_AT(TIMES) "experiment: t\nseeds: 1\nuntil: drained\ncluster:\n  nodes:\n" \
    "    - {name: gpu, count: 1, gpus: {type: t4, count: 4}, cpu: {type: " \
    "xeon-silver-4310, sockets: 2}, memory: 256GB}\n" \
    "    - {name: cpu, count: 1, cpu: {type: xeon-platinum-8480+, sockets: 2}, " \
    "memory: 512GB}\n  storage: {bandwidth: 10GB/s}\nworkload:\n  arrival: {process: " \
    "fixed, times: " TIMES "}\n  mix:\n"
#define BERT "model: bert-base, precision: fp32, prompts: 20000, prompt_tokens: 128, "

struct seen {
    struct world_job job[8];
    struct trial_result result;
    double usd, gpu_s, core_s;      /* of the first row */
    double gpu_sum_s;               /* of all */
};

static double number_in(const char *row, const char *name)
{
    size_t at = 0;

    while (strcmp(csv_jobs.columns[at].name, name) != 0)
        at++;
    for (; at > 0; at--)
        row = strchr(row, ',') + 1;
    return atof(row);
}

static bool meet(const char *text, struct seen *seen)
{
    struct world world = { 0 };
    struct trial_tables tables = { 0 };

    memset(seen, 0, sizeof *seen);
    if (!world_open(&world, text)) {
        print_message("%s\n", world_error(&world));
        world_close(&world);
        return false;
    }
    struct trial_spec spec = experiment_trial_spec(world.experiment, 0);

    tables.jobs = table_new(csv_jobs.columns, csv_jobs.count);
    bool ok = trial_run(&spec, &tables, &seen->result, &world.err);
    if (ok) {
        size_t bytes;
        const char *rows = table_bytes(tables.jobs, &bytes);
        for (const char *at = rows; at < rows + bytes;
             at = strchr(at, '\n') + 1) {
            world_job_row(at, seen->job);
            seen->gpu_sum_s += number_in(at, "gpu_seconds");
        }
        seen->usd = world_column(tables.jobs, &csv_jobs, "cost_usd");
        seen->gpu_s = world_column(tables.jobs, &csv_jobs, "gpu_seconds");
        seen->core_s = world_column(tables.jobs, &csv_jobs, "core_seconds");
    } else {
        print_message("%s\n", world_error(&world));
    }
    table_free(tables.jobs);
    world_close(&world);
    return ok;
}

/* 2 x (109e6 - 30,522 x 768) parameters, words being looked up, and attention over 128 tokens
 * (12 layers, 768 wide) for each of 2,560,000 tokens at half of 5.2 TF, three times; 6.6 s
 * to start and 0.44 GB at 10 GB/s, once. */
static void a_job_on_cores_takes_what_the_law_says(void **state)
{
    double pass_s = 2.56e6 * (2.0 * 85559104.0 + 4.0 * 12.0 * 768.0 * 128.0) / 2.6e12;
    static const char *const policy[] = { "fcfs", "static", "dynamic", "hybrid",
                                          "learned", "random", "easy", "sjf" };
    static const char *const fidelity[] = { "fluid", "step" };
    char text[2000];
    struct seen seen;

    (void)state;
    for (size_t i = 0; i < sizeof policy / sizeof policy[0]; i++)
        for (size_t f = 0; f < 2; f++) {
            snprintf(text, sizeof text, WORLD JOBS("[0s]", "3", ALONE)
                     "fidelity: %s\npolicies: [%s]\n", fidelity[f], policy[i]);
            assert_true(meet(text, &seen));
            double s = seen.job[0].end_s - 6.6;
            if (fabs(s / (3.0 * pass_s) - 1.0) > 0.01)
                fail_msg("%s, %s: %g s, by hand %g", policy[i], fidelity[f], s,
                         3.0 * pass_s);
            assert_true(seen.job[0].start_s == 0.0 && seen.gpu_s == 0.0);
            /* A quarter of the node's 112 cores at 5.6 USD an hour. */
            assert_true(fabs(seen.core_s / (28.0 * seen.job[0].end_s) - 1.0) <
                        1e-6);
            assert_true(fabs(seen.usd / (1.4 / 3600.0 * seen.job[0].end_s) -
                             1.0) < 1e-6);
        }
}

static void what_is_loaded_crosses_the_storage(void **state)
{
    struct seen fast, slow;

    (void)state;
    assert_true(meet(WORLD JOBS("[0s]", "1", ALONE) "policies: [fcfs]\n", &fast));
    assert_true(meet("experiment: t\nseeds: 1\nuntil: drained\ncluster:\n  "
                     "nodes:\n    - {name: cpu, count: 1, cpu: {type: "
                     "xeon-platinum-8480+, sockets: 2}, memory: 512GB, price: "
                     "5.6USD/h}\n  storage: {bandwidth: 10MB/s}\n"
                     JOBS("[0s]", "1", ALONE) "policies: [fcfs]\n", &slow));
    /* Weights of 4 bytes: 0.438 GB. */
    double more = slow.job[0].end_s - fast.job[0].end_s;
    assert_true(fabs(more / 43.8 - 1.0) < 0.02);
}

/* How many of the three jobs start at once, and the GPU-seconds of all. */
static double gpu_part(const char *infer, const char *policy, uint32_t *at_once)
{
    char text[2000];
    struct seen seen;

    snprintf(text, sizeof text, WORLD "workload:\n  arrival: {process: fixed, "
             "times: [0s, 1s, 2s]}\n  mix:\n    - {recipe: batch-infer, name: c, "
             "model: bert-base, precision: fp32, prompts: 20000, prompt_tokens: "
             "128, steps: 2, infer: {%s}}\npolicies: [%s]\n", infer, policy);
    assert_true(meet(text, &seen));
    *at_once = 0;
    for (int i = 0; i < 3; i++)
        *at_once += seen.job[i].start_s == i;
    return seen.gpu_sum_s;
}

static void the_first_of_types_with_room_is_taken(void **state)
{
    static const char *const policy[] = { "fcfs", "static", "easy", "sjf", "conservative",
                                          "{policy: fcfs, blocking: skip}",
                                          "{policy: hrrn, blocking: skip}",
                                          "{policy: wfp3, blocking: skip}",
                                          "{policy: unicef, blocking: skip}",
                                          "{policy: fair-share, blocking: skip}",
                                          "{policy: hrrn, blocking: commit}",
                                          "{policy: fcfs, blocking: commit}" };
    uint32_t at_once;

    (void)state;
    for (size_t i = 0; i < sizeof policy / sizeof policy[0]; i++) {
        assert_true(gpu_part(EITHER, policy[i], &at_once) > 0.0);
        assert_int_equal(at_once, 3);
        assert_true(gpu_part(CORES_FIRST, policy[i], &at_once) == 0.0);
        assert_int_equal(at_once, 3);
    }
}

/* In FP32 28 cores are done sooner than the T4, and 14 are not, whatever the
 * list says. */
static void a_forecast_chooses_the_sooner_site(void **state)
{
    static const char *const policy[] = { "dynamic", "hybrid" };
    static const char *const few[] = {
        "gpus: 1, types: [t4, cpu], cpu: {cores: 14, memory: 20GB}",
        "gpus: 1, types: [cpu, t4], cpu: {cores: 14, memory: 20GB}",
    };
    uint32_t at_once;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        assert_true(gpu_part(EITHER, policy[i], &at_once) == 0.0);
        assert_true(gpu_part(CORES_FIRST, policy[i], &at_once) == 0.0);
        assert_true(gpu_part(few[0], policy[i], &at_once) > 0.0);
        assert_true(gpu_part(few[1], policy[i], &at_once) > 0.0);
        assert_int_equal(at_once, 3);
    }
}

static void hardware_keeps_to_one_of_them(void **state)
{
    static const char *const policy[] = { "fcfs", "static", "dynamic", "hybrid",
                                          "learned", "random", "easy" };
    char text[100];
    uint32_t at_once;

    (void)state;
    for (size_t i = 0; i < sizeof policy / sizeof policy[0]; i++) {
        snprintf(text, sizeof text, "{policy: %s, hardware: gpus}", policy[i]);
        assert_true(gpu_part(CORES_FIRST, text, &at_once) > 0.0);
        assert_int_equal(at_once, 1);
        snprintf(text, sizeof text, "{policy: %s, hardware: cores}", policy[i]);
        assert_true(gpu_part(EITHER, text, &at_once) == 0.0);
        assert_int_equal(at_once, 3);
    }
}

/* They deal GPUs, and leave cores alone. */
static void dealers_of_gpus_use_gpus(void **state)
{
    static const char *const policy[] = { "srtf", "fewest-gpus", "srsf" };
    uint32_t at_once;

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        assert_true(gpu_part(EITHER, policy[i], &at_once) > 0.0);
        assert_int_equal(at_once, 1);
    }
}

/* 56 cores are on one socket of the node; 113 are on no node. */
static void cores_are_those_of_one_node(void **state)
{
    struct world world = { 0 };
    struct seen seen;

    (void)state;
    assert_true(meet(WORLD JOBS("[0s, 0s, 0s, 0s, 0s]", "1", ALONE)
                     "policies: [{policy: fcfs, placement: spread}]\n", &seen));
    /* Four of 28 cores fill the node; the GPU's node has 12 cores. */
    assert_true(seen.job[3].start_s == 0.0 && seen.job[4].start_s > 60.0);
    assert_false(world_open(&world, WORLD JOBS("[0s]", "1", "types: [cpu], cpu: "
                            "{cores: 113}") "policies: [fcfs]\n"));
    assert_non_null(strstr(world_error(&world), "on one node"));
    world_close(&world);
}

/* A bound may not lie above what was reached, on any hardware. */
static void bounds_know_the_cores(void **state)
{
    static const char *const infer[] = { ALONE, EITHER };
    char text[2000];
    struct seen seen;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        snprintf(text, sizeof text, WORLD JOBS("[0s, 1s]", "2", "%s")
                 "policies: [{policy: fcfs, blocking: skip}]\n", infer[i]);
        assert_true(meet(text, &seen));
        double bound = seen.result.value[METRIC_JCT_BOUND];
        double cost = seen.result.value[METRIC_COST_BOUND];
        assert_true(bound > 100.0 && bound <= seen.result.value[METRIC_JCT_MEAN]);
        assert_true(cost > 0.0 && cost <= seen.result.value[METRIC_HELD_COST]);
        assert_true(isnan(seen.result.value[METRIC_HELD_MFU]));
        assert_true(seen.result.value[METRIC_PFLOP] > 0.1);
    }
}

/* The first job that waits under fcfs has a promise under easy, and under conservative, which a
 * long job that may go on cores keeps: it takes no GPUs then.  Kinds: for 2 GPUs, for 4,
 * and long for 2 or on cores. */
static void backfill_on_cores_delays_no_promise(void **state)
{
    static const char *const policy[] = { "fcfs", "easy", "conservative" };
    int promises = 0;

    (void)state;
    for (int seed = 1; seed <= 8; seed++) {
        struct seen seen[3];
        int first = 0;
        for (int p = 0; p < 3; p++) {
            char text[2000];
            snprintf(text, sizeof text, "seed: %d\n" HEAD_OF_FOUR "    - {recipe: batch-infer, "
                     "name: a, " BERT "steps: 10, infer: {gpus: 2, types: [t4]}}\n    - "
                     "{recipe: batch-infer, name: b, " BERT "steps: 10, infer: {gpus: 4, types: "
                     "[t4]}}\n    - {recipe: batch-infer, name: c, " BERT "steps: 100, infer: "
                     "{gpus: 2, types: [t4, cpu], cpu: {cores: 28, memory: 20GB}}}\n"
                     "policies: [%s]\n", seed, policy[p]);
            assert_true(meet(text, &seen[p]));
        }
        while (first < 6 && seen[0].job[first].start_s <= first)
            first++;
        if (first == 6)
            continue;
        promises++;
        for (int p = 1; p < 3; p++)
            if (seen[p].job[first].start_s > seen[0].job[first].start_s + 1e-6)
                fail_msg("%s, seed %d: job %d at %g s, promised for %g", policy[p], seed, first,
                         seen[p].job[first].start_s, seen[0].job[first].start_s);
    }
    assert_true(promises >= 6);
}

/* Six jobs come at once: two for all GPUs, of which one runs and the other keeps its turn, and
 * by the draw of the seed four for one GPU or two, or for 28 cores.  The node has four times as
 * many, and they end before that turn: all four start at once, and once. */
static void backfill_on_cores_starts_each_number_of_gpus_once(void **state)
{
    struct seen seen;

    (void)state;
    assert_true(meet("seed: 5\n" FOUR_AT("[0s, 0s, 0s, 0s, 0s, 0s]") "    - {recipe: batch-infer, "
                     "name: b, " BERT "steps: 100, infer: {gpus: 4, types: [t4]}}\n    - {recipe: "
                     "batch-infer, name: c, " BERT "steps: 10, infer: {gpus: 1, types: [t4, cpu], "
                     "cpu: {cores: 28, memory: 20GB}}}\n    - {recipe: batch-infer, name: d, " BERT
                     "steps: 10, infer: {gpus: 2, types: [t4, cpu], cpu: {cores: 28, memory: "
                     "20GB}}}\npolicies: [{policy: fcfs, blocking: commit, backfill: true}]\n",
                     &seen));
    assert_true(seen.job[0].start_s == 0 && seen.job[0].end_s > 5000);
    assert_true(seen.job[1].start_s == seen.job[0].end_s);
    for (int i = 2; i < 6; i++)
        assert_true(seen.job[i].start_s == 0 && seen.job[i].end_s < seen.job[0].end_s);
}

/* One GPU, and cores for two jobs.  Kinds: for the GPU, or on cores before it.  A job on cores at
 * 0 s leaves the GPU idle, so one for the GPU that comes at 1 s starts at 1 s, as it does under
 * skip, which has no plan.  A plan that kept the GPU for the job on cores would let it wait. */
static void a_plan_has_the_gpus_of_a_job_on_cores_back(void **state)
{
    static const char *const policy[] = { "{policy: fcfs, blocking: skip}", "conservative" };
    int behind_cores = 0;

    (void)state;
    for (int seed = 1; seed <= 8; seed++) {
        struct seen seen[2];
        for (int p = 0; p < 2; p++) {
            char text[2000];
            snprintf(text, sizeof text, "seed: %d\n" WORLD "workload:\n  arrival: {process: fixed, "
                     "times: [0s, 1s, 2s]}\n  mix:\n    - {recipe: batch-infer, name: a, " BERT
                     "steps: 1, infer: {gpus: 1, types: [t4]}}\n    - {recipe: batch-infer, name: "
                     "c, " BERT "steps: 10, infer: {gpus: 1, types: [cpu, t4], cpu: {cores: 56, "
                     "memory: 20GB}}}\npolicies: [%s]\n", seed, policy[p]);
            assert_true(meet(text, &seen[p]));
        }
        for (int i = 0; i < 3; i++)
            if (seen[1].job[i].start_s != seen[0].job[i].start_s)
                fail_msg("seed %d: job %d at %g s, without a plan %g", seed, i,
                         seen[1].job[i].start_s, seen[0].job[i].start_s);
        /* The job on cores takes 10 passes, the one on the GPU a single one. */
        behind_cores += seen[1].gpu_sum_s > 0 && seen[1].job[0].end_s > seen[1].job[1].end_s &&
                        seen[1].job[1].start_s == 1;
    }
    assert_true(behind_cores > 0);
}

/* Without GPUs, the part of them that a task takes is none: scores are numbers, and the shorter of
 * the jobs that wait goes first if the weights say so. */
static void learned_scores_where_there_are_no_gpus(void **state)
{
    int ahead = 0;

    (void)state;
    for (int seed = 1; seed <= 4; seed++) {
        char text[2000];
        struct seen seen;
        snprintf(text, sizeof text, "seed: %d\nexperiment: t\nseeds: 1\nuntil: drained\ncluster:\n"
                 "  nodes:\n    - {name: cpu, count: 1, cpu: {type: xeon-platinum-8480+, sockets: "
                 "2}, memory: 512GB}\n  storage: {bandwidth: 10GB/s}\nworkload:\n  arrival: "
                 "{process: fixed, times: [0s, 0s, 0s, 0s, 0s, 0s]}\n  mix:\n    - {recipe: "
                 "batch-infer, name: a, " BERT "steps: 1, infer: {types: [cpu], cpu: {cores: 112, "
                 "memory: 20GB}}}\n    - {recipe: batch-infer, name: b, model: bert-base, "
                 "precision: fp32, prompts: 200000, prompt_tokens: 128, steps: 1, infer: {types: "
                 "[cpu], cpu: {cores: 112, memory: 20GB}}}\n"
                 "policies: [{policy: learned, weights: {job_left: -1, start: 100}}]\n", seed);
        assert_true(meet(text, &seen));
        for (int i = 0; i < 6; i++)
            for (int j = 0; j < i; j++) {
                const struct world_job *a = &seen.job[i], *b = &seen.job[j];
                bool shorter = a->end_s - a->start_s < b->end_s - b->start_s - 1;
                ahead += shorter;
                if (shorter && a->start_s > b->start_s)
                    fail_msg("seed %d: job %d is shorter than %d, and starts later", seed, i, j);
            }
    }
    assert_true(ahead > 0);
}

/* A training on 28 cores that reads from nvme may run on `cpu`, which has drives; `gpu` and
 * `few`, which have none, have GPUs, which it does not ask for, and 12 cores.  With 12 cores it
 * may run on all three, and is refused. */
static void drives_are_asked_of_nodes_whose_cores_suffice(void **state)
{
    static const char form[] =
        "experiment: t\nseeds: 1\nuntil: drained\ncluster:\n  nodes:\n"
        "    - {name: gpu, count: 1, gpus: {type: t4, count: 1}, cpu: {type: xeon-silver-4310, "
        "sockets: 1}, memory: 64GB}\n"
        "    - {name: few, count: 1, cpu: {type: xeon-silver-4310, sockets: 1}, memory: 64GB}\n"
        "    - {name: cpu, count: 1, cpu: {type: xeon-platinum-8480+, sockets: 2}, memory: 512GB, "
        "nvme: 4x1TB}\n  storage: {bandwidth: 10GB/s}\nworkload:\n  arrival: {process: fixed, "
        "times: [0s]}\n  mix:\n    - {recipe: lora, name: l, model: qwen2.5-0.5b, batch: 8, "
        "sequence: 512, steps: 3, loader: {kind: image, from: nvme, size: 1e6, per_sequence: 1}, "
        "train: {types: [cpu], cpu: {cores: %d}}}\npolicies: [fcfs]\n";
    char text[1400];
    struct seen seen;

    (void)state;
    snprintf(text, sizeof text, form, 28);
    assert_true(meet(text, &seen));
    assert_true(seen.job[0].end_s > seen.job[0].start_s);
    snprintf(text, sizeof text, form, 12);
    assert_false(meet(text, &seen));
}

/* Two pods that are half of a node in cores or in memory run at once; of two that are a core or a
 * MiB more the second waits for the first, and one of more than the node is never placed. */
static void pods_fill_a_node_to_its_last_core_and_byte(void **state)
{
    static const struct { int cores; long mib; double second_s; } pod[] = {
        { 8, 100, 0 }, { 9, 100, 100 }, { 16, 100, 100 }, { 1, 32768, 0 }, { 1, 32769, 100 },
        { 1, 65536, 100 }, { 17, 100, -1 }, { 1, 65537, -1 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof pod / sizeof pod[0]; i++) {
        struct world_job job[2];
        struct world world = { 0 };
        char csv[160];

        strcpy(world.folder, "/tmp/clustersim-test-XXXXXX");
        assert_non_null(mkdtemp(world.folder));
        snprintf(csv, sizeof csv, "job,submit,duration,gpus,cores,mib\n0,0,100,1,%d,%ld\n"
                 "1,0,100,1,%d,%ld\n", pod[i].cores, pod[i].mib, pod[i].cores, pod[i].mib);
        world_write(&world, "jobs.csv", csv);
        bool ok = world_open(&world, "experiment: t\nseeds: 1\nuntil: drained\ncluster: {nodes: "
                             "[{name: n, count: 1, gpus: {type: generic, count: 4}, cores: 16, "
                             "memory: 64GiB}]}\nworkload: {trace: {file: jobs.csv, format: csv, "
                             "columns: {job: job, submit: submit, duration: duration, gpus: gpus, "
                             "cores: cores, memory_mib: mib}}}\npolicies: [fcfs]\n") &&
                  world_run(&world, 0, NULL, job, NULL);
        if (ok != (pod[i].second_s >= 0))
            fail_msg("case %zu: %s", i, world_error(&world));
        if (ok && (job[0].start_s != 0 || job[1].start_s != pod[i].second_s))
            fail_msg("case %zu: %g", i, job[1].start_s);
        world_close(&world);
    }
}

/* A node of 2 GPUs.  Job 0 takes one for 1000 s and job 1 a half of the other; job 2, for both,
 * waits until 1000 s.  What fits beside them and ends long before that starts as it comes, though
 * no GPU is free: 3 needs no GPU, and 4 takes the other half.  5 needs no GPU and
 * ends at 1005 s: with `blocking: commit` it waits for 2, which it does not end before. */
static void no_free_gpu_stops_what_needs_none(void **state)
{
    static const char *const policy[] = {
        "easy", "{policy: easy, reservation: none}", "{policy: fcfs, blocking: skip}",
        "{policy: fcfs, blocking: commit, backfill: true}",
        "{policy: sjf, blocking: commit, backfill: true}",
        "{policy: hrrn, blocking: commit, backfill: true}", "{policy: time-slice, quantum: 2000s}",
    };
    static const double long_s[] = { 5, 5, 5, 1000, 1000, 1000, 5 };

    (void)state;
    for (size_t i = 0; i < sizeof policy / sizeof policy[0]; i++) {
        struct world_job job[6];
        struct world world = { 0 };
        char text[600];

        strcpy(world.folder, "/tmp/clustersim-test-XXXXXX");
        assert_non_null(mkdtemp(world.folder));
        world_write(&world, "jobs.csv", "job,submit,duration,gpus,cores\n0,0,1000,1,2\n"
                    "1,0,1000,0.5,2\n2,1,1000,2,2\n3,2,50,0,2\n4,3,50,0.5,2\n5,5,1000,0,2\n");
        snprintf(text, sizeof text, "experiment: t\nseeds: 1\nuntil: drained\ncluster: {nodes: "
                 "[{name: n, count: 1, gpus: {type: generic, count: 2}, cores: 16, memory: "
                 "64GiB}]}\nworkload: {trace: {file: jobs.csv, format: csv, columns: {job: job, "
                 "submit: submit, duration: duration, gpus: gpus, cores: cores}}}\n"
                 "policies: [%s]\n", policy[i]);
        if (!world_open(&world, text) || !world_run(&world, 0, NULL, job, NULL))
            fail_msg("%s: %s", policy[i], world_error(&world));
        if (job[2].start_s < 1000 || job[3].start_s != 2 || job[4].start_s != 3 ||
            job[5].start_s != long_s[i])
            fail_msg("%s: at %g, %g, %g and %g s", policy[i], job[2].start_s, job[3].start_s,
                     job[4].start_s, job[5].start_s);
        world_close(&world);
    }
}

/* A node of 4 GPUs and 16 cores.  Jobs 0 and 1 hold 8 cores each, until 1000 and 200 s; GPUs
 * are free.  Job 2 comes at 1 s, for a GPU and all cores: it is promised 1000 s.  Jobs 3 to 5 need
 * no GPU and 8 cores.  3 starts at 200 s and ends at 500 s, in time, and so does 5, from 500
 * to 1000 s.  4 would hold its cores until 1700 s: it waits until 2 ends at 1100 s. */
static void the_cores_of_a_promise_are_kept(void **state)
{
    static const char *const policy[] = { "easy", "conservative" };
    static const double start_s[] = { 0, 0, 1000, 200, 1100, 500 };

    (void)state;
    for (int p = 0; p < 2; p++) {
        struct world_job job[6];
        struct world world = { 0 };
        char text[600];

        strcpy(world.folder, "/tmp/clustersim-test-XXXXXX");
        assert_non_null(mkdtemp(world.folder));
        world_write(&world, "jobs.csv", "job,submit,duration,gpus,cores\n0,0,1000,0,8\n"
                    "1,0,200,0,8\n2,1,100,1,16\n3,2,300,0,8\n4,3,1200,0,8\n"
                    "5,4,500,0,8\n");
        snprintf(text, sizeof text, "experiment: t\nseeds: 1\nuntil: drained\ncluster: {nodes: "
                 "[{name: n, count: 1, gpus: {type: generic, count: 4}, cores: 16}]}\n"
                 "workload: {trace: {file: jobs.csv, format: csv, columns: {job: job, "
                 "submit: submit, duration: duration, gpus: gpus, cores: cores}}}\n"
                 "policies: [%s]\n", policy[p]);
        if (!world_open(&world, text) || !world_run(&world, 0, NULL, job, NULL))
            fail_msg("%s: %s", policy[p], world_error(&world));
        for (int j = 0; j < 6; j++)
            if (job[j].start_s != start_s[j])
                fail_msg("%s: job %d at %g s, not %g", policy[p], j, job[j].start_s, start_s[j]);
        world_close(&world);
    }
}

/* Runs a trace of job,submit,duration,gpus,cores on one node. */
static void run_on_node(const char *node, const char *policy, const char *rows,
                        struct world_job *job)
{
    struct world world = { .folder = "/tmp/clustersim-test-XXXXXX" };
    char text[700];

    assert_non_null(mkdtemp(world.folder));
    world_write(&world, "jobs.csv", rows);
    snprintf(text, sizeof text, "experiment: t\nseeds: 1\nuntil: drained\ncluster: {nodes: "
             "[{name: n, count: 1, %s}]}\nworkload: {trace: {file: jobs.csv, format: csv, "
             "columns: {job: job, submit: submit, duration: duration, gpus: gpus, cores: "
             "cores}}}\npolicies: [%s]\n", node, policy);
    if (!world_open(&world, text) || !world_run(&world, 0, NULL, job, NULL))
        fail_msg("%s", world_error(&world));
    world_close(&world);
}

/* A node of 8 GPUs and 30 cores.  Job 0 holds 24 cores until 100 s.  Jobs 1 to 3 come at 1 s, for a
 * GPU and 1000 s each: their reservations are equal, at 1 s.  Job 1 finds no 8 cores, and they
 * are kept for it from 100 s on, when 22 more are free.  Job 2 may take 10 of these, and finds
 * no room.  Job 3 may take 5 of the 12 that are left, and starts; it could not if job 2, which is
 * tried once, had 10 again. */
static void equal_reservations_are_tried_once(void **state)
{
    static const double start_s[] = { 0, 100, 100, 1 };
    struct world_job job[4];

    (void)state;
    run_on_node("gpus: {type: generic, count: 8}, cores: 30", "conservative",
                "job,submit,duration,gpus,cores\n0,0,100,0,24\n"
                "1,1,1000,1,8\n2,1,1000,1,10\n3,1,1000,1,5\n", job);
    for (int j = 0; j < 4; j++)
        if (job[j].start_s != start_s[j])
            fail_msg("job %d at %g s, not %g", j, job[j].start_s, start_s[j]);
}

/* Of one GPU and 15 cores: sjf chooses job 2, which needs no GPU, at 1 s, when it finds
 * no room for its 14 cores beside job 1 (until 100 s).  The GPUs have an end, and cores have none
 * that is known: so nothing goes before it, and it starts at 100 s. */
static void a_turn_that_needs_no_gpu_is_kept(void **state)
{
    struct world_job job[4];

    (void)state;
    run_on_node("gpus: {type: generic, count: 1}, cores: 15, memory: 64GiB",
                "{policy: sjf, blocking: commit, backfill: true}",
                "job,submit,duration,gpus,cores\n0,0,1000,1,1\n1,0,100,0,1\n"
                "2,1,50,0,14\n3,2,40,0,1\n", job);
    assert_true(job[1].start_s == 0 && job[2].start_s == 100 && job[3].start_s == 150);
}

/* Lines of jobs that share GPUs are kept by their number of GPUs, which a pod on cores
 * alone has not.  All four find room as they come, and end when they have run: at 0 +
 * 300, 0 + 300, 1 + 1000 and 100 + 3600 s. */
static void a_pod_on_cores_comes_among_jobs_that_are_dealt_gpus(void **state)
{
    static const char *const policy[] = { "las", "srsf" };
    static const double end_s[] = { 300, 300, 1001, 3700 };

    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        struct world world = { 0 };
        struct world_job job[4] = { { 0 } };
        char text[600];

        strcpy(world.folder, "/tmp/clustersim-test-XXXXXX");
        assert_non_null(mkdtemp(world.folder));
        world_write(&world, "jobs.csv", "job,submit,duration,gpus,cores\n0,0,300,1,16\n"
                    "1,0,300,2,16\n2,1,1000,1,1\n3,100,3600,0,16\n");
        snprintf(text, sizeof text, "experiment: t\nseeds: 1\nuntil: drained\ncluster: "
                 "{nodes: [{name: a, count: 1, gpus: {type: generic, count: 8}, cores: 64, "
                 "memory: 64GiB}]}\nworkload: {trace: {file: jobs.csv, format: csv, origin: "
                 "file, columns: {job: job, submit: submit, duration: duration, gpus: gpus, "
                 "cores: cores}}}\npolicies: [%s]\n", policy[i]);
        if (!world_open(&world, text) || !world_run(&world, 0, NULL, job, NULL))
            fail_msg("%s: %s", policy[i], world_error(&world));
        for (uint32_t j = 0; j < 4; j++)
            if (fabs(job[j].end_s - end_s[j]) > 1e-6)
                fail_msg("%s, job %u: %g", policy[i], j, job[j].end_s);
        world_close(&world);
    }
}

/* Jobs of cores alone, and jobs that may not use the GPU.  Of 512 GB a job takes 300: another one
 * waits until it has ended, although 84 of 112 cores are free; of 250 GB each, both start as they
 * come. */
static void memory_of_jobs_on_cores_is_counted(void **state)
{
    static const char *const policy[] = { "fcfs", "easy", "dynamic" };
    static const char *const may[] = { "types: [cpu]", "gpus: 1, types: [t4, cpu]" };
    char text[2000];
    struct seen seen;

    (void)state;
    for (size_t i = 0; i < sizeof policy / sizeof policy[0]; i++)
        for (int k = 0; k < 4; k++) {
            snprintf(text, sizeof text, WORLD JOBS("[0s, 1s]", "3", "%s, cpu: {cores: 28, "
                     "memory: %s}") "policies: [{policy: %s%s}]\n", may[k / 2],
                     k % 2 ? "250GB" : "300GB", policy[i],
                     k / 2 ? ", hardware: cores" : "");
            assert_true(meet(text, &seen));
            assert_true(seen.job[0].start_s == 0);
            double start_s = k % 2 ? 1 : seen.job[0].end_s;
            if (fabs(seen.job[1].start_s - start_s) > 1e-6)
                fail_msg("%s: starts at %g s", policy[i], seen.job[1].start_s);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_on_cores_takes_what_the_law_says),
        cmocka_unit_test(memory_of_jobs_on_cores_is_counted),
        cmocka_unit_test(what_is_loaded_crosses_the_storage),
        cmocka_unit_test(the_first_of_types_with_room_is_taken),
        cmocka_unit_test(a_forecast_chooses_the_sooner_site),
        cmocka_unit_test(hardware_keeps_to_one_of_them),
        cmocka_unit_test(dealers_of_gpus_use_gpus),
        cmocka_unit_test(cores_are_those_of_one_node),
        cmocka_unit_test(bounds_know_the_cores),
        cmocka_unit_test(backfill_on_cores_delays_no_promise),
        cmocka_unit_test(backfill_on_cores_starts_each_number_of_gpus_once),
        cmocka_unit_test(a_plan_has_the_gpus_of_a_job_on_cores_back),
        cmocka_unit_test(learned_scores_where_there_are_no_gpus),
        cmocka_unit_test(drives_are_asked_of_nodes_whose_cores_suffice),
        cmocka_unit_test(pods_fill_a_node_to_its_last_core_and_byte),
        cmocka_unit_test(a_pod_on_cores_comes_among_jobs_that_are_dealt_gpus),
        cmocka_unit_test(no_free_gpu_stops_what_needs_none),
        cmocka_unit_test(the_cores_of_a_promise_are_kept),
        cmocka_unit_test(equal_reservations_are_tried_once),
        cmocka_unit_test(a_turn_that_needs_no_gpu_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
