/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * alea.c - the dialect of SWF that the simulator Alea ships (MetaCentrum
 * 2013, wagap and its parts): 21 fields, absolute times.
 *
 * The 18 fields of the standard (swf.c), then the nodes it ran on as a
 * {list}, its queue and its resources, which are not read.  Submission is in
 * seconds since 1970; a processor is taken for a GPU.
 */
#include "sim/text/csv.h"
#include "workloads/formats/row.h"
#include "workloads/formats/trace_row.h"

/* Fields by number, from 0. */
enum { JOB, SUBMIT, RUN = 3, ALLOCATED, REQUESTED = 7, LIMIT, STATUS = 10,
       USER, NODES = 18 };
enum { STATUS_FAILED = 0, STATUS_CANCELLED = 5 };

/* A row is split at blanks: if its field of nodes is no list, fields are missing or
 * shifted. */
static bool read_row(struct importer *importer, struct import_row *row,
                     struct err *err)
{
    static const struct row_columns at = {
        .job = JOB, .submit = SUBMIT, .duration = RUN, .gpus = ALLOCATED,
        .gpus_else = REQUESTED, .limit = LIMIT, .tenant = USER,
        .priority = ROW_NO_COLUMN, .deadline = ROW_NO_COLUMN, ROW_NO_MORE};
    const struct csv *csv = importer->csv;
    int64_t status, allocated;

    if (csv_field(csv, NODES)->text[0] != '{' &&
        csv_field(csv, NODES)->text[0] != '-')
        return row_fault(csv, NODES, ERR_SYNTAX, "a {list} of nodes", err);
    if (!import_plain(importer, &at, row, err) ||
        !row_whole(csv, STATUS, &status, err) ||
        !row_whole(csv, ALLOCATED, &allocated, err))
        return false;
    row->remark[REMARK_REQUESTED] = allocated <= 0;
    row->remark[REMARK_NO_LIMIT] = row->job.limit_ns == 0;
    row->remark[REMARK_NO_SUCCESS] = status == STATUS_FAILED ||
                                     status == STATUS_CANCELLED;
    return true;
}

const struct import_format import_alea = {
    .name = "alea",
    .summary = "Alea's dialect of SWF: 21 fields, absolute times, a {list} "
               "of nodes",
    .about = "# Alea's dialect of the Standard Workload Format: absolute "
             "times, a processor is taken\n"
             "# for a GPU, a user for a tenant.  Nodes, queues and resources "
             "are not read.\n",
    .layout = CSV_ALEA, .row = read_row,
};
