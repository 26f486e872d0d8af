/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * wrong_values_test.c - each value that the shipped clusters, workloads and policies have,
 * replaced by one of another kind: what reads it refuses it, at its place.
 *
 * The replacement comes from a text called "wrong", so an error's place says whether it is
 * that of the value.  Keys that stand at the same place of a tree are tried once.
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
#include "workloads/source.h"

#define PLACES 16384             /* of the hash table of places */

/* One part of an experiment, and what reads it; NULL: refused. */
struct part {
    const char *name;
    const struct conf_node *root;
    const struct cluster_spec *cluster;         /* of a workload */
    const void *(*read)(const struct part *part, struct arena *arena,
                        const struct conf_node *root, struct err *err);
};

static const struct catalogue *catalogue;
static struct arena *kept;
static uint64_t place_seen[PLACES];
static unsigned places, tried, refusals, wrong;

static const void *read_cluster(const struct part *part, struct arena *arena,
                                const struct conf_node *root, struct err *err)
{
    (void)part;
    return cluster_read(arena, root, catalogue, err);
}

static const void *read_workload(const struct part *part, struct arena *arena,
                                 const struct conf_node *root, struct err *err)
{
    return workload_read(arena, root, catalogue, part->cluster, err);
}

static const void *read_policy(const struct part *part, struct arena *arena,
                               const struct conf_node *root, struct err *err)
{
    (void)part;
    return host_policy_read(arena, root, err);
}

/* Is it the first time that this place of a tree is seen? */
static bool is_new(const char *place)
{
    uint64_t sum = 1469598103934665603u;

    for (; *place != '\0'; place++)
        sum = (sum ^ (unsigned char)*place) * 1099511628211u;
    for (uint64_t i = sum % PLACES;; i = (i + 1) % PLACES) {
        if (place_seen[i] == sum)
            return false;
        if (place_seen[i] != 0)
            continue;
        place_seen[i] = sum;
        assert_true(++places < PLACES / 2);
        return true;
    }
}

/* What a replaced value must lead to. */
enum must {
    ANYTHING,           /* some take it; who refuses it says so with a place */
    REFUSED,            /* at its place, or at the map that needs it */
    REFUSED_THERE
};

/* Reads the part with the value at a path replaced. */
static void try(const struct part *part, const char *path, const char *value, enum must must)
{
    struct arena *arena = arena_new(1 << 16);
    struct err err = { 0 };
    const struct conf_node *node = conf_parse(arena, "wrong", value, strlen(value), &err);
    char said[2000];

    assert_non_null(node);
    node = *path == '\0' ? node : conf_set(arena, part->root, path, node, conf_pos(node), &err);
    assert_non_null(node);
    bool refused = part->read(part, arena, node, &err) == NULL;
    bool placed = err.kind == ERR_IO || (err.pos.file != NULL && err.pos.line > 0);
    bool there = err.pos.file != NULL && strcmp(err.pos.file, "wrong") == 0;
    bool good = refused == (err.kind != ERR_NONE) && (!refused || (placed && *err.text != '\0')) &&
                (must == ANYTHING || (refused && (must == REFUSED || there)));
    tried++;
    refusals += refused;
    if (!good) {
        err_format(&err, said, sizeof said);
        print_message("%s: %s: %s is %s%s: %s\n", part->name, path, value,
                      refused ? "refused" : "read", there ? "" : " elsewhere", said);
        wrong++;
    }
    arena_free(arena);
}

/* Values of another kind than those of a node. */
static void try_node(const struct part *part, const struct conf_node *node, const char *path,
                     const char *key)
{
    static const char *const others[] = { "zzz", "-7", "0", "1e30", "\"\"", "true" };
    enum conf_kind kind = conf_kind(node);
    bool chooses = strcmp(key, "recipe") == 0 || strcmp(key, "policy") == 0;
    char unknown[310];

    if (kind == CONF_SCALAR) {
        try(part, path, "{zzz: 1}", chooses ? REFUSED : REFUSED_THERE);
        try(part, path, "[]", chooses ? REFUSED : REFUSED_THERE);
        for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
            try(part, path, others[i], ANYTHING);
        return;
    }
    try(part, path, "zzz", REFUSED_THERE);
    try(part, path, kind == CONF_MAP ? "[]" : "{zzz: 1}", REFUSED_THERE);
    try(part, path, kind == CONF_MAP ? "{}" : "[]", ANYTHING);
    try(part, path, kind == CONF_MAP ? "{name: 1}" : "[1]", ANYTHING);
    if (kind == CONF_MAP) {
        snprintf(unknown, sizeof unknown, "%s%szzz", path, *path != '\0' ? "." : "");
        try(part, unknown, "1", strcmp(key, "scaling") == 0 ? REFUSED : REFUSED_THERE);
    }
}

/* path: of the node in the part; place: the same for nodes alike in all parts. */
static void walk(const struct part *part, const struct conf_node *node, const char *path,
                 const char *place, const char *key)
{
    enum conf_kind kind = conf_kind(node);
    const struct conf_node *recipe = kind == CONF_MAP ? conf_get(node, "recipe") : NULL;
    const char *dot = *path != '\0' ? "." : "";
    char below[300], there[300];

    if (is_new(place))
        try_node(part, node, path, key);
    for (size_t i = 0; kind == CONF_LIST && i < conf_count(node); i++) {
        snprintf(below, sizeof below, "%s%s%zu", path, dot, i);
        snprintf(there, sizeof there, "%s[]", place);
        walk(part, conf_item(node, i), below, there, "");
    }
    for (size_t i = 0; kind == CONF_MAP && i < conf_count(node); i++) {
        key = conf_key(node, i);
        if (strpbrk(key, ".*") != NULL || strcmp(key, "with") == 0)
            continue;
        snprintf(below, sizeof below, "%s%s%s", path, dot, key);
        snprintf(there, sizeof there, "%s.%s%s%s", place, recipe != NULL ? conf_text(recipe) : "",
                 recipe != NULL ? ":" : "", key);
        walk(part, conf_value(node, i), below, there, key);
    }
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
    struct part part = { .name = name, .read = read_policy };
    char place[100];

    for (size_t i = 0; conf_kind(list) == CONF_LIST && i < conf_count(list); i++) {
        struct err err = { 0 };
        part.root = conf_item(list, i);
        if (conf_kind(part.root) != CONF_MAP || conf_get(part.root, "policy") == NULL ||
            host_policy_read(kept, part.root, &err) == NULL)
            continue;
        snprintf(place, sizeof place, "%s", conf_text(conf_get(part.root, "policy")));
        walk(&part, part.root, "", place, "");
    }
}

/* The parts of an experiment that can be read without what a sweep sets. */
static void try_experiment(const char *path, const struct conf_node *root)
{
    struct err err = { 0 };
    struct part part = { .name = path, .read = read_cluster };

    if (root == NULL || conf_kind(root) != CONF_MAP || conf_get(root, "experiment") == NULL)
        return;
    part.root = part_of(root, path, "cluster");
    part.cluster = part.root == NULL ? NULL : cluster_read(kept, part.root, catalogue, &err);
    if (part.cluster == NULL)
        return;
    walk(&part, part.root, "", "cluster", "");
    part.read = read_workload;
    part.root = part_of(root, path, "workload");
    if (part.root != NULL &&
        workload_read(kept, part.root, catalogue, part.cluster, &err) != NULL)
        walk(&part, part.root, "", "workload", "");
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
    print_message("%u places, %u values tried, %u refused\n", places, tried, refusals);
    assert_int_equal(wrong, 0);
    assert_true(places > 850 && refusals > 5500);
    arena_free(kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_of_another_kind_is_refused_at_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
