/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * solve.h - linear programs, assignments, deals of GPUs by steps, and a genetic search of
 * GPUs by node.  They know numbers, no jobs.
 */
#ifndef POLICIES_SOLVE_H
#define POLICIES_SOLVE_H

#include <stdbool.h>
#include <stdint.h>

/* Maximizes the sum of gain[c] x[c] over 0 <= x[c] <= most[c] (NULL: no bound),
 * the sum of value[e] x[column[e]] of row r being at most limit[r].  False: no x
 * does that, or the sum has no bound. */
struct cs_lp {
    uint32_t columns, rows, entries;
    const double *gain, *most, *limit;
    const uint32_t *row, *column;       /* of an entry; a pair at most once */
    const double *value;
    double *x;                          /* the answer */
    bool whole;                         /* x are whole numbers, most
                                   NULL: 0 or 1; the best
                                   but for a ten-thousandth, or that was found
                                   in nodes_max nodes of branch and bound */
    uint32_t nodes_max;         /* 0: 2,000 */
    bool *cut;                  /* set: the nodes did not suffice */
};
bool cs_linear_program(const struct cs_lp *lp);
/* Gives every row a column of its own, so that the sum of the costs
 * cost[row * columns + column] is least; columns >= rows. */
void cs_assign(uint32_t rows, uint32_t columns, const double *cost,
               uint32_t *column);

/* cs_assign() where columns are places of machines, machine by machine, and the
 * k-th place of machine m costs row r k x time_s[r x kinds + kind[m]] + free_s[m]:
 * the same answer, found without a matrix. */
struct cs_places {
    uint32_t rows, machines, places;    /* of a machine */
    uint32_t kinds;
    const double *time_s;               /* none below 0 */
    const uint32_t *kind;               /* by machine, below kinds */
    const double *free_s;               /* by machine */
};
void cs_assign_places(const struct cs_places *places, uint32_t *column);

/* ---- GPUs by steps ---- */

struct cs_host;
struct cs_deal;                 /* what deals of one policy know of its jobs */

/* Returns the size of a job, by its place in the list, above `gpus`, and sets the
 * speed on it; 0: it has none. */
typedef uint32_t cs_next_size(struct cs_host *host, void *self, uint32_t job,
                              uint32_t gpus, double *speedup);
struct cs_deal_job {
    double left_s;              /* seconds to its end at speed 1 */
    uint32_t curve;             /* jobs of one number have the same sizes and speeds, for
                                   good; UINT32_MAX: it is not known to be like others */
    uint32_t gpus;              /* the answer */
};
/* Good to the end of the trial.  `self` is handed to next_size(). */
struct cs_deal *cs_make_deal(struct cs_host *host, cs_next_size *next_size, void *self);
/* Deals GPUs to jobs that have none, in the order of submission, by the rule of AFS-L:
 * step by step, each to the job that wins against all others.  Steps that are no faster
 * are not taken.  room, and sizes: GPUs, or parts of them that are all alike. */
void cs_deal_gpus(struct cs_deal *deal, struct cs_deal_job *job, uint32_t count,
                  uint64_t room);

/* ---- GPUs of nodes, by a genetic search ---- */

struct cs_breed;                /* what a search leaves for the next one */
#define CS_BREED_HOST 2u        /* cores, bytes of host memory */

struct cs_cell {                /* GPUs of a node */
    uint32_t node, gpus;
};
struct cs_breed_node {
    uint32_t pool, gpus;        /* gpus: that may be dealt */
    double host[CS_BREED_HOST];
};
struct cs_breed_job {
    uint32_t id;                /* names it from search to search */
    uint32_t most;              /* GPUs, that size() allows */
    double moved;               /* part of a gain that is left on other GPUs than `now` */
    double each[CS_BREED_HOST]; /* per GPU */
    const struct cs_cell *now;  /* what it holds, in the order of nodes */
    uint32_t now_count;
    const struct cs_cell *cell; /* the answer, likewise; good until the next search */
    uint32_t cell_count;
};
/* What a search asks its policy; a job is named by its place in the list. */
struct cs_breed_asks {
    void *self;
    /* Returns the largest size of a job up to `gpus`; 0: none. */
    uint32_t (*size)(struct cs_host *host, void *self, uint32_t job, uint32_t gpus);
    /* Returns what the job gains on `gpus` GPUs of a pool, on one node or on more, in
     * parts of a fair share; not above 0: it cannot run there.  Asked once a search. */
    double (*gain)(struct cs_host *host, void *self, uint32_t job, uint32_t pool,
                   uint32_t gpus, bool spans);
    uint32_t population;        /* >= 2 */
    uint32_t generations;
    double p;                   /* exponent of the mean of gains; 0: the geometric one */
};
/* Good to the end of the trial. */
struct cs_breed *cs_make_breed(struct cs_host *host, const struct cs_breed_asks *asks);
/* Searches for the GPUs with the largest mean of gains, by the genetic algorithm of Pollux
 * (breed.c says it), and sets the answers.  Jobs are repaired in the order of the list.
 * The answer is a function of the arguments, of `seed` and of the last search. */
void cs_breed_gpus(struct cs_breed *breed, struct cs_breed_job *job, uint32_t count,
                   const struct cs_breed_node *node, uint32_t nodes, uint64_t seed);

#endif
