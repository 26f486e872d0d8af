/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * indices.h - Sobol's indices: which share of an output's variance an input makes.
 *
 * Saltelli et al. (Comput. Phys. Commun. 181, 2010, 259): rows A and B of a quasi-random
 * sequence, and for each input i rows AB_i, which are A but for input i, which is
 * that of B.  The estimators are (b) and (f) of their table 2: their own of the first
 * index, on outputs less their mean, and Jansen's of the total one (Comput. Phys.
 * Commun. 117, 1999, 35).  Jansen's of the first index is better for inputs that
 * decide alone and far worse for those that do little: of 64 random rows of the
 * g-function its error is 0.06, 0.14, 0.13 for a = 0, 1, 4.5; this one's is 0.14, 0.08,
 * 0.03.  An estimate can lie a little below 0 or above 1.
 */
#ifndef SIM_STATS_INDICES_H
#define SIM_STATS_INDICES_H

#include <stddef.h>

struct arena;
struct rng;

/* Row r of A is point r, of B rows + r, of AB_i (2 + i) x rows + r. */
struct indices_design {
    size_t inputs, rows, points;    /* points: rows x (inputs + 2) */
    double *u;                  /* by point and input, in [0, 1) */
};

struct indices {
    double first, first_low, first_high;    /* alone; 95% by the bootstrap */
    double total, total_low, total_high;    /* with all interactions */
};

#define INDICES_INPUTS_MAX 20u  /* half of SAMPLE_DIMENSIONS_MAX */

/* Returns the points at which the output must be computed, in the arena.
 * inputs: 1 to INDICES_INPUTS_MAX; rows: best a power of two (Sobol's sequence). */
struct indices_design indices_draw(struct arena *arena, size_t inputs, size_t rows);
/* Fills index[inputs] from the outputs y[points], all of them finite.  Intervals
 * are percentiles of `INDICES_RESAMPLES` draws of rows.  All is NAN where the
 * output does not vary. */
#define INDICES_RESAMPLES 1000u
void indices_of(struct arena *arena, struct rng *rng,
                const struct indices_design *design, const double *y,
                struct indices *index);

#endif
