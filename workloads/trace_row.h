/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trace_row.h - one row of a trace file, as numbers and texts.
 *
 * Times are read as decimal text, exactly.  Submit times are seconds, or
 * "YYYY-MM-DD HH:MM:SS", which is taken for UTC.
 */
#ifndef WORKLOADS_TRACE_ROW_H
#define WORKLOADS_TRACE_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/err.h"

#define ROW_NO_COLUMN SIZE_MAX

struct csv;
struct job_rates;

/* One row as it stands in the file. */
struct row {
    int64_t submit_ns, duration_ns, limit_ns, gpus;
    int64_t deadline_ns;        /* by the clock of the file, as submit_ns;
                                   CLOCK_NEVER_NS: none */
    int32_t priority;
    const char *name, *tenant;  /* NULL: none */
    const struct job_rates *rates;      /* NULL: the same everywhere */
    double rate_known;
    uint64_t number;            /* of the row in the file, from 0 */
    bool dated;                 /* submit_ns was a date: since 1970, UTC */
};

struct row_columns {
    size_t job, submit, duration, gpus, gpus_else, limit, tenant, priority,
           deadline;
};

/* The fields of the row that csv has read; texts are good until the next one,
 * `number` is left at 0.  Values below their range are handed on, but for a
 * negative submit time. */
bool row_read(const struct csv *csv, const struct row_columns *at,
              struct row *row, struct err *err);
/* One field: a whole number; decimal seconds, exactly. */
bool row_whole(const struct csv *csv, size_t column, int64_t *out,
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
