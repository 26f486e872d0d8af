/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * helios.c - job logs of SenseTime's Helios (Hu et al., SC 2021),
 * cluster_log.csv of its data repository.
 *
 * The minute series and summaries derived from them hold no jobs and are refused
 * for the columns that they lack.  Jobs without a GPU are CPU jobs.
 */
#include <string.h>

#include "sim/text/csv.h"
#include "workloads/formats/row.h"

static const char *const columns[] = {
    "job_id", "vc", "gpu_num", "submit_time", "duration", "state", NULL};
enum { JOB, VC, GPUS, SUBMIT, RUN, STATE };

/* Jobs that failed or were cancelled held their GPUs as well: they are jobs, and are
 * counted. */
static bool read_row(struct importer *importer, struct import_row *row,
                     struct err *err)
{
    const size_t *column = importer->at;
    const struct row_columns at = {
        .job = column[JOB], .submit = column[SUBMIT],
        .duration = column[RUN], .gpus = column[GPUS],
        .gpus_else = ROW_NO_COLUMN, .limit = ROW_NO_COLUMN,
        .tenant = column[VC], .priority = ROW_NO_COLUMN,
        .deadline = ROW_NO_COLUMN, ROW_NO_MORE};

    row->remark[REMARK_NO_SUCCESS] =
        strcmp(csv_field(importer->csv, column[STATE])->text,
               "COMPLETED") != 0;
    return import_plain(importer, &at, row, err);
}

const struct import_format import_helios = {
    .name = "helios",
    .cites = "hu2021helios",
    .summary = "SenseTime Helios 2020, cluster_log.csv; its derived minute "
               "series hold no jobs",
    .about = "# SenseTime Helios 2020 (SC 2021), a job log.  Dates have no "
             "zone and are taken for UTC.\n"
             "# The virtual cluster is the tenant.\n",
    .layout = CSV_COMMA, .columns = columns,
    .missing = "It must be a job log (cluster_log.csv): the series and "
               "summaries derived from it hold no jobs.",
    .row = read_row,
};
