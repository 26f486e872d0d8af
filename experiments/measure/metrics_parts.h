/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * metrics_parts.h - what a trial's measurement consists of: metrics.c fills it from facts,
 * metrics_result.c reads it at the end.
 */
#ifndef EXPERIMENTS_MEASURE_METRICS_PARTS_H
#define EXPERIMENTS_MEASURE_METRICS_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "experiments/measure/metrics.h"
#include "experiments/measure/phase_time.h"
#include "policies/host/host.h"
#include "sim/stats/tally.h"

struct arrived;
struct bounds_book;
struct costs;
struct fairness;
struct idle;
struct job_rows;
struct job_times;
struct own_book;
struct steady_book;
struct useful;

struct metrics {
    struct metrics_parts parts;
    struct cs_host *host;       /* NULL: GPUs are counted, and not placed */
    const struct metrics_count *count;  /* in its place, or NULL */
    int64_t from_ns, end_ns;    /* what is measured: behind the warm-up, up to the end */
    int64_t last_fact_ns;       /* when the last fact came */
    struct gauge memory;        /* bytes of host memory under leases, over time */
    /* Each of these keeps the book of some columns of summary.csv, and is closed by
     * metrics_result(). */
    struct idle *idle;
    struct costs *costs;
    struct job_rows *rows;
    struct bounds_book *bounds;
    struct arrived *arrived;    /* or NULL */
    struct useful *useful;
    struct fairness *fairness;
    struct steady_book *steady;
    struct own_book *own;       /* or NULL */
    struct phase_time phases;
    double last_end_usd;        /* what was paid when the last job ended */
    struct job_times *times;
    uint64_t preempted, decided, limited, refused, interrupted, resized;
    bool begun;                 /* a job has come */
};

/* Returns the counters of the host, or of the count of GPUs that runs in its place
 * (trial_count.c). */
static inline const struct host_counts *metrics_counts(const struct metrics *m)
{
    return m->count ? m->count->counts : host_counts(m->host);
}

#endif
