/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * wrong_values_test.c - each value that the shipped clusters, workloads and policies have,
 * replaced by one of another kind: what reads it refuses it, at its place. (tests/aid/wrong.h).
 */
#include <assert.h>
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "policies/registry/rules.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "tests/aid/wrong.h"
#include "workloads/source.h"

static const struct catalogue *catalogue;
static struct arena *kept;

static const void *read_cluster(const struct wrong_part *part, struct arena *arena,
                                const struct conf_node *root, struct err *err)
{
    (void)part;
    return cluster_read(arena, root, catalogue, err);
}

static const void *read_workload(const struct wrong_part *part, struct arena *arena,
                                 const struct conf_node *root, struct err *err)
{
    return workload_read(arena, root, catalogue, part->cluster, err);
}

static const void *read_policy(const struct wrong_part *part, struct arena *arena,
                               const struct conf_node *root, struct err *err)
{
    (void)part;
    return host_policy_read(arena, root, err);
}

/* A map of the experiment, or the file that it names; NULL: neither. */
static const struct conf_node *part_of(const struct conf_node *root, const char *path,
                                       const char *key)
{
    const struct conf_node *node = conf_get(root, key);
    const char *slash = strrchr(path, '/');
    struct err err = { 0 };
    char file[400];

    if (node == NULL || conf_kind(node) != CONF_SCALAR)
        return node;
    snprintf(file, sizeof file, "%.*s%s", slash == NULL ? 0 : (int)(slash + 1 - path), path,
             conf_text(node));
    return conf_load(kept, file, &err);
}

static void try_policies(const char *name, const struct conf_node *list)
{
    struct wrong_part part = { .name = name, .read = read_policy };
    char place[100];

    for (size_t i = 0; conf_kind(list) == CONF_LIST && i < conf_count(list); i++) {
        struct err err = { 0 };
        part.root = conf_item(list, i);
        if (conf_kind(part.root) != CONF_MAP || conf_get(part.root, "policy") == NULL ||
            host_policy_read(kept, part.root, &err) == NULL)
            continue;
        snprintf(place, sizeof place, "%s", conf_text(conf_get(part.root, "policy")));
        wrong_walk(&part, part.root, "", place, "");
    }
}

/* The parts of an experiment that can be read without what a sweep sets. */
static void try_experiment(const char *path, const struct conf_node *root)
{
    struct err err = { 0 };
    struct wrong_part part = { .name = path, .read = read_cluster };

    if (root == NULL || conf_kind(root) != CONF_MAP || conf_get(root, "experiment") == NULL)
        return;
    part.root = part_of(root, path, "cluster");
    part.cluster = part.root == NULL ? NULL : cluster_read(kept, part.root, catalogue, &err);
    if (part.cluster == NULL)
        return;
    wrong_walk(&part, part.root, "", "cluster", "");
    part.read = read_workload;
    part.root = part_of(root, path, "workload");
    if (part.root != NULL &&
        workload_read(kept, part.root, catalogue, part.cluster, &err) != NULL)
        wrong_walk(&part, part.root, "", "workload", "");
    if (conf_get(root, "policies") != NULL)
        try_policies(path, conf_get(root, "policies"));
}

static void try_files(const char *pattern)
{
    glob_t found;

    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct err err = { 0 };
        try_experiment(found.gl_pathv[i], conf_load(kept, found.gl_pathv[i], &err));
    }
    globfree(&found);
}

/* The worlds of idle_keys_test.c, with each key that is tried there. */
static void try_worlds(void)
{
    FILE *file = fopen("tests/keys/idle_keys.txt", "r");
    char line[2000], text[8000] = "", name[40] = "";
    const struct conf_node *root = NULL;
    bool inside = false;

    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        struct err err = { 0 };
        char *value = strchr(line, '=');

        if (inside && strcmp(line, "-----\n") != 0) {
            strncat(text, line, sizeof text - strlen(text) - 1);
        } else if (inside) {
            root = conf_parse(kept, arena_text(kept, name), text, strlen(text), &err);
            assert_non_null(root);
            try_experiment(name, root);
            inside = false;
        } else if (sscanf(line, "world %39s", name) == 1 && strncmp(line, "world ", 6) == 0) {
            text[0] = '\0';
            inside = true;
        } else if (strncmp(line, "try ", 4) == 0 && value != NULL) {
            line[strcspn(line, "\n")] = *value = '\0';
            try_experiment(name, conf_set_text(kept, root, line + 4, value + 1, &err));
        }
    }
    fclose(file);
}

/* Keys that no shipped experiment has. */
static const char *const more[] = {
    "experiment: m\n"
    "cluster: {nodes: [{name: a, count: 3, gpus: {type: generic, count: 8}}]}\n"
    "workload: {trace: {file: workloads/traces/sample.csv, format: csv, origin: file, unsorted: "
    "sort, estimate: requested, slice: {from: 0s, for: 9d, jobs: 50}, "
    "resample: {block: 1h}, columns: {job: job, submit: submit_s, duration: "
    "run_s, gpus: gpus, limit: limit_s, tenant: tenant, priority: priority}, skip: "
    "{run_time_not_positive: true, gpus_not_positive: true, larger_than_cluster: true, "
    "duplicate_job: true, fractional_gpus: true, type_constraint: true, never_ran: true, "
    "no_length: true, no_submit_time: true, still_running: true, no_pool: true}}}\n",
    "experiment: m\n"
    "cluster: {nodes: [{name: a, count: 3, gpus: {type: generic, count: 8}}]}\n"
    "workload: {trace: {file: workloads/traces/sample.csv, format: csv, unknown_run_time: 1h, "
    "where: 'gpus <= 8', resample: {until: 130%, every: 10s, stay: true}, elastic: {min: 1, "
    "max: 64, scaling: {amdahl: 5%}}, role: {types: [generic], pool: a}, rates: {a: 1}, columns: "
    "{job: job, submit: submit_s, duration: run_s, gpus: gpus}}}\n",
    "experiment: m\n"
    "cluster: {nodes: [{name: a, count: 3, gpus: {type: a100-80, count: 8}, cpu: {type: "
    "epyc-7763, sockets: 2}, memory: 1TB, nics: {type: ib-hdr, count: 4}}], network: {leaf: 2, "
    "oversubscription: 2}, failures: {gpu_mtbf: 90d, node_mtbf: 90d, switch_mtbf: 90d, job_mtbf: "
    "90d, repair: 1h, restart: 5min, checkpoint: 1h}}\n"
    "workload: {arrival: {process: poisson, rate: 9/h}, jobs: 5, mix: [{recipe: trace, name: x, "
    "gpus: 2, duration: {pareto: {scale: 1h, shape: 2}}}, {recipe: trace, name: y, gpus: 2, "
    "duration: {weibull: {scale: 1h, shape: 2}}}, {recipe: trace, name: z, gpus: 2, duration: "
    "{lognormal: {log_mean: 2, log_sd: 1}}}, {recipe: trace, name: v, gpus: 2, duration: {gamma: "
    "{mean: 1h, cv: 1}}}]}\n",
    "experiment: m\n"
    "cluster: {nodes: [{name: a, count: 3, gpus: {type: a100-80, count: 8}, cpu: {type: "
    "epyc-7763, sockets: 2}, memory: 1TB, nics: {type: ib-hdr, count: 4}}]}\n"
    "workload: {arrival: {process: diurnal, rate: 9/h, amplitude: 50%, period: 1d, peak: 12h}, "
    "for: 1d, mix: [{recipe: pretrain, name: x, model: qwen2.5-0.5b, batch: 64, sequence: 512, "
    "steps: 40, pp: 2, vp: 2, micro_batch: 1, train: {gpus: 4, start: wake}}]}\n",
    "experiment: m\n"
    "cluster: {nodes: [{name: a, count: 3, gpus: {type: generic, count: 8}}]}\n"
    "workload: {arrival: {process: bursty, rate: 5/h, burst: {low: 0.5, high: 9, stay_low: 1h, "
    "stay_high: 1h}}, for: 1d, mix: [{recipe: trace, name: x, gpus: 2, duration: 1h}]}\n",
    "experiment: m\n"
    "cluster: {nodes: [{name: a, count: 3, price: 2USD/h, gpus: {type: generic, count: 8}, rent: "
    "{start: 0s, min: 1, ready: 90%, least: 1h, keep: 10min, slot: 1h, season: 1d, "
    "season_weight: 20%, level_weight: 10%, scale: forecast}}]}\n"
    "workload: {arrival: {process: poisson, rate: 9/h}, for: 1d, mix: [{recipe: trace, name: x, "
    "gpus: 2, duration: 1h}]}\n",
    "experiment: m\n"
    "cluster: {nodes: [{name: a, count: 3, gpus: {type: generic, count: 8}}]}\n"
    "workload: {arrival: {process: fixed, times: [0s, 1s, 2min]}, mix: [{recipe: trace, name: x, "
    "gpus: 2, duration: 1h, elastic: {min: 1, max: 4, scaling: {table: {1: 1, 2: 1.9, 4: 3}}}}, "
    "{recipe: trace, name: y, gpus: 2, duration: {hyperexponential: {10min: 1, 2h: 2}}}, {recipe: "
    "trace, name: z, gpus: {choice: {1: 1, 2: 2}}, duration: {uniform: [1s, 2s]}}, {recipe: trace, "
    "name: v, gpus: 2, duration: {exponential: {mean: 1h}, min: 1s, max: 9h}}]}\n",
};

static void try_more(void)
{
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++) {
        struct err err = { 0 };
        const struct conf_node *root = conf_parse(kept, "more", more[i], strlen(more[i]), &err);
        assert_non_null(root);
        const struct cluster_spec *cluster =
            cluster_read(kept, conf_get(root, "cluster"), catalogue, &err);
        if (cluster == NULL || workload_read(kept, conf_get(root, "workload"), catalogue, cluster,
                                             &err) == NULL)
            fail_msg("%zu:%u:%u: %s", i, err.pos.line, err.pos.col, err.text);
        try_experiment("more", root);
    }
}

static void a_value_of_another_kind_is_refused_at_its_place(void **state)
{
    struct err err = { 0 };

    (void)state;
    kept = arena_new(1 << 16);
    catalogue = catalogue_load(kept, NULL, 0, &err);
    assert_non_null(catalogue);
    try_files("experiments/*.yaml");
    try_files("experiments/*/*.yaml");
    try_worlds();
    try_more();
    print_message("%u places, %u values tried, %u refused\n", wrong_count.places,
                  wrong_count.tried, wrong_count.refusals);
    assert_int_equal(wrong_count.wrong, 0);
    assert_true(wrong_count.places > 850 && wrong_count.refusals > 5500);
    arena_free(kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_of_another_kind_is_refused_at_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
