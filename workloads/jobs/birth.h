/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * birth.h - a new job of a mix or of a trace: what its owner submits, and its
 * ground truth.
 */
#ifndef WORKLOADS_JOBS_BIRTH_H
#define WORKLOADS_JOBS_BIRTH_H

#include <stdbool.h>
#include <stdint.h>

#include "models/jobs/job.h"
#include "models/types/truth.h"

/* A job that is submitted.  Policies see the request; only the host reads the
 * truth. */
struct job_birth {
    struct job_request request; /* what the owner says */
    struct job_truth truth;     /* how long it takes, and how it ends */
};

/* What policies know of the run times of a trace's jobs. */
enum workload_estimate {
    ESTIMATE_EXACT,             /* the run time itself */
    ESTIMATE_REQUESTED,         /* the limit that the owner requests */
    ESTIMATE_NOISY,             /* the run time with noise, added by the host */
    ESTIMATE_COUNT
};

/* What a trace file held; rows = jobs + all rows that were left out. */
struct source_counts {
    uint64_t rows, jobs;        /* of the file; those that trials get */
    uint64_t skipped_run_time;  /* run time <= 0, by `skip` */
    uint64_t assumed_run_time;  /* jobs whose run time below 0 was replaced, by
                                   `unknown_run_time` */
    uint64_t skipped_gpus;      /* no GPUs, by `skip` */
    uint64_t skipped_too_large; /* more GPUs than the cluster, by `skip` */
    uint64_t skipped_other;     /* by any other reason of `skip` */
    uint64_t outside_slice;     /* of the file, by `slice` */
    uint64_t not_taken;         /* by `where` */
    uint64_t no_value;          /* `where` has no value for them: x / 0 */
    uint64_t never_drawn;       /* jobs of a last block that `resample` does
                                   not draw */
    uint64_t blank_lines;       /* not counted as rows */
    uint64_t longer_rows;       /* of SWF; the extra fields are not read */
    uint64_t parts;             /* jobs that request parts of GPUs, or GPU
                                   types */
    uint64_t limits;            /* jobs with a limit */
    uint64_t deadlines;         /* jobs with a deadline */
};

/* What asking a source for the next job gave. */
enum source_step { SOURCE_JOB, SOURCE_END, SOURCE_ERROR };

/* A key of a mix's entry that decides how its jobs run, and its value. */
struct workload_note {
    const char *key, *value;
    bool said;                  /* the file has it; else the recipe's default */
};

#endif
