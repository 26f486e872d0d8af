/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plot_gantt.h - which runs of phases.csv a Gantt chart shows.
 *
 * Two trials side by side; the window in which the less busy of them is
 * busiest; rows are GPUs.  Only runs that are drawn are kept: memory grows
 * with the window and not with the table, which is read three times.
 */
#ifndef EXPERIMENTS_PLOT_GANTT_H
#define EXPERIMENTS_PLOT_GANTT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "experiments/plot_data.h"

#define GANTT_ROWS_MAX 128u
#define GANTT_NODES_MAX 65536u
#define GANTT_NO_JOB UINT64_MAX

struct gantt_run {
    double start_s, end_s;
    const char *nodes;          /* "3:0-7 5:0+2" */
    uint64_t job;               /* FNV-1a of its name */
    uint32_t kind;
    uint64_t index;             /* row of the table */
};

/* Of one GPU: the last run that ended before the window, and the first that
 * begins after it. */
struct gantt_edge {
    struct gantt_run before, after;     /* job: GANTT_NO_JOB if none */
};

struct gantt_side {
    uint32_t policy;            /* UINT32_MAX: none */
    uint64_t count;             /* of all runs of the trial */
    double first_s, last_s, sum_s;      /* earliest start, latest end */
    struct gantt_run *run;      /* those in the window, by start */
    size_t runs, room;
    struct gantt_edge *edge;    /* by row */
};

struct gantt_kinds {
    const char **name;
    uint32_t count, room;
};

struct gantt {
    const struct plot_source *source;
    struct gantt_side side[2];
    double seed;                /* NAN: not met yet */
    struct gantt_kinds kind;
    double start_s, end_s;      /* the window */
    uint32_t *row, *gpus;       /* by node: first row, GPUs drawn */
    uint32_t nodes, rows, rows_left_out;
};

/* The policies of both sides, and `source`, are given.  False: skip or err is
 * set; true, but rows is 0: there is nothing to show. */
bool gantt_read(struct gantt *gantt, struct plot_sink *sink, struct err *err);

/* The next run of GPUs in a placement: node, first and last; false: no more.
 * *node is the node of the last call, for the parts after a plus sign. */
bool gantt_next_gpus(const char **text, uint32_t *node, uint32_t *first,
                     uint32_t *last);

#endif
