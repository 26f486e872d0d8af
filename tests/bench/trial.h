/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trial.h - a trial measured in a process of its own, and the bare loop
 * beside it.
 */
#ifndef TESTS_BENCH_TRIAL_H
#define TESTS_BENCH_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/err.h"
#include "tests/bench/cluster.h"

struct bench_trial {
    const char *name;
    const struct bench_load *load;
    bool written;               /* with the table of jobs, written to a file */
    bool by_host;               /* on the path of every policy, not trial_count */
    bool whole;                 /* the run with all tables, charts and the report */
    const char *dir;            /* of bench_write() */
    uint32_t cpu_max_s;         /* it is stopped after so long; 0: never */
};

/* What the process of a trial tells, by a pipe; plain numbers. */
struct bench_report {
    double cpu_s, bare_s;
    double events, peak_bytes, base_bytes;
    bool ok, late;              /* late: it was stopped */
    struct err err;
};

/* whole.c: the run to its results folder, in this process.  False: report->err says why. */
bool bench_whole(const struct bench_trial *trial, struct bench_report *report);
/* The most memory that this process had. */
double bench_peak_bytes(void);

/* Runs it, or (bare) the loop over its jobs. */
bool bench_trial(const struct bench_trial *trial, bool bare,
                 struct bench_report *report, struct err *err);

#endif
