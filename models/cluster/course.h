/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * course.h - a value over the time of a run: a price, what can be had of
 * something, the carbon of a kilowatt-hour.
 *
 * A step function: a value holds until the next point; before the first point
 * the first holds.  Behind the last point the key `after` decides: the run
 * fails there, or the last value is held, and for how long is counted.
 */
#ifndef MODELS_CLUSTER_COURSE_H
#define MODELS_CLUSTER_COURSE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/err.h"

struct arena;
struct conf_node;
struct conf_schema;

struct course {
    struct err_pos pos;         /* where it stands in the user's file */
    uint32_t count;             /* points, at least one */
    const int64_t *time_ns;     /* rising */
    const double *value;
    const double *area;         /* value x seconds, from the first point on */
    int64_t repeat_ns;          /* begins anew so often; 0: never */
    bool hold;                  /* the last value, when it has ended */
};

extern const struct conf_schema course_schema;

/* A map with points, or with the CSV of a series (series, time_s, value, as
 * `clustersim import` writes it); `unit` is the one that the values must have.
 * NULL: err says why. */
const struct course *course_read(struct arena *arena,
                                 const struct conf_node *conf,
                                 const char *unit, struct err *err);

/* The rows of such a file, as they stand.  `name` is good for the call. */
typedef bool course_row_fn(void *self, const char *name, int64_t time_ns,
                           double value, struct err_pos pos, struct err *err);
/* `at` names the file, relative to where it stands itself. */
bool course_rows(struct arena *arena, const struct conf_node *at,
                 course_row_fn *row, void *self, struct err *err);
double course_at(const struct course *course, int64_t time_ns);
double course_least(const struct course *course);
/* Value x seconds between two times. */
double course_area(const struct course *course, int64_t from_ns,
                   int64_t to_ns);
/* When it next changes, or CLOCK_NEVER_NS. */
int64_t course_next_ns(const struct course *course, int64_t now_ns);
/* How long before that time it had ended; 0: it had not. */
int64_t course_over_ns(const struct course *course, int64_t time_ns);

#endif
