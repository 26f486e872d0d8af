/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * philly.c - Microsoft Philly 2017 (Jeon et al., ATC 2019), in the five
 * columns prepared for Pollux (Qiao et al., OSDI 2021).
 *
 * Rows are not in order of submission; gpu_time is duration x num_gpus, which is
 * checked; dates have no zone, and daylight saving ended within the trace.
 */
#include "sim/base/clock.h"
#include "workloads/formats/row.h"
#include "workloads/formats/trace_row.h"

static const char *const columns[] = {
    "timestamp", "duration", "num_gpus", "gpu_time", "cluster", NULL};
enum { SUBMIT, RUN, GPUS, GPU_TIME, CLUSTER };

/* Is the GPU time duration x GPUs?  Times are printed with one decimal, so less
 * than 1 s of difference is rounding. */
static bool check_gpu_time(const struct import_job *job, int64_t gpu_time_ns)
{
    double want_s = clock_s_from_ns(job->run_ns) * (double)job->gpus;
    double off_s = clock_s_from_ns(gpu_time_ns) - want_s;

    return off_s < 1.0 && off_s > -1.0;
}

/* The file also states the GPU time.  If it is not duration x GPUs, the columns
 * are not what they are called. */
static bool read_row(struct importer *importer, struct import_row *row,
                     struct err *err)
{
    const size_t *column = importer->at;
    const struct row_columns at = {
        .job = ROW_NO_COLUMN, .submit = column[SUBMIT],
        .duration = column[RUN], .gpus = column[GPUS],
        .gpus_else = ROW_NO_COLUMN, .limit = ROW_NO_COLUMN,
        .tenant = column[CLUSTER], .priority = ROW_NO_COLUMN,
        .deadline = ROW_NO_COLUMN, ROW_NO_MORE};
    int64_t gpu_time_ns;

    if (!import_plain(importer, &at, row, err) ||
        !row_seconds(importer->csv, column[GPU_TIME], &gpu_time_ns, err))
        return false;
    return check_gpu_time(&row->job, gpu_time_ns) ||
           row_fault(importer->csv, column[GPU_TIME], ERR_RANGE,
                     "duration x num_gpus", err);
}

const struct import_format import_philly = {
    .name = "philly",
    .cites = "jeon2019philly",
    .summary = "Microsoft Philly 2017, the CSV of Pollux: timestamp, "
               "duration, num_gpus, gpu_time, cluster",
    .about = "# Microsoft Philly 2017, as prepared for Pollux (OSDI 2021): "
             "82,247 of 117,325 jobs\n"
             "# by a filter that is nowhere stated; no status, user or "
             "attempts.  Dates have no zone\n"
             "# and are taken for UTC; daylight saving ended on 2017-11-05.  "
             "The virtual cluster is\n"
             "# the tenant.\n",
    .layout = CSV_COMMA, .columns = columns, .row = read_row,
};
