/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * family_aid.h - small worlds of jobs with phases, and their tables as rows.
 *
 * The world: 64 GPUs in two pools and CPU nodes (models/clusters/mixed_64),
 * short DPO and GRPO jobs whose roles may run in either pool.
 */
#ifndef TESTS_FAMILY_AID_H
#define TESTS_FAMILY_AID_H

#include "tests/aid/program.h"
#include "tests/aid/world.h"
#include "workloads/source.h"

#define FAMILY_ROLES \
    "rollout: {gpus: 8, min: 4, max: 16, types: [l40s, a100-80], " \
    "start: %s}, " \
    "train: {gpus: 8, min: 4, max: 16, types: [a100-80, l40s], " \
    "start: %s}, " \
    "data: {cores: 8, pool: cpu}"
#define FAMILY_DPO \
    "{recipe: dpo, name: dpo, model: qwen2.5-7b, method: lora, " \
    "recompute: full, zero: 2, prompts: 64, pairs: 1, prompt_tokens: 256, " \
    "response: {mean: 200, cv: 1, max: 1024}, " \
    "reward: {on: cpu, core_time: 100ms}, steps: {uniform: [3, 8]}, " \
    "checkpoint_every: 2, " FAMILY_ROLES "}"
#define FAMILY_GRPO \
    "{recipe: grpo, name: grpo, model: llama-2-13b, method: lora, " \
    "recompute: full, zero: 2, prompts: 32, prompt_tokens: 256, " \
    "response: {mean: 300, cv: 1, max: 1024}, " \
    "reward: {on: cpu, core_time: 100ms}, steps: {uniform: [3, 8]}, " \
    FAMILY_ROLES "}"
#define FAMILY_ALL \
    "static, dynamic, hybrid, learned, random, fcfs, " \
    "{policy: fcfs, name: skip, blocking: skip}"

/* arrival: as in a workload file; jobs of both kinds.  start: what a role
 * that comes back has to do, `wake` or `process`. */
static inline bool family_open_start(struct world *world, const char *arrival,
                                     uint32_t jobs, uint32_t seeds,
                                     const char *policies, const char *start)
{
    char text[4096], here[512];

    assert(getcwd(here, sizeof here));
    int n = snprintf(text, sizeof text,
                     "experiment: family\nseeds: %u\nuntil: drained\n"
                     "cluster: %s/models/clusters/mixed_64.yaml\n"
                     "workload: {arrival: %s, jobs: %u, mix: [" FAMILY_DPO
                     ", " FAMILY_GRPO "]}\npolicies: [%s]\n", seeds, here,
                     arrival, jobs, start, start, start, start, policies);
    assert(n > 0 && (size_t)n < sizeof text);
    if (world_open(world, text))
        return true;
    fprintf(stderr, "%s\n", world->err.text);
    return false;
}

static inline bool family_open(struct world *world, const char *arrival,
                               uint32_t jobs, uint32_t seeds,
                               const char *policies)
{
    return family_open_start(world, arrival, jobs, seeds, policies, "wake");
}

/* One trial with all its tables, kept as text with header lines. */
struct family_run {
    struct trial_result result;
    char *jobs, *phases, *decisions;
};

static inline char *family_text(const struct table *table,
                                const struct csv_kind *kind)
{
    size_t bytes, head = table_header(kind->columns, kind->count, NULL, 0);
    const char *rows = table_bytes(table, &bytes);
    char *text = malloc(head + bytes + 1);

    assert(text);
    table_header(kind->columns, kind->count, text, head + 1);
    memcpy(text + head, rows, bytes);
    text[head + bytes] = '\0';
    return text;
}

static inline bool family_run_spec(const struct trial_spec *spec,
                                   struct family_run *run, struct err *err)
{
    struct trial_tables tables = {
        .jobs = table_new(csv_jobs.columns, csv_jobs.count),
        .phases = table_new(csv_phases.columns, csv_phases.count),
        .decisions = table_new(csv_decisions.columns, csv_decisions.count),
    };

    memset(run, 0, sizeof *run);
    memset(err, 0, sizeof *err);
    bool ok = trial_run(spec, &tables, &run->result, err);
    if (!ok)
        fprintf(stderr, "%s: %s %s\n", spec->policy->name, err->text,
                err->hint);
    run->jobs = family_text(tables.jobs, &csv_jobs);
    run->phases = family_text(tables.phases, &csv_phases);
    run->decisions = family_text(tables.decisions, &csv_decisions);
    table_free(tables.jobs);
    table_free(tables.phases);
    table_free(tables.decisions);
    return ok;
}

static inline bool family_run(struct world *world, uint32_t trial,
                              struct family_run *run)
{
    struct trial_spec spec = experiment_trial_spec(world->experiment, trial);

    return family_run_spec(&spec, run, &world->err);
}

static inline void family_drop(struct family_run *run)
{
    free(run->jobs);
    free(run->phases);
    free(run->decisions);
}

/* A cursor over the rows of a table's text. */
struct rows {
    const char *head, *line;
};

static inline struct rows rows_of(const char *text)
{
    return (struct rows) { text, NULL };
}

static inline bool rows_next(struct rows *rows)
{
    const char *end = strchr(rows->line ? rows->line : rows->head, '\n');

    rows->line = end ? end + 1 : NULL;
    return rows->line && *rows->line;
}

static inline void rows_text(const struct rows *rows, const char *column,
                             char out[256])
{
    csv_field(rows->line, csv_column(rows->head, column), out, 256);
}

static inline bool rows_are(const struct rows *rows, const char *column,
                            const char *text)
{
    char cell[256];

    rows_text(rows, column, cell);
    return strcmp(cell, text) == 0;
}

static inline double rows_number(const struct rows *rows, const char *column)
{
    char cell[256];

    rows_text(rows, column, cell);
    return strtod(cell, NULL);
}

/* The first node of a placement: "3:0-7 5:0" is 3. */
static inline uint32_t rows_node(const struct rows *rows)
{
    return (uint32_t)rows_number(rows, "nodes");
}

#endif
