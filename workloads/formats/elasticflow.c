/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * elasticflow.c - job.csv that ElasticFlow's simulator (Gu et al.,
 * ASPLOS 2023) writes: what became of each job.
 *
 * A job is replayed as it ran there: submit_time, num_gpu, executed_time.  Rows
 * come in order of the ends.  start_time is 2^63 - 1 in rows of Themis and is not
 * read.  The deadline is absolute.
 */
#include "workloads/formats/row.h"

static const char *const columns[] = {
    "job_id", "num_gpu", "submit_time", "executed_time", "ddl", "JCT", NULL};
enum { JOB, GPUS, SUBMIT, RUN, DEADLINE };

/* Rows say the run time and an absolute deadline; a deadline that the job misses even
 * if it starts at once is counted. */
static bool read_row(struct importer *importer, struct import_row *row,
                     struct err *err)
{
    const size_t *column = importer->at;
    const struct row_columns at = {
        .job = column[JOB], .submit = column[SUBMIT],
        .duration = column[RUN], .gpus = column[GPUS],
        .gpus_else = ROW_NO_COLUMN, .limit = ROW_NO_COLUMN,
        .tenant = ROW_NO_COLUMN, .priority = ROW_NO_COLUMN,
        .deadline = column[DEADLINE], ROW_NO_MORE};

    if (!import_plain(importer, &at, row, err))
        return false;
    row->remark[REMARK_LATE] = import_is_late(&row->job);
    return true;
}

const struct import_format import_elasticflow = {
    .name = "elasticflow",
    .cites = "gu2023elasticflow",
    .summary = "results of ElasticFlow's simulator, job.csv: jobs as they "
               "ran there",
    .about = "# Results of ElasticFlow's simulator (ASPLOS 2023): run time is "
             "what was executed there, on\n"
             "# num_gpu GPUs; the trace itself was generated and is not "
             "published.\n",
    .layout = CSV_COMMA, .columns = columns, .row = read_row,
};
