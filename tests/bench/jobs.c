/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * jobs.c - jobs to measure with, and the least that simulating them
 * could cost.
 *
 * Sizes are powers of two from 1 to 64 GPUs, 1 being half of them; run times
 * are lognormal with a mean of an hour and a coefficient of variation of 2.9,
 * as skewed as in public traces (an assumption; nothing here depends on it but
 * the length of queues).  Estimates are one to three times the run time.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "sim/base/decimal.h"
#include "sim/base/err.h"
#include "sim/base/rng.h"
#include "tests/bench/cluster.h"
#include "tests/bench/probe.h"

#define NODE_GPUS 8u
#define MEAN_S 3600.0
#define LOG_SD 1.5
#define LOAD 0.9
#define PHASES_PER_NODE_H 3.5
#define PHASES_STORAGE_GB_S 0.264
/* Of jobs that want 2.5 GPUs for ten minutes on average. */
#define ELASTIC_PER_NODE_H 40.0
/* Long enough for a burst to have been served. */
#define BURST_JOB_S 2000.0

struct drawn {
    int64_t submit_s, run_s, asked_s;
    uint32_t gpus;
};

struct drawer {
    struct rng rng;
    double at_s, gap_s;
    uint32_t burst, done;
};

static const uint32_t sizes[] = { 1, 2, 4, 8, 16, 32, 64 };
static const double shares[] = { 0.5, 0.15, 0.12, 0.14, 0.05, 0.03, 0.01 };

static double mean_gpus(void)
{
    double mean = 0;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        mean += sizes[i] * shares[i];
    return mean;
}

static struct drawer drawer_of(const struct bench_load *load)
{
    struct drawer drawer = { .burst = load->burst };
    double gpus = load->nodes * NODE_GPUS;

    assert(load->jobs > 0 && load->nodes >= 8);
    rng_init(&drawer.rng, 1, "bench-jobs", load->jobs);
    drawer.gap_s = mean_gpus() * MEAN_S / (LOAD * gpus);
    return drawer;
}

static struct drawn draw(struct drawer *drawer)
{
    struct drawn job = { .gpus = 1 };
    double u = rng_uniform(&drawer->rng);
    double run_s = rng_lognormal(&drawer->rng,
                                 log(MEAN_S) - LOG_SD * LOG_SD / 2, LOG_SD);

    if (drawer->burst == 0)
        drawer->at_s += rng_exponential(&drawer->rng, drawer->gap_s);
    else if (drawer->done % drawer->burst == 0)
        drawer->at_s += drawer->burst * BURST_JOB_S;
    drawer->done++;
    job.submit_s = (int64_t)drawer->at_s;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        job.gpus = sizes[i];
        u -= shares[i];
        if (u < 0)
            break;
    }
    job.run_s = 1 + (int64_t)run_s;
    job.asked_s = 1 + (int64_t)((double)job.run_s *
                                (1 + 2 * rng_uniform(&drawer->rng)));
    return job;
}

static FILE *open_in(const char *dir, const char *name, struct err *err)
{
    struct err_pos nowhere = { NULL, 0, 0 };
    char path[512];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *file = fopen(path, "w");
    if (file == NULL)
        err_set(err, ERR_IO, nowhere, "cannot write '%s'", path);
    return file;
}

static bool close_in(FILE *file, const char *dir, struct err *err)
{
    struct err_pos nowhere = { NULL, 0, 0 };
    bool ok = ferror(file) == 0;

    ok = fclose(file) == 0 && ok;
    return ok || err_set(err, ERR_IO, nowhere, "cannot write to '%s'", dir);
}

/* A GRPO job takes five phases on three roles.  Its weights, 250 GB in all,
 * come over the NICs from one storage that is used to 92%; leaves of the
 * network have an uplink for every fourth NIC. */
static bool write_phases(const struct bench_load *load, const char *dir,
                         struct err *err)
{
    FILE *file = open_in(dir, "experiment.yaml", err);

    if (file == NULL)
        return false;
    fprintf(file,
            "experiment: bench\nseeds: 1\nuntil: drained\n"
            "cluster:\n  nodes: [{name: dgx, count: %u, gpus: {type: "
            "a100-80, count: 8}, cpu: {type: epyc-7742, sockets: 2}, "
            "memory: 1TB, nics: {type: ib-hdr, count: 8}}]\n"
            "  network: {leaf: 32, oversubscription: 4}\n"
            "  storage: {bandwidth: %.6gGB/s}\n"
            "workload:\n  arrival: {process: poisson, rate: %.6g/h}\n"
            "  jobs: %u\n  mix:\n"
            "    - {recipe: grpo, model: qwen2.5-7b, method: lora, recompute: "
            "full, zero: 2, micro_batch: 2, prompts: 512, responses: 8, "
            "prompt_tokens: 512, response: {mean: 600, cv: 1, max: 2048}, "
            "reward: {on: cpu, core_time: 100ms}, steps: 1, "
            "rollout: {gpus: 8}, train: {gpus: 8}, data: {cores: 16}}\n"
            "policies: [%s]\n",
            load->nodes, PHASES_STORAGE_GB_S * load->nodes,
            PHASES_PER_NODE_H * load->nodes, load->jobs, load->policy);
    return close_in(file, dir, err);
}

static bool write_elastic(const struct bench_load *load, const char *dir,
                          struct err *err)
{
    FILE *file = open_in(dir, "experiment.yaml", err);

    if (file == NULL)
        return false;
    fprintf(file,
            "experiment: bench\nseeds: 1\nuntil: drained\n"
            "cluster: {nodes: [{name: gpu, count: %u, gpus: {type: generic, "
            "count: %u}}]}\n"
            "workload:\n  arrival: {process: poisson, rate: %.6g/h}\n"
            "  jobs: %u\n  mix:\n"
            "    - {recipe: trace, gpus: {choice: {1: 5, 2: 2, 4: 2, 8: 1}}, "
            "duration: {exponential: {mean: 10min}}, "
            "elastic: {min: 1, max: 16, scaling: {amdahl: 10%%}}}\n"
            "policies: [%s]\n",
            load->nodes, NODE_GPUS, ELASTIC_PER_NODE_H * load->nodes,
            load->jobs, load->policy);
    return close_in(file, dir, err);
}

bool bench_write(const struct bench_load *load, const char *dir,
                 struct err *err)
{
    if (load->burst == BENCH_ELASTIC)
        return write_elastic(load, dir, err);
    if (load->burst == BENCH_PHASES)
        return write_phases(load, dir, err);
    struct drawer drawer = drawer_of(load);
    FILE *file = open_in(dir, "jobs.swf", err);

    if (file == NULL)
        return false;
    if (load->burst == BENCH_ROWS)
        bench_write_rows(load, file);
    for (uint32_t i = 1; load->burst != BENCH_ROWS && i <= load->jobs; i++) {
        struct drawn job = draw(&drawer);
        fprintf(file, "%u %lld -1 %lld %u -1 -1 %u %lld -1 1 %u 1 1 1 1 -1 "
                      "-1\n", i, (long long)job.submit_s,
                (long long)job.run_s, job.gpus, job.gpus,
                (long long)job.asked_s, i % 100);
    }
    if (!close_in(file, dir, err))
        return false;
    file = open_in(dir, "experiment.yaml", err);
    if (file == NULL)
        return false;
    fprintf(file,
            "experiment: bench\nseeds: 1\nuntil: drained\n"
            "cluster: {nodes: [{name: gpu, count: %u, gpus: {type: generic, "
            "count: %u}}]}\n"
            "workload: {trace: {file: jobs.swf, format: swf}}\n"
            "policies: [%s]\n",
            load->nodes, NODE_GPUS, load->policy);
    return close_in(file, dir, err);
}

/* ---- the bare loop ---- */

struct running {
    int64_t end_s;
    uint32_t gpus;
};

static void heap_push(struct running *heap, uint32_t count,
                      struct running job)
{
    uint32_t i = count;

    for (; i > 0 && heap[(i - 1) / 2].end_s > job.end_s; i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = job;
}

static void heap_pop(struct running *heap, uint32_t count)
{
    struct running last = heap[--count];
    uint32_t i = 0;

    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child >= count)
            break;
        child += child + 1 < count &&
                 heap[child + 1].end_s < heap[child].end_s;
        if (last.end_s <= heap[child].end_s)
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = last;
}

/* Strict FIFO over a number of GPUs. */
static void simulate(const struct drawn *job, uint32_t jobs, uint32_t gpus,
                     int64_t *start_s)
{
    struct running *heap = malloc(jobs * sizeof *heap);
    int64_t now = 0;
    uint32_t running = 0;

    assert(heap != NULL);
    for (uint32_t i = 0; i < jobs; i++) {
        now = job[i].submit_s > now ? job[i].submit_s : now;
        while (running > 0 && (heap[0].end_s <= now || gpus < job[i].gpus)) {
            now = heap[0].end_s > now ? heap[0].end_s : now;
            gpus += heap[0].gpus;
            heap_pop(heap, running--);
        }
        start_s[i] = now;
        gpus -= job[i].gpus;
        heap_push(heap, running++,
                  (struct running){ now + job[i].run_s, job[i].gpus });
    }
    free(heap);
}

/* Numbers between blanks, of fields 2, 4 and 5. */
static const char *scan_row(const char *at, struct drawn *job)
{
    for (uint32_t field = 1; *at != '\n'; field++) {
        int64_t value = 0;
        for (; *at > ' '; at++)
            value = value * 10 + (*at - '0');
        if (field == 2)
            job->submit_s = value;
        else if (field == 4)
            job->run_s = value;
        else if (field == 5)
            job->gpus = (uint32_t)value;
        at += *at == ' ';
    }
    return at + 1;
}

static char *put(char *out, int64_t value, char end)
{
    out = decimal_put(out, (uint64_t)value);
    *out = end;
    return out + 1;
}

/* The file's jobs; NULL: it cannot be read. */
static struct drawn *read_jobs(const struct bench_load *load, FILE *file)
{
    struct drawn *job = calloc(load->jobs, sizeof *job);
    long bytes = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : 0;
    char *text = malloc((size_t)bytes + 1);

    assert(job != NULL && text != NULL && bytes > 0);
    rewind(file);
    bool ok = fread(text, 1, (size_t)bytes, file) == (size_t)bytes;
    text[bytes] = '\n';
    const char *at = text;
    for (uint32_t i = 0; ok && i < load->jobs; i++)
        at = scan_row(at, &job[i]);
    free(text);
    if (!ok)
        free(job);
    return ok ? job : NULL;
}

static void write_rows(const struct bench_load *load, FILE *file,
                       const struct drawn *job, const int64_t *start_s)
{
    char *text = malloc((size_t)load->jobs * 64), *out = text;

    assert(text != NULL);
    for (uint32_t i = 0; i < load->jobs; i++) {
        out = put(out, i, ',');
        out = put(out, job[i].submit_s, ',');
        out = put(out, start_s[i], ',');
        out = put(out, start_s[i] + job[i].run_s, '\n');
    }
    fwrite(text, 1, (size_t)(out - text), file);
    free(text);
}

double bench_bare_written_s(const struct bench_load *load, const char *dir)
{
    struct err err = { 0 };
    char path[512];
    int64_t *start_s = malloc(load->jobs * sizeof *start_s);
    double begin = bench_cpu_ns(), s = 0;

    assert(start_s != NULL);
    snprintf(path, sizeof path, "%s/jobs.swf", dir);
    FILE *in = fopen(path, "r"), *out = open_in(dir, "bare.csv", &err);
    struct drawn *job = in != NULL ? read_jobs(load, in) : NULL;
    if (job != NULL && out != NULL) {
        simulate(job, load->jobs, load->nodes * NODE_GPUS, start_s);
        write_rows(load, out, job, start_s);
    }
    if (in != NULL)
        fclose(in);
    if (out != NULL && fclose(out) == 0 && job != NULL)
        s = (bench_cpu_ns() - begin) / 1e9;
    free(job);
    free(start_s);
    return s;
}

double bench_bare_s(const struct bench_load *load)
{
    struct drawer drawer = drawer_of(load);
    struct drawn *job = malloc(load->jobs * sizeof *job);
    int64_t *start_s = malloc(load->jobs * sizeof *start_s);

    assert(job != NULL && start_s != NULL);
    for (uint32_t i = 0; i < load->jobs; i++)
        job[i] = draw(&drawer);
    double begin = bench_cpu_ns();
    simulate(job, load->jobs, load->nodes * NODE_GPUS, start_s);
    double s = (bench_cpu_ns() - begin) / 1e9;
    assert(start_s[load->jobs - 1] >= job[load->jobs - 1].submit_s);
    free(job);
    free(start_s);
    return s;
}
