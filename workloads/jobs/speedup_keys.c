/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * speedup_keys.c - the keys `elastic` and `rates`.
 *
 * A rate belongs to a pool, or to all pools of a GPU type.  What is not named
 * has none, and no job runs there: nothing is guessed.
 */
#include "workloads/jobs/speedup_keys.h"

#include <assert.h>
#include <string.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/jobs/job.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"

#define RATE_MIN 1e-6           /* a job a million times as slow never ends */
#define RATE_MAX 1e6
#define GPUS_MAX 100000.0       /* of a job that is resized */

/* The keys of `elastic:`. */
struct elastic_keys {
    int64_t min, max;           /* GPUs */
    const struct conf_node *scaling;    /* the law between them: its name, or a table */
};

static const struct conf_field elastic_fields[] = {
    CONF_KEY("min", CONF_INT, elastic_keys, min, CONF_REQUIRED,
             "fewest GPUs that a job can be resized to",
             .min = 1, .max = GPUS_MAX),
    CONF_KEY("max", CONF_INT, elastic_keys, max, CONF_REQUIRED,
             "most GPUs that a job can be resized to",
             .min = 1, .max = GPUS_MAX),
    CONF_KEY("scaling", CONF_NODE, elastic_keys, scaling, CONF_REQUIRED,
             "how fast it is then: linear, {amdahl: serial fraction}, {table: "
             "{1: 1, 2: 1.9, 4: 3.4}}, or rates, as the kind's own table says"),
};
const struct conf_schema speedup_elastic_schema =
    CONF_SCHEMA("workload.trace.elastic",
                "jobs of known length that can be resized", elastic_fields);

/* ---- elastic ----------------------------------------------------------- */

/* Reads a table of sizes and speedups.  Sizes must ascend, since speedups
 * between two of them are interpolated. */
static bool read_table(const struct world *world,
                       const struct conf_node *map,
                       struct job_scaling *scaling)
{
    size_t count = conf_kind(map) == CONF_MAP ? conf_count(map) : 0;
    uint32_t *gpus = arena_alloc(world->arena, count + 1, sizeof *gpus);
    double *speedup = arena_alloc(world->arena, count + 1, sizeof *speedup);

    if (count == 0 || count > SPEEDUP_SIZES_MAX)
        return err_set(world->err, ERR_SCHEMA, conf_pos(map),
                       "table must be a map of 1 to %u sizes and speedups, "
                       "such as {1: 1, 2: 1.9}", SPEEDUP_SIZES_MAX);
    for (size_t i = 0; i < count; i++) {
        struct conf_field size = {
            .key = "table", .type = CONF_INT, .min = 1, .max = GPUS_MAX};
        struct conf_field gain = {
            .key = "table", .type = CONF_REAL, .min = RATE_MIN,
            .max = RATE_MAX};
        int64_t n;

        if (!conf_read(conf_key_node(world->arena, map, i), &size, &n,
                       world->err) ||
            !conf_read(conf_value(map, i), &gain, &speedup[i], world->err))
            return false;
        gpus[i] = (uint32_t)n;
        if (i > 0 && gpus[i] <= gpus[i - 1])
            return err_set(world->err, ERR_RANGE, conf_key_pos(map, i),
                           "sizes of table must ascend, found %u after %u",
                           gpus[i], gpus[i - 1]);
    }
    *scaling = (struct job_scaling){
        .kind = SCALING_TABLE, .gpus = gpus, .speedup = speedup,
        .count = (uint32_t)count};
    return true;
}

/* Reads one of four rules: linear, Amdahl's law, a table, or the rates of the
 * job's kind. */
static bool read_scaling(const struct world *world,
                         const struct conf_node *node,
                         struct job_scaling *scaling)
{
    const struct conf_node *value;

    if (conf_kind(node) == CONF_SCALAR &&
        strcmp(conf_text(node), "linear") == 0) {
        scaling->kind = SCALING_LINEAR;
        return true;
    }
    if (conf_kind(node) == CONF_SCALAR &&
        strcmp(conf_text(node), "rates") == 0) {
        scaling->kind = SCALING_RATES;
        return true;
    }
    if (conf_kind(node) == CONF_MAP && conf_count(node) == 1) {
        struct conf_field part = {
            .key = "amdahl", .type = CONF_FRACTION, .max = 1};
        value = conf_get(node, "table");
        if (value != NULL)
            return read_table(world, value, scaling);
        value = conf_get(node, "amdahl");
        scaling->kind = SCALING_AMDAHL;
        if (value != NULL)
            return conf_read(value, &part, &scaling->serial_fraction,
                             world->err);
    }
    return err_set(world->err, ERR_SCHEMA, conf_pos(node),
                   "scaling must be linear, rates, {amdahl: serial fraction} "
                   "or {table: {size: speedup, ...}}");
}

/* Reads the sizes that a job may have, and the rule of its speed there. */
static bool read_elastic(const struct world *world,
                         const struct conf_node *conf, struct job_form *form)
{
    struct job_scaling *scaling = arena_alloc(world->arena, 1,
                                              sizeof *scaling);
    struct elastic_keys keys = {0};

    if (!conf_fill(conf, &speedup_elastic_schema, &keys, world->err) ||
        !read_scaling(world, keys.scaling, scaling))
        return false;
    scaling->gpus_min = (uint32_t)keys.min;
    scaling->gpus_max = (uint32_t)keys.max;
    form->scaling = scaling;
    if (keys.min <= keys.max)
        return true;
    return err_set(world->err, ERR_RANGE, conf_pos(conf),
                   "elastic must have min <= max, found %u and %u",
                   scaling->gpus_min, scaling->gpus_max);
}

bool speedup_check_size(const struct job_scaling *scaling, uint32_t gpus,
                        struct err_pos pos, struct err *err)
{
    if (scaling == NULL || scaling->kind != SCALING_TABLE ||
        scaling_speedup(scaling, gpus) > 0.0)
        return true;
    assert(scaling->count > 0);
    err_set(err, ERR_RANGE, pos,
            "a job asks for %u GPUs, and the table of elastic goes from %u to %u: its speed "
            "on other sizes is not known", gpus, scaling->gpus[0],
            scaling->gpus[scaling->count - 1]);
    return err_hint(err, "Add that size to scaling.table, or leave such jobs out.");
}

/* ---- rates -------------------------------------------------------------- */

/* A pool goes before a GPU type of the same name.  An alias of the catalogue
 * counts as its type. */
uint32_t speedup_pools_named(const struct world *world, const char *name)
{
    const struct cluster_spec *cluster = world->cluster;
    uint32_t pool = cluster_pool(cluster, name), mask = 0;

    if (pool != UINT32_MAX)
        return 1u << pool;
    const struct gpu_type *gpu = catalogue_gpu(world->catalogue, name);
    if (gpu != NULL)
        name = gpu->name;       /* of an alias */
    for (uint32_t g = 0; g < cluster->group_count; g++)
        if (cluster->group[g].gpu != NULL &&
            strcmp(cluster->group[g].gpu->name, name) == 0)
            mask |= 1u << cluster->group[g].pool;
    return mask;
}

/* Adds the nearest name of a pool or GPU type of the cluster to *err, if one is near. */
static void hint_pool(const struct world *world, const char *name)
{
    const struct cluster_spec *cluster = world->cluster;
    const char **names = arena_alloc(world->arena, cluster->pool_count +
                                     cluster->group_count + 1, sizeof *names);
    const char *near;
    size_t count = 0;

    for (uint32_t p = 0; p < cluster->pool_count; p++)
        names[count++] = cluster->pool_name[p];
    for (uint32_t g = 0; g < cluster->group_count; g++)
        if (cluster->group[g].gpu != NULL)
            names[count++] = cluster->group[g].gpu->name;
    near = conf_nearest(name, names);
    if (near != NULL)
        err_hint(world->err, "The nearest is %s.", near);
}

uint32_t speedup_pools_key(const struct world *world, const char *what,
                           const struct conf_node *map, size_t i,
                           uint32_t *taken)
{
    const char *name = conf_key(map, i);
    uint32_t mask = speedup_pools_named(world, name);

    if (mask == 0) {
        err_set(world->err, ERR_REFERENCE, conf_key_pos(map, i),
                "%s names %s, which is no pool and no GPU type of the cluster",
                what, name);
        hint_pool(world, name);
        return 0;
    }
    if ((*taken & mask) != 0) {
        err_set(world->err, ERR_RANGE, conf_key_pos(map, i),
                "%s.%s is of a pool that a key above names, too", what, name);
        err_hint(world->err, "Name each pool once, by itself or by its GPU "
                             "type.");
        return 0;
    }
    *taken |= mask;
    return mask;
}

void speedup_set_rate(double *row, uint32_t pools, uint32_t mask, double rate)
{
    for (uint32_t p = 0; p < pools; p++)
        if (mask >> p & 1)
            row[p] = rate;
}

/* Reads `rates:` into one row that holds for all sizes.  A pool that is not
 * named has rate 0: no job runs there. */
static bool read_rates(const struct world *world,
                       const struct conf_node *map,
                       const struct job_rates **out)
{
    uint32_t pools = world->cluster->pool_count;
    struct job_rates *rates = arena_alloc(world->arena, 1, sizeof *rates);
    double *row = arena_alloc(world->arena, pools, sizeof *row);

    if (conf_kind(map) != CONF_MAP)
        return err_set(world->err, ERR_SCHEMA, conf_pos(map),
                       "rates must be a map of pools or GPU types, such as "
                       "{v100: 1, k80: 0.25}");
    for (size_t i = 0; i < conf_count(map); i++) {
        struct conf_field field = {
            .key = conf_key(map, i), .type = CONF_REAL, .min = RATE_MIN,
            .max = RATE_MAX};
        uint32_t mask = speedup_pools_key(world, "rates", map, i,
                                          &rates->pool_mask);
        double rate;

        if (mask == 0 ||
            !conf_read(conf_value(map, i), &field, &rate, world->err))
            return false;
        speedup_set_rate(row, pools, mask, rate);
    }
    rates->pool_count = pools;
    rates->rate = row;
    *out = rates;
    return true;
}

/* A scalar `rates` (the word lengths) is read by the caller, from a file of
 * rates.  Scaling by rates needs such a file. */
bool speedup_keys_read(const struct world *world, const struct conf_node *elastic,
                       const struct conf_node *rates, struct job_form *form,
                       const struct job_rates **out)
{
    *out = NULL;
    form->paced = elastic != NULL || rates != NULL;
    if (elastic != NULL && !read_elastic(world, elastic, form))
        return false;
    if (elastic != NULL && rates == NULL &&
        form->scaling->kind == SCALING_RATES)
        return err_set(world->err, ERR_SCHEMA, conf_pos(elastic),
                       "scaling rates needs rates by size: rates: lengths of "
                       "format gavel");
    return rates == NULL || conf_kind(rates) == CONF_SCALAR ||
           read_rates(world, rates, out);
}

uint32_t speedup_gpus_max(const struct world *world, uint32_t pool_mask)
{
    const struct cluster_spec *cluster = world->cluster;
    uint32_t most = 0;

    for (uint32_t g = 0; g < cluster->group_count; g++) {
        uint32_t sum = 0;

        for (uint32_t h = 0; h < cluster->group_count; h++)
            if (cluster->group[h].gpu == cluster->group[g].gpu &&
                (pool_mask == 0 || pool_mask >> cluster->group[h].pool & 1))
                sum += cluster->group[h].gpus * cluster->group[h].node_count;
        if (cluster->group[g].gpu != NULL && sum > most)
            most = sum;
    }
    return most;
}
