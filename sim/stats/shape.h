/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * shape.h - how uneven many values are: do few of them decide their sum?
 *
 * Plain values: all zero is empty.
 */
#ifndef SIM_STATS_SHAPE_H
#define SIM_STATS_SHAPE_H

struct shape {
    double count, mean;
    double squares, cubes;      /* sums of (value - mean)^2 and ^3 */
};

/* value: finite, of any unit. */
void shape_add(struct shape *shape, double value);
/* Standard deviation over the mean, which is not 0; 0 if empty or all are
 * equal. */
double shape_cv(const struct shape *shape);
/* Third moment over the second to the power of 1.5; 0 likewise. */
double shape_skewness(const struct shape *shape);
/* Adds a sample of which only these are known, as one whose mean is 1. */
void shape_pool(struct shape *into, double count, double cv, double skewness);

/* Bounds of the rule below.  Chosen on M/M/1 queues and on sizes of a
 * coefficient of variation of 6 (rows "chosen" of tests/experiments/coverage_test.c). */
#define SHAPE_SKEWNESS_MOST 6.0
#define SHAPE_FEW_MOST 0.05
/* Returns skewness / sqrt(count), from 0 to 1: how much few values decide.  0
 * if no bound is passed by both the skewness and that share. */
double shape_few(const struct shape *shape);

#endif
