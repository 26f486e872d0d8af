/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * breed.h - the parts of a genetic search of GPUs by node: breed_child.c makes a child of
 * two matrices, breed_repair.c makes it one that may be and measures it, breed.c goes from
 * generation to generation.  Where there are many jobs, breed_climb.c makes a first parent.
 *
 * Most jobs have GPUs of a node or two, so a matrix is a list of rows, and a row a list of
 * cells.  Numbers are drawn in the order of whole matrices: what would be drawn for cells
 * that are not there is skipped.
 */
#ifndef POLICIES_SOLVE_BREED_H
#define POLICIES_SOLVE_BREED_H

#include <stdbool.h>
#include <stdint.h>

#include "policies/solve.h"

#define BREED_NONE UINT32_MAX

/* GPUs of nodes by job.  Jobs and, of a job, nodes stand in order; no cell is 0. */
struct breed_matrix {
    uint32_t *job, *end;        /* of a row: whose, and the end of its cells */
    struct cs_cell *cell;       /* node and GPUs, all rows one after the other */
    uint32_t count, room, cell_room;    /* rows; room for rows, and for cells */
};

/* What is known of a job on a number of GPUs of a pool, on one node or on more. */
struct breed_known {
    double gain;                /* < 0: not asked yet */
    double term, stays;         /* of the mean: on other GPUs than now, or on these */
};

/* What is known of a job in this search. */
struct breed_job {
    const struct cs_breed_job *ask;
    struct breed_known *known;  /* [pool][one node, more][GPUs] */
    uint32_t *size;             /* by GPUs: the largest size below; BREED_NONE: not asked */
    uint32_t before;            /* its place in the last list, or BREED_NONE */
    bool hosts;                 /* it needs cores or memory */
};

/* A cell that a child was given and that its row does not have. */
struct breed_gift {
    struct cs_cell cell;
    uint32_t next;              /* of the same job */
};

/* How many matrices are parents, in this search and in the last; and of how many jobs a
 * search has at most that does not climb. */
struct breed_brood {
    uint32_t parents, old_parents;
    uint32_t climb_above;
};

struct cs_breed {
    struct cs_host *host;       /* of the policy: asked for speeds, and for memory */
    struct cs_breed_asks asks;  /* of the present search */
    struct breed_matrix *matrix;        /* parents, then children */
    double *fitness;            /* [matrix]: the larger, the better */
    struct breed_brood brood;
    struct breed_matrix child;  /* that is being made, not repaired yet */

    /* By job. */
    struct breed_job *job;      /* [jobs], in the order of the asks */
    uint32_t jobs, job_room, size_room;
    struct breed_known *known;  /* all jobs' tables, one after the other */
    uint32_t *size;
    uint32_t *gift_first, *gift_last, gift_room;
    uint32_t *held, helds, held_room;   /* jobs that hold GPUs now */
    uint32_t *old_id, olds, old_room;   /* of the last search */
    uint32_t *place, place_room;        /* by id: 1 + the place in the last list */
    uint32_t *row_of, row_room;         /* by place in the last list */

    /* By node. */
    const struct cs_breed_node *node;   /* [nodes], of the caller */
    uint32_t nodes, node_room, pools;
    uint32_t *used, *users;     /* GPUs and jobs of a child */
    uint32_t *column;           /* ends of the columns of nodes with free GPUs */
    uint32_t *entry, *entry_job, entry_room;    /* of columns: cells, and whose */
    struct breed_gift *gift;
    uint32_t gifts;
    uint32_t *left;             /* GPUs, in a repair */
    bool *taken;                /* by a job that spans nodes */
    double *host_left;          /* cores and memory, likewise */
    struct cs_cell *row;        /* at work */

    double none;                /* term of a job without GPUs */
    uint64_t random;            /* state of breed_draw() */
    struct breed_climb *climb;  /* NULL: there was none yet */
};

/* ---- numbers ---- */

#define BREED_STEP UINT64_C(0x9e3779b97f4a7c15)

/* splitmix64 (Steele, Lea and Flood, OOPSLA 2014). */
static inline uint64_t breed_draw(struct cs_breed *b)
{
    uint64_t z = b->random += BREED_STEP;

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Moves the generator on as if that many numbers had been drawn: its state is a counter. */
static inline void breed_skip(struct cs_breed *b, uint64_t numbers)
{
    b->random += numbers * BREED_STEP;
}

/* Draws a whole number below n, from the upper half of a word by multiplication (Lemire
 * 2019, without the rejection: the bias is below n / 2^32). */
static inline uint32_t breed_draw_below(struct cs_breed *b, uint32_t n)
{
    return (uint32_t)((breed_draw(b) >> 32) * n >> 32);
}

/* Draws true once in ten, from the 53 bits that a double holds. */
static inline bool breed_draw_tenth(struct cs_breed *b)
{
    return (double)(breed_draw(b) >> 11) * 0x1p-53 < 0.1;
}

/* ---- rows ---- */

static inline uint32_t breed_begin_of(const struct breed_matrix *m, uint32_t row)
{
    return row == 0 ? 0 : m->end[row - 1];
}

/* Returns the cells of a matrix. */
static inline uint32_t breed_cell_count(const struct breed_matrix *m)
{
    return breed_begin_of(m, m->count);
}

/* Makes room for rows and cells; what the matrix has is kept. */
void breed_make_room(struct cs_breed *b, struct breed_matrix *m, uint32_t rows,
                     uint32_t cells);
/* Appends a row; there is room.  A row without cells is none. */
void breed_append(struct breed_matrix *m, uint32_t job, const struct cs_cell *cell,
                  uint32_t count);
/* Returns the first row of this job or a later one. */
uint32_t breed_find_row(const struct breed_matrix *m, uint32_t job);

/* ---- parts ---- */

/* Makes b->child of two matrices, crossed before job `cut`, and mutates it.  What it gives
 * to rows that had nothing on a node stands in gifts. */
void breed_make_child(struct cs_breed *b, const struct breed_matrix *x,
                      const struct breed_matrix *y, uint32_t cut);
/* Sets `to` to a matrix with its gifts, repaired; the two may be the same one.  Returns
 * its fitness.  Then there are no gifts. */
double breed_repair(struct cs_breed *b, struct breed_matrix *to,
                    const struct breed_matrix *from);
/* Returns what is known of a job on that many GPUs of a pool, a size that it may have. */
const struct breed_known *breed_know(struct cs_breed *b, uint32_t j, uint32_t pool, bool spans,
                                     uint32_t gpus);
/* Returns the largest size of a job up to that number of GPUs, which is at most its most. */
uint32_t breed_size(struct cs_breed *b, uint32_t j, uint32_t gpus);
/* Sets `to` to what a climb comes to from a matrix that was repaired, another one. */
void breed_climb(struct cs_breed *b, struct breed_matrix *to, const struct breed_matrix *from);

#endif
