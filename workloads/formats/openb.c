/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * openb.c - pod lists of Alibaba's GPU-sharing cluster 2023 ("openb",
 * Weng et al., ATC 2023).
 *
 * A pod lies on one node and asks for cores, memory and GPUs there: num_gpu of
 * them, or, below 1000 gpu_milli, a part of one; gpu_spec names the types that
 * it takes.  It runs from scheduled_time to deletion_time; one that is Pending
 * never ran.  Lists without times can only be drawn anew (resample).
 */
#include <string.h>

#include "models/types/placement.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/text/csv.h"
#include "workloads/formats/row.h"
#include "workloads/formats/trace_row.h"

static const char *const columns[] = {
    "name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli", NULL};
enum { NAME, CPU, MEMORY, GPUS, MILLI };

/* Columns that only lists with times have; the multigpu lists lack them. */
static const char *const timed_columns[] = {
    "creation_time", "deletion_time", "scheduled_time", "pod_phase", "qos"};
enum { CREATION, DELETION, SCHEDULED, PHASE, QOS, TIMED };

/* Lists without times hold no jobs to replay, but may be drawn from. */
static bool open_list(struct importer *importer, struct err *err)
{
    for (size_t i = 0; i < TIMED; i++) {
        if (csv_find(importer->csv, timed_columns[i]) != ROW_NO_COLUMN ||
            importer->request->untimed)
            continue;
        err_set(err, ERR_SYNTAX,
                (struct err_pos){importer->request->file, 1, 1},
                "file has no column %s, and format openb needs it",
                timed_columns[i]);
        return err_hint(err, "The multigpu lists hold no times and cannot be "
                             "replayed; `resample:` in a workload draws from "
                             "them.");
    }
    return true;
}

/* Reads the run time, which is deletion minus scheduling.  A pod that was never
 * scheduled is dropped. */
static bool read_run(struct importer *importer, struct import_row *row,
                     struct err *err)
{
    struct csv *csv = importer->csv;
    size_t deletion = csv_find(csv, timed_columns[DELETION]);
    size_t scheduled = csv_find(csv, timed_columns[SCHEDULED]);
    int64_t from_ns, to_ns;

    if (!row_seconds(csv, deletion, &to_ns, err))
        return false;
    row->run_column = deletion;
    if (csv_field(csv, scheduled)->bytes == 0) {
        import_drop(row, IMPORT_NEVER_RAN, scheduled);
        return true;
    }
    if (!row_seconds(csv, scheduled, &from_ns, err))
        return false;
    if (from_ns < 0 || to_ns < 0)
        return row_fault(csv, deletion, ERR_RANGE,
                         "a time, as scheduled_time, of at least 0", err);
    row->job.run_ns = to_ns - from_ns;
    row->remark[REMARK_EARLY] = from_ns < row->job.submit_ns;
    return true;
}

/* Reads the times.  Where they do not matter (`untimed`), any run time above 0
 * will do. */
static bool read_times(struct importer *importer, struct import_row *row,
                       struct err *err)
{
    struct csv *csv = importer->csv;
    size_t creation = csv_find(csv, timed_columns[CREATION]);
    size_t phase = csv_find(csv, timed_columns[PHASE]);
    size_t qos = csv_find(csv, timed_columns[QOS]);

    if (importer->request->untimed) {
        row->job.run_ns = CLOCK_NS_PER_S;       /* not looked at */
        return true;
    }
    row->submit_column = creation;
    if (!row_seconds(csv, creation, &row->job.submit_ns, err))
        return false;
    if (row->job.submit_ns < 0)
        return row_fault(csv, creation, ERR_RANGE, "at least 0", err);
    if (csv_field(csv, qos)->bytes > 0)
        row->job.tenant = csv_field(csv, qos)->text;
    row->remark[REMARK_NO_SUCCESS] =
        strcmp(csv_field(csv, phase)->text, "Failed") == 0;
    return read_run(importer, row, err);
}

/* Reads a whole number from 0 to `most`, which no node of any cluster exceeds. */
static bool read_whole(const struct csv *csv, size_t column, int64_t most,
                       int64_t *out, struct err *err)
{
    return row_whole(csv, column, out, err) &&
           ((*out >= 0 && *out <= most) ||
            row_fault(csv, column, ERR_RANGE, "at least 0, and not beyond "
                      "any node", err));
}

/* Reads a pod.  gpu_milli below 1000 is a part of one GPU. Parts of several
 * GPUs, and a part of 0, are no jobs here. */
static bool read_row(struct importer *importer, struct import_row *row,
                     struct err *err)
{
    const size_t *at = importer->at;
    struct csv *csv = importer->csv;
    size_t spec = csv_find(csv, "gpu_spec");
    struct import_job *job = &row->job;
    int64_t milli, mib;

    *job = (struct import_job){.name = csv_field(csv, at[NAME])->text,
                               .deadline_ns = CLOCK_NEVER_NS, .pod = true};
    row->name_column = at[NAME];
    row->gpus_column = at[GPUS];
    row->submit_column = row->run_column = at[NAME];
    row->types_column = spec;
    if (!read_whole(csv, at[CPU], 1000000000, &job->core_milli, err) ||
        !read_whole(csv, at[MEMORY], INT64_C(1) << 30, &mib, err) ||
        !read_whole(csv, at[GPUS], 1000, &job->gpus, err) ||
        !read_whole(csv, at[MILLI], GPU_MILLI, &milli, err))
        return false;
    job->memory_bytes = mib << 20;
    if (job->gpus > 0 && milli < (int64_t)GPU_MILLI) {
        if (job->gpus > 1 || milli == 0)
            import_drop(row, IMPORT_FRACTION, at[MILLI]);
        job->gpu_milli = milli;
    }
    if (spec != ROW_NO_COLUMN)
        job->types = csv_field(csv, spec)->text;
    return read_times(importer, row, err);
}

const struct import_format import_openb = {
    .name = "openb",
    .cites = "weng2023fgd",
    .summary = "pods of Alibaba's GPU-sharing cluster 2023: parts of GPUs, "
               "cores, memory, types",
    .about = "# Alibaba openb 2023 (FGD, ATC 2023): a pod runs from "
             "scheduled_time to deletion_time.\n"
             "# It is a sample of tasks that never fills its cluster.  The "
             "quality of service is the\n"
             "# tenant.\n",
    .layout = CSV_COMMA, .columns = columns, .open = open_list,
    .row = read_row, .untimed = true,
};
