/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * reader.h - what a format of series is given, and how it gives points.
 */
#ifndef WORKLOADS_SERIES_READER_H
#define WORKLOADS_SERIES_READER_H

#include "workloads/series/series.h"

struct series_reader {
    struct arena *arena;
    const struct series_format *format;
    const struct series_request *request;
    struct series_set *set;
    struct series_counts *counts;
};

/* The number of a series in the set; it is made if it is new. */
size_t series_number(struct series_reader *reader, const char *name);
/* Refused at pos if it lies before the last point and nobody asked to sort. */
bool series_add(struct series_reader *reader, size_t number, int64_t time_ns,
                double value, struct err_pos pos, struct err *err);

extern const struct series_format series_csv, series_table, series_carbon,
    series_azure_price, series_aws_price, series_spot_ticks, series_spot_log,
    series_faults;

#endif
