/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sample.h - points spread over the unit cube: quasi-random and Latin.
 */
#ifndef SIM_STATS_SAMPLE_H
#define SIM_STATS_SAMPLE_H

#include <stddef.h>

struct rng;

#define SAMPLE_DIMENSIONS_MAX 40u   /* of the tables in GSL */

/* Fills u[point * dimensions + dimension], each in [0, 1), with the first points
 * of Sobol's sequence (USSR Comp. Math. 7, 1967, 86; direction numbers of Bratley
 * and Fox, ACM TOMS 14, 1988, 88, as GSL has them).  The point 0 is left out. */
void sample_sobol(double *u, size_t points, size_t dimensions);
/* Fills u with a Latin hypercube (McKay, Beckman and Conover, Technometrics 21,
 * 1979, 239): along each dimension one point in each of `points` equal parts, at
 * a random place of it. */
void sample_latin(struct rng *rng, double *u, size_t points, size_t dimensions);

#endif
