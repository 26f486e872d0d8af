/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * solve.h - linear programs, assignments, deals of GPUs by steps, and a genetic search of
 * GPUs by node.  They know numbers, no jobs.
 */
#ifndef POLICIES_SOLVE_H
#define POLICIES_SOLVE_H

#include <stdbool.h>
#include <stdint.h>

/* Maximizes the sum of gain[c] x[c] under two conditions: 0 <= x[c] <= most[c] (NULL: no upper
 * bound), and for each row r, the sum of value[e] x[column[e]] over its entries is at most
 * limit[r].  False: no x meets them, or the maximum has no bound. */
struct cs_lp {
    uint32_t columns, rows, entries;
    const double *gain, *most, *limit;
    const uint32_t *row, *column;       /* by entry; each pair at most once */
    const double *value;
    double *x;                          /* the answer */
    bool whole;                 /* x are whole numbers; if most is NULL, 0 or 1.  The
                                   answer is within a ten-thousandth of the best, or
                                   the best of nodes_max nodes of branch and bound */
    uint32_t nodes_max;         /* 0: 2,000 */
    bool *cut;                  /* becomes true if these nodes did not suffice */
};
bool cs_linear_program(const struct cs_lp *lp);
/* Stores for each row a column of its own, so that the sum of cost[row * columns + column] is
 * least (the Hungarian method).  columns >= rows. */
void cs_assign(uint32_t rows, uint32_t columns, const double *cost,
               uint32_t *column);

/* As cs_assign(), with an equal answer, but without a matrix: columns are places of machines,
 * machine by machine.  The k-th place of machine m, from 1, costs row r
 * k x time_s[r x kinds + kind[m]] + free_s[m] seconds. */
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

/* Returns the next size above `gpus` of a job, which its place in the list names, and stores
 * the speedup on it; 0: there is none. */
typedef uint32_t cs_next_size(struct cs_host *host, void *self, uint32_t job,
                              uint32_t gpus, double *speedup);
struct cs_deal_job {
    double left_s;              /* seconds to its end at speed 1 */
    uint32_t curve;             /* jobs of one number have the same sizes and speeds, for
                                   good; UINT32_MAX: it is not known to be like others */
    uint32_t gpus;              /* the answer */
};
/* Returns a deal, which the host owns to the end of the trial.  next_size() gets `self`. */
struct cs_deal *cs_make_deal(struct cs_host *host, cs_next_size *next_size, void *self);
/* Deals `room` GPUs to jobs, which begin with none and are listed in the order of submission, by
 * the rule of AFS-L: step by step, each to the job that wins against all others.  A step
 * that makes no job faster is not taken.  Room and sizes may also count parts of GPUs that
 * are all of one size. */
void cs_deal_gpus(struct cs_deal *deal, struct cs_deal_job *job, uint32_t count,
                  uint64_t room);

/* ---- deals of which little changes (since ABI 2.14) ---- */

struct cs_kept_deal;            /* jobs with what they hold, from deal to deal */

/* Returns the seconds of work that a job has left.  While it keeps its GPUs they never
 * rise. */
typedef double cs_left_s(struct cs_host *host, void *self, uint32_t job);
struct cs_kept_job {
    uint32_t job;               /* its number: of equal jobs the lower one goes first */
    uint32_t curve, gpus;       /* curve: it has one; gpus: that it holds */
    double left_s, now_s;       /* left_s: at now_s, seconds since the begin of the trial */
    double per_s;               /* its work falls by no more in a second; 0: it stays */
};
struct cs_kept_change {
    uint32_t job, gpus;         /* that it is to have */
};
/* Returns a deal that is kept, without jobs, which the host owns to the end of the trial.  As
 * cs_make_deal(), but next_size() gets the number of a job. */
struct cs_kept_deal *cs_make_kept_deal(struct cs_deal *deal, cs_next_size *next_size,
                                       cs_left_s *left_s);
/* _keep_job: the job of that seat (cs_slot()) came, or holds so many GPUs from now on.
 * _keep_no_more: it is over.  _keep_none: forget all. */
void cs_keep_job(struct cs_kept_deal *kept, uint32_t seat, const struct cs_kept_job *job);
void cs_keep_no_more(struct cs_kept_deal *kept, uint32_t seat);
void cs_keep_none(struct cs_kept_deal *kept);
/* Deals as cs_deal_gpus() does, and returns the jobs that are to have other GPUs than they
 * hold, by number; NULL: it is of another kind, or changes much, and cs_deal_gpus() has to be
 * asked. */
const struct cs_kept_change *cs_deal_changes(struct cs_kept_deal *kept, uint64_t room,
                                             double now_s, uint32_t *count);

/* ---- GPUs of nodes, by a genetic search ---- */

struct cs_breed;                /* what a search keeps for the next one */
#define CS_BREED_HOST 2u        /* cores, bytes of host memory */

struct cs_cell {                /* GPUs of a node */
    uint32_t node, gpus;
};
struct cs_breed_node {
    uint32_t pool, gpus;        /* gpus: those that may be dealt */
    double host[CS_BREED_HOST]; /* cores and bytes that may be dealt */
};
struct cs_breed_job {
    uint32_t id;                /* names it from search to search */
    uint32_t most;              /* the largest size that size() returns */
    double moved;               /* what is left of a gain, 0 to 1, on other GPUs than `now` */
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
/* Returns a search, which the host owns to the end of the trial. */
struct cs_breed *cs_make_breed(struct cs_host *host, const struct cs_breed_asks *asks);
/* Since ABI 2.14.  Searches of more than that many jobs begin with a climb from job to job
 * (breed_climb.c), and end where generations gain nothing; without this call none does. */
void cs_climb_above(struct cs_breed *breed, uint32_t jobs);
/* Searches for the deal with the largest mean of gains, by the genetic algorithm of Pollux
 * (Qiao et al., OSDI 2021; breed.c describes it), and stores the answers in the jobs.  Jobs
 * are repaired in the order of the list.  The answer depends on the arguments, on `seed` and
 * on the last search alone. */
void cs_breed_gpus(struct cs_breed *breed, struct cs_breed_job *job, uint32_t count,
                   const struct cs_breed_node *node, uint32_t nodes, uint64_t seed);

#endif
