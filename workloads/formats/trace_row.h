/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trace_row.h - one row of a trace file, as numbers and texts.
 *
 * Times are read as decimal text, exactly.  Submit times are seconds, or
 * "YYYY-MM-DD HH:MM:SS", which is taken for UTC.
 */
#ifndef WORKLOADS_FORMATS_TRACE_ROW_H
#define WORKLOADS_FORMATS_TRACE_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/err.h"

#define ROW_NO_COLUMN SIZE_MAX

struct csv;
struct trace_kind;
struct job_modes;
struct application_job;
struct job_rates;
struct job_regimes;

/* One row as it stands in the file. */
struct row {
    int64_t submit_ns, duration_ns, limit_ns, gpus;     /* limit_ns 0: none */
    uint64_t number;            /* of the row in the file, from 0 */
    const char *name;           /* NULL: none */
    const char *types;          /* "V100|T4"; NULL or "": any */
    /* The following is the same in nearly all rows of most files. */
    int64_t deadline_ns;        /* by the clock of the file, as submit_ns;
                                   CLOCK_NEVER_NS: none */
    const char *tenant;         /* NULL: none */
    /* A part of a GPU: gpus is 1 and gpu_milli below 1000, else 0. */
    int64_t gpu_milli, gpu_mib;
    int64_t core_milli, memory_bytes;   /* of a pod */
    const char *pool;           /* the only one that it may use; NULL: any */
    const struct trace_kind *kind;      /* found by trace.c; NULL: none */
    const struct job_rates *rates;      /* NULL: the same everywhere */
    double rate_known;          /* with rates: the one at which it ran duration_ns */
    const struct job_modes *modes;      /* NULL: its batch size stays */
    const struct job_regimes *regimes;
    const struct application_job *application;  /* NULL: not said */
    int32_t priority;           /* up to ROW_PRIORITY_MAX either way */
    bool pod;                   /* lies on one node; cores and memory in all */
    bool dated;                 /* submit_ns was a date: since 1970, UTC */
};

/* Of priorities, so that sums of them stay within 32 bits. */
#define ROW_PRIORITY_MAX 1000000

/* Columns of the fields of a row, from 0; ROW_NO_COLUMN: the file has none. */
struct row_columns {
    size_t job, submit, duration, gpus, gpus_else, limit, tenant, priority,
           deadline;
    size_t cores, memory_mib, gpu_memory_mib, types;
};
/* No column of those that most files lack. */
#define ROW_NO_MORE \
    .cores = ROW_NO_COLUMN, .memory_mib = ROW_NO_COLUMN, \
    .gpu_memory_mib = ROW_NO_COLUMN, .types = ROW_NO_COLUMN

/* The fields of the row that csv has read; texts are good until the next one,
 * `number` is left at 0.  Values below their range are handed on, but for a
 * negative submit time. */
bool row_read(const struct csv *csv, const struct row_columns *at,
              struct row *row, struct err *err);
/* One field: a whole number; decimal seconds, exactly. */
bool row_whole(const struct csv *csv, size_t column, int64_t *out,
               struct err *err);
/* GPUs: a whole number, or a part of one, to the thousandth. */
bool row_gpus(const struct csv *csv, size_t column, struct row *row,
              struct err *err);
bool row_seconds(const struct csv *csv, size_t column, int64_t *ns,
                 struct err *err);
/* A date, or seconds; CLOCK_NEVER_NS for an empty field or one below 0. */
bool row_deadline(const struct csv *csv, size_t column, int64_t *ns,
                  struct err *err);
/* "column X must be `what`, found ..." at the field; returns false. */
bool row_fault(const struct csv *csv, size_t column, enum err_kind kind,
               const char *what, struct err *err);

#endif
