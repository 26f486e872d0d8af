/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * series.c - published series become series in the common form.
 *
 * Values are written with as few digits as give the same number back.
 */
#include "experiments/import/series.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/import/report.h"
#include "sim/base/clock.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"
#include "sim/text/scan.h"

/* Writes a value with the fewest of 15 to 17 digits that give it back: 15
 * suffice for most doubles, 17 for all. */
static void write_value(struct out *out, double value)
{
    char text[32];
    double back;

    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (scan_f64(text, strlen(text), &back) && back == value)
            break;
    }
    out_text(out, text);
}

/* Writes a name as a field of CSV (RFC 4180). */
static void write_name(struct out *out, const char *name)
{
    if (strpbrk(name, ",\"") == NULL && name[0] != ' ') {
        out_text(out, name);
        return;
    }
    out_text(out, "\"");
    for (; *name != '\0'; name++)
        out_printf(out, *name == '"' ? "\"\"" : "%c", *name);
    out_text(out, "\"");
}

/* Writes one row for each point, series after series, in the order of time. */
static bool write_csv(const struct series_import *import, const char *path,
                      struct err *err)
{
    struct out *out = out_open(import->arena, path, err);
    char time[32];

    if (out == NULL)
        return false;
    out_text(out, "series,time_s,value\n");
    for (size_t i = 0; i < import->set.count; i++) {
        const struct series *series = &import->set.series[i];

        for (size_t p = 0; p < series->count; p++) {
            clock_format_s(series->point[p].time_ns, time, sizeof time);
            write_name(out, series->name);
            out_printf(out, ",%s,", time);
            write_value(out, series->point[p].value);
            out_text(out, "\n");
        }
    }
    return out_close(out, err);
}

/* Prints each count that is not 0, on a line. */
static void print_counts(FILE *file, struct out *out,
                         const struct series_counts *counts)
{
    const struct {
        uint64_t count;
        const char *text;
    } line[] = {
        { counts->empty, "fields without a value: no points" },
        { counts->unsorted, "points before the one above: sorted" },
        { counts->repeated, "points at the time of the one above: both are "
                            "kept, the later row holds" },
        { counts->uneven, "steps of another length than the first" },
        { counts->overlaps, "faults of a node that has one already" },
        { counts->failed, "instances that could not be created" },
        { counts->unchanged, "lines that say what was known" },
    };

    for (size_t i = 0; i < sizeof line / sizeof line[0]; i++)
        import_line(file, out, line[i].count, line[i].text);
}

/* Writes the file of keys beside the CSV, as `series:` reads it. */
static bool write_yaml(const struct series_import *import, const char *path,
                       const char *csv, struct err *err)
{
    struct out *out = out_open(import->arena, path, err);
    const char *slash = strrchr(csv, '/');

    if (out == NULL)
        return false;
    out_printf(out, "# By clustersim import %s.\n", import->format->name);
    out_text(out, import->format->about);
    out_printf(out, "# %zu series, %" PRIu64 " points:\n", import->set.count,
               import->counts.points);
    print_counts(NULL, out, &import->counts);
    out_printf(out, "series:\n  kind: %s\n  unit: %s\n  file: ", import->set.kind,
               import->set.unit);
    import_quoted(out, slash == NULL ? csv : slash + 1);
    out_text(out, "\n");
    return out_close(out, err);
}

/* The CSV is written before the file that names it. */
bool import_series(struct series_import *import, const char *yaml,
                   const char *csv, struct err *err)
{
    return series_import(import->arena, import->format, &import->request,
                         &import->set, &import->counts, err) &&
           write_csv(import, csv, err) && write_yaml(import, yaml, csv, err);
}

/* A set has at least one series, and each at least one point (series_import). */
void import_series_report(FILE *file, const struct series_import *import)
{
    const struct series_set *set = &import->set;
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
    double low = set->series[0].point[0].value, high = low, sum = 0.0;
    double span_s;

    for (size_t i = 0; i < set->count; i++)
        for (size_t p = 0; p < set->series[i].count; p++) {
            const struct series_point *point = &set->series[i].point[p];

            first_ns = point->time_ns < first_ns ? point->time_ns : first_ns;
            last_ns = point->time_ns > last_ns ? point->time_ns : last_ns;
            low = point->value < low ? point->value : low;
            high = point->value > high ? point->value : high;
            sum += point->value;
        }
    span_s = clock_s_from_ns(last_ns - first_ns);
    fprintf(file, "%s: format %s\n", import->request.file,
            import->format->name);
    fprintf(file, "series       %zu of %s, %s\npoints       %" PRIu64 "\n",
            set->count, set->kind, set->unit, import->counts.points);
    print_counts(file, NULL, &import->counts);
    fprintf(file, "span         %.10g s, %.4g days\n", span_s,
            span_s / 86400.0);
    fprintf(file, "values       min %.10g  mean of points %.6g  max %.10g\n",
            low, sum / (double)import->counts.points, high);
}
