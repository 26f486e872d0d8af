/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * columns.h - the columns of every CSV, declared once: name, type, help.
 */
#ifndef EXPERIMENTS_COLUMNS_COLUMNS_H
#define EXPERIMENTS_COLUMNS_COLUMNS_H

#include <stddef.h>

#include "sim/text/table.h"

struct placement;

struct csv_kind {
    const char *file;           /* "jobs.csv" */
    const char *help;
    const struct table_column *columns;
    size_t count;
};

extern const struct csv_kind csv_summary, csv_compare, csv_jobs, csv_phases,
    csv_timeline, csv_decisions, csv_services, csv_arrived,
    csv_tenants, csv_seeds;

/* "3:0-7 5:0+2": GPUs 0 to 7 of node 3, 0 and 2 of node 5; a node without
 * GPUs stands alone.  Cut with "..." where out is too short. */
void trial_placement_text(const struct placement *placement, char *out,
                          size_t out_bytes);

#endif
