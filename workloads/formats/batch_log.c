/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * batch_log.c - logs of batch systems: Slurm's sacct, PBS, Grid Engine, and
 * objects of Kubernetes.  workloads/logs makes rows of the same columns of all
 * of them; here a row becomes a job, in one way for all.
 *
 * A job that ran on one node asks for its cores and memory there (a pod); of jobs of
 * several nodes only GPUs count, since how the rest is divided is not known.  So
 * a job without GPUs is one if it lies on one node.
 */
#include <string.h>

#include "sim/base/clock.h"
#include "sim/text/csv.h"
#include "workloads/formats/row.h"
#include "workloads/formats/trace_row.h"
#include "workloads/logs/log.h"

/* Did the log leave this value out?  An empty field is not a zero. */
static bool is_empty(const struct csv *csv, enum log_column column)
{
    return csv_field(csv, column)->bytes == 0;
}

/* Reads cores and memory.  They count for a job on one node, which becomes a
 * pod.  Cores stand in the field of seconds, as they have thousandths. */
static bool read_pod(const struct csv *csv, struct import_job *job,
                     struct err *err)
{
    int64_t nodes = 0, cores_ns = 0, mib = 0;

    if ((!is_empty(csv, LOG_NODES) &&
         !row_whole(csv, LOG_NODES, &nodes, err)) ||
        (!is_empty(csv, LOG_CORES) &&
         !row_seconds(csv, LOG_CORES, &cores_ns, err)) ||
        (!is_empty(csv, LOG_MEMORY) &&
         !row_whole(csv, LOG_MEMORY, &mib, err)))
        return false;
    if (nodes != 1 || cores_ns <= 0)
        return true;
    job->pod = true;
    job->core_milli = cores_ns / 1000000;
    job->memory_bytes = mib << 20;
    return true;
}

/* Reads what logs may lack: run time, limit, priority, GPU types, cores and
 * memory.  A value that is missing leaves 0, or what the row has already.  A
 * value that is wrong is an error. */
static bool read_more(struct importer *importer, struct import_row *row,
                      struct err *err)
{
    const struct csv *csv = importer->csv;
    struct import_job *job = &row->job;
    int64_t priority = 0;

    if ((!is_empty(csv, LOG_RUN) &&
         !row_seconds(csv, LOG_RUN, &job->run_ns, err)) ||
        (!is_empty(csv, LOG_LIMIT) &&
         !row_seconds(csv, LOG_LIMIT, &job->limit_ns, err)) ||
        (!is_empty(csv, LOG_PRIORITY) &&
         !row_whole(csv, LOG_PRIORITY, &priority, err)))
        return false;
    _Static_assert(LOG_PRIORITY_MAX <= ROW_PRIORITY_MAX, "rows hold what logs have");
    job->priority = (int32_t)priority;
    job->types = csv_field(csv, LOG_TYPES)->text;
    row->types_column = LOG_TYPES;
    row->remark[REMARK_NO_LIMIT] = job->limit_ns == 0;
    row->remark[REMARK_NO_SUCCESS] =
        strcmp(csv_field(csv, LOG_STATE)->text, LOG_GOOD) != 0;
    return read_pod(csv, job, err);
}

/* Judges a job on cores alone anew.  import_timed() has dropped it for having
 * no GPU; what else it would have found is asked here. */
static void judge_cores(const struct csv *csv, struct import_row *row)
{
    row->drop = false;
    if (is_empty(csv, LOG_SUBMIT))
        import_drop(row, IMPORT_NO_SUBMIT, LOG_SUBMIT);
    if (is_empty(csv, LOG_START))
        import_drop(row, IMPORT_NEVER_RAN, LOG_START);
    if (is_empty(csv, LOG_END))
        import_drop(row, IMPORT_STILL_RUNNING, LOG_END);
}

/* Reads a job.  A pod without GPUs is dropped as a job of GPUs, but may be one
 * of cores. */
static bool read_row(struct importer *importer, struct import_row *row,
                     struct err *err)
{
    static const struct timed_columns at = {
        .job = LOG_JOB, .submit = LOG_SUBMIT, .start = LOG_START,
        .end = LOG_END, .gpus = LOG_GPUS, .tenant = LOG_TENANT};

    if (!import_timed(importer, &at, row, err) ||
        !read_more(importer, row, err))
        return false;
    if (row->drop && row->reason == IMPORT_GPUS && row->job.pod &&
        row->job.gpus == 0)
        judge_cores(importer->csv, row);
    return true;
}

#define ONE_NODE "# A job that ran on one node is placed on one, with its cores and " \
                 "memory.\n"

const struct import_format import_sacct = {
    .name = "sacct",
    .summary = "Slurm's accounting: sacct --parsable2, with whichever columns",
    .about = "# Slurm's sacct: the account is the tenant, Timelimit the limit.\n"
             ONE_NODE,
    .source = sacct_open, .row = read_row,
};

const struct import_format import_pbs = {
    .name = "pbs",
    .summary = "accounting logs of PBS, OpenPBS and Torque: "
               "date;E;id;key=value ...",
    .about = "# A log of PBS: records E, of jobs that ended.  The project, "
             "account or group is the\n"
             "# tenant, Resource_List.walltime the limit.\n" ONE_NODE,
    .source = pbs_open, .row = read_row,
};

const struct import_format import_sge = {
    .name = "sge",
    .summary = "the file accounting of Sun, Univa and Open Grid Engine",
    .about = "# The file accounting of Grid Engine: the project or group is "
             "the tenant, h_rt the limit.\n" ONE_NODE,
    .source = sge_open, .row = read_row,
};

const struct import_format import_kube = {
    .name = "kube",
    .summary = "Kubernetes: pods, jobs, workloads of Kueue, jobs of Volcano, as "
               "kubectl get -o yaml or json prints them",
    .about = "# Objects of Kubernetes: pods of one owner are a job, its queue "
             "or namespace is the tenant.\n" ONE_NODE,
    .source = kube_open, .row = read_row,
};
