/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * import_report.h - what an import found: printed, and as a workload's file.
 */
#ifndef EXPERIMENTS_IMPORT_REPORT_H
#define EXPERIMENTS_IMPORT_REPORT_H

#include <stdint.h>
#include <stdio.h>

struct arena;
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
/* The workload that reads `csv`, a name beside it. */
void import_yaml(struct out *out, const struct imported *imported,
                 const char *name, const char *csv);

/* A line of the label and quantiles of the values, which it sorts; count is
 * above 0. */
void import_quantiles(FILE *file, const char *label, int64_t *value,
                      size_t count, double unit);
/* A text in single quotation marks, as YAML wants it. */
void import_quoted(struct out *out, const char *text);
/* A name from a command line, on one line of a comment. */
const char *import_one_line(struct arena *arena, const char *text);

#endif
