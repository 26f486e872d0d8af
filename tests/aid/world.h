/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * world.h - small worlds for tests: an experiment from text, a trace from an
 * array, a trial run with any policy table, and the ends of its jobs.
 */
#ifndef TESTS_WORLD_H
#define TESTS_WORLD_H

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/columns/columns.h"
#include "experiments/run/trial.h"
#include "experiments/spec/experiment.h"
#include "policies/host/host.h"
#include "policies/registry/heeds.h"
#include "policies/registry/registry.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/base/rng.h"
#include "sim/text/table.h"

#define WORLD_JOBS_MAX 600

struct world_job {
    int64_t submit_s, duration_s;
    uint32_t gpus;
    double start_s, end_s;              /* answers; -1: never */
};

struct world {
    char folder[64];
    struct arena *arena;
    const struct experiment *experiment;
    struct err err;
    uint32_t vain_max;                  /* see trial_spec */
    uint32_t tenants;                   /* jobs are of; 0: of none */
};

static inline void world_write(const struct world *world, const char *name,
                               const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", world->folder, name);
    FILE *file = fopen(path, "w");
    assert(file);
    fputs(text, file);
    assert(fclose(file) == 0);
}

/* The experiment is read from the world's folder. */
static inline bool world_open(struct world *world, const char *experiment)
{
    char path[128];
    struct experiment_options options = { 0 };

    if (!world->folder[0]) {
        strcpy(world->folder, "/tmp/clustersim-test-XXXXXX");
        assert(mkdtemp(world->folder));
    }
    world->arena = arena_new(1 << 16);
    world_write(world, "experiment.yaml", experiment);
    snprintf(path, sizeof path, "%s/experiment.yaml", world->folder);
    world->experiment = experiment_read(world->arena, path, &options, &world->err);
    return world->experiment != NULL;
}

static inline void world_close(struct world *world)
{
    char path[128];
    const char *files[] = { "experiment.yaml", "jobs.csv" };

    arena_free(world->arena);
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", world->folder, files[i]);
        unlink(path);
    }
    rmdir(world->folder);
}

static inline const char *world_error(const struct world *world)
{
    return world->err.text;
}

/* The columns of jobs.csv as these worlds write it. */
#define WORLD_TRACE "workload: {trace: {file: jobs.csv, format: csv, origin: " \
    "file, columns: {job: job, submit: submit, duration: duration, gpus: " \
    "gpus, tenant: tenant}}}\n"

/* A trace of jobs on a cluster whose keys are given. */
static inline bool world_trace_on(struct world *world, const char *cluster,
                                  const struct world_job *job, uint32_t jobs,
                                  const char *policies, uint32_t seeds)
{
    char *csv = malloc(80 * (jobs + 1)), text[3072];
    size_t n = (size_t)sprintf(csv, "job,submit,duration,gpus,tenant\n");

    assert(csv);
    strcpy(world->folder, "/tmp/clustersim-test-XXXXXX");
    assert(mkdtemp(world->folder));
    for (uint32_t i = 0; i < jobs; i++) {
        n += (size_t)sprintf(csv + n, "%u,%lld,%lld,%u,", i,
                             (long long)job[i].submit_s,
                             (long long)job[i].duration_s, job[i].gpus);
        if (world->tenants > 0)
            n += (size_t)sprintf(csv + n, "t%u", i * 7 % world->tenants);
        n += (size_t)sprintf(csv + n, "\n");
    }
    world_write(world, "jobs.csv", csv);
    free(csv);
    snprintf(text, sizeof text,
             "experiment: t\nseeds: %u\nuntil: drained\ncluster: {%s}\n"
             WORLD_TRACE "policies: %s\n", seeds, cluster, policies);
    return world_open(world, text);
}

/* The same on nodes x per_node equal GPUs. */
static inline bool world_trace(struct world *world, uint32_t nodes,
                               uint32_t per_node, const struct world_job *job,
                               uint32_t jobs, const char *policies)
{
    char cluster[128];

    snprintf(cluster, sizeof cluster, "nodes: [{name: n, count: %u, gpus: "
             "{type: generic, count: %u}}]", nodes, per_node);
    return world_trace_on(world, cluster, job, jobs, policies, 1);
}

/* Of the first row of such a table. */
static inline double world_column(const struct table *table,
                                  const struct csv_kind *kind,
                                  const char *name)
{
    size_t bytes, at = 0;
    const char *row = table_bytes(table, &bytes);

    while (strcmp(kind->columns[at].name, name) != 0)
        at++;
    for (; at > 0; at--)
        row = strchr(row, ',') + 1;
    return atof(row);
}

/* Columns 3, 6 and 7 of a row of jobs.csv: number, start, end. */
static inline void world_job_row(const char *row, struct world_job *job)
{
    const char *field[8] = { row };

    for (int f = 1; f < 8; f++)
        field[f] = strchr(field[f - 1], ',') + 1;
    struct world_job *out = &job[atoi(field[3])];
    out->start_s = *field[6] == ',' ? -1 : atof(field[6]);
    out->end_s = *field[7] == ',' ? -1 : atof(field[7]);
}

/* Runs trial i, with another policy table if one is given. */
static inline bool world_run(struct world *world, uint32_t i,
                             const struct host_policy *policy,
                             struct world_job *job,
                             struct trial_result *result)
{
    struct trial_spec spec = experiment_trial_spec(world->experiment, i);
    struct trial_tables tables = { 0 };
    struct trial_result own;

    spec.vain_max = world->vain_max;
    if (policy)
        spec.policy = policy;
    if (job)
        tables.jobs = table_new(csv_jobs.columns, csv_jobs.count);
    memset(&world->err, 0, sizeof world->err);
    bool ok = trial_run(&spec, &tables, result ? result : &own, &world->err);
    if (job) {
        size_t bytes;
        const char *rows = table_bytes(tables.jobs, &bytes);
        for (const char *at = rows; at < rows + bytes;
             at = strchr(at, '\n') + 1)
            world_job_row(at, job);
        table_free(tables.jobs);
    }
    return ok;
}

/* Do all keys of ", key: value, key: value" act on the policy that `text` begins
 * with the name of? */
static inline bool world_accepts(const char *text, const char *keys)
{
    char name[32], key[32];
    int depth = 0;

    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, ", "), text);
    for (const char *at = keys; *at != '\0'; at++) {
        depth += (*at == '{') - (*at == '}');
        if (*at != ',' || depth > 0)
            continue;
        snprintf(key, sizeof key, "%.*s", (int)strcspn(at + 2, ":"), at + 2);
        if (!policy_accepts_key(registry_find(name), key))
            return false;
    }
    return true;
}

/* A host_policy around a table, with the default semantics. */
static inline struct host_policy world_policy(const struct cs_policy *policy)
{
    struct host_policy out = {
        .name = policy->name, .policy = policy, .semantics = "",
        .rules = { .blocking = HOST_STRICT, .placement = PLACE_COUNT },
    };
    return out;
}

/* Random trace: many equal submit times, gangs of 1 to 8 GPUs. */
static inline void world_random_jobs(uint64_t seed, struct world_job *job,
                                     uint32_t jobs)
{
    struct rng rng;
    int64_t at = 0;

    rng_init(&rng, seed, "world", 0);
    for (uint32_t i = 0; i < jobs; i++) {
        at += (int64_t)rng_below(&rng, 4) * (int64_t)rng_below(&rng, 40);
        job[i] = (struct world_job) {
            .submit_s = at,
            .duration_s = 1 + (int64_t)rng_below(&rng, 200),
            .gpus = 1u << rng_below(&rng, 4),
        };
    }
}

#endif
