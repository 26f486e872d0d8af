/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * columns.h - the columns of every CSV, declared once: name, type, help.
 */
#ifndef EXPERIMENTS_COLUMNS_COLUMNS_H
#define EXPERIMENTS_COLUMNS_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/text/table.h"

struct placement;

struct csv_kind {
    const char *file;           /* "jobs.csv" */
    const char *help;
    const struct table_column *columns;
    size_t count;
};

/* Columns of jobs.csv behind the three keys: column 3 + JOB_CELL_ID. */
enum job_cell {
#define JOB_COLUMN(ID, COLUMN, TYPE, OF, HELP) JOB_CELL_##ID,
#include "experiments/columns/job_columns.def"
#undef JOB_COLUMN
    JOB_CELL_COUNT
};
/* Does it say how a job came to its end? */
bool job_cell_of_done(enum job_cell column);

extern const struct csv_kind csv_summary, csv_compare, csv_jobs, csv_phases,
    csv_timeline, csv_decisions, csv_services, csv_arrived,
    csv_tenants, csv_seeds, csv_metrics, csv_border, csv_sensitivity,
    csv_checks, csv_failures;
/* All of them, by a number from 0; NULL past the last. */
const struct csv_kind *csv_kind_at(size_t i);
/* Returns the unit of a column: "s", "USD", "fraction", "count"; "" of texts, and of what
 * has the unit of another column's metric or key (`mean` of compare.csv). */
const char *csv_column_unit(const struct csv_kind *kind, size_t column);

/* "3:0-7 5:0+2": GPUs 0 to 7 of node 3, 0 and 2 of node 5; a node without
 * GPUs stands alone.  Cut with "..." where out is too short. */
void trial_placement_text(const struct placement *placement, char *out,
                          size_t out_bytes);

#endif
