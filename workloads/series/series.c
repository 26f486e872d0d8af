/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * series.c - the table of formats, the common form, and looking up a value.
 */
#include "workloads/series/series.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/config/conf.h"
#include "sim/text/paths.h"
#include "workloads/series/reader.h"

#define COUNT(ARRAY) (sizeof(ARRAY) / sizeof((ARRAY)[0]))

static const struct series_format *const format_table[] = {
    &series_carbon, &series_aws_price, &series_azure_price,
    &series_spot_ticks, &series_spot_log, &series_faults, &series_prometheus, &series_table,
    &series_csv,
};

const struct series_format *series_format_at(size_t i)
{
    return i < COUNT(format_table) ? format_table[i] : NULL;
}

const struct series_format *series_format_find(const char *name)
{
    for (size_t i = 0; i < COUNT(format_table); i++)
        if (strcmp(format_table[i]->name, name) == 0)
            return format_table[i];
    return NULL;
}

/* ---- import ----------------------------------------------------------- */

/* A point and its place in the file, so that sorting keeps the order of equal
 * times: the last of them is the one that holds. */
struct placed {
    struct series_point point;
    size_t at;
};

/* Orders points by time; those of one instant as they stand in the file. */
static int compare_times(const void *left, const void *right)
{
    const struct placed *a = left, *b = right;

    if (a->point.time_ns != b->point.time_ns)
        return a->point.time_ns < b->point.time_ns ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

/* Sorts by (time, place in the file): of equal times the last one of the file
 * holds. */
static void sort_points(struct series *series)
{
    struct placed *placed = arena_resize_own(NULL, series->count + 1,
                                             sizeof *placed);

    for (size_t i = 0; i < series->count; i++)
        placed[i] = (struct placed){series->point[i], i};
    qsort(placed, series->count, sizeof *placed, compare_times);
    for (size_t i = 0; i < series->count; i++)
        series->point[i] = placed[i].point;
    free(placed);
}

/* What was counted is returned in *counts, also if the import fails.  All
 * series are sorted if any point of the file was out of order. */
bool series_import(struct arena *arena, const struct series_format *format,
                   const struct series_request *request,
                   struct series_set *set, struct series_counts *counts,
                   struct err *err)
{
    struct series_reader reader = {arena, format, request, set, counts};

    assert(format != NULL && request->file != NULL);
    memset(set, 0, sizeof *set);
    memset(counts, 0, sizeof *counts);
    set->kind = format->kind;
    set->unit = format->unit;
    if (!format->read(&reader, err))
        return false;
    if (counts->points == 0)
        return err_set(err, ERR_RANGE, (struct err_pos){request->file, 0, 0},
                       "file has no point of a series");
    for (size_t i = 0; counts->unsorted > 0 && i < set->count; i++)
        sort_points(&set->series[i]);
    return true;
}

/* ---- the common form -------------------------------------------------- */

/* The keys of `series:` as they are written.  `origin` is an ORIGIN_ below, in
 * the order of origin_choices. */
struct series_keys {
    const char *kind, *unit, *file;
    int origin;
};

static const char *const origin_choices[] = {"first", "file", NULL};
enum { ORIGIN_FIRST, ORIGIN_FILE };

static const struct conf_field series_fields[] = {
    CONF_KEY("kind", CONF_TEXT, series_keys, kind, CONF_REQUIRED,
             "what it is: carbon, price, availability, faults"),
    CONF_KEY("unit", CONF_TEXT, series_keys, unit, CONF_REQUIRED,
             "of a value, such as USD/h"),
    CONF_KEY("file", CONF_TEXT, series_keys, file, CONF_REQUIRED,
             "CSV of series, time_s, value; plain, gzip or zstd"),
    CONF_KEY("origin", CONF_CHOICE, series_keys, origin, "first",
             "time 0: the first point of all, or the file's own zero",
             .choices = origin_choices),
};
const struct conf_schema series_schema =
    CONF_SCHEMA("series", "values over time", series_fields);

/* With `origin: first` all series begin when the earliest one does, so that
 * their distances are kept. */
bool series_read(struct arena *arena, const struct conf_node *conf,
                 struct series_set *set, struct err *err)
{
    struct series_request request = {NULL, false};
    struct series_counts counts;
    struct series_keys keys;
    int64_t first_ns = INT64_MAX;
    struct err_pos pos;

    assert(conf != NULL && set != NULL);
    if (!conf_fill(conf, &series_schema, &keys, err))
        return false;
    pos = conf_pos(conf_get(conf, "file"));
    request.file = path_beside(arena, pos.file, keys.file);
    if (!path_check_named(request.file, "series", pos, err) ||
        !series_import(arena, &series_csv, &request, set, &counts, err))
        return false;
    set->kind = keys.kind;
    set->unit = keys.unit;
    for (size_t i = 0; i < set->count; i++)
        if (set->series[i].point[0].time_ns < first_ns)
            first_ns = set->series[i].point[0].time_ns;
    for (size_t i = 0; keys.origin == ORIGIN_FIRST && i < set->count; i++)
        for (size_t p = 0; p < set->series[i].count; p++)
            set->series[i].point[p].time_ns -= first_ns;
    return true;
}

const struct series *series_find(const struct series_set *set,
                                 const char *name)
{
    for (size_t i = 0; i < set->count; i++)
        if (strcmp(set->series[i].name, name) == 0)
            return &set->series[i];
    return NULL;
}

/* Returns the value at a time.  Bisection keeps point[low] at or before the
 * time, or low 0: before the first point its value holds as well. */
double series_at(const struct series *series, int64_t time_ns)
{
    size_t low = 0, high = series->count;       /* the last one <= time_ns */

    assert(series->count > 0);
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (series->point[middle].time_ns <= time_ns)
            low = middle;
        else
            high = middle;
    }
    return series->point[low].value;
}
