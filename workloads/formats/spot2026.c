/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * spot2026.c - jobs of Alibaba's spot-GPU cluster (Duan et al., ASPLOS
 * 2026), job_info_df.csv of cluster-trace-v2026-spot-gpu.
 *
 * GPUs are gpu_request x worker_num.  High-priority jobs (HP) get priority 1,
 * spot jobs 0.  The node list beside it holds no jobs.
 */
#include <string.h>

#include "sim/text/csv.h"
#include "workloads/formats/row.h"
#include "workloads/formats/trace_row.h"

static const char *const columns[] = {
    "job_name", "organization", "gpu_model", "gpu_request", "worker_num",
    "submit_time", "duration", "job_type", NULL};
/* places in `columns` */
enum { JOB, ORGANIZATION, MODEL, GPUS, WORKERS, SUBMIT, RUN, TYPE };

/* gpu_request is of one worker.  Where it is a fraction, the row is no job
 * (IMPORT_FRACTION). */
static bool read_row(struct importer *importer, struct import_row *row,
                     struct err *err)
{
    const size_t *column = importer->at;
    const struct csv *csv = importer->csv;
    const struct row_columns at = {
        .job = column[JOB], .submit = column[SUBMIT],
        .duration = column[RUN], .gpus = column[WORKERS],
        .gpus_else = ROW_NO_COLUMN, .limit = ROW_NO_COLUMN,
        .tenant = column[ORGANIZATION], .priority = ROW_NO_COLUMN,
        .deadline = ROW_NO_COLUMN, ROW_NO_MORE};
    const char *type = csv_field(csv, column[TYPE])->text;
    double each;
    int64_t workers;

    if (strcmp(type, "HP") != 0 && strcmp(type, "Spot") != 0)
        return row_fault(csv, column[TYPE], ERR_RANGE, "HP or Spot", err);
    if (!import_plain(importer, &at, row, err) ||
        !import_amount(csv, column[GPUS], &each, err))
        return false;
    workers = row->job.gpus;
    import_gpus(row, each, column[GPUS]);
    if (workers < 0 || workers > 1000000)
        return row_fault(csv, column[WORKERS], ERR_RANGE,
                         "a whole number from 0 to 1000000", err);
    row->job.gpus *= workers;
    row->job.priority = type[0] == 'H';
    row->remark[REMARK_TYPE] = csv_field(csv, column[MODEL])->bytes > 0;
    return true;
}

const struct import_format import_spot2026 = {
    .name = "spot2026",
    .summary = "Alibaba spot GPUs 2026, job_info_df.csv; HP jobs get "
               "priority 1",
    .about = "# Alibaba spot GPUs (GFS, ASPLOS 2026): the organization is the "
             "tenant, priority 1 is a\n"
             "# high-priority job, 0 a spot job.  Types of GPU and cores are "
             "not read.\n",
    .layout = CSV_COMMA, .columns = columns, .row = read_row,
};
