/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * time_series.h - a value over the time of a run: a price, the number of nodes
 * available, the carbon of a kilowatt-hour.
 *
 * It is a step function: a value holds until the next point; the first value
 * also holds before the first point.  After the last point the key `after`
 * decides: the run fails, or the last value is held, and the time for which it
 * is held is counted.
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
    struct err_pos pos;         /* place in the user's file */
    uint32_t count;             /* points, at least one */
    const int64_t *time_ns;     /* rising */
    const double *value;
    const double *area;         /* value x seconds, from the first point on */
    int64_t repeat_ns;          /* period; 0: it does not repeat */
    bool hold;                  /* the last value holds after its end */
};

extern const struct conf_schema time_series_schema;

/* Reads a mapping with points, or with the CSV of a series (series, time_s,
 * value, as `clustersim import` writes it).  `unit`: the unit that the values
 * must have.  Returns a series in the arena; NULL: *err says what is wrong. */
const struct time_series *time_series_read(struct arena *arena,
                                           const struct conf_node *conf,
                                           const char *unit, struct err *err);

/* Called for each row of such a file; `name` is valid during the call. */
typedef bool time_series_row_fn(void *self, const char *name, int64_t time_ns,
                                double value, struct err_pos pos, struct err *err);
/* Calls row() for each row of the file that `at` names, relative to the file in
 * which `at` is.  False: *err is set. */
bool time_series_rows(struct arena *arena, const struct conf_node *at,
                      time_series_row_fn *row, void *self, struct err *err);
/* Returns the value at a time. */
double time_series_at(const struct time_series *time_series, int64_t time_ns);
/* Returns the least value. */
double time_series_least(const struct time_series *time_series);
/* Returns the integral between two times, in value x seconds. */
double time_series_area(const struct time_series *time_series, int64_t from_ns,
                        int64_t to_ns);
/* Returns the time of the next change; CLOCK_NEVER_NS: there is none. */
int64_t time_series_next_ns(const struct time_series *time_series, int64_t now_ns);
/* Returns how long before time_ns the series ended; 0: it has not ended. */
int64_t time_series_over_ns(const struct time_series *time_series, int64_t time_ns);

#endif
