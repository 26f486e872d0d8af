/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pai.c - task table of Alibaba PAI 2020 (Weng et al., NSDI 2022),
 * cluster-trace-gpu-v2020.
 *
 * A row is a task: inst_num instances, each of plan_gpu percent of a GPU.  Most
 * jobs have one task; tasks of one job become jobs of their own, named JOB/TASK.
 * start_time is when a task was launched: the wait before it is in another table.
 * One instance may share its GPU; several that do would be several jobs, and are
 * none here, nor are tasks without a GPU.  gpu_type is the type that it wants.
 */
#include <string.h>

#include "sim/text/csv.h"
#include "workloads/formats/row.h"
#include "workloads/formats/trace_row.h"

enum { JOB, TASK, INSTANCES, STATUS, START, END, GPU = 8, TYPE };
enum { WHOLE_GPU_PERCENT = 100 };

/* Is it a status that the table knows?  The file may have no header, so this is
 * what tells that its columns are in order. */
static bool is_status(const char *text)
{
    static const char *const known[] = {
        "Terminated", "Failed", "Running", "Waiting"};

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(text, known[i]) == 0)
            return true;
    return false;
}

/* Reads a task.  plan_gpu is percent of a GPU for each instance.  One instance
 * with a part of a GPU becomes a pod; several instances with parts are no job. */
static bool read_row(struct importer *importer, struct import_row *row,
                     struct err *err)
{
    static const struct timed_columns at = {
        .job = JOB, .submit = START, .start = START, .end = END,
        .gpus = INSTANCES, .tenant = ROW_NO_COLUMN};
    const struct csv *csv = importer->csv;
    struct csv_field job = *csv_field(csv, JOB), task = *csv_field(csv, TASK);
    double instances, percent;

    if (!is_status(csv_field(csv, STATUS)->text))
        return row_fault(csv, STATUS, ERR_RANGE,
                         "Terminated, Failed, Running or Waiting", err);
    if (!import_amount(csv, INSTANCES, &instances, err) ||
        !import_amount(csv, GPU, &percent, err) ||
        !import_timed(importer, &at, row, err))
        return false;
    if (instances != (double)(int64_t)instances)
        return row_fault(csv, INSTANCES, ERR_RANGE, "a whole number", err);
    if (instances == 1.0 && percent > 0.0 && percent < WHOLE_GPU_PERCENT &&
        percent * 10.0 == (double)(int64_t)(percent * 10.0)) {
        row->job.gpus = 1;
        row->job.gpu_milli = (int64_t)(percent * 10.0);
        row->job.pod = true;
    } else {
        import_gpus(row, percent / WHOLE_GPU_PERCENT, GPU);
        row->job.gpus *= (int64_t)instances;
    }
    row->job.types = csv_field(csv, TYPE)->text;
    row->types_column = TYPE;
    row->remark[REMARK_NO_SUCCESS] =
        strcmp(csv_field(csv, STATUS)->text, "Terminated") != 0;
    if (job.bytes + task.bytes + 2 > IMPORT_NAME_BYTES)
        return row_fault(csv, JOB, ERR_RANGE, "a shorter name", err);
    memcpy(row->name, job.text, job.bytes);
    row->name[job.bytes] = '/';
    memcpy(row->name + job.bytes + 1, task.text, task.bytes + 1);
    row->job.name = row->name;
    return true;
}

const struct import_format import_pai = {
    .name = "pai",
    .cites = "weng2022mlaas",
    .summary = "Alibaba PAI 2020, pai_task_table.csv, with its header or "
               "without",
    .about = "# Alibaba PAI 2020 (MLaaS in the Wild, NSDI 2022), task table: "
             "each task is a job.  Times\n"
             "# are those of the launch; the wait before is not in this "
             "table.  Where the cluster\n"
             "# has other types of GPU: constraints: ignore.\n",
    .layout = CSV_PAI, .row = read_row,
};
