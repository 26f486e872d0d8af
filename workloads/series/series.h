/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * series.h - values over time: spot prices, availability, carbon intensity,
 * faults of nodes.  Reads published formats and one common form.
 *
 * A series is a step function: a value holds until the next point.  The common
 * form is a CSV, series,time_s,value, which a mapping `series:` names.  Points
 * of a series are sorted by time; of points at one time, the last one holds.
 */
#ifndef WORKLOADS_SERIES_SERIES_H
#define WORKLOADS_SERIES_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/err.h"

struct arena;
struct conf_node;
struct conf_schema;

/* A value, and from when on it holds. */
struct series_point {
    int64_t time_ns;            /* on the file's clock, e.g. since 1970 */
    double value;
};

/* Points in order of time; the owner is the arena that they were read into. */
struct series {
    const char *name;           /* such as "us-east-1a/p3.2xlarge" */
    struct series_point *point;
    size_t count, room;
};

/* The series of one file, with what their values are. */
struct series_set {
    const char *kind, *unit;    /* "carbon", "gCO2/kWh" */
    struct series *series;      /* in the order in which they first appear */
    size_t count, room;
};

/* What an import counted. */
struct series_counts {
    uint64_t points;            /* added, in all series together */
    uint64_t empty;             /* fields without a value */
    uint64_t unsorted;          /* points before the one above; sorted */
    uint64_t repeated;          /* points at the time of the one above */
    uint64_t uneven;            /* steps of another length than the first, in a
                                   regular format */
    uint64_t overlaps;          /* faults of a node that has one already */
    uint64_t failed;            /* logs: instances that were not created */
    uint64_t unchanged;         /* logs: lines that repeat the known state */
};

/* What an import is asked for. */
struct series_request {
    const char *file;
    bool sort;                  /* points that are not in order are sorted; else they
                                   are errors */
};

struct series_reader;

/* A published format: how it is read, and what its values are. */
struct series_format {
    const char *name, *summary, *about; /* name: as users write it; summary: one
                                           line; about: comment lines at the top of
                                           the file that import writes */
    const char *kind, *unit;
    bool regular;               /* all steps should be as long as the first */
    bool positive;              /* values must not be below 0 */
    bool (*read)(struct series_reader *reader, struct err *err);
};

/* Formats by number, NULL past the last; by name, NULL if there is none. */
const struct series_format *series_format_at(size_t i);
const struct series_format *series_format_find(const char *name);

/* Reads a published file into *set.  False: *err is set. */
bool series_import(struct arena *arena, const struct series_format *format,
                   const struct series_request *request,
                   struct series_set *set, struct series_counts *counts,
                   struct err *err);

/* Reads the mapping `series:` of a file that import wrote.  Time 0 is the first
 * point of all series; with `origin: file` it is the zero of the file.  False:
 * *err is set. */
bool series_read(struct arena *arena, const struct conf_node *conf,
                 struct series_set *set, struct err *err);
/* Returns the series of that name; NULL: the set has none. */
const struct series *series_find(const struct series_set *set,
                                 const char *name);
/* Returns the value at a time; before the first point, the first value. */
double series_at(const struct series *series, int64_t time_ns);

extern const struct conf_schema series_schema;

#endif
