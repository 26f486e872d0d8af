/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * row.h - what a format's file is given, and what it gives back.
 */
#ifndef WORKLOADS_FORMATS_ROW_H
#define WORKLOADS_FORMATS_ROW_H

#include "sim/base/err.h"
#include "workloads/formats/import.h"
#include "workloads/formats/trace_row.h"

#define IMPORT_COLUMNS_MAX 12

struct import_lengths;

/* An open file, as the functions of a format see it. */
struct importer {
    struct arena *arena;        /* lives as long as the stream */
    const struct import_format *format; /* whose functions read the rows */
    const struct import_request *request;   /* of the caller */
    struct csv *csv;            /* the open file; import_close() closes it */
    size_t at[IMPORT_COLUMNS_MAX];      /* of format->columns, in order */
    const struct import_lengths *lengths;       /* if open() read them */
    struct row_columns plain;           /* if open() found them */
};

/* Fills job and columns from fields that mean what row_columns says. */
bool import_plain(struct importer *importer, const struct row_columns *at,
                  struct import_row *row, struct err *err);
/* Logs that say when a job was submitted, started and ended; dates or seconds.
 * Where one lacks, the row is no job, for a reason of its own.  ROW_NO_COLUMN
 * for `job` and `tenant`: none. */
struct timed_columns {
    size_t job, submit, start, end, gpus, tenant;
};
/* Sets the run time to end minus start.  False: err is at a field that is
 * wrong. */
bool import_timed(struct importer *importer, const struct timed_columns *at,
                  struct import_row *row, struct err *err);
/* A number from 0 up to 1e9; empty is 0. */
bool import_amount(const struct csv *csv, size_t column, double *out,
                   struct err *err);
/* Is the field this number?  False of a text, also of an empty one. */
bool import_says(const struct csv *csv, size_t column, double wanted);
/* GPUs of a job; a row without one if they are no whole number. */
void import_gpus(struct import_row *row, double gpus, size_t column);
/* Is the deadline before submission + run time, so that it cannot be met? */
bool import_is_late(const struct import_job *job);
/* The row is no job; what the format says of it first stands. */
void import_drop(struct import_row *row, enum import_reason reason,
                 size_t column);
/* Finds format->columns in the header. */
bool import_columns(struct importer *importer, struct err *err);

/* Run times, or rates, by key.  Of a JSON of Gavel's throughputs: type ->
 * "('job type', GPUs)" -> "null" = steps/s; of a CSV: application, run_s. */
bool import_lengths_csv(struct importer *importer, struct err *err);
bool import_lengths_gavel(struct importer *importer, struct err *err);
/* Returns the run time (s) or the rate of a key; 0: there is none. */
double import_length(const struct import_lengths *lengths, const char *key);

#define FORMAT(ID, NAME) extern const struct import_format import_##ID;
#include "workloads/formats/formats.def"
#undef FORMAT

#endif
