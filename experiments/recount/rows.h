/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rows.h - figures of jobs, from their rows: counts, times, slowdown, what each job got.
 */
#ifndef EXPERIMENTS_RECOUNT_ROWS_H
#define EXPERIMENTS_RECOUNT_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "models/jobs/job.h"

struct arena;
struct host_job;
struct judge;
struct job_row;
struct rows;
struct trial_spec;

/* Returns an empty book of rows; `most` of them are kept. */
struct rows *rows_new(struct arena *arena, const struct trial_spec *spec, uint32_t most);
/* A job came, or ended with a status; replicas of services count as jobs in the system
 * alone.  Jobs are numbered in the order in which they came. */
void rows_submit(struct rows *rows, const struct job_request *request, int64_t now_ns);
void rows_end(struct rows *rows, const struct host_job *job, enum job_status status,
              int64_t now_ns);
/* A job was done that held `gpus` GPUs from its start to its end.  Only for a trial without
 * a warm-up and without services, in which every row counts. */
void rows_end_plain(struct rows *rows, const struct host_job *job, uint32_t gpus,
                    int64_t now_ns);
/* Returns GPUs x ns of all jobs of rows_end_plain(). */
__int128_t rows_gpu_ns(const struct rows *rows);
/* A job held thousandths of GPUs for some nanoseconds that count. */
void rows_held(struct rows *rows, uint32_t job, int64_t milli, int64_t ns);
/* What is kept of a job: times, what it held, and how it ended. */
struct job_row {
    int64_t submit_ns, start_ns, end_ns;    /* CLOCK_NEVER_NS: not yet, or not at all */
    double ideal_s, usd;
    __int128_t inside;          /* jobs x ns in the system, from its submission on */
    __int128_t held;            /* thousandths of GPUs x ns that count */
    int64_t asked_milli;
    uint32_t tenant;            /* of rows_tenant(); ID_NONE: none, or a replica */
    enum job_status status;     /* JOB_PENDING: it has not ended */
    bool replica, rented;       /* rented: it held a node that is rented */
};
/* A job has a lease on a node that is rented.  Returns whether it ever had; true, too, where
 * its row is not kept. */
void rows_rented(struct rows *rows, uint32_t job);
bool rows_had_rented(const struct rows *rows, uint32_t job);
/* Returns the rows and their number; NULL: there were more than are kept. */
const struct job_row *rows_all(const struct rows *rows, uint32_t *count);
/* Returns the name of a tenant, NULL behind the last; in the order in which they came. */
const char *rows_tenant(const struct rows *rows, uint32_t tenant);
/* Returns finish-time fairness of a row that was done; NAN: it has none. */
double rows_rho(const struct rows *rows, const struct job_row *row);

/* Returns the last end of a job that was done and counts; 0: none was. */
int64_t rows_last_ns(const struct rows *rows);
/* False: some job has no known length, or a length that a policy can change.  True: stores
 * the mean time that the jobs that were done take alone, and the GPU-seconds for which they
 * ask together. */
bool rows_rigid(const struct rows *rows, double *alone_s, double *asked_s);

/* Returns how many jobs are in the system. */
int64_t rows_inside(const struct rows *rows);
/* Compares all that rows say. */
void rows_judge(const struct rows *rows, struct judge *judge);

#endif
