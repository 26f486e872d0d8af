/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * import_openb.c - pod lists of Alibaba's GPU-sharing cluster 2023 ("openb",
 * Weng et al., ATC 2023).
 *
 * A pod runs from scheduled_time to deletion_time; one that is Pending never ran.
 * A pod with gpu_milli below 1000 asks for a part of one GPU, one with num_gpu 0
 * for none, and gpu_spec names the GPU types that it takes: such rows are no jobs
 * here, and each is counted by its reason.
 */
#include <string.h>

#include "sim/clock.h"
#include "workloads/import_row.h"

static const char *const columns[] = {
    "name", "num_gpu", "gpu_milli", "gpu_spec", "qos", "creation_time",
    "deletion_time", "scheduled_time", "pod_phase", NULL};
enum { NAME, GPUS, MILLI, SPEC, QOS, CREATION, DELETION, SCHEDULED,
       PHASE };
enum { WHOLE_GPU_MILLI = 1000 };

/* Run time, from the two times; a reason to drop where they tell none. */
static bool read_run(struct importer *importer, struct import_row *row,
                     struct err *err)
{
    const size_t *column = importer->at;
    struct csv *csv = importer->csv;
    int64_t from_ns, to_ns;

    if (!row_seconds(csv, column[DELETION], &to_ns, err))
        return false;
    row->run_column = column[DELETION];
    if (csv_field(csv, column[SCHEDULED]).bytes == 0) {
        import_drop(row, IMPORT_NEVER_RAN, column[SCHEDULED]);
        return true;
    }
    if (!row_seconds(csv, column[SCHEDULED], &from_ns, err))
        return false;
    if (from_ns < 0 || to_ns < 0)
        return row_fault(csv, column[DELETION], ERR_RANGE,
                         "a time, as scheduled_time, of at least 0", err);
    row->job.run_ns = to_ns - from_ns;
    return true;
}

static bool read_row(struct importer *importer, struct import_row *row,
                     struct err *err)
{
    const size_t *column = importer->at;
    struct csv *csv = importer->csv;
    const struct row_columns at = {
        .job = column[NAME], .submit = column[CREATION],
        .duration = column[DELETION], .gpus = column[GPUS],
        .gpus_else = ROW_NO_COLUMN, .limit = ROW_NO_COLUMN,
        .tenant = column[QOS], .priority = ROW_NO_COLUMN,
        .deadline = ROW_NO_COLUMN};
    int64_t milli;

    if (!import_plain(importer, &at, row, err) ||
        !row_whole(csv, column[MILLI], &milli, err))
        return false;
    row->remark[REMARK_NO_SUCCESS] =
        strcmp(csv_field(csv, column[PHASE]).text, "Failed") == 0;
    if (row->job.gpus <= 0)
        import_drop(row, IMPORT_GPUS, column[GPUS]);
    else if (milli != WHOLE_GPU_MILLI)
        import_drop(row, IMPORT_FRACTION, column[MILLI]);
    if (csv_field(csv, column[SPEC]).bytes > 0)
        import_drop(row, IMPORT_TYPES, column[SPEC]);
    return read_run(importer, row, err);
}

const struct import_format import_openb = {
    .name = "openb",
    .summary = "pods of Alibaba's GPU-sharing cluster 2023; parts of GPUs "
               "are refused, or left out when asked",
    .about = "# Alibaba openb 2023 (FGD, ATC 2023): a pod runs from "
             "scheduled_time to deletion_time.\n"
             "# It is a sample of tasks that never fills its cluster.  "
             "Cores and memory are not read;\n"
             "# the quality of service is the tenant.\n",
    .layout = CSV_COMMA, .columns = columns,
    .missing = "The multigpu lists hold no times and cannot be replayed.",
    .row = read_row,
};
