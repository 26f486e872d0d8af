/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * advised.c - probes of the policy `advised`, as it was trained: what its network takes of a
 * decision beyond the same trial under `dynamic`, whose rule it advises; and what a decision
 * of `dynamic` takes, with its events.
 *
 * size 32: at each instant 32 jobs end and 32 come, so 32 rows are new at each decision.
 * size 1000: 1,000 jobs come at once, and one decision is made: all rows are new.
 *
 * The jobs ask for unlike times, so that the network reads each row.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/run/trial.h"
#include "experiments/spec/experiment.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "tests/bench/probe.h"

enum { GPUS = 32, MINUTES = 10, DYNAMIC = 0, ADVISED = 1 };

struct asked {
    char folder[64];
    struct arena *arena;
    const struct experiment *experiment;
    uint32_t decisions, turns;  /* of a trial; trials of a stretch */
};

static const char *path_in(const struct asked *asked, const char *name)
{
    static char path[128];

    snprintf(path, sizeof path, "%s/%s", asked->folder, name);
    return path;
}

static bool write_files(const struct asked *asked, uint64_t size)
{
    char here[512];
    FILE *jobs = fopen(path_in(asked, "jobs.csv"), "w");
    FILE *file = fopen(path_in(asked, "advised.yaml"), "w");

    if (jobs == NULL || file == NULL || getcwd(here, sizeof here) == NULL)
        return false;
    fprintf(jobs, "submit,duration,gpus,limit\n");
    for (uint64_t i = 0; i < asked->decisions * size; i++)
        fprintf(jobs, "%u,%u,1,%u\n", (unsigned)(i / size) * 60 * MINUTES, 60 * MINUTES,
                60 * MINUTES + (unsigned)(i * 7919 % 5003));
    fprintf(file, "experiment: advised\nseeds: 1\nuntil: %umin\n"
            "cluster: {nodes: [{name: gpu, count: 4, gpus: {type: generic, count: 8}}]}\n"
            "workload: {trace: {file: jobs.csv, format: csv, columns: "
            "{submit: submit, duration: duration, gpus: gpus, limit: limit}, "
            "estimate: requested}}\n"
            "policies: [dynamic, {policy: advised, weights: '%s/policies/weights/advised.yaml'}]\n",
            asked->decisions * MINUTES - 1, here);
    return fclose(jobs) == 0 && fclose(file) == 0;
}

static void advised_drop(void *self)
{
    struct asked *asked = self;

    unlink(path_in(asked, "jobs.csv"));
    unlink(path_in(asked, "advised.yaml"));
    rmdir(asked->folder);
    arena_free(asked->arena);
    free(asked);
}

static void *advised_make(uint64_t size, bool quick)
{
    struct asked *asked = calloc(1, sizeof *asked);
    struct experiment_options options = { .program_hash = 1 };
    struct err err = { 0 };

    assert(asked != NULL);
    asked->decisions = size > GPUS ? 1 : 2000;
    asked->turns = size > GPUS ? (quick ? 40 : 200) : (quick ? 1 : 5);
    asked->arena = arena_new((size_t)1 << 16);
    strcpy(asked->folder, "/tmp/clustersim-bench-XXXXXX");
    if (mkdtemp(asked->folder) != NULL && write_files(asked, size))
        asked->experiment = experiment_read(
            asked->arena, arena_text(asked->arena, path_in(asked, "advised.yaml")), &options,
            &err);
    if (asked->experiment != NULL)
        return asked;
    fprintf(stderr, "no figure: %s\n", err.text);
    advised_drop(asked);
    return NULL;
}

/* Microseconds of processor time a decision of all trials of a policy. */
static double time_trials(const struct asked *asked, uint32_t index)
{
    double begin = bench_cpu_ns();

    for (uint32_t i = 0; i < asked->turns; i++) {
        struct trial_spec spec = experiment_trial_spec(asked->experiment, index);
        struct trial_result result;
        struct trial_tables tables = { 0 };
        struct err err = { 0 };

        if (!trial_run(&spec, &tables, &result, &err)) {
            fprintf(stderr, "no figure: %s\n%s\n", err.text, err.hint);
            return 0;
        }
    }
    return (bench_cpu_ns() - begin) / 1e3 / asked->turns / asked->decisions;
}

static double advised_stretch(void *self)
{
    double rule = time_trials(self, DYNAMIC);

    return time_trials(self, ADVISED) - rule;
}

static double rule_stretch(void *self)
{
    return time_trials(self, DYNAMIC);
}

const struct bench_probe_type bench_advised = { advised_make, advised_stretch, advised_drop };
const struct bench_probe_type bench_advised_rule = { advised_make, rule_stretch, advised_drop };
