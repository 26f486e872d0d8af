/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * calibrate.h - the laws against published measurements.
 *
 * A suite is a set of rows of one CSV: each states a configuration and what
 * was measured.  A law predicts it, or the row is refused with a reason;
 * nothing is fitted here.  Rows that helped to choose a law's constants are
 * named by their model (`chosen`), and are counted apart from the others.
 */
#ifndef EXPERIMENTS_CALIBRATE_CALIBRATE_H
#define EXPERIMENTS_CALIBRATE_CALIBRATE_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/base/err.h"

struct arena;
struct catalogue;
struct csv;

/* One row as its CSV has it. */
struct calibrate_row {
    const struct catalogue *catalogue;
    const struct csv *in;
};

/* Writes what was measured and what a law says of it; or returns why it
 * cannot.  calibrate_not_mine: the row is of another suite. */
typedef const char *calibrate_law(const struct calibrate_row *row,
                                  double *measured, double *predicted);
extern const char calibrate_not_mine[];

struct calibrate_suite {
    const char *name;           /* "vTrain-multi" */
    const char *bar;            /* "B1", or "" */
    const char *file;           /* "training_throughput.csv" */
    const char *of;             /* value of the column `suite`; NULL: any */
    const char *what;           /* "step time" */
    const char *best;           /* best published tool on the same rows */
    calibrate_law *law;
    const char *chosen_by;      /* column of the values below; NULL: none */
    const char *const *chosen;  /* ends with NULL */
    double mean_max, median_max, error_max;     /* 0: no such target */
    const char *solid;          /* rows that count are marked so; NULL: yes */
};
extern const struct calibrate_suite calibrate_suites[];
extern const size_t calibrate_suite_count;

struct calibrate_sample {
    const char *id, *model, *device;
    bool solid, chosen;
    double measured, predicted;
    const char *refused;        /* NULL: predicted */
};

struct calibrate_samples {
    struct calibrate_sample *item;
    size_t count, room;
};

/* No file: no samples, and no error. */
bool calibrate_read(struct arena *arena, const struct catalogue *catalogue,
                    const struct calibrate_suite *suite, const char *dir,
                    struct calibrate_samples *samples, struct err *err);

struct calibrate_error {
    size_t rows;
    double mean, median, p90, max;      /* of |predicted / measured - 1| */
    double bias;                        /* mean of predicted / measured - 1 */
};
enum calibrate_part { CALIBRATE_ALL, CALIBRATE_CHOSEN, CALIBRATE_HELD_OUT };
/* Over the solid rows that were predicted. */
struct calibrate_error calibrate_error(struct arena *arena,
                                       const struct calibrate_samples *samples,
                                       enum calibrate_part part);

#endif
