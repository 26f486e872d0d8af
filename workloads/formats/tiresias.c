/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tiresias.c - job files of Tiresias' simulator (Gu et al., NSDI 2019),
 * and of those that took its format over.
 *
 * Iterations and intervals describe how a job would run there; the duration is
 * its run time.
 */
#include "workloads/formats/row.h"

static const char *const columns[] = {
    "job_id", "num_gpu", "submit_time", "iterations", "model_name",
    "duration", "interval", NULL};
/* places in `columns` */
enum { JOB, GPUS, SUBMIT, ITERATIONS, MODEL, RUN, INTERVAL };

/* Reads a job: a row has its number, submission, run time and GPUs, and nothing else that
 * is used. */
static bool read_row(struct importer *importer, struct import_row *row,
                     struct err *err)
{
    const size_t *column = importer->at;
    const struct row_columns at = {
        .job = column[JOB], .submit = column[SUBMIT],
        .duration = column[RUN], .gpus = column[GPUS],
        .gpus_else = ROW_NO_COLUMN, .limit = ROW_NO_COLUMN,
        .tenant = ROW_NO_COLUMN, .priority = ROW_NO_COLUMN,
        .deadline = ROW_NO_COLUMN, ROW_NO_MORE};

    return import_plain(importer, &at, row, err);
}

const struct import_format import_tiresias = {
    .name = "tiresias",
    .cites = "gu2019tiresias",
    .summary = "Tiresias' job files: job_id, num_gpu, submit_time, "
               "iterations, model_name, duration, interval",
    .about = "# A job file of Tiresias' simulator (NSDI 2019).  Models, "
             "iterations and intervals are\n"
             "# not read: the length is the duration.\n",
    .layout = CSV_COMMA, .columns = columns, .row = read_row,
};
