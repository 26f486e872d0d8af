/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rows.c - jobs that come in rows of equal ones and ask for far too long, as in the
 * public trace RICC-2010: 447,794 jobs on 8,192 processors.
 *
 * The trace itself is not here.  Rows have some twenty jobs, sometimes thousands;
 * most jobs are small; requested times are round, from an hour to three days, and 2
 * to 50 times the mean of their row.  All of it keeps 87% of the processors busy.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "sim/base/rng.h"
#include "tests/bench/cluster.h"

#define LOAD 0.87
#define ROW_JOBS 20.0
#define ROW_JOBS_MAX 3000u

struct row_of_jobs {
    uint32_t jobs, gpus;
    int64_t asked_s;
    double mean_s;
};

/* The index of a share that was drawn. */
static uint32_t draw_share(struct rng *rng, const double *share, uint32_t shares)
{
    double u = rng_uniform(rng), sum = 0;

    for (uint32_t i = 0; i + 1 < shares; i++)
        if (u < (sum += share[i]))
            return i;
    return shares - 1;
}

static struct row_of_jobs draw_row(struct rng *rng, uint32_t gpus, uint32_t jobs_left)
{
    static const double size_share[] = { .60, .05, .12, .06, .05, .04, .03, .025, .015 };
    static const uint32_t size[] = { 1, 4, 8, 16, 32, 64, 128, 256, 512, 1024 };
    static const double asked_share[] = { .05, .1, .2, .25 };
    static const uint32_t asked_h[] = { 1, 6, 12, 24, 72 };
    struct row_of_jobs row = { .gpus = size[draw_share(rng, size_share, 10)] };
    uint32_t most = row.gpus > 64 ? 4 : ROW_JOBS_MAX;

    row.gpus = row.gpus <= gpus / 8 ? row.gpus : gpus / 8;
    row.jobs = 1 + (uint32_t)rng_lognormal(rng, log(ROW_JOBS), 1.6);
    row.jobs = row.jobs < most ? row.jobs : most;
    row.jobs = row.jobs < jobs_left ? row.jobs : jobs_left;
    row.asked_s = 3600 * asked_h[draw_share(rng, asked_share, 5)];
    row.mean_s = (double)row.asked_s * exp(-4 + 3.3 * rng_uniform(rng));
    return row;
}

static int64_t draw_run_s(struct rng *rng, const struct row_of_jobs *row)
{
    double run_s = row->mean_s * rng_lognormal(rng, 0, 0.6);

    return run_s < 1 ? 1 : run_s < (double)row->asked_s ? (int64_t)run_s : row->asked_s;
}

/* Draws all jobs; without a file it sums their GPU-seconds and counts rows. */
static double draw_jobs(const struct bench_load *load, FILE *file, double gap_s,
                        uint32_t *rows)
{
    struct rng rng, gaps;
    double gpu_s = 0, at_s = 0;

    rng_init(&rng, 7, "bench-rows", 0);
    rng_init(&gaps, 7, "bench-rows-gaps", 0);
    *rows = 0;
    for (uint32_t i = 0; i < load->jobs; (*rows)++) {
        struct row_of_jobs row = draw_row(&rng, load->nodes * 8, load->jobs - i);
        at_s += file != NULL ? rng_exponential(&gaps, gap_s) : 0;
        for (uint32_t j = 0; j < row.jobs; j++) {
            int64_t run_s = draw_run_s(&rng, &row);
            gpu_s += (double)run_s * row.gpus;
            i++;
            if (file != NULL)
                fprintf(file, "%u %lld -1 %lld %u -1 -1 %u %lld -1 1 %u 1 1 1 1 -1 -1\n", i,
                        (long long)at_s, (long long)run_s, row.gpus, row.gpus,
                        (long long)row.asked_s, i % 100);
        }
    }
    return gpu_s;
}

void bench_write_rows(const struct bench_load *load, FILE *file)
{
    uint32_t rows;
    double gpu_s = draw_jobs(load, NULL, 0, &rows);

    assert(rows > 0);
    draw_jobs(load, file, gpu_s / (LOAD * 8 * load->nodes) / rows, &rows);
}
