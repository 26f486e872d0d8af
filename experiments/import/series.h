/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * series.h - converts published series to the common form.
 */
#ifndef EXPERIMENTS_IMPORT_SERIES_H
#define EXPERIMENTS_IMPORT_SERIES_H

#include <stdbool.h>
#include <stdio.h>

#include "workloads/series/series.h"

struct arena;

/* What is asked for, then what was found. */
struct series_import {
    struct arena *arena;
    const struct series_format *format;
    struct series_request request;  /* which file, and whether it is sorted */
    struct series_set set;      /* the series themselves */
    struct series_counts counts;
};

/* Reads request.file and writes the keys to `yaml` and the points to `csv`; fills the set
 * and the counts.  False: err says why; what was written stays. */
bool import_series(struct series_import *import, const char *yaml,
                   const char *csv, struct err *err);
/* Prints series, points, span, values, and all counts. */
void import_series_report(FILE *file, const struct series_import *import);

#endif
