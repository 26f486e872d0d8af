/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * itp.c - Microsoft ITP clusters 2021, published with ElasticFlow (Gu et
 * al., ASPLOS 2023), raw or with deadlines.
 *
 * The raw form has job_id, submission_time, duration, num_gpu; the other adds
 * synthetic models, iterations and a deadline, in absolute seconds.
 */
#include "sim/text/csv.h"
#include "workloads/formats/row.h"

static const char *const columns[] = {
    "job_id", "submission_time", "duration", "num_gpu", NULL};
enum { JOB, SUBMIT, RUN, GPUS };

/* Only the second form has the column `deadline`; csv_find() finds none in the raw one. */
static bool read_row(struct importer *importer, struct import_row *row,
                     struct err *err)
{
    const size_t *column = importer->at;
    const struct row_columns at = {
        .job = column[JOB], .submit = column[SUBMIT],
        .duration = column[RUN], .gpus = column[GPUS],
        .gpus_else = ROW_NO_COLUMN, .limit = ROW_NO_COLUMN,
        .tenant = ROW_NO_COLUMN, .priority = ROW_NO_COLUMN,
        .deadline = csv_find(importer->csv, "deadline"), ROW_NO_MORE};

    if (!import_plain(importer, &at, row, err))
        return false;
    row->remark[REMARK_LATE] = import_is_late(&row->job);
    return true;
}

const struct import_format import_itp = {
    .name = "itp",
    .summary = "Microsoft ITP 2021, raw, or as ElasticFlow's with deadlines",
    .about = "# Microsoft ITP 2021 (ElasticFlow, ASPLOS 2023).  Jobs shorter "
             "than 600 s were removed by\n"
             "# the publisher; no status, user or queue time.  Deadlines, "
             "models and iterations are\n"
             "# synthetic.\n",
    .layout = CSV_COMMA, .columns = columns, .row = read_row,
};
