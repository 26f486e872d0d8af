/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * table_sizes.h - how large the tables of a run will be, before it runs.
 *
 * Jobs are drawn as in the first seed of each point, up to a bound; the
 * remaining jobs are assumed to be like these.  A job has one row in jobs.csv,
 * and one row in phases.csv for each run of each of its phases.  Rows that
 * failures, preemption and resizing add are not counted.  Bytes are those of
 * usual rows.
 */
#ifndef EXPERIMENTS_PREFLIGHT_TABLE_SIZES_H
#define EXPERIMENTS_PREFLIGHT_TABLE_SIZES_H

#include <stdint.h>
#include <stdio.h>

struct arena;
struct experiment;

enum sized_table {
    SIZED_JOBS, SIZED_PHASES, SIZED_TIMELINE, SIZED_DECISIONS, SIZED_COUNT
};

struct table_sizes {
    double rows[SIZED_COUNT], bytes[SIZED_COUNT];   /* 0: not asked for */
    double all_bytes;
};

/* Returns the estimate for the whole experiment; scratch memory comes from the
 * arena. */
struct table_sizes table_sizes_of(struct arena *arena,
                                  const struct experiment *experiment);
/* Prints the sizes; nothing if all tables together are smaller than
 * TABLE_SIZES_SMALL. */
#define TABLE_SIZES_SMALL 100e6     /* bytes */
void table_sizes_print(FILE *file, const struct experiment *experiment,
                       const struct table_sizes *sizes);

#endif
