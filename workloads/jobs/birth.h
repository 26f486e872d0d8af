/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * birth.h - a job as it comes, whatever it comes from: a mix or a trace.
 */
#ifndef WORKLOADS_JOBS_BIRTH_H
#define WORKLOADS_JOBS_BIRTH_H

#include <stdbool.h>
#include <stdint.h>

#include "models/jobs/job.h"
#include "models/types/truth.h"

struct job_birth {
    struct job_request request;
    struct job_truth truth;
};

/* How well a policy may know the run times of trace jobs. */
enum workload_estimate {
    ESTIMATE_EXACT,             /* the run time itself */
    ESTIMATE_REQUESTED,         /* the owner's limit */
    ESTIMATE_NOISY,             /* the run time, blurred by the host */
    ESTIMATE_COUNT
};

/* What a trace file held; rows = jobs + all that was left out. */
struct source_counts {
    uint64_t rows, jobs;
    uint64_t skipped_run_time;  /* run time <= 0, by `skip` */
    uint64_t assumed_run_time;  /* below 0, by `unknown_run_time`: jobs */
    uint64_t skipped_gpus;      /* no GPUs, by `skip` */
    uint64_t skipped_too_large; /* more GPUs than the cluster, by `skip` */
    uint64_t skipped_other;     /* by any other reason of `skip` */
    uint64_t outside_slice;
    uint64_t never_drawn;       /* of a last block, by `resample`: jobs */
    uint64_t blank_lines;       /* not among the rows */
    uint64_t longer_rows;       /* of SWF, whose other fields are not read */
    uint64_t parts;             /* jobs that want parts of GPUs, or certain
                                   types */
    uint64_t limits;            /* jobs that say how long they may run */
};

enum source_step { SOURCE_JOB, SOURCE_END, SOURCE_ERROR };

/* A key of a mix's entry that decides how its jobs run, as it holds. */
struct workload_note {
    const char *key, *value;
    bool said;                  /* by the file; else the recipe's default */
};

#endif
