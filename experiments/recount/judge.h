/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * judge.h - compares two figures, and keeps the first pair that differs.
 *
 * Counts and times are equal to the last digit.  Sums of doubles are added here in
 * another order, so they may differ by 1e-11 of the larger; where a formula
 * subtracts sums, by so much of what is subtracted.
 */
#ifndef EXPERIMENTS_RECOUNT_JUDGE_H
#define EXPERIMENTS_RECOUNT_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "experiments/columns/metric.h"

#define JUDGE_NEAR 1e-11

struct judge {
    const double *value;        /* what is published */
    uint64_t compared;
    char broken[240];           /* the first that differs; empty: none does */
};

/* Compares a metric with what was counted again.  scale: of the terms that were added;
 * at most JUDGE_NEAR of it may be rounding.  Both NAN is equal. */
void judge_metric(struct judge *judge, enum metric metric, double again, double scale);
/* The same of a figure that is no metric. */
void judge_figure(struct judge *judge, const char *name, double have, double again,
                  double scale);
/* What must hold of a figure, and why if it does not: `what` is a phrase. */
void judge_holds(struct judge *judge, const char *name, bool holds, const char *what);

#endif
