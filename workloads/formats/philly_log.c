/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * philly_log.c - Microsoft Philly 2017 (Jeon et al., ATC 2019), the
 * original cluster_job_log, a JSON (workloads/logs/philly.c).
 *
 * Run time is what the attempts of a job took together, GPUs those of its
 * largest attempt.  Jobs without attempts never ran; one whose last attempt has
 * no end still ran when the log was taken.
 */
#include <string.h>

#include "sim/text/csv.h"
#include "workloads/logs/philly.h"
#include "workloads/formats/row.h"
#include "workloads/formats/trace_row.h"

/* A job that never ran, still ran, or has no times is dropped with its reason;
 * several attempts count as one job, and are remarked.  One with an attempt that
 * ends before it starts has a run time below 0, which no job may have. */
static bool read_row(struct importer *importer, struct import_row *row,
                     struct err *err)
{
    static const struct row_columns at = {
        .job = PHILLY_JOB, .submit = PHILLY_SUBMIT, .duration = PHILLY_RUN,
        .gpus = PHILLY_GPUS, .gpus_else = ROW_NO_COLUMN,
        .limit = ROW_NO_COLUMN, .tenant = PHILLY_VC,
        .priority = ROW_NO_COLUMN, .deadline = ROW_NO_COLUMN, ROW_NO_MORE};
    const struct csv *csv = importer->csv;
    int64_t attempts, untimed, open_end;

    if (csv_field(csv, PHILLY_SUBMIT)->bytes == 0) {
        import_drop(row, IMPORT_NO_SUBMIT, PHILLY_SUBMIT);
        return true;
    }
    if (!import_plain(importer, &at, row, err) ||
        !row_whole(csv, PHILLY_ATTEMPTS, &attempts, err) ||
        !row_whole(csv, PHILLY_UNTIMED, &untimed, err) ||
        !row_whole(csv, PHILLY_OPEN, &open_end, err))
        return false;
    if (attempts == 0)
        import_drop(row, IMPORT_NEVER_RAN, PHILLY_ATTEMPTS);
    if (open_end != 0)
        import_drop(row, IMPORT_STILL_RUNNING, PHILLY_OPEN);
    if (untimed == attempts)
        import_drop(row, IMPORT_NEVER_RAN, PHILLY_UNTIMED);
    row->remark[REMARK_ATTEMPTS] = attempts > 1;
    row->remark[REMARK_UNTIMED] = untimed > 0;
    row->remark[REMARK_NO_SUCCESS] =
        strcmp(csv_field(csv, PHILLY_STATUS)->text, "Pass") != 0;
    return true;
}

const struct import_format import_philly_log = {
    .name = "philly-log",
    .cites = "jeon2019philly",
    .summary = "Microsoft Philly 2017, the original cluster_job_log, a JSON",
    .about = "# Microsoft Philly 2017 (ATC 2019), cluster_job_log.  Run time "
             "is the sum of a job's\n"
             "# attempts.  Dates have no zone and are taken for UTC; daylight "
             "saving ended on\n"
             "# 2017-11-05.  The virtual cluster is the tenant.\n",
    .source = philly_open, .row = read_row,
};
