/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * columns.h - the columns of every CSV, declared once: name, type, help.
 */
#ifndef EXPERIMENTS_COLUMNS_H
#define EXPERIMENTS_COLUMNS_H

#include <stddef.h>

#include "sim/table.h"

struct csv_kind {
    const char *file;           /* "jobs.csv" */
    const char *help;
    const struct table_column *columns;
    size_t count;
};

extern const struct csv_kind csv_summary, csv_compare, csv_jobs, csv_phases,
    csv_timeline, csv_decisions, csv_services, csv_arrived;

#endif
