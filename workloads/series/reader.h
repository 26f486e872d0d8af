/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * reader.h - the interface between a format of series and the import: a
 * format's read() gets a series_reader and adds points to it.
 */
#ifndef WORKLOADS_SERIES_READER_H
#define WORKLOADS_SERIES_READER_H

#include "workloads/series/series.h"

/* An import under way.  *set and *counts are the caller's and are filled while
 * `read` of the format runs; the arena owns names and points. */
struct series_reader {
    struct arena *arena;
    const struct series_format *format;     /* what values may be, and what they are of */
    const struct series_request *request;   /* the file, and if it is to be sorted */
    struct series_set *set;
    struct series_counts *counts;
};

/* Returns the number of the series of that name; adds a series if it is new.
 * The number stays the same while the import lasts. */
size_t series_number(struct series_reader *reader, const char *name);
/* Adds a point.  False, with *err set at pos: it is earlier than the last
 * point, and the request does not ask for sorting.  A negative value in a
 * format whose values are `positive` is an error, too. */
bool series_add(struct series_reader *reader, size_t number, int64_t time_ns,
                double value, struct err_pos pos, struct err *err);

extern const struct series_format series_csv, series_table, series_carbon,
    series_azure_price, series_aws_price, series_spot_ticks, series_spot_log,
    series_faults, series_prometheus;

#endif
