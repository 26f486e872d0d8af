/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * judge.h - compares two figures, and keeps the first pair that differs.
 *
 * Counts and times are equal to the last digit.  Sums of doubles are added here in
 * another order, so they may differ by 1e-11 of the larger figure.  A formula that
 * subtracts sums may differ by 1e-11 of the sums, not of their difference.
 *
 * A sum of n terms that do not change sign is wrong by at most n x 2^-53 of itself
 * (Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 4.2), and two
 * such sums differ by twice that: beyond 45,000 terms this is more than 1e-11.  Terms
 * that are alike do come near it, for each is rounded the same way.
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
    uint64_t terms;             /* of the longest sum: facts that were heard */
    char broken[240];           /* the first that differs; empty: none does */
};

/* Compares a metric with what was counted again.  scale: the size of the terms that were
 * added or subtracted; 0: none is larger than the figure.  Two NAN are equal. */
void judge_metric(struct judge *judge, enum metric metric, double again, double scale);
/* Compares any other figure; `name` is what the message calls it. */
void judge_figure(struct judge *judge, const char *name, double have, double again,
                  double scale);
/* Notes whether a condition on a figure holds; `what` is a phrase that says what is wrong
 * if it does not. */
void judge_holds(struct judge *judge, const char *name, bool holds, const char *what);

#endif
