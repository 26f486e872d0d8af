/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * speedup_keys.c - the keys `elastic` and `rates`, and Gavel's table of rates, alone
 * and in pairs.
 *
 * A rate belongs to a pool, or to all pools of a GPU type.  What is not named
 * has none, and no job runs there: nothing is guessed.
 */
#include "workloads/jobs/speedup_keys.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/jobs/job.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/json.h"
#include "sim/text/scan.h"

#define RATE_MIN 1e-6           /* a job a million times as slow never ends */
#define RATE_MAX 1e6
#define SIZES_MAX 64u           /* rows of a table */
#define GPUS_MAX 100000.0

struct elastic_keys {
    int64_t min, max;
    const struct conf_node *scaling;
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

/* Sizes must ascend: speedups between them are interpolated. */
static bool read_table(const struct world *world,
                       const struct conf_node *map,
                       struct job_scaling *scaling)
{
    size_t count = conf_kind(map) == CONF_MAP ? conf_count(map) : 0;
    uint32_t *gpus = arena_alloc(world->arena, count + 1, sizeof *gpus);
    double *speedup = arena_alloc(world->arena, count + 1, sizeof *speedup);

    if (count == 0 || count > SIZES_MAX)
        return err_set(world->err, ERR_SCHEMA, conf_pos(map),
                       "table must be a map of 1 to %u sizes and speedups, "
                       "such as {1: 1, 2: 1.9}", SIZES_MAX);
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

/* One of four rules: linear, Amdahl's law, a table, or the rates of the
 * kind. */
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

/* Sizes that a job may have, and the rule of its speed on them. */
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

/* ---- rates -------------------------------------------------------------- */

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

/* Sets the rate of a row in all pools of the mask. */
static void set_rate(double *row, uint32_t pools, uint32_t mask, double rate)
{
    for (uint32_t p = 0; p < pools; p++)
        if (mask >> p & 1)
            row[p] = rate;
}

/* One row for all sizes: the rate in each pool that is named. */
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
        uint32_t mask = speedup_pools_named(world, conf_key(map, i));
        double rate;

        if (mask == 0)
            return err_set(world->err, ERR_REFERENCE, conf_key_pos(map, i),
                           "rates names %s, which is no pool and no GPU type "
                           "of the cluster", conf_key(map, i));
        if (!conf_read(conf_value(map, i), &field, &rate, world->err))
            return false;
        set_rate(row, pools, mask, rate);
        rates->pool_mask |= mask;
    }
    rates->pool_count = pools;
    rates->rate = row;
    *out = rates;
    return true;
}

/* Reads how fast a job is with other GPUs: `elastic` by its size, `rates` by
 * type; scaling by rates needs a file of them. */
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

/* ---- Gavel's rates ------------------------------------------------------- */

/* One kind of job of the file, while it is read and after. */
struct kind {
    const char *name;
    struct job_rates rates;
    uint32_t gpus[SIZES_MAX];
    double *known;              /* by size: where lengths are known */
    double *rate;
    struct job_beside *beside;  /* rates.beside, as it grows */
    uint32_t beside_room;
    struct kind *next;
};

struct speedup_kinds {
    struct kind *first;
    uint32_t pools;
};

/* "('LM (batch size 5)', 2)" -> the name and the size. */
static bool split_key(const char *key, char *name, size_t room,
                      uint32_t *gpus)
{
    const char *end = strrchr(key, '\'');
    char *after;

    if (strncmp(key, "('", 2) != 0 || end == NULL || end < key + 2 ||
        (size_t)(end - key - 2) >= room || end[1] != ',')
        return false;
    memcpy(name, key + 2, (size_t)(end - key - 2));
    name[end - key - 2] = '\0';
    *gpus = (uint32_t)strtoul(end + 2, &after, 10);
    return *after == ')' && *gpus > 0;
}

/* Returns the kind of that name, and makes it when it is first named. */
static struct kind *find_kind(const struct world *world,
                              struct speedup_kinds *kinds, const char *name)
{
    struct kind *kind = kinds->first;

    while (kind != NULL && strcmp(kind->name, name) != 0)
        kind = kind->next;
    if (kind != NULL)
        return kind;
    kind = arena_alloc(world->arena, 1, sizeof *kind);
    kind->name = arena_text(world->arena, name);
    kind->known = arena_alloc(world->arena, SIZES_MAX, sizeof *kind->known);
    kind->rate = arena_alloc(world->arena, (size_t)SIZES_MAX * kinds->pools,
                             sizeof *kind->rate);
    kind->rates = (struct job_rates){
        .pool_count = kinds->pools, .gpus = kind->gpus, .rate = kind->rate};
    kind->next = kinds->first;
    kinds->first = kind;
    return kind;
}

/* UINT32_MAX: there is no room for another size. */
static uint32_t find_size(struct kind *kind, uint32_t gpus)
{
    uint32_t i = 0;

    while (i < kind->rates.size_count && kind->gpus[i] != gpus)
        i++;
    if (i == SIZES_MAX)
        return UINT32_MAX;
    if (i == kind->rates.size_count) {
        kind->gpus[i] = gpus;
        kind->rates.size_count++;
    }
    return i;
}

/* One reading of a file of rates by kind. */
struct kinds_reading {
    const struct world *world;
    struct speedup_kinds *kinds;
    const char *known;          /* the type on which lengths are known */
};

/* Adds the rate of one kind and size on one type of GPU. */
static bool add_rate(struct kinds_reading *reading, struct json *json,
                     const char *type, const char *key, double rate)
{
    char name[256];
    uint32_t gpus, mask = speedup_pools_named(reading->world, type), row;

    if (!split_key(key, name, sizeof name, &gpus))
        return err_set(reading->world->err, ERR_SYNTAX, json_pos(json),
                       "expected a kind of job and its GPUs, such as "
                       "('LM (batch size 5)', 1), found \"%.60s\"", key);
    struct kind *kind = find_kind(reading->world, reading->kinds, name);
    row = find_size(kind, gpus);
    if (row == UINT32_MAX)
        return err_set(reading->world->err, ERR_RANGE, json_pos(json),
                       "%.60s has more than %u sizes", name, SIZES_MAX);
    if (!(rate > 0.0))          /* it does not run there */
        return true;
    set_rate(kind->rate + (size_t)row * reading->kinds->pools,
             reading->kinds->pools, mask, rate);
    if (strcmp(type, reading->known) == 0)
        kind->known[row] = rate;
    return true;
}

/* The pair of a kind with another, made when it is first named. */
static struct job_beside *find_pair(struct kinds_reading *reading,
                                    struct kind *kind, const struct kind *other,
                                    uint32_t gpus)
{
    uint32_t count = kind->rates.beside_count;

    for (uint32_t i = 0; i < count; i++)
        if (kind->beside[i].other == &other->rates &&
            kind->beside[i].gpus == gpus)
            return &kind->beside[i];
    ARENA_REACH(reading->world->arena, kind->beside, kind->beside_room, count);
    kind->rates.beside = kind->beside;
    kind->beside[count] = (struct job_beside){
        &other->rates, gpus,
        arena_alloc(reading->world->arena, reading->kinds->pools,
                    sizeof *kind->rate)};
    kind->rates.beside_count++;
    return &kind->beside[count];
}

/* [own, other] rates of a pair; what it reaches itself. */
static bool read_own(struct json *json, double *own, struct err *err)
{
    double rate[2];
    size_t bytes;

    if (!json_expect(json, JSON_ARRAY, "[own rate, the other's]", err))
        return false;
    for (int i = 0; i < 2; i++) {
        if (!json_expect(json, JSON_NUMBER, "a rate in steps/s", err))
            return false;
        const char *text = json_text(json, &bytes);
        if (!scan_f64(text, bytes, &rate[i]) || !(rate[i] >= 0.0))
            return err_set(err, ERR_RANGE, json_pos(json),
                           "rates of a pair must not be negative, found %.*s",
                           (int)bytes, text);
    }
    *own = rate[1] > 0.0 ? rate[0] : 0.0;
    return json_expect(json, JSON_ARRAY_END, "the end of a pair", err);
}

/* A kind beside another on the GPUs of that type: what stands at the key read
 * last.  Both of the same size, since the host puts no others together: pairs
 * of unlike sizes are passed over. */
static bool read_pair(struct kinds_reading *reading, struct json *json,
                      const char *type, const char *key)
{
    const struct world *world = reading->world;
    uint32_t gpus, other_gpus, mask = speedup_pools_named(world, type);
    char name[256], other[256];
    size_t bytes;
    double own = 0;

    if (!split_key(json_text(json, &bytes), other, sizeof other,
                   &other_gpus))
        return err_set(world->err, ERR_SYNTAX, json_pos(json),
                       "expected null or a kind of job and its GPUs, such as "
                       "('LM (batch size 5)', 1), found \"%.60s\"",
                       json_text(json, &bytes));
    if (!read_own(json, &own, world->err))
        return false;
    if (!split_key(key, name, sizeof name, &gpus) || gpus != other_gpus ||
        !(own > 0.0) || mask == 0)
        return true;
    struct kind *kind = find_kind(world, reading->kinds, name);
    struct kind *with = find_kind(world, reading->kinds, other);
    set_rate(find_pair(reading, kind, with, gpus)->rate,
             reading->kinds->pools, mask, own);
    return true;
}

/* "('job type', 1)": {"null": 4.0, "('other', 1)": [1.0, 2.0], ...} */
static bool read_kind(struct kinds_reading *reading, struct json *json,
                      const char *type)
{
    struct err *err = reading->world->err;
    size_t bytes;
    const char *key = arena_text(reading->world->arena,
                                 json_text(json, &bytes));
    enum json_token token;

    if (!json_expect(json, JSON_OBJECT, "an object of rates", err))
        return false;
    while ((token = json_next(json, err)) == JSON_KEY) {
        double rate;

        if (strcmp(json_text(json, &bytes), "null") != 0) {
            if (!read_pair(reading, json, type, key))
                return false;
            continue;
        }
        token = json_next(json, err);
        const char *text = json_text(json, &bytes);
        if (token == JSON_ERROR)
            return false;
        if (token != JSON_NUMBER || !scan_f64(text, bytes, &rate))
            return err_set(err, ERR_SYNTAX, json_pos(json),
                           "\"null\" must be a rate in steps/s");
        if (!add_rate(reading, json, type, key, rate))
            return false;
    }
    return token == JSON_OBJECT_END;
}

/* Types that the cluster does not have are passed over, but for the one on
 * which lengths were measured. */
static bool read_kinds(struct kinds_reading *reading, struct json *json)
{
    struct err *err = reading->world->err;
    enum json_token token;
    size_t bytes;

    if (!json_expect(json, JSON_OBJECT, "a JSON of Gavel's throughputs", err))
        return false;
    while ((token = json_next(json, err)) == JSON_KEY) {
        const char *type = arena_text(reading->world->arena,
                                      json_text(json, &bytes));
        if (speedup_pools_named(reading->world, type) == 0 &&
            strcmp(type, reading->known) != 0) {
            if (!json_skip(json, json_next(json, err), err))
                return false;
            continue;
        }
        if (!json_expect(json, JSON_OBJECT, "an object of jobs", err))
            return false;
        while ((token = json_next(json, err)) == JSON_KEY)
            if (!read_kind(reading, json, type))
                return false;
        if (token != JSON_OBJECT_END)
            return false;
    }
    return token == JSON_OBJECT_END;
}

/* Pools where a kind can run at some size; those of all. */
static uint32_t find_pools(struct speedup_kinds *kinds)
{
    uint32_t all = 0;

    for (struct kind *kind = kinds->first; kind; kind = kind->next)
        for (uint32_t p = 0; p < kinds->pools; p++)
            for (uint32_t s = 0; s < kind->rates.size_count; s++)
                if (kind->rate[s * kinds->pools + p] > 0.0) {
                    kind->rates.pool_mask |= 1u << p;
                    all |= 1u << p;
                }
    return all;
}

const struct speedup_kinds *speedup_kinds_read(const struct world *world,
                                               const struct conf_node *at,
                                               const char *path,
                                               const char *type)
{
    struct speedup_kinds *kinds = arena_alloc(world->arena, 1, sizeof *kinds);
    struct kinds_reading reading = {world, kinds, type};
    struct json *json = json_open(world->arena, path, world->err);

    kinds->pools = world->cluster->pool_count;
    bool good = json != NULL && read_kinds(&reading, json);
    json_close(json);
    if (!good)
        return NULL;
    if (find_pools(kinds) != 0)
        return kinds;
    err_set(world->err, ERR_REFERENCE, conf_pos(at),
            "no type in %s is a pool or a GPU type of the cluster", path);
    err_hint(world->err, "Call the pools as the file calls its types, such "
                         "as v100, p100 and k80.");
    return NULL;
}

/* Finds the rates of a kind of job by name; NULL unless the size is one that
 * was measured.  *rate_known is the rate at which its length holds. */
const struct job_rates *speedup_kind(const struct speedup_kinds *kinds,
                                     const char *name, uint32_t gpus,
                                     double *rate_known)
{
    const struct kind *kind = kinds->first;

    while (kind != NULL && strcmp(kind->name, name) != 0)
        kind = kind->next;
    for (uint32_t i = 0; kind != NULL && i < kind->rates.size_count; i++)
        if (kind->gpus[i] == gpus && kind->known[i] > 0.0) {
            *rate_known = kind->known[i];
            return &kind->rates;
        }
    return NULL;
}
