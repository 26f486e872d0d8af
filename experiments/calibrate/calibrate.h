/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * calibrate.h - compares the laws with published measurements.
 *
 * A suite is a set of rows of one CSV.  A row states a configuration and a
 * measured value.  A law predicts the value, or refuses the row and says why;
 * nothing is fitted here.  Rows that helped to choose a law's constants are
 * listed by their model (`chosen`), and are counted apart from the others.
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
    const struct catalogue *catalogue;  /* GPUs and models of the rows */
    const char *dir;            /* folder of the CSV, and of what its rows name */
    const struct csv *in;
};

/* Sets the measured and the predicted value of a row and returns NULL, or
 * returns why it cannot.  calibrate_not_mine: the row is of another suite. */
typedef const char *calibrate_law(const struct calibrate_row *row,
                                  double *measured, double *predicted);
extern const char calibrate_not_mine[];

/* A suite: its rows, its law, its target.  All of it is static. */
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

/* A row with its prediction.  measured and predicted are in one unit: s, bytes, items/s
 * or tokens/s, as the suite's `what` says. */
struct calibrate_sample {
    const char *id, *model, *device;
    bool solid, chosen;
    double measured, predicted;
    const char *refused;        /* NULL: predicted */
};

/* All rows of a suite in the order of its file, refused ones too. */
struct calibrate_samples {
    struct calibrate_sample *item;
    size_t count, room;
};

/* Reads and predicts the rows of a suite from its file in `dir`; samples are in the
 * arena.  If there is no file, there are no samples and no error.  False: err says why. */
bool calibrate_read(struct arena *arena, const struct catalogue *catalogue,
                    const struct calibrate_suite *suite, const char *dir,
                    struct calibrate_samples *samples, struct err *err);

/* Fractions: 0.1 is 10%. */
struct calibrate_error {
    size_t rows;                /* that were predicted */
    double mean, median, p90, max;      /* of |predicted / measured - 1| */
    double bias;                        /* mean of predicted / measured - 1 */
};
/* Which rows an error is of: all, those that helped to choose constants, or the others. */
enum calibrate_part { CALIBRATE_ALL, CALIBRATE_CHOSEN, CALIBRATE_HELD_OUT };
/* Returns the errors over the solid rows that were predicted, of all rows, of
 * those that helped to choose constants, or of the others. rows 0: there are none. */
struct calibrate_error calibrate_error(struct arena *arena,
                                       const struct calibrate_samples *samples,
                                       enum calibrate_part part);

#endif
