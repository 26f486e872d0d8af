/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fidelity_test.c - `fidelity: fluid` against `fidelity: step`, on experiments
 * that stress different stages, and one that the fluid mode gets wrong.
 *
 * The table that it prints is in models/validation/README.md.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/aid/program.h"

#define MEAN_ERROR 0.01
#define P95_ERROR 0.05

static const char *program_name;

struct config {
    const char *what;
    const char *policy;
    unsigned nodes;
    const char *node;           /* more keys of a GPU node */
    const char *cluster;        /* more keys of the cluster */
    unsigned jobs;
    const char *entry;
};

#define IMAGES(TRAIN, REST, LOADER) \
    "{recipe: multimodal, model: qwen2.5-7b, batch: 64, sequence: 1024, " \
    "steps: 1000, zero: 3, train: {pool: a, " TRAIN "}" REST \
    ", loader: {kind: image, " LOADER "}}"
#define GRPO(REST) \
    "{recipe: grpo, model: qwen2.5-7b, method: full, zero: 3, prompts: 64, " \
    "prompt_tokens: 300, response: {mean: 800, cv: 0.8, max: 8192}, " \
    "reward: {core_time: 50ms}, steps: 60, checkpoint_every: 20, " \
    "data: {cores: 32, pool: cpu}, train: {gpus: 8, pool: a}, " REST "}"
#define HDD ", nvme: 2x4TB, nvme_type: hdd-sata"
#define NICS(KIND, COUNT) ", nics: {type: " KIND ", count: " COUNT "}"
#define SLOW "storage: {bandwidth: 300MB/s}"
#define FAST "storage: {bandwidth: 40GB/s}"

static const struct config agree[] = {
    {"GPUs", "fcfs", 1, "", FAST, 1,
     IMAGES("gpus: 8, cores: 16", "", "size: 2e5")},
    {"cores of the loader", "fcfs", 1, "", FAST, 1,
     IMAGES("gpus: 8, cores: 2", "", "size: 8e5, per_sequence: 64")},
    {"shared storage, two jobs", "fcfs", 2, "", SLOW, 2,
     IMAGES("gpus: 8, cores: 16", "", "size: 8e5, per_sequence: 16")},
    {"hard disks", "fcfs", 1, HDD, FAST, 1,
     IMAGES("gpus: 8, cores: 16", "",
            "size: 8e5, per_sequence: 16, from: nvme")},
    {"page cache", "fcfs", 1, HDD, FAST, 1,
     IMAGES("gpus: 8, cores: 16, memory: 60GB", "",
            "size: 4e5, per_sequence: 16, from: nvme, dataset: 300GB")},
    {"CPU nodes that send", "fcfs", 1, NICS("ethernet-10", "1"), FAST, 1,
     IMAGES("gpus: 8", ", data: {cores: 64, pool: cpu}",
            "size: 8e5, per_sequence: 64")},
    {"gradients over 25 Gb/s", "fcfs", 2, NICS("ethernet-25", "1"), FAST, 1,
     IMAGES("gpus: 16", "", "size: 2e5")},
    {"rollout, training, sync, one replica", "fcfs", 2, "", FAST, 1,
     GRPO("rollout: {gpus: 1, pool: a}")},
    {"two GPU groups in turn", "fcfs", 2, "", FAST, 1,
     GRPO("layout: colocated")},
    {"three jobs, leases come and go", "dynamic", 2, "", FAST, 3,
     GRPO("rollout: {gpus: 8, pool: a}")},
    {"three jobs, preempted", "srtf", 1, "", SLOW, 3,
     IMAGES("gpus: 8, cores: 16", "", "size: 4e5, per_sequence: 16")},
};

/* 64 responses a replica: it ends with the slowest of eight, see above. */
static const struct config near_by = {
    "eight replicas drain", "fcfs", 2, "", FAST, 1,
    GRPO("rollout: {gpus: 8, pool: a}, schedule: one-step-off")};

/* Two jobs on the same NICs, in step. */
static const struct config apart = {
    "bursts that collide", "{policy: fcfs, placement: spread}", 4,
    NICS("ib-ndr", "4"), FAST, 2, IMAGES("gpus: 16", "", "size: 2e5")};

static void write_config(const struct config *c, const char *path)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fprintf(file,
            "experiment: fidelity\nseed: 1\nseeds: 5\npolicies: [%s]\n"
            "until: drained\nsweep: {fidelity: [fluid, step]}\n"
            "cluster:\n  nodes:\n"
            "    - {name: a, count: %u, gpus: {type: a100-80, count: 8},\n"
            "       cpu: {type: epyc-7742, sockets: 2}, memory: 2TB,\n"
            "       price: reserved%s}\n"
            "    - {name: cpu, count: 2, cpu: {type: epyc-7742, sockets: 2},\n"
            "       memory: 512GB, nics: {type: ethernet-100, count: 1},\n"
            "       price: reserved}\n"
            "  %s\nworkload:\n  arrival: {process: poisson, rate: 2/h}\n"
            "  jobs: %u\n  mix:\n    - %s\n",
            c->policy, c->nodes, c->node, c->cluster, c->jobs, c->entry);
    fclose(file);
}

/* Mean over the seeds of a column of summary.csv. */
static double column_mean(const char *csv, const char *point,
                          const char *column)
{
    char key[64];
    const char *at = csv;
    double sum = 0.0;
    int index = 0, rows = 0;

    snprintf(key, sizeof key, "%s", column);
    for (const char *end; strncmp(at, key, strlen(key)) != 0 ||
                          at[strlen(key)] != ','; at = end + 1, index++) {
        end = strpbrk(at, ",\n");
        assert_non_null(end);
        assert_true(*end == ',');
    }
    snprintf(key, sizeof key, "\n%s,", point);
    for (at = csv; (at = strstr(at, key)) != NULL; rows++) {
        const char *field = ++at;
        for (int i = 0; i < index; i++)
            field = strchr(field, ',') + 1;
        sum += atof(field);
    }
    assert_int_equal(rows, 5);
    return sum / rows;
}

struct outcome { double mean, p95, fluid_s, step_s; };

/* Results and what the program said; both are the caller's to free. */
static struct outcome compare(const struct config *c, char **said)
{
    struct program program;
    char yaml[128], out[128], log[128];
    struct outcome o;

    program_open(&program, program_name);
    snprintf(yaml, sizeof yaml, "%s/f.yaml", program.folder);
    snprintf(out, sizeof out, "%s/out", program.folder);
    snprintf(log, sizeof log, "%s/log", program.folder);
    write_config(c, yaml);
    const char *argv[] = {program.path, "run", yaml, "-o", out, NULL};
    int status = program_spawn(argv, log);
    *said = program_read(log);
    if (status != 0)
        fail_msg("%s: %s", c->what, *said);
    snprintf(out, sizeof out, "%s/out/summary.csv", program.folder);
    char *csv = program_read(out);
    assert_non_null(csv);
    o.fluid_s = column_mean(csv, "fidelity=fluid", "jct_mean_s");
    o.step_s = column_mean(csv, "fidelity=step", "jct_mean_s");
    o.mean = o.fluid_s / o.step_s - 1;
    o.p95 = column_mean(csv, "fidelity=fluid", "jct_p95_s") /
            column_mean(csv, "fidelity=step", "jct_p95_s") - 1;
    print_message("| %s | %.0f s | %.0f s | %+.2f%% | %+.2f%% |\n", c->what,
                  o.fluid_s, o.step_s, 100 * o.mean, 100 * o.p95);
    free(csv);
    program_close(&program);
    return o;
}

static void fluid_and_step_by_step_agree(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof agree / sizeof agree[0]; i++) {
        char *said;
        struct outcome o = compare(&agree[i], &said);

        if (fabs(o.mean) > MEAN_ERROR || fabs(o.p95) > P95_ERROR)
            fail_msg("%s is further off than 1%% and 5%%", agree[i].what);
        if (strstr(said, "\nfidelity\n") != NULL)
            fail_msg("%s is warned of: %s", agree[i].what, said);
        free(said);
    }
}

static void many_replicas_that_drain_are_at_most_two_percent_off(void **state)
{
    char *said;
    struct outcome o = compare(&near_by, &said);

    (void)state;
    free(said);
    assert_true(fabs(o.mean) < 0.02);
}

static void colliding_bursts_are_warned_of(void **state)
{
    char *said;
    struct outcome o = compare(&apart, &said);

    (void)state;
    assert_true(o.mean < -0.02);        /* the fluid mode is too fast */
    assert_non_null(strstr(said, "\nfidelity\n  fidelity=fluid, fcfs: for "));
    assert_non_null(strstr(said, "compare\n  with fidelity: step."));
    assert_null(strstr(said, "  fidelity=step, fcfs: for "));
    free(said);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fluid_and_step_by_step_agree),
        cmocka_unit_test(many_replicas_that_drain_are_at_most_two_percent_off),
        cmocka_unit_test(colliding_bursts_are_warned_of),
    };
    (void)argc;
    program_name = argv[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
