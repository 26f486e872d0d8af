/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plot_gantt.h - which runs of phases.csv a Gantt chart shows.
 *
 * Two trials side by side; the window in which the less busy of them is
 * busiest; rows are GPUs: all of the cluster, or of each pool its share.
 * Only runs that are drawn are kept: memory grows with the window and not with
 * the table, which is read once.
 */
#ifndef EXPERIMENTS_REPORT_PLOT_GANTT_H
#define EXPERIMENTS_REPORT_PLOT_GANTT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "experiments/report/plot_data.h"

#define GANTT_ROWS_MAX 128u     /* where there are more, of each pool its share */
#define GANTT_NODES_MAX 65536u
#define GANTT_NO_JOB UINT64_MAX

struct spool;

/* GPUs of one node that lie side by side, both ends included. */
struct gantt_place {
    uint16_t node;
    uint8_t first, last;
};

/* A run as the table has it. */
struct gantt_row {
    double start_s, end_s, gpus;
    uint32_t kind;              /* of the phase */
    uint32_t places;
    uint32_t job_bytes;         /* with the NUL */
    uint16_t side;              /* of the chart */
    uint16_t cut;               /* 1: the table does not tell all places */
    const struct gantt_place *place;
    const char *job;            /* its name */
};

/* A run that is drawn, or is the edge of a GPU. */
struct gantt_run {
    double start_s, end_s;
    const struct gantt_place *place;
    uint32_t places;
    uint64_t job;               /* FNV-1a of its name */
    const char *name;           /* of the job */
    uint32_t kind;              /* of the phase */
    uint32_t colour;            /* of g->colour */
    uint64_t index;             /* row of the table */
};

/* Of one GPU: the last run that ended before the window, and the first that
 * begins after it. */
struct gantt_edge {
    struct gantt_run before, after;     /* job: GANTT_NO_JOB if none */
};

/* One of the two trials. */
struct gantt_side {
    uint32_t policy;            /* UINT32_MAX: none */
    uint64_t count;             /* of all runs of the trial */
    double first_s, last_s, sum_s;      /* earliest start, latest end */
    double stays_s;             /* how long jobs stayed on a node, in all */
    uint64_t stays;
    struct gantt_run *run;      /* those in the window, by start */
    size_t runs, room;
    struct gantt_edge *edge;    /* by row */
};

/* Names, numbered from 0 in the order in which they were met. */
struct gantt_kinds {
    const char **name;
    uint32_t count, room;
};

/* Nodes that are alike, as provenance.json tells of them. */
struct gantt_group {
    const char *name;           /* as the cluster file calls the group */
    uint32_t first, count, gpus, pool;
};

/* The cluster of the middle point. */
struct gantt_cluster {
    struct gantt_group *group;  /* with GPUs only; count 0: not known */
    uint32_t count, all_gpus;
    struct gantt_kinds pool;    /* names */
    uint32_t *shown, *gpus;     /* GPUs by pool: rows, and all */
};

/* All that a chart is made from.  Arrays by node have room for GANTT_NODES_MAX. */
struct gantt {
    const struct plot_source *source;   /* of the caller: results, grid and arena */
    struct gantt_cluster cluster;
    struct gantt_side side[2];
    double seed;                /* NAN: not met yet */
    struct gantt_kinds kind;    /* names of phases */
    struct gantt_kinds job_kind;        /* names of kinds of job */
    struct gantt_kinds colour;  /* of a kind of job in a phase */
    struct gantt_kinds bar_job; /* names of the jobs whose bars are drawn */
    uint32_t *hue, *shade;      /* by colour: kind of job, lightness */
    uint32_t drawn;             /* bit c: colour c is in the chart */
    bool cut;                   /* a placement is not told to its end */
    double start_s, end_s;      /* the window */
    uint32_t *row, *gpus;       /* by node: first row, GPUs drawn */
    uint32_t nodes, rows, rows_left_out;
};

/* The policies of both sides, and `source`, are given.  False: skip or err is
 * set; true, but rows is 0: there is nothing to show. */
bool gantt_read(struct gantt *gantt, struct plot_sink *sink, struct err *err);

/* plot_gantt_text.c: calls `take` for each run of both trials, in the order of the table;
 * what a row points at is good until it returns.  False: as gantt_read(). */
typedef void gantt_row_fn(void *self, const struct gantt_row *row);
bool gantt_read_text(struct gantt *gantt, gantt_row_fn *take, void *self,
                     struct plot_sink *sink, struct err *err);
/* Puts a copy of a run into a spool; calls `take` for each run of a spool.  False: err says
 * that the disk failed. */
void gantt_put(struct spool *spool, const struct gantt_row *row);
bool gantt_get_all(const struct gantt *gantt, const struct spool *spool, gantt_row_fn *take,
                   void *self, struct err *err);

/* plot_gantt_rows.c: the cluster of the middle point; then, once g->gpus says
 * how many GPUs of each node ran something, the rows: g->row, g->gpus, g->rows
 * and g->rows_left_out. */
void gantt_cluster_read(struct gantt *gantt);
void gantt_choose_rows(struct gantt *gantt);
/* "dgx 3"; "node 3" where the cluster is not known. */
const char *gantt_node_name(const struct gantt *gantt, uint32_t node);
/* UINT32_MAX: not known. */
uint32_t gantt_node_pool(const struct gantt *gantt, uint32_t node);

/* The height of a row. */
static inline double gantt_row_px(const struct gantt *gantt)
{
    return gantt->rows < 24 ? 20 : gantt->rows < 72 ? 9.5 : 6;
}

/* plot_gantt_jobs.c: kinds of jobs by jobs.csv, and a colour for each run. */
bool gantt_find_kinds(struct gantt *gantt, struct err *err);
/* The names of jobs where their bars are wide enough: rows of numbers into
 * data, the names into label[]. */
void gantt_put_labels(struct gantt *gantt, const struct gantt_side *side,
                      struct gantt_kinds *label, struct out *data);

/* The lightness of a phase: 0 light to GANTT_DARKEST. */
#define GANTT_DARKEST 3u
uint32_t gantt_shade(const char *phase);
/* Its number, in the order in which names are met. */
uint32_t gantt_name(struct gantt *gantt, struct gantt_kinds *names,
                    const char *name);

#endif
