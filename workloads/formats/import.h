/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * import.h - public job traces, each in the format it was published in.
 *
 * A format is one file, NAME.c, that turns a row into a job, and a line of
 * formats.def; what is the same for all - counting, leaving out, duplicates,
 * order - stands in import.c.  Nothing is left out or sorted unless the request
 * asks for it by name, and then it is counted: rows = jobs + the sum of all that
 * was left out.  `import_read` keeps all jobs of a file; a stream hands them out
 * one by one, for workloads that name the file itself.
 */
#ifndef WORKLOADS_FORMATS_IMPORT_H
#define WORKLOADS_FORMATS_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/text/csv.h"

#define IMPORT_NAME_BYTES 160u

struct arena;
struct err;
struct job_modes;
struct job_regimes;
struct notes;
struct trace_columns;

/* Why a row is no job.  It is refused unless the request skips that reason;
 * reason_table in import.c says what each means. */
enum import_reason {
    IMPORT_RUN_TIME, IMPORT_GPUS, IMPORT_TOO_LARGE, IMPORT_DUPLICATE,
    IMPORT_FRACTION, IMPORT_TYPES, IMPORT_NEVER_RAN, IMPORT_NO_LENGTH,
    IMPORT_NO_SUBMIT, IMPORT_STILL_RUNNING, IMPORT_NO_POOL,
    IMPORT_REASONS
};
/* "run_time_not_positive", and what it means. */
const char *import_reason_name(enum import_reason reason,
                               const char **meaning);

/* What is worth telling of jobs that are kept. */
enum import_remark {
    REMARK_REQUESTED, REMARK_NO_SUCCESS, REMARK_NO_LIMIT, REMARK_LATE,
    REMARK_WEIGHT, REMARK_SLO, REMARK_DYNAMIC, REMARK_TYPE, REMARK_ATTEMPTS,
    REMARK_UNTIMED, REMARK_DURATION, REMARK_EARLY, REMARK_NO_GPU, REMARKS
};

/* Returns what the remark says of a job; static text. */
const char *import_remark_text(enum import_remark remark);

/* A job, as any format gives it. */
struct import_job {
    const char *name;           /* NULL: by the number of its row, from 1 */
    const char *tenant;         /* NULL: none */
    const char *kind;           /* what it computes, where rates depend on it;
                                   good until the next row.  NULL: not said */
    int64_t submit_ns, run_ns;  /* submit_ns: on the clock of the file */
    int64_t limit_ns;           /* 0: none */
    int64_t deadline_ns;        /* CLOCK_NEVER_NS: none */
    int64_t gpus;               /* 0: on cores alone */
    int64_t batch;              /* samples of a step; 0: not said */
    int64_t gpu_milli, gpu_mib; /* a part of one GPU; 0: whole, not said */
    const char *types;          /* "V100|T4"; NULL or "": any */
    bool pod;                   /* lies on one node, and requests in all: */
    int64_t core_milli, memory_bytes;   /* thousandths of cores; host memory */
    int32_t priority;           /* the larger goes first; 0: not said */
    uint64_t row;               /* in the file, from 0 */
    const struct job_modes *modes;      /* batch sizes that change; NULL: it */
    const struct job_regimes *regimes;  /* is not known */
};

/* What a caller asks of an import. */
struct import_request {
    const char *file;           /* plain, gzip or zstd */
    const char *lengths;        /* what the format needs beside it; or NULL */
    bool applications;          /* run times follow from those of the
                                   catalogue: kind and batch are told */
    const struct trace_columns *columns;    /* csv: names of its own; NULL:
                                   those that export writes */
    const char *gpu_type;       /* of lengths that tell types apart; or NULL */
    uint32_t gpus_max;          /* larger jobs cannot run; 0: not checked */
    bool sort;                  /* rows that are not in order are sorted; else they are
                                   errors */
    bool untimed;               /* times do not matter: rows come in order */
    bool skip[IMPORT_REASONS];  /* rows of that reason are left out and counted; else they are
                                   errors */
};

/* In ascending order of (submit_ns, row). */
struct import_result {
    struct import_job *job;     /* [count]; texts live in the arena of the import */
    size_t count;
    uint64_t rows, blank_lines, longer_rows;    /* read; without a field; with more fields than
                                                   the header */
    uint64_t unsorted;          /* rows submitted before the row above */
    uint64_t skipped[IMPORT_REASONS], remark[REMARKS];  /* rows by reason; jobs by remark */
    const struct notes *notes;  /* what its reader took for granted; or NULL */
};

/* A row as the format read it, and what was found about it. */
struct import_row {
    struct import_job job;      /* texts good until the next row */
    bool drop;                  /* it is no job: */
    enum import_reason reason;  /* valid if `drop` */
    size_t column;              /* where that is seen */
    /* for places of errors */
    size_t run_column, gpus_column, submit_column, name_column;
    size_t types_column;        /* likewise; all count from 0 */
    bool remark[REMARKS];
    char name[IMPORT_NAME_BYTES];       /* room for a name that is composed */
};

struct importer;                /* row.h */

/* A published format.  A format has `columns` and a CSV layout, or a `source`
 * that gives rows of a file that is no CSV. */
struct import_format {
    const char *name;           /* as the command line calls it */
    const char *summary;        /* one line for `list formats` */
    const char *about;          /* lines for the workload's file */
    enum csv_format layout;     /* where there is no source */
    bool (*source)(struct arena *arena, const char *path,
                   struct csv_source *source, struct err *err);  /* or NULL */
    const char *const *columns; /* that a header must have; ends with NULL */
    const char *missing;        /* hint if one lacks; NULL: the columns */
    const char *lengths;        /* what --lengths is; NULL: not taken */
    bool applications;          /* or those of the catalogue */
    bool typed;                 /* lengths are per GPU type */
    bool has_lengths;           /* its rows say how long they run, too */
    bool untimed;               /* can be read for what is asked for alone */
    bool (*open)(struct importer *importer, struct err *err);   /* or NULL */
    bool (*row)(struct importer *importer, struct import_row *row,
                struct err *err);
    const char *cites;          /* works to cite (experiments/works); NULL: none */
};

/* Formats by number, NULL past the last; by name, or NULL. */
const struct import_format *import_format_at(size_t i);
const struct import_format *import_format_find(const char *name);

/* Opens a file as a stream of rows.  The stream lives in the arena, but owns the
 * open file: import_close() returns it.  It ignores `sort` and `skip` of the
 * request and does not compare names: the caller does.  NULL and an err: the file
 * cannot be read, or has not the columns of the format. */
struct import_stream *import_open(struct arena *arena,
                                  const struct import_format *format,
                                  const struct import_request *request,
                                  struct err *err);

/* Reads the next row into *row.  CSV_ERROR: err says what is wrong, and
 * where. */
enum csv_step import_next(struct import_stream *stream,
                          struct import_row *row, struct err *err);
const struct csv *import_csv_of(const struct import_stream *stream);
void import_close(struct import_stream *stream);        /* accepts NULL */
/* "job cannot be imported: ..." at the row read last; returns false. */
bool import_refuse(const struct import_stream *stream,
                   const struct import_row *row, struct err *err);

/* Reads all jobs of a file into *result, in the arena.  False and an err: a
 * row is wrong, is no job and was not to be skipped, or there is no job at
 * all. */
bool import_read(struct arena *arena, const struct import_format *format,
                 const struct import_request *request,
                 struct import_result *result, struct err *err);

#endif
