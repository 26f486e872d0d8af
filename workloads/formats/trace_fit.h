/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trace_fit.h - distributions of a trace: gaps of arrivals, sizes, run times.
 *
 * Sizes are as frequent as in the trace; run times are fitted for each size that
 * has enough jobs, so that larger jobs stay longer or shorter; other sizes share
 * one fit.
 */
#ifndef WORKLOADS_FORMATS_TRACE_FIT_H
#define WORKLOADS_FORMATS_TRACE_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/stats/likelihood.h"

struct arena;
struct err;
struct import_result;

#define TRACE_FIT_ENTRIES_MAX 16u

/* The fits of all families to one sample. */
struct trace_fit_fits {
    struct likelihood fit[LIKELIHOOD_FAMILIES]; /* by family */
    bool good[LIKELIHOOD_FAMILIES]; /* false: the sample allows no fit of that family */
    size_t best;                /* of the smallest AIC */
};

/* A size of jobs, and how many have it. */
struct trace_fit_size {
    int64_t gpu_milli;          /* of all its GPUs */
    uint64_t jobs;
};

/* Jobs of one size, or of all sizes that are too rare for a fit of their own. */
struct trace_fit_entry {
    const struct trace_fit_size *size;  /* ascending */
    size_t size_count;
    const double *run_s;        /* sorted */
    size_t jobs;
    struct trace_fit_fits run;  /* none is good if all are equal */
    bool empirical;             /* the best is not near enough */
};

/* What a trace looks like, in the terms of a mix. */
struct trace_fit {
    struct trace_fit_entry *entry;  /* [entries], by what jobs ask for */
    size_t entries;
    struct trace_fit_fits gap;  /* of the times between arrivals, in seconds */
    double rate_per_s;          /* jobs - 1 over the span */
    double gap_cv;              /* of the gamma; 1: Poisson */
    uint64_t without_gpus;      /* jobs that ask for none: left out */
    uint64_t zero_gaps;         /* taken for half of the least other gap */
    double day_amplitude;       /* of arrivals over the hours of a day, 0 to 1 */
    double day_peak_s;          /* after midnight, by the trace's clock */
};

/* Jobs in order of submission.  An err if there are too few, or all come at
 * once. */
bool trace_fit_make(struct arena *arena, const struct import_result *result,
                    const char *file, struct trace_fit *out,
                    struct err *err);

#endif
