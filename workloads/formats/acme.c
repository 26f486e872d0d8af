/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * acme.c - job logs of Shanghai AI Lab's Acme (Hu et al., NSDI 2024),
 * trace_seren.csv and trace_kalos.csv.
 *
 * Run time is end_time - start_time.  The column duration says the same in Seren,
 * but holds end_time - submit_time in Kalos: it is only compared.  Dates have an
 * offset, which is taken off.  Jobs without a GPU are CPU jobs.
 */
#include <string.h>

#include "sim/base/clock.h"
#include "sim/text/csv.h"
#include "workloads/formats/row.h"

static const char *const columns[] = {
    "job_id", "user", "gpu_num", "state", "submit_time", "start_time",
    "end_time", "duration", NULL};
enum { JOB, USER, GPUS, STATE, SUBMIT, START, END, DURATION };

/* The run time is end minus start; the duration that the file states is only
 * compared with it, and a difference is remarked. */
static bool read_row(struct importer *importer, struct import_row *row,
                     struct err *err)
{
    const size_t *column = importer->at;
    const struct csv *csv = importer->csv;
    const struct timed_columns at = {
        .job = column[JOB], .submit = column[SUBMIT], .start = column[START],
        .end = column[END], .gpus = column[GPUS], .tenant = column[USER]};
    double stated_s;

    if (!import_timed(importer, &at, row, err) ||
        !import_amount(csv, column[DURATION], &stated_s, err))
        return false;
    row->remark[REMARK_NO_SUCCESS] =
        strcmp(csv_field(csv, column[STATE])->text, "COMPLETED") != 0;
    row->remark[REMARK_DURATION] =
        stated_s != clock_s_from_ns(row->job.run_ns);
    return true;
}

const struct import_format import_acme = {
    .name = "acme",
    .cites = "hu2024acme",
    .summary = "Shanghai AI Lab Acme 2023, trace_seren.csv or "
               "trace_kalos.csv",
    .about = "# Shanghai AI Lab Acme 2023 (NSDI 2024), a job log: run time is "
             "end - start, the user is\n"
             "# the tenant.\n",
    .layout = CSV_COMMA, .columns = columns,
    .missing = "It must be a job log: the summary of clusters and the series "
               "of utilization hold no jobs.",
    .row = read_row,
};
