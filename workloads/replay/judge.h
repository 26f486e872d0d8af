/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * judge.h - the reading of a trace's file, and whether a row of it is a job.  For
 * file.c and judge.c.
 */
#ifndef WORKLOADS_REPLAY_JUDGE_H
#define WORKLOADS_REPLAY_JUDGE_H

#include <stddef.h>
#include <stdint.h>

#include "sim/text/string_set.h"
#include "workloads/formats/import.h"
#include "workloads/formats/trace_row.h"
#include "workloads/jobs/birth.h"

struct arena;
struct csv;
struct err;
struct trace_spec;
struct where;

/* Names met while the file is checked.  Small numbers, as most traces have, are bits;
 * other texts are kept until the end of the check. */
struct seen {
    struct arena *arena;
    struct string_set texts;    /* names of jobs that were met */
    uint8_t *bit;               /* by number */
    size_t bytes;               /* of `bit` */
};

/* One pass over a trace's file.  Counts are of this pass. */
struct reading {
    struct arena *arena;
    const struct trace_spec *spec;  /* the keys, and forms by kind */
    struct import_stream *import;       /* NULL: csv or swf */
    const struct csv *csv;      /* the open file, for places of errors */
    struct csv *own;            /* csv or swf: the same */
    struct row_columns at;      /* columns of the row, for places of errors */
    struct import_row row;      /* read last, of an import */
    struct string_set tenants;  /* each name once */
    struct seen *seen;          /* NULL: names are not compared */
    const struct where *where;  /* NULL: every row is taken */
    uint64_t rows, jobs;        /* taken by `where`; that are jobs */
    int64_t last_ns;            /* submit time of the last row */
    struct source_counts counts;
};

/* What becomes of a row. */
enum fate { FATE_JOB, FATE_SKIP, FATE_END, FATE_ERROR };

/* Judges a row that is no job for a reason that its format knows: FATE_SKIP, counted,
 * if the workload leaves such rows out; else FATE_ERROR, with err at the column. */
enum fate judge_reason(struct reading *in, enum import_reason reason,
                       size_t column, struct err *err);
/* Judges a row by its own values, and completes it: its pool, kind and rates.  FATE_JOB,
 * FATE_SKIP, counted, or FATE_ERROR with err at its place. */
enum fate judge_values(struct reading *in, struct row *row, struct err *err);

#endif
