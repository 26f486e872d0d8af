/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lp_choices.h - programs of choices: each column stands in the row of its choice, with 1, and in
 * the last row, with its units; columns of a row stand together.
 */
#ifndef POLICIES_SOLVE_LP_CHOICES_H
#define POLICIES_SOLVE_LP_CHOICES_H

#include <stdbool.h>
#include <stdint.h>

#include "policies/solve.h"
#include "sim/base/arena.h"

#define LP_NONE UINT32_MAX

/* A step of a choice, from one of its columns to the next that can be best: what it adds
 * to the sum for each unit of the common row. */
struct lp_step {
    double slope, units;
    uint32_t row, from, to;     /* from LP_NONE: of no column */
};

struct lp_choices {
    uint32_t *row;              /* by column */
    double *units;
    struct lp_step *step;   /* the steepest first */
    uint32_t steps;
};

/* Reads a program as one of choices, with its steps; false: it is none. */
bool lp_read_choices(const struct cs_lp *lp, struct arena *arena, struct lp_choices *of);
/* Stores whole numbers of columns: whole steps are taken, the steepest first, as far as units
 * are left.  Returns whether their sum is within that part of the best for certain. */
bool lp_take_choices(const struct cs_lp *lp, const struct lp_choices *of, double gap);

#endif
