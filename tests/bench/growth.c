/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * growth.c - how the processor time that a job costs grows from decade to decade: on
 * 64 to 64,000 GPUs, half empty and overloaded, and on 64 GPUs where ever more jobs
 * wait.
 *
 * SHARED jobs are those of workloads/dpo_mix.yaml on copies of
 * models/clusters/mixed_64.yaml, with three to seven steps a job.  WHOLE jobs have
 * the sizes and run times of jobs.c; PARTED ones may use one of two pools, of which
 * under overload one has three times the jobs that it can serve, and the other half as
 * many: what waits for the first stands before what finds room.  Of HALVED ones, 70%
 * want half a GPU, and of CAPPED ones a power cap lets two thirds run.  PLANNED jobs can have
 * 1 to 16 GPUs, and have deadlines; SPREAD ones are those of the rows `phases` of the
 * suite `cluster`, over leaves of a network; LATE ones are those of rows.c.  A figure
 * is a ratio of two runs of one minute: the time a job of the last over that of the
 * first, per decade.
 */
#include "tests/bench/growth.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/err.h"
#include "tests/bench/cluster.h"
#include "tests/bench/probe.h"
#include "tests/bench/trial.h"

#define POINTS 4u
#define TURNS 3u
#define BRIEF_S 0.5             /* a trial that takes less is run TURNS times */
#define UNIT_GPUS 64u
#define SERVE_GOAL 1.1          /* from decade to decade: 1.2 over both */

enum kind { SHARED, WHOLE, PARTED, HALVED, CAPPED, PLANNED, SPREAD, RENTED, LATE, KINDS };
enum load { LOW, OVER, QUEUE, LOADS };

static const char *const load_name[LOADS] = { "low", "over", "queue" };
static const uint32_t gpus_at[POINTS] = { 64, 640, 6400, 64000 };
/* Jobs an hour for 64 GPUs; see README.md. */
static const double rate_at[KINDS][LOADS] = {
    [SHARED] = { 15, 140, 100000 },
    [WHOLE] = { 6.8, 20, 100000 },
    [PARTED] = { 7, 27, 27 },
    [HALVED] = { 15, 40, 100000 },
    [CAPPED] = { 5, 20, 100000 },
    [PLANNED] = { 77, 320, 0 },
    [SPREAD] = { 28, 0, 0 },
    [RENTED] = { 30, 0, 0 },
    [LATE] = { 0, 1, 0 },       /* rows.c */
};
/* Jobs of a trial: at least, and for 64 GPUs; and of `queue` the first point. */
static const uint32_t jobs_at[KINDS][3] = {
    [SHARED] = { 300, 10, 100 },
    [WHOLE] = { 2000, 40, 1000 },
    [PARTED] = { 2000, 40, 1000 },
    [HALVED] = { 2000, 40, 1000 },
    [CAPPED] = { 2000, 40, 1000 },
    [PLANNED] = { 128, 128, 0 },
    [SPREAD] = { 300, 12, 0 },
    [RENTED] = { 2000, 40, 0 },
    [LATE] = { 1280, 1280, 0 },
};
/* The goal of a decade, how many points there are, and how long one may take. */
static const struct {
    double goal;
    uint32_t points, cpu_max_s;
} limits_of[KINDS] = {
    [SHARED] = { 1.3, 4, 60 }, [WHOLE] = { 1.3, 4, 60 }, [PARTED] = { 1.3, 4, 60 },
    [HALVED] = { 1.3, 4, 60 }, [CAPPED] = { 1.3, 4, 60 }, [PLANNED] = { 1.2, 3, 15 },
    [SPREAD] = { 1.3, 4, 60 }, [LATE] = { 1.3, 3, 60 }, [RENTED] = { 1.3, 4, 60 },
};

struct row {
    const char *name, *policy;
    enum kind kind;
};

#define GROWS(NAME, POLICY, KIND) { NAME, POLICY, KIND },
#define SERVES(NAME, PROBE)
static const struct row rows[] = {
#include "tests/bench/growth.def"
};
#undef GROWS
#undef SERVES
#define GROWS(NAME, POLICY, KIND)
#define SERVES(NAME, PROBE) { NAME, &PROBE },
static const struct {
    const char *name;
    const struct bench_probe_type *probe;
} services[] = {
#include "tests/bench/growth.def"
};

#define RECIPE(RECIPE, MODEL, MORE) \
    "    - {recipe: " RECIPE ", name: " RECIPE "-" MODEL ", model: " MODEL ", " \
    "method: lora, recompute: full, zero: 2, prompt_tokens: 512, " \
    "reward: {on: cpu, core_time: 100ms}, steps: {uniform: [3, 7]}, " MORE ", " \
    "data: {cores: 16, pool: cpu}, " \
    "rollout: {gpus: 8, min: 4, max: 16, types: [l40s, a100-80], home: rollout}, " \
    "train: {gpus: 8, min: 4, max: 16, types: [a100-80, l40s], home: train}}\n"
#define DPO "prompts: 128, responses: 4, pairs: 2, " \
            "response: {mean: 300, cv: 1, max: 1536}"
#define GRPO "prompts: 64, responses: 8, response: {mean: 500, cv: 1, max: 3072}"

static void write_shared(FILE *file, uint32_t units)
{
    fprintf(file,
            "cluster:\n  nodes:\n"
            "    - {name: rollout, count: %u, gpus: {type: l40s, count: 8}, cpu: {type: "
            "epyc-7763, sockets: 2}, memory: 1536GB, nics: {type: ethernet-100, count: 4}}\n"
            "    - {name: train, count: %u, gpus: {type: a100-80, count: 8}, cpu: {type: "
            "epyc-7742, sockets: 2}, memory: 1900GB, nics: {type: ib-hdr, count: 8}}\n"
            "    - {name: cpu, count: %u, cpu: {type: epyc-7763}, memory: 512GB, "
            "nics: {type: ethernet-100}}\n"
            "  network: {leaf: 16 nodes, oversubscription: 1}\n"
            "  storage: {bandwidth: %uGB/s}\n"
            "workload:\n  mix:\n" RECIPE("dpo", "qwen2.5-7b", DPO)
            RECIPE("dpo", "llama-2-13b", DPO) RECIPE("grpo", "qwen2.5-7b", GRPO)
            RECIPE("grpo", "llama-2-13b", GRPO),
            4 * units, 4 * units, 2 * units, 20 * units);
}

static void write_whole(FILE *file, uint32_t units)
{
    fprintf(file,
            "cluster: {nodes: [{name: gpu, count: %u, gpus: {type: generic, count: 8}}]}\n"
            "workload:\n  mix:\n    - {recipe: trace, duration: {lognormal: {mean: 1h, "
            "cv: 2.9}}, gpus: {choice: {1: 50, 2: 15, 4: 12, 8: 14, 16: 5, 32: 3, 64: 1}}}\n",
            UNIT_GPUS / 8 * units);
}

static void write_parted(FILE *file, uint32_t units, bool over)
{
    static const char mix[] =
        "    - {recipe: trace, name: %s, role: {pool: %s}, share: %u, duration: {lognormal: "
        "{mean: 1h, cv: 2.9}}, gpus: {choice: {1: 50, 2: 15, 4: 12, 8: 14, 16: 5, 32: 3}}}\n";

    fprintf(file,
            "cluster:\n  nodes:\n"
            "    - {name: old, count: %u, gpus: {type: generic, count: 8}}\n"
            "    - {name: new, count: %u, gpus: {type: generic, count: 8}}\n"
            "workload:\n  mix:\n", UNIT_GPUS / 16 * units, UNIT_GPUS / 16 * units);
    fprintf(file, mix, "old", "old", over ? 6 : 1);
    fprintf(file, mix, "new", "new", 1);
}

static void write_halved(FILE *file, uint32_t units)
{
    static const char mix[] =
        "    - {recipe: trace, name: %s, share: %s, duration: {lognormal: {mean: 2h, cv: "
        "2}}, gpus: %s}\n";

    fprintf(file,
            "cluster: {nodes: [{name: gpu, count: %u, gpus: {type: generic, count: 8}}]}\n"
            "workload:\n  mix:\n", UNIT_GPUS / 8 * units);
    fprintf(file, mix, "half", "7", "0.5");
    fprintf(file, mix, "whole", "3", "{choice: {1: 2, 4: 1, 8: 1}}");
}

static void write_capped(FILE *file, uint32_t units)
{
    fprintf(file,
            "cluster:\n  nodes: [{name: gpu, count: %u, gpus: {type: a100-80, count: 8}, cpu: "
            "{type: epyc-7742, sockets: 2}, memory: 1TB}]\n  power_cap: %ukW\n"
            "workload:\n  mix:\n    - {recipe: trace, duration: {lognormal: {mean: 1h, "
            "cv: 2}}, gpus: {choice: {1: 50, 2: 15, 4: 12, 8: 14, 16: 5}}}\n",
            UNIT_GPUS / 8 * units, 50 * units);
}

static void write_planned(FILE *file, uint32_t units)
{
    fprintf(file,
            "cluster: {nodes: [{name: gpu, count: %u, gpus: {type: generic, count: 8}}]}\n"
            "workload:\n  mix:\n    - {recipe: trace, gpus: {choice: {1: 5, 2: 2, 4: 2, 8: "
            "1}}, duration: {exponential: {mean: 10min}}, deadline: {lognormal: {mean: 40min, "
            "cv: 1}}, elastic: {min: 1, max: 16, scaling: {amdahl: 10%%}}}\n",
            UNIT_GPUS / 8 * units);
}

static void write_spread(FILE *file, uint32_t units)
{
    fprintf(file,
            "cluster:\n  nodes: [{name: dgx, count: %u, gpus: {type: a100-80, count: 8}, cpu: "
            "{type: epyc-7742, sockets: 2}, memory: 1TB, nics: {type: ib-hdr, count: 8}}]\n"
            "  network: {leaf: 4, oversubscription: 4}\n"
            "  storage: {bandwidth: %.6gGB/s}\n"
            "workload:\n  mix:\n    - {recipe: grpo, model: qwen2.5-7b, method: lora, "
            "recompute: full, zero: 2, micro_batch: 2, prompts: 512, responses: 8, "
            "prompt_tokens: 512, response: {mean: 600, cv: 1, max: 2048}, reward: {on: cpu, "
            "core_time: 100ms}, steps: 1, rollout: {gpus: 8}, train: {gpus: 8}, data: {cores: "
            "16}}\n",
            UNIT_GPUS / 8 * units, 0.264 * UNIT_GPUS / 8 * units);
}

static void write_rented(FILE *file, uint32_t units)
{
    fprintf(file,
            "cluster: {nodes: [{name: rented, count: %u, gpus: {type: a100-80, count: 8}, cpu: "
            "{type: epyc-7742, sockets: 2}, memory: 1TB, price: on-demand, rent: {start: 1min, "
            "keep: 0s, reclaim: 8h, notice: 1min}}]}\n"
            "workload:\n  mix:\n    - {recipe: trace, gpus: 8, duration: {exponential: {mean: "
            "5min}}}\n", UNIT_GPUS / 8 * units);
}

static uint32_t point_jobs(const struct row *row, enum load load, uint32_t point)
{
    uint32_t jobs = jobs_at[row->kind][1] * (gpus_at[point] / UNIT_GPUS);

    if (load == QUEUE)
        return jobs_at[row->kind][2] * (gpus_at[point] / UNIT_GPUS);
    return jobs > jobs_at[row->kind][0] ? jobs : jobs_at[row->kind][0];
}

static bool write_point(const struct row *row, enum load load, uint32_t point,
                        const char *dir, struct err *err)
{
    struct err_pos nowhere = { NULL, 0, 0 };
    uint32_t units = load == QUEUE ? 1 : gpus_at[point] / UNIT_GPUS;
    char path[128];

    if (row->kind == LATE)
        return bench_write(&(struct bench_load) { point_jobs(row, load, point),
                                                  UNIT_GPUS / 8 * units, BENCH_ROWS,
                                                  row->policy }, dir, err);
    snprintf(path, sizeof path, "%s/experiment.yaml", dir);
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return err_set(err, ERR_IO, nowhere, "cannot write '%s'", path);
    fprintf(file, "experiment: bench\nseeds: 1\nuntil: drained\npolicies: [%s]\n",
            row->policy);
    if (row->kind == SHARED)
        write_shared(file, units);
    else if (row->kind == WHOLE)
        write_whole(file, units);
    else if (row->kind == HALVED)
        write_halved(file, units);
    else if (row->kind == CAPPED)
        write_capped(file, units);
    else if (row->kind == PLANNED)
        write_planned(file, units);
    else if (row->kind == SPREAD)
        write_spread(file, units);
    else if (row->kind == RENTED)
        write_rented(file, units);
    else
        write_parted(file, units, load != LOW);
    fprintf(file, "  jobs: %u\n  arrival: {process: poisson, rate: %.6g/h}\n",
            point_jobs(row, load, point), rate_at[row->kind][load] * units);
    return fclose(file) == 0 || err_set(err, ERR_IO, nowhere, "cannot write '%s'", path);
}

/* Measures microseconds a job, the shortest of the turns; NAN: it took longer than
 * it may. */
static bool measure(const struct row *row, enum load load, uint32_t point,
                    const char *dir, double *us, struct err *err)
{
    struct bench_load jobs = { .jobs = point_jobs(row, load, point),
                               .burst = BENCH_ELASTIC };
    struct bench_trial trial = { .name = row->name, .load = &jobs, .dir = dir,
                                 .cpu_max_s = limits_of[row->kind].cpu_max_s };
    double best_s = INFINITY;

    if (!write_point(row, load, point, dir, err))
        return false;
    for (uint32_t t = 0; t < TURNS && (t == 0 || best_s < BRIEF_S); t++) {
        struct bench_report report;
        if (!bench_trial(&trial, false, &report, err))
            return false;
        best_s = fmin(best_s, report.late ? INFINITY : report.cpu_s);
    }
    *us = isinf(best_s) ? NAN : best_s * 1e6 / jobs.jobs;
    return true;
}

/* One figure; NAN: none was measured in time. */
static void print_figure(double us, FILE *csv)
{
    if (isnan(us))
        printf(" %9s", "late");
    else
        printf(" %9.1f", us);
    if (csv != NULL && isnan(us))
        fputc(',', csv);
    else if (csv != NULL)
        fprintf(csv, ",%.6g", us);
    fflush(stdout);
}

/* What follows the figures of a row; NAN for growth is no goal met. */
static void print_growth(const double *us, uint32_t points, double goal, FILE *csv)
{
    double growth = pow(us[points - 1] / us[0], 1.0 / (points - 1));
    const char *met = growth <= goal ? "yes" : "no";

    for (uint32_t i = points; i < POINTS; i++) {
        printf(" %9s", "-");
        if (csv != NULL)
            fputc(',', csv);
    }
    if (isnan(growth))
        printf(" %9s", "-");
    else
        printf(" %9.2f", growth);
    printf(" %5.1f %s\n", goal, met);
    if (csv != NULL)
        fprintf(csv, ",%.6g,%.6g,%s\n", growth, goal, met);
}

static bool print_row(const struct row *row, enum load load,
                      const struct bench_cluster_options *options, const char *dir,
                      struct err *err)
{
    uint32_t most = limits_of[row->kind].points - (load == QUEUE);
    uint32_t points = options->quick && most > 2 ? 2 : most;
    FILE *csv = options->csv;
    double us[POINTS] = { 0 };

    if (rate_at[row->kind][load] == 0)
        return true;
    printf("%-17s %-6s", row->name, load_name[load]);
    if (csv != NULL)
        fprintf(csv, "%s,%s", row->name, load_name[load]);
    for (uint32_t i = 0; i < points; i++) {
        if (!measure(row, load, i, dir, &us[i], err))
            return false;
        print_figure(us[i], csv);
    }
    print_growth(us, points, limits_of[row->kind].goal, csv);
    return true;
}

/* A request where 8, 80 and 800 replicas serve. */
static void print_service(const char *name, const struct bench_probe_type *probe,
                          FILE *csv)
{
    double us[3];

    printf("%-17s %-6s", name, "half");
    if (csv != NULL)
        fprintf(csv, "%s,half", name);
    for (uint32_t i = 0, replicas = 8; i < 3; i++, replicas *= 10) {
        void *world = probe->make(replicas, false);
        us[i] = INFINITY;
        for (uint32_t t = 0; t < TURNS; t++)
            us[i] = fmin(us[i], probe->stretch(world) / 1000);
        probe->drop(world);
        print_figure(us[i], csv);
    }
    print_growth(us, 3, SERVE_GOAL, csv);
}

static bool print_rows(const struct bench_cluster_options *options, const char *dir,
                       struct err *err)
{
    struct err_pos nowhere = { NULL, 0, 0 };
    uint32_t found = 0;

    printf("%-17s %-6s %9s %9s %9s %9s %9s %5s %s\n", "us a job", "load", "64 GPUs",
           "640", "6400", "64000", "x/decade", "goal", "met");
    printf("%-17s %-6s %9s %9s %9s\n", "", "queue", "1000 jobs", "10000", "100000");
    printf("%-17s %-6s %9s %9s %9s\n", "", "shared", "100 jobs", "1000", "10000");
    printf("%-17s %-6s %9s %9s %9s\n", "", "serve", "8", "80", "800 replicas");
    if (options->csv != NULL)
        fputs("measure,load,us_1,us_2,us_3,us_4,growth,goal,goal_met\n", options->csv);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (options->only != NULL && strstr(rows[i].name, options->only) == NULL)
            continue;
        found++;
        for (enum load load = LOW; load < LOADS; load++)
            if (!print_row(&rows[i], load, options, dir, err))
                return false;
    }
    for (size_t i = 0; i < sizeof services / sizeof *services; i++) {
        if (options->only != NULL && strstr(services[i].name, options->only) == NULL)
            continue;
        found++;
        print_service(services[i].name, services[i].probe, options->csv);
    }
    return found > 0 || err_set(err, ERR_USAGE, nowhere, "no measure of the suite growth "
                                "has '%s' in its name", options->only);
}

bool bench_growth(const struct bench_cluster_options *options, struct err *err)
{
    struct err_pos nowhere = { NULL, 0, 0 };
    char dir[] = "/tmp/clustersim-bench-XXXXXX", path[128];

    if (mkdtemp(dir) == NULL)
        return err_set(err, ERR_IO, nowhere, "no folder can be made in /tmp");
    bool ok = print_rows(options, dir, err);
    snprintf(path, sizeof path, "%s/experiment.yaml", dir);
    unlink(path);
    snprintf(path, sizeof path, "%s/jobs.swf", dir);
    unlink(path);
    rmdir(dir);
    return ok;
}
