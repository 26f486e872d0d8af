/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * log.h - accounting logs of batch systems, as rows of the same columns.
 *
 * Each system writes another log; a reader turns a record into one row, whose
 * fields are seconds, counts and names.  An empty field is not known.  Records
 * that are no jobs, such as steps of a job, make no row; they are noted.
 */
#ifndef WORKLOADS_LOGS_LOG_H
#define WORKLOADS_LOGS_LOG_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/text/csv.h"

struct arena;
struct err;

/* Times are seconds since 1970 (UTC where a log states no zone), limits and run
 * times seconds, memory MiB; GPUs, cores and memory are those of the job in
 * all. */
enum log_column {
    /* name; whose job it is; three instants */
    LOG_JOB, LOG_TENANT, LOG_SUBMIT, LOG_START, LOG_END,
    LOG_RUN,                    /* empty: from start to end */
    LOG_LIMIT, LOG_GPUS, LOG_CORES, LOG_MEMORY,
    LOG_TYPES,                  /* GPU types that it takes: "V100|T4" */
    LOG_NODES,
    LOG_PRIORITY,               /* whole, up to LOG_PRIORITY_MAX either way; larger goes
                                   first */
    LOG_STATE,                  /* LOG_GOOD, or what went wrong */
    LOG_COLUMNS
};
#define LOG_GOOD "COMPLETED"
#define LOG_PRIORITY_MAX 1000000

/* Each opens a log, plain, gzip or zstd.  False and an err: it cannot be read, or lacks
 * what a job needs. */

/* `sacct --parsable2` of Slurm; its header line says which columns there are. */
bool sacct_open(struct arena *arena, const char *path,
                struct csv_source *source, struct err *err);
/* Accounting log of PBS, OpenPBS and Torque: "date;E;id;key=value ...". */
bool pbs_open(struct arena *arena, const char *path,
              struct csv_source *source, struct err *err);
/* The file `accounting` of Grid Engine: fields between colons. */
bool sge_open(struct arena *arena, const char *path,
              struct csv_source *source, struct err *err);
/* Pods, jobs and workloads of Kubernetes, as YAML or JSON. */
bool kube_open(struct arena *arena, const char *path,
               struct csv_source *source, struct err *err);

#endif
