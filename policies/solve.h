/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * solve.h - linear programs and assignments.  They know numbers, no jobs.
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
                                   in so many nodes of branch and bound */
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

#endif
