/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trace_row.c - one row of a trace file, as numbers and texts.
 */
#include "workloads/trace_row.h"

#include <string.h>

#include "sim/clock.h"
#include "sim/scan.h"
#include "workloads/csv.h"

bool row_fault(const struct csv *csv, size_t column, enum err_kind kind,
               const char *what, struct err *err)
{
    return err_set(err, kind, csv_pos(csv, column),
                   "column %s must be %s, found \"%.40s\"",
                   csv_names(csv)[column], what,
                   csv_field(csv, column).text);
}

bool row_whole(const struct csv *csv, size_t column, int64_t *out,
               struct err *err)
{
    struct csv_field field = csv_field(csv, column);

    return scan_i64(field.text, field.bytes, out) ||
           row_fault(csv, column, ERR_SYNTAX, "a whole number", err);
}

bool row_seconds(const struct csv *csv, size_t column, int64_t *ns,
                 struct err *err)
{
    struct csv_field field = csv_field(csv, column);

    return scan_time(field.text, field.bytes, ns) ||
           row_fault(csv, column, ERR_SYNTAX, "a number of seconds", err);
}

/* Digits of a fixed-width part of a date; -1 if there are others. */
static int64_t digits(const char *text, size_t count)
{
    int64_t value = 0;

    for (size_t i = 0; i < count; i++) {
        if (text[i] < '0' || text[i] > '9')
            return -1;
        value = 10 * value + (text[i] - '0');
    }
    return value;
}

/* Days from 1970-01-01 in the Gregorian calendar: years begin in March, so
 * that the leap day comes last (Richards 2013, in the Explanatory Supplement
 * to the Astronomical Almanac). */
static int64_t days_from_date(int64_t year, int64_t month, int64_t day)
{
    int64_t y = month <= 2 ? year - 1 : year;
    int64_t m = month <= 2 ? month + 9 : month - 3;

    return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day -
           719469;
}

/* "2017-10-09 07:01:55", or with a T between; UTC. */
static bool scan_date(const char *text, size_t bytes, int64_t *ns)
{
    int64_t year, month, day, hour, minute, second;

    if (bytes != 19 || text[4] != '-' || text[7] != '-' || text[13] != ':' ||
        text[16] != ':' || (text[10] != ' ' && text[10] != 'T'))
        return false;
    year = digits(text, 4);
    month = digits(text + 5, 2);
    day = digits(text + 8, 2);
    hour = digits(text + 11, 2);
    minute = digits(text + 14, 2);
    second = digits(text + 17, 2);
    if (year < 1970 || year > 2200 || month < 1 || month > 12 || day < 1 ||
        day > 31 || hour < 0 || hour > 23 || minute < 0 || minute > 59 ||
        second < 0 || second > 60)
        return false;
    *ns = (days_from_date(year, month, day) * 86400 + hour * 3600 +
           minute * 60 + second) * CLOCK_NS_PER_S;
    return true;
}

static bool read_submit(const struct csv *csv, size_t column,
                        struct row *row, struct err *err)
{
    struct csv_field field = csv_field(csv, column);

    row->dated = scan_date(field.text, field.bytes, &row->submit_ns);
    if (row->dated)
        return true;
    if (!scan_time(field.text, field.bytes, &row->submit_ns))
        return row_fault(csv, column, ERR_SYNTAX,
                         "a number of seconds, or a date such as 2017-10-09 "
                         "07:01:55", err);
    return row->submit_ns >= 0 ||
           row_fault(csv, column, ERR_RANGE, "at least 0", err);
}

static bool read_priority(const struct csv *csv, size_t column,
                          int32_t *out, struct err *err)
{
    int64_t value;

    if (!row_whole(csv, column, &value, err))
        return false;
    if (value < -1000000 || value > 1000000)
        return row_fault(csv, column, ERR_RANGE, "from -1000000 to 1000000",
                         err);
    *out = (int32_t)value;
    return true;
}

bool row_read(const struct csv *csv, const struct row_columns *at,
              struct row *row, struct err *err)
{
    memset(row, 0, sizeof *row);
    if (!read_submit(csv, at->submit, row, err) ||
        !row_seconds(csv, at->duration, &row->duration_ns, err) ||
        !row_whole(csv, at->gpus, &row->gpus, err))
        return false;
    if (row->gpus <= 0 && at->gpus_else != ROW_NO_COLUMN &&
        !row_whole(csv, at->gpus_else, &row->gpus, err))
        return false;
    if (at->limit != ROW_NO_COLUMN &&
        !row_seconds(csv, at->limit, &row->limit_ns, err))
        return false;
    if (row->limit_ns < 0)
        row->limit_ns = 0;
    if (at->priority != ROW_NO_COLUMN &&
        !read_priority(csv, at->priority, &row->priority, err))
        return false;
    if (at->job != ROW_NO_COLUMN)
        row->name = csv_field(csv, at->job).text;
    if (at->tenant != ROW_NO_COLUMN &&
        csv_field(csv, at->tenant).bytes > 0)
        row->tenant = csv_field(csv, at->tenant).text;
    return true;
}
