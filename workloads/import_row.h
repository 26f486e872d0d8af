/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * import_row.h - what a format's file is given, and what it gives back.
 */
#ifndef WORKLOADS_IMPORT_ROW_H
#define WORKLOADS_IMPORT_ROW_H

#include "sim/err.h"
#include "workloads/import.h"
#include "workloads/trace_row.h"

#define IMPORT_COLUMNS_MAX 12

struct import_lengths;

struct importer {
    struct arena *arena;
    const struct import_format *format;
    const struct import_request *request;
    struct csv *csv;
    size_t at[IMPORT_COLUMNS_MAX];      /* of format->columns, in order */
    const struct import_lengths *lengths;       /* if open() read them */
    uint64_t *remark;           /* the row's own; counted if it is kept */
};

struct import_row {
    struct import_job job;      /* texts good until the next row */
    bool drop;                  /* it is no job for a reason of its own: */
    enum import_reason reason;
    size_t column;              /* where that is seen */
    size_t run_column, gpus_column, submit_column, name_column;
};

/* Fills job and columns from fields that mean what row_columns says. */
bool import_plain(struct importer *importer, const struct row_columns *at,
                  struct import_row *row, struct err *err);
/* The row is no job; what the format says of it first stands. */
void import_drop(struct import_row *row, enum import_reason reason,
                 size_t column);
/* Finds format->columns in the header. */
bool import_columns(struct importer *importer, struct err *err);

/* Run times, or rates, by key.  `scan` of a JSON of Gavel's throughputs: type
 * -> "('job type', GPUs)" -> "null" = steps/s; of a CSV: application, run_s. */
bool import_lengths_csv(struct importer *importer, struct err *err);
bool import_lengths_gavel(struct importer *importer, struct err *err);
/* 0 where there is none. */
double import_length(const struct import_lengths *lengths, const char *key);

extern const struct import_format import_csv, import_swf, import_philly,
    import_itp, import_tiresias, import_helios, import_gavel,
    import_shockwave, import_pollux, import_sia, import_openb;

#endif
