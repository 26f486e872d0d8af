/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * columns.h - which column of somebody's CSV is what, by its name, or a
 * number that stands for every row.
 */
#ifndef WORKLOADS_FORMATS_COLUMNS_H
#define WORKLOADS_FORMATS_COLUMNS_H

#include <stdbool.h>

#include "sim/base/err.h"

struct arena;
struct conf_schema;
struct csv;
struct row_columns;

/* Names of columns in the file.  NULL: the file has none for it.  `submit`,
 * `duration` and `gpus` are needed. */
struct trace_columns {
    const char *job, *submit, *duration, *gpus, *limit, *tenant, *priority,
        *deadline, *cores, *memory_mib, *gpu_memory_mib, *gpu_types;
};

/* Finds them in the header.  What is no column, but a number, becomes one that
 * has this number in every row.  False with an err at `pos`, which lists the
 * columns of the file `path`. */
bool trace_columns_find(struct csv *csv, struct arena *arena,
                        const struct trace_columns *names, const char *path,
                        struct err_pos pos, struct row_columns *at,
                        struct err *err);

extern const struct conf_schema trace_columns_schema;

#endif
