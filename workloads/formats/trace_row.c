/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trace_row.c - one row of a trace file, as numbers and texts.
 *
 * Each function reads one field whole or reports it, with its column and what was
 * expected.  Numbers are decimal text until they are nanoseconds or whole numbers:
 * no double lies between.
 */
#include "workloads/formats/trace_row.h"

#include <string.h>

#include "sim/base/clock.h"
#include "sim/base/decimal.h"
#include "sim/text/csv.h"
#include "sim/text/scan.h"
#include "sim/text/trace_date.h"
#include "workloads/formats/row_hint.h"

bool row_fault(const struct csv *csv, size_t column, enum err_kind kind,
               const char *what, struct err *err)
{
    struct csv_field field = *csv_field(csv, column);

    err_set(err, kind, csv_pos(csv, column),
            "column %s must be %s, found \"%.40s\"", csv_names(csv)[column],
            what, field.text);
    if (kind == ERR_SYNTAX)
        row_hint(field.text, field.bytes, err);
    return false;
}

/* A number that is none of that kind because of its size alone. */
static bool is_too_large(struct csv_field field, bool whole)
{
    struct decimal decimal;

    if (decimal_read(field.text, field.bytes, &decimal) != field.bytes ||
        field.bytes == 0)
        return false;
    return !whole || strspn(field.text, "+-0123456789") >= field.bytes;
}

bool row_whole(const struct csv *csv, size_t column, int64_t *out,
               struct err *err)
{
    struct csv_field field = *csv_field(csv, column);

    return scan_i64(field.text, field.bytes, out) ||
           row_fault(csv, column, ERR_SYNTAX,
                     is_too_large(field, true)
                         ? "a whole number below 2^63" : "a whole number",
                     err);
}

/* A number with a point is read as thousandths by way of nanoseconds,
 * exactly. */
bool row_gpus(const struct csv *csv, size_t column, struct row *row,
              struct err *err)
{
    struct csv_field field = *csv_field(csv, column);
    int64_t nano, milli;

    row->gpu_milli = 0;
    if (memchr(field.text, '.', field.bytes) == NULL)
        return row_whole(csv, column, &row->gpus, err);
    if (!scan_time(field.text, field.bytes, &nano))
        return row_fault(csv, column, ERR_SYNTAX, "a number of GPUs", err);
    milli = nano / 1000000;
    row->gpus = milli / 1000;
    if (nano % 1000000 == 0 && milli % 1000 == 0)
        return true;
    if (nano % 1000000 != 0 || milli <= 0 || milli > 1000) {
        row_fault(csv, column, ERR_RANGE, "a whole number, or a part of one "
                  "GPU in thousandths", err);
        return err_hint(err, "A job may share one GPU at most: 0.25, not "
                             "2.5.");
    }
    row->gpus = 1;
    row->gpu_milli = milli;
    return true;
}

bool row_seconds(const struct csv *csv, size_t column, int64_t *ns,
                 struct err *err)
{
    struct csv_field field = *csv_field(csv, column);

    return scan_time(field.text, field.bytes, ns) ||
           row_fault(csv, column, ERR_SYNTAX,
                     is_too_large(field, false)
                         ? "a number of seconds up to 9.2e9"
                         : "a number of seconds", err);
}

/* Seconds, not below 0, or a date, which may lie before the run. */
static bool read_submit(const struct csv *csv, size_t column,
                        struct row *row, struct err *err)
{
    struct csv_field field = *csv_field(csv, column);

    row->dated = date_read(field.text, field.bytes, &row->submit_ns);
    if (row->dated)
        return true;
    if (!scan_time(field.text, field.bytes, &row->submit_ns))
        return row_fault(csv, column, ERR_SYNTAX,
                         is_too_large(field, false)
                             ? "a number of seconds up to 9.2e9"
                             : "a number of seconds, or a date such as "
                               "2017-10-09 07:01:55", err);
    return row->submit_ns >= 0 ||
           row_fault(csv, column, ERR_RANGE, "at least 0", err);
}

/* Bounded as `priority` of a mix is: recipe.h. */
static bool read_priority(const struct csv *csv, size_t column,
                          int32_t *out, struct err *err)
{
    int64_t value;

    if (!row_whole(csv, column, &value, err))
        return false;
    if (value < -ROW_PRIORITY_MAX || value > ROW_PRIORITY_MAX)
        return row_fault(csv, column, ERR_RANGE, "from -1000000 to 1000000",
                         err);
    *out = (int32_t)value;
    return true;
}

/* A date, or seconds; empty or negative: none. */
bool row_deadline(const struct csv *csv, size_t column, int64_t *ns,
                  struct err *err)
{
    struct csv_field field = *csv_field(csv, column);

    *ns = CLOCK_NEVER_NS;
    if (field.bytes == 0 || date_read(field.text, field.bytes, ns))
        return true;
    if (!row_seconds(csv, column, ns, err))
        return false;
    if (*ns < 0)
        *ns = CLOCK_NEVER_NS;
    return true;
}

#define MIB_MAX (INT64_C(1) << 30)     /* 1 PiB: beyond any node */

/* An empty field asks for nothing, as if there were no column. */
static bool has_field(const struct csv *csv, size_t column)
{
    return column != ROW_NO_COLUMN && csv_field(csv, column)->bytes > 0;
}

/* What is asked of a node, and of its GPUs. */
static bool read_more(const struct csv *csv, const struct row_columns *at,
                      struct row *row, struct err *err)
{
    int64_t nano, mib = 0;

    if (at->types != ROW_NO_COLUMN)
        row->types = csv_field(csv, at->types)->text;
    if (has_field(csv, at->cores)) {
        if (!row_seconds(csv, at->cores, &nano, err))
            return false;
        if (nano < 0 || nano % 1000000 != 0)
            return row_fault(csv, at->cores, ERR_RANGE,
                             "cores of at least 0, in thousandths", err);
        row->core_milli = nano / 1000000;
        row->pod = true;
    }
    if (has_field(csv, at->memory_mib)) {
        if (!row_whole(csv, at->memory_mib, &mib, err))
            return false;
        if (mib < 0 || mib > MIB_MAX)
            return row_fault(csv, at->memory_mib, ERR_RANGE,
                             "MiB of at least 0", err);
        row->memory_bytes = mib << 20;
        row->pod = true;
    }
    if (!has_field(csv, at->gpu_memory_mib))
        return true;
    return row_whole(csv, at->gpu_memory_mib, &row->gpu_mib, err) &&
           ((row->gpu_mib >= 0 && row->gpu_mib <= MIB_MAX) ||
            row_fault(csv, at->gpu_memory_mib, ERR_RANGE,
                      "MiB of at least 0", err));
}

/* Reads the columns that a file has.  GPUs of 0 or less are taken from another
 * column, if there is one. */
bool row_read(const struct csv *csv, const struct row_columns *at,
              struct row *row, struct err *err)
{
    memset(row, 0, sizeof *row);
    row->deadline_ns = CLOCK_NEVER_NS;
    if (!read_submit(csv, at->submit, row, err) ||
        !row_seconds(csv, at->duration, &row->duration_ns, err) ||
        !row_gpus(csv, at->gpus, row, err))
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
    if (!read_more(csv, at, row, err))
        return false;
    if (at->job != ROW_NO_COLUMN)
        row->name = csv_field(csv, at->job)->text;
    if (at->tenant != ROW_NO_COLUMN &&
        csv_field(csv, at->tenant)->bytes > 0)
        row->tenant = csv_field(csv, at->tenant)->text;
    return true;
}
