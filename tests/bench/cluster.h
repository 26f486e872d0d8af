/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cluster.h - the suite of whole runs: `clustersim bench --suite cluster`.
 */
#ifndef TESTS_BENCH_CLUSTER_H
#define TESTS_BENCH_CLUSTER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct err;

struct bench_cluster_options {
    bool quick;
    const char *only;           /* part of a measure's name, or NULL */
    const char *plots;          /* folder for the figure, or NULL */
    FILE *csv;                  /* or NULL */
};

bool bench_cluster(const struct bench_cluster_options *options,
                   struct err *err);

/* jobs.c: the jobs, the experiment, and a simulation without a
 * simulator. */
#define BENCH_PHASES UINT32_MAX
#define BENCH_ELASTIC (UINT32_MAX - 1)
#define BENCH_ROWS (UINT32_MAX - 2)
struct bench_load {
    uint32_t jobs, nodes;       /* nodes of 8 GPUs */
    uint32_t burst;             /* so many at once; 0: one by one, as many as
                                   keep 90% of the GPUs busy; BENCH_PHASES:
                                   jobs of five phases that share links;
                                   BENCH_ELASTIC: jobs of 1 to 16 GPUs, twice
                                   as many as could be served; BENCH_ROWS:
                                   those of rows.c */
    const char *policy;         /* one entry of `policies:` */
};
/* rows.c: the jobs of BENCH_ROWS, as rows of SWF. */
void bench_write_rows(const struct bench_load *load, FILE *file);
/* DIR/jobs.swf and DIR/experiment.yaml. */
bool bench_write(const struct bench_load *load, const char *dir,
                 struct err *err);
/* Strict FIFO over a number of GPUs, jobs and answers in arrays, no file read
 * or written: processor time in seconds. */
double bench_bare_s(const struct bench_load *load);
/* The same from DIR/jobs.swf to a table in DIR/bare.csv; 0: it could not. */
double bench_bare_written_s(const struct bench_load *load, const char *dir);

#endif
