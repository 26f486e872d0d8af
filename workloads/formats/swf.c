/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * swf.c - Standard Workload Format, version 2.2 (Chapin et al. 1999): 18
 * fields between blanks, comments after ';'.
 *
 * Times are in seconds.  A processor is taken for a GPU: field 5, allocated, or
 * 8, requested, where 5 is not positive.  User (12) becomes the tenant.  Fields
 * beyond the 18th, as dialects have them, are counted and not read.
 */
#include "workloads/formats/row.h"
#include "workloads/formats/trace_row.h"

/* Fields by number, from 0. */
enum { JOB, SUBMIT, RUN = 3, ALLOCATED, REQUESTED = 7, LIMIT, STATUS = 10,
       USER };
/* Status: 0 failed, 1 completed, 5 cancelled; -1 not known. */
enum { STATUS_FAILED = 0, STATUS_CANCELLED = 5 };

/* Processors that were allocated count; where a log does not say, those that
 * were requested, which is remarked.  -1 is the standard's unknown. */
static bool read_row(struct importer *importer, struct import_row *row,
                     struct err *err)
{
    static const struct row_columns at = {
        .job = JOB, .submit = SUBMIT, .duration = RUN, .gpus = ALLOCATED,
        .gpus_else = REQUESTED, .limit = LIMIT, .tenant = USER,
        .priority = ROW_NO_COLUMN,
        .deadline = ROW_NO_COLUMN, ROW_NO_MORE};
    const struct csv *csv = importer->csv;
    int64_t user, status, allocated;

    if (!import_plain(importer, &at, row, err) ||
        !row_whole(csv, USER, &user, err) ||
        !row_whole(csv, STATUS, &status, err) ||
        !row_whole(csv, ALLOCATED, &allocated, err))
        return false;
    if (user <= 0)
        row->job.tenant = NULL;
    row->remark[REMARK_REQUESTED] = allocated <= 0;
    row->remark[REMARK_NO_LIMIT] = row->job.limit_ns == 0;
    row->remark[REMARK_NO_SUCCESS] = status == STATUS_FAILED ||
                                          status == STATUS_CANCELLED;
    return true;
}

const struct import_format import_swf = {
    .name = "swf",
    .cites = "feitelson2014archive",
    .summary = "Standard Workload Format of the Parallel Workloads Archive, "
               "18 fields or more",
    .about = "# Standard Workload Format: a processor is taken for a GPU, a "
             "user for a tenant;\n"
             "# requested time is the limit.  Queues, memory and "
             "dependencies are not read.\n",
    .layout = CSV_SWF, .row = read_row,
};
