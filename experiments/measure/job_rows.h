/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * job_rows.h - a row of jobs.csv for each job that ends, and of phases.csv for
 * each phase.
 */
#ifndef EXPERIMENTS_MEASURE_JOB_ROWS_H
#define EXPERIMENTS_MEASURE_JOB_ROWS_H

#include <stdint.h>

#include "models/jobs/job.h"
#include "sim/expr/expr.h"

struct host_job;
struct host_phase_run;
struct job_rows;
struct metrics_parts;
struct placement;

/* Returns the writer, in the arena of the parts. */
struct job_rows *job_rows_new(const struct metrics_parts *parts);
/* Appends the row of a job that has ended; nothing happens where that table is not
 * wanted. */
void job_rows_job(struct job_rows *rows, const struct host_job *job,
                  enum job_status status);
/* A job as a row that expressions read: columns are those of enum job_cell. */
struct job_view {
    const struct host_job *job;
    enum job_status status;     /* as the row shows it */
    char number[24];            /* what a job without a name is called */
};
/* Fills the view, which points to the job. */
void job_rows_view(struct job_view *view, const struct host_job *job,
                   enum job_status status);
/* Returns what stands in the cell of jobs.csv; `self` is a struct job_view,
 * `column` an enum job_cell. */
struct expr_cell job_rows_cell(const void *self, uint32_t column);
/* Appends the row of a phase that ended at end_ns, if that table is wanted.  It held
 * gpu_milli thousandths of GPUs there; busy_fraction: their busy share. */
void job_rows_phase(struct job_rows *rows, const struct host_job *job,
                    const struct host_phase_run *run, const struct placement *at,
                    uint64_t gpu_milli, int64_t end_ns, double busy_fraction);

#endif
