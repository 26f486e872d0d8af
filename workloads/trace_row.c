/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trace_row.c - one row of a trace file, as numbers and texts.
 */
#include "workloads/trace_row.h"

#include <string.h>

#include "sim/clock.h"
#include "sim/scan.h"
#include "workloads/csv.h"
#include "workloads/trace_date.h"

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

static bool read_submit(const struct csv *csv, size_t column,
                        struct row *row, struct err *err)
{
    struct csv_field field = csv_field(csv, column);

    row->dated = date_read(field.text, field.bytes, &row->submit_ns);
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

bool row_deadline(const struct csv *csv, size_t column, int64_t *ns,
                  struct err *err)
{
    struct csv_field field = csv_field(csv, column);

    *ns = CLOCK_NEVER_NS;
    if (field.bytes == 0 || date_read(field.text, field.bytes, ns))
        return true;
    if (!row_seconds(csv, column, ns, err))
        return false;
    if (*ns < 0)
        *ns = CLOCK_NEVER_NS;
    return true;
}

bool row_read(const struct csv *csv, const struct row_columns *at,
              struct row *row, struct err *err)
{
    memset(row, 0, sizeof *row);
    row->deadline_ns = CLOCK_NEVER_NS;
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
    if (at->deadline != ROW_NO_COLUMN &&
        !row_deadline(csv, at->deadline, &row->deadline_ns, err))
        return false;
    if (at->job != ROW_NO_COLUMN)
        row->name = csv_field(csv, at->job).text;
    if (at->tenant != ROW_NO_COLUMN &&
        csv_field(csv, at->tenant).bytes > 0)
        row->tenant = csv_field(csv, at->tenant).text;
    return true;
}
