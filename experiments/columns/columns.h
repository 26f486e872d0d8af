/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * columns.h - the columns of every CSV, declared once: name, type, help.
 *
 * What writes a table, reads it back, explains it or lists it asks here.
 * Columns may be added at the end of a table, and are never moved or renamed:
 * scripts of users are built on them.
 */
#ifndef EXPERIMENTS_COLUMNS_COLUMNS_H
#define EXPERIMENTS_COLUMNS_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/text/table.h"

struct placement;

/* One CSV file.  All of it is static. */
struct csv_kind {
    const char *file;           /* "jobs.csv" */
    const char *help;           /* what a row is, for `explain` */
    const struct table_column *columns;
    size_t count;               /* of columns */
};

/* Columns of jobs.csv behind the three keys: column 3 + JOB_CELL_ID. */
enum job_cell {
#define JOB_COLUMN(ID, COLUMN, TYPE, OF, HELP) JOB_CELL_##ID,
#include "experiments/columns/job_columns.def"
#undef JOB_COLUMN
    JOB_CELL_COUNT
};
/* Does the column say how a job came to its end (DONE in job_columns.def)?  An
 * aggregate over it is then of jobs that were done. */
bool job_cell_of_done(enum job_cell column);

extern const struct csv_kind csv_summary, csv_compare, csv_jobs, csv_phases,
    csv_timeline, csv_decisions, csv_services, csv_arrived,
    csv_tenants, csv_seeds, csv_metrics, csv_border, csv_sensitivity,
    csv_checks, csv_failures, csv_options;
/* Returns kind `i` of all of them, from 0; NULL past the last. */
const struct csv_kind *csv_kind_at(size_t i);
/* Returns the unit of column `column` of the kind, as static text: "s", "USD",
 * "fraction", "count"; "" of texts, and of what has the unit of another column's
 * metric or key (`mean` of compare.csv). */
const char *csv_column_unit(const struct csv_kind *kind, size_t column);

/* Writes where a lease lies: "3:0-7 5:0+2" is GPUs 0 to 7 of node 3, and 0 and 2
 * of node 5; a node without GPUs stands alone; "3:0*0.250" is a quarter of a GPU.
 * Nodes count from 0.  Cut with "..." where `out` (out_bytes, more than 5) is too
 * short; always ends with a 0.  Returns its bytes without that. */
size_t trial_placement_text(const struct placement *placement, char *out,
                            size_t out_bytes);

#endif
