/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report.h - the result of an import, as a report and as a workload's file.
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

/* What was imported, as the functions below tell it.  result->count: > 0. */
struct imported {
    struct arena *arena;
    const struct import_format *format;
    const struct import_request *request;   /* what might be left out */
    const struct import_result *result;
    uint32_t cluster_gpus;      /* 0: no cluster was given */
};

/* Prints jobs, span, GPU-hours, quantiles, load, and which rows were left out,
 * with the reason. */
void import_report(FILE *file, const struct imported *imported);
/* Prints each count of rows that were left out, changed or noted, on a line. */
void import_counts(FILE *file, const struct imported *imported);
/* Writes the workload `name` that reads `csv`, a file in the same folder. */
void import_yaml(struct out *out, const struct imported *imported,
                 const char *name, const char *csv);

/* Prints a line: the label, and minimum, quantiles and maximum of the values,
 * divided by `unit`.  Sorts the values. count: > 0. */
void import_quantiles(FILE *file, const char *label, int64_t *value,
                      size_t count, double unit);
/* Prints "  12 rows ..." in a report, or "#   12 rows ..." in a workload's file
 * if out is not NULL.  Prints nothing for a count of 0. */
void import_line(FILE *report, struct out *out, uint64_t count,
                 const char *text);
/* Writes a text in single quotation marks, as in YAML. */
void import_quoted(struct out *out, const char *text);
/* Returns a name of the command line in a form that fits on one line of a
 * comment. */
const char *import_one_line(struct arena *arena, const char *text);

/* A report that is printed and kept beside what was imported: written to `file`,
 * between begin and end. */
struct import_paper {
    FILE *file;
    char *text;                 /* the report so far, owned by open_memstream() */
    size_t bytes;
};
bool import_paper_begin(struct import_paper *paper, struct err *err);
/* Prints the report to `out`, and writes it to the file beside `csv`: w.report.txt
 * of w.csv, whose name it prints. */
bool import_paper_end(struct import_paper *paper, struct arena *arena,
                      FILE *out, const char *csv, struct err *err);
/* Frees a paper that is not ended; accepts one that is, or was not begun. */
void import_paper_drop(struct import_paper *paper);

/* Reports what the reader of `file` accepted without a message, each on a line:
 * Windows line ends, a byte order mark, a last line without an end and, if
 * `blank`, blank lines.  False: err says why the file cannot be read. */
bool import_layout(FILE *out, const char *file, bool blank, struct err *err);

#endif
