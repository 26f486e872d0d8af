/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report.h - what an import found: printed, and as a workload's file.
 */
#ifndef EXPERIMENTS_IMPORT_REPORT_H
#define EXPERIMENTS_IMPORT_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct arena;
struct err;
struct import_format;
struct import_request;
struct import_result;
struct out;

struct imported {
    struct arena *arena;
    const struct import_format *format;
    const struct import_request *request;
    const struct import_result *result;
    uint32_t cluster_gpus;      /* 0: no cluster was given */
};

/* Jobs, span, GPU-hours, quantiles, load, what was left out and why. */
void import_report(FILE *file, const struct imported *imported);
/* What was left out, sorted, or is worth telling, each in a line. */
void import_counts(FILE *file, const struct imported *imported);
/* The workload that reads `csv`, a name beside it. */
void import_yaml(struct out *out, const struct imported *imported,
                 const char *name, const char *csv);

/* A line of the label and quantiles of the values, which it sorts; count is
 * above 0. */
void import_quantiles(FILE *file, const char *label, int64_t *value,
                      size_t count, double unit);
/* "  12 rows ..." in a report, "#   12 rows ..." in the file of a workload, if
 * there is one; nothing where none is counted. */
void import_line(FILE *report, struct out *out, uint64_t count,
                 const char *text);
/* A text in single quotation marks, as YAML wants it. */
void import_quoted(struct out *out, const char *text);
/* A name from a command line, on one line of a comment. */
const char *import_one_line(struct arena *arena, const char *text);

/* What reading the file passed over in silence, each in a line: Windows' line
 * ends, a byte order mark, a last line without an end and, if `blank`, blank
 * lines. */
bool import_layout(FILE *out, const char *file, bool blank, struct err *err);

#endif
