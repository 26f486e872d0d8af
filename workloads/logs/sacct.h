/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sacct.h - the line of sacct that is read, for sacct.c and sacct_resources.c.
 */
#ifndef WORKLOADS_LOGS_SACCT_H
#define WORKLOADS_LOGS_SACCT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "workloads/logs/record.h"

/* Columns that are read, and what sacct calls them. */
/* The columns that are read.  ALLOC and REQ are the trackable resources that a
 * job got and asked for; ALLOC_GRES and REQ_GRES are those of older versions.
 * The _RAW columns stand in for the same without it. */
enum {
    ID, SUBMIT, ELIGIBLE, START, END, ELAPSED, ELAPSED_RAW, LIMIT, LIMIT_RAW,
    ALLOC, REQ, ALLOC_GRES, REQ_GRES, NODES, CPUS, MEMORY, USER, ACCOUNT,
    STATE, WANTED
};
/* What sacct calls the columns. */
extern const char *const sacct_columns[WANTED];

/* A log that is being read: the line of one job, cut into cells. */
struct sacct {
    struct record record;       /* the row that is made of the line */
    struct cell cell[RECORD_CELLS_MAX]; /* of the line that was read last */
    size_t columns;             /* of the header */
    size_t at[WANTED];          /* SIZE_MAX: absent */
    char types[120];            /* GPU types that the job takes, "a100|h100" */
    char nothing[1];            /* an empty text */
};

/* Does the header have the column? */
static inline bool sacct_has(const struct sacct *log, int column)
{
    return log->at[column] != SIZE_MAX;
}

/* Returns the cell of a column; an absent column has empty cells. */
static inline struct cell sacct_cell(struct sacct *log, int column)
{
    return sacct_has(log, column) ? log->cell[log->at[column]]
                                  : (struct cell){log->nothing, 1};
}

/* Puts GPUs, nodes, cores, memory and GPU types of the line into the record.  False:
 * err says what cannot be read, and where. */
bool sacct_put_resources(struct sacct *log, struct err *err);

#endif
