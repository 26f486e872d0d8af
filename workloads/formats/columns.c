/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * columns.c - names of columns, found in the header of a CSV.
 *
 * A key that is not given has ROW_NO_COLUMN.  A number in the place of a name
 * becomes a column that holds it in every row.
 */
#include "workloads/formats/columns.h"

#include <stddef.h>
#include <string.h>

#include "sim/config/conf.h"
#include "sim/text/csv.h"
#include "sim/text/scan.h"
#include "workloads/formats/trace_row.h"

static const struct conf_field columns_fields[] = {
    CONF_KEY("job", CONF_TEXT, trace_columns, job, CONF_ABSENT,
             "name of the job; default: its number"),
    CONF_KEY("submit", CONF_TEXT, trace_columns, submit, CONF_REQUIRED,
             "submit time: seconds, or a date and time"),
    CONF_KEY("duration", CONF_TEXT, trace_columns, duration, CONF_REQUIRED,
             "run time in seconds"),
    CONF_KEY("gpus", CONF_TEXT, trace_columns, gpus, CONF_REQUIRED,
             "GPUs: a whole number, or a part of one, as 0.25; 1 in place of a "
             "column: each job one, and so of all numbers"),
    CONF_KEY("limit", CONF_TEXT, trace_columns, limit, CONF_ABSENT,
             "requested time in seconds; <= 0: none"),
    CONF_KEY("tenant", CONF_TEXT, trace_columns, tenant, CONF_ABSENT,
             "whose job it is"),
    CONF_KEY("priority", CONF_TEXT, trace_columns, priority, CONF_ABSENT,
             "whole number, larger goes first, under a policy that looks at it "
             "(`explain POLICY`)"),
    CONF_KEY("deadline", CONF_TEXT, trace_columns, deadline, CONF_ABSENT,
             "when it should be done, by the clock of submit; empty: none"),
    CONF_KEY("cores", CONF_TEXT, trace_columns, cores, CONF_ABSENT,
             "cores of the job in all; it then lies on one node; empty: not "
             "said"),
    CONF_KEY("memory_mib", CONF_TEXT, trace_columns, memory_mib, CONF_ABSENT,
             "host memory of the job in all; it then lies on one node; empty: "
             "not said"),
    CONF_KEY("gpu_memory_mib", CONF_TEXT, trace_columns, gpu_memory_mib,
             CONF_ABSENT, "memory that the job takes of each GPU"),
    CONF_KEY("gpu_types", CONF_TEXT, trace_columns, gpu_types, CONF_ABSENT,
             "names of GPU types that it takes, as V100|T4; empty: any"),
};
const struct conf_schema trace_columns_schema =
    CONF_SCHEMA("workload.trace.columns",
                "which column of the CSV is what", columns_fields);

/* Where columns are looked for, and where an error is reported. */
struct finding {
    struct csv *csv;            /* its header was read */
    struct arena *arena;
    const char *path;           /* of the file, for errors */
    struct err_pos pos;         /* of the key `columns` */
    struct err *err;
};

/* Is the text a number, as `gpus: 1` in the place of a column? */
static bool is_number(const char *text)
{
    double value;

    return scan_f64(text, strlen(text), &value);
}

/* Returns the first column whose name holds this one, or is held by it, as job
 * in job_id.  NULL: there is none. */
static const char *find_alike(const struct csv *csv, const char *name)
{
    for (size_t i = 0; i < csv_columns(csv) && strlen(name) > 1; i++) {
        const char *column = csv_names(csv)[i];

        if (strstr(column, name) != NULL ||
            (strlen(column) > 2 && strstr(name, column) != NULL))
            return column;
    }
    return NULL;
}

/* Reports a name that is no column.  The hint says the likeliest reason: no
 * header line, another separator, another spelling.  Returns false. */
static bool report_no_column(const struct finding *f, const char *key,
                             const char *name)
{
    const char *near = conf_nearest(name, csv_names(f->csv));
    char list[120];

    if (near == NULL)
        near = find_alike(f->csv, name);

    csv_list(f->csv, list, sizeof list);
    err_set(f->err, ERR_REFERENCE, f->pos,
            "%s names column %.40s, which %.40s does not have: its columns are "
            "%s", key, name, f->path, list);
    if (csv_header_is_row(f->csv))
        return err_hint(f->err, "That looks like a row: the first line must "
                                "name the columns.");
    if (csv_columns(f->csv) == 1 && strpbrk(csv_names(f->csv)[0], "|: ") != NULL)
        return err_hint(f->err, "Fields stand between commas, semicolons or "
                                "tabs.");
    if (near != NULL)
        return err_hint(f->err, "The nearest column is %s.", near);
    if (name[0] >= '0' && name[0] <= '9')
        return err_hint(f->err, "In place of a column, a number alone stands "
                                "for every row: 3600, in seconds.");
    return false;
}

/* Finds the column of a key.  A number becomes a column that has it in every
 * row.  name NULL: the key is not given. */
static bool find_column(const struct finding *f, const char *key, const char *name,
                        size_t *out)
{
    *out = ROW_NO_COLUMN;
    if (name == NULL)
        return true;
    *out = csv_find(f->csv, name);
    if (*out == ROW_NO_COLUMN && is_number(name))
        *out = csv_constant(f->csv, f->arena, name);
    return *out != ROW_NO_COLUMN || report_no_column(f, key, name);
}

bool trace_columns_find(struct csv *csv, struct arena *arena,
                        const struct trace_columns *names, const char *path,
                        struct err_pos pos, struct row_columns *at,
                        struct err *err)
{
    const struct finding f = {csv, arena, path, pos, err};

    at->gpus_else = ROW_NO_COLUMN;
    return find_column(&f, "job", names->job, &at->job) &&
           find_column(&f, "submit", names->submit, &at->submit) &&
           find_column(&f, "duration", names->duration, &at->duration) &&
           find_column(&f, "gpus", names->gpus, &at->gpus) &&
           find_column(&f, "limit", names->limit, &at->limit) &&
           find_column(&f, "tenant", names->tenant, &at->tenant) &&
           find_column(&f, "priority", names->priority, &at->priority) &&
           find_column(&f, "deadline", names->deadline, &at->deadline) &&
           find_column(&f, "cores", names->cores, &at->cores) &&
           find_column(&f, "memory_mib", names->memory_mib, &at->memory_mib) &&
           find_column(&f, "gpu_memory_mib", names->gpu_memory_mib,
                       &at->gpu_memory_mib) &&
           find_column(&f, "gpu_types", names->gpu_types, &at->types);
}
