/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * import_row.c - what the formats share: columns, and rows that hold what a
 * job needs in plain fields.
 */
#include "workloads/import_row.h"

#include <assert.h>
#include <string.h>

#include "sim/clock.h"
#include "workloads/csv.h"

/* "a, b, c" */
static void join(const char *const *names, char *out, size_t out_bytes)
{
    size_t used = 0;

    out[0] = '\0';
    for (; *names != NULL && used + strlen(*names) + 3 < out_bytes; names++) {
        if (used > 0) {
            memcpy(out + used, ", ", 2);
            used += 2;
        }
        memcpy(out + used, *names, strlen(*names) + 1);
        used += strlen(*names);
    }
}

bool import_columns(struct importer *importer, struct err *err)
{
    const struct import_format *format = importer->format;
    char names[140];

    for (size_t i = 0; format->columns[i] != NULL; i++) {
        assert(i < IMPORT_COLUMNS_MAX);
        importer->at[i] = csv_find(importer->csv, format->columns[i]);
        if (importer->at[i] != ROW_NO_COLUMN)
            continue;
        err_set(err, ERR_SYNTAX,
                (struct err_pos){importer->request->file, 1, 1},
                "file has no column %s, and format %s needs it",
                format->columns[i], format->name);
        if (format->missing != NULL)
            return err_hint(err, "%s", format->missing);
        join(format->columns, names, sizeof names);
        return err_hint(err, "It needs %s.", names);
    }
    return true;
}

bool import_plain(struct importer *importer, const struct row_columns *at,
                  struct import_row *row, struct err *err)
{
    struct row plain;

    if (!row_read(importer->csv, at, &plain, err))
        return false;
    row->job = (struct import_job){
        .name = plain.name, .tenant = plain.tenant,
        .submit_ns = plain.submit_ns, .run_ns = plain.duration_ns,
        .limit_ns = plain.limit_ns, .deadline_ns = CLOCK_NEVER_NS,
        .gpus = plain.gpus, .priority = plain.priority};
    row->run_column = at->duration;
    row->gpus_column = at->gpus;
    row->submit_column = at->submit;
    row->name_column = at->job;
    return true;
}

void import_drop(struct import_row *row, enum import_reason reason,
                 size_t column)
{
    if (row->drop)
        return;
    row->drop = true;
    row->reason = reason;
    row->column = column;
}
