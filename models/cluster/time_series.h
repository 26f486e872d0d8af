/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * time_series.h - a value over the time of a run: a price, what can be had of
 * something, the carbon of a kilowatt-hour.
 *
 * A step function: a value holds until the next point; before the first point
 * the first holds.  Behind the last point the key `after` decides: the run
 * fails there, or the last value is held, and for how long is counted.
 */
#ifndef MODELS_CLUSTER_TIME_SERIES_H
#define MODELS_CLUSTER_TIME_SERIES_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/err.h"

struct arena;
struct conf_node;
struct conf_schema;

struct time_series {
    struct err_pos pos;         /* where it stands in the user's file */
    uint32_t count;             /* points, at least one */
    const int64_t *time_ns;     /* rising */
    const double *value;
    const double *area;         /* value x seconds, from the first point on */
    int64_t repeat_ns;          /* begins anew so often; 0: never */
    bool hold;                  /* the last value, when it has ended */
};

extern const struct conf_schema time_series_schema;

/* A map with points, or with the CSV of a series (series, time_s, value, as
 * `clustersim import` writes it); `unit` is the one that the values must have.
 * NULL: err says why. */
const struct time_series *time_series_read(struct arena *arena,
                                           const struct conf_node *conf,
                                           const char *unit, struct err *err);

/* The rows of such a file, as they stand.  `name` is good for the call. */
typedef bool time_series_row_fn(void *self, const char *name, int64_t time_ns,
                                double value, struct err_pos pos, struct err *err);
/* `at` names the file, relative to where it stands itself. */
bool time_series_rows(struct arena *arena, const struct conf_node *at,
                      time_series_row_fn *row, void *self, struct err *err);
double time_series_at(const struct time_series *time_series, int64_t time_ns);
double time_series_least(const struct time_series *time_series);
/* Value x seconds between two times. */
double time_series_area(const struct time_series *time_series, int64_t from_ns,
                        int64_t to_ns);
/* When it next changes, or CLOCK_NEVER_NS. */
int64_t time_series_next_ns(const struct time_series *time_series, int64_t now_ns);
/* How long before that time it had ended; 0: it had not. */
int64_t time_series_over_ns(const struct time_series *time_series, int64_t time_ns);

#endif
