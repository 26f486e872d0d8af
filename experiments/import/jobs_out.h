/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * jobs_out.h - writes whole jobs as files that other programs read: CSV and
 * SWF.
 *
 * Times are written as exact decimal seconds: a reader gets them back to the
 * nanosecond.
 */
#ifndef EXPERIMENTS_IMPORT_JOBS_OUT_H
#define EXPERIMENTS_IMPORT_JOBS_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct import_job;
struct out;

struct jobs {
    const struct import_job *job;   /* [count], in the order of submission */
    size_t count;
};

/* The optional columns for which at least one job has a value. */
struct jobs_columns {
    bool limit, tenant, priority, deadline, pods, gpu_memory, types;
};
/* Returns them for these jobs, by one pass. */
struct jobs_columns jobs_columns(const struct jobs *jobs);

/* Writes a header and a row a job: job, submit_s, run_s, gpus, and the optional columns.
 * Errors of writing show when `out` is closed. */
void jobs_out_csv(struct out *out, const struct jobs *jobs);

/* What the Standard Workload Format cannot hold: numbers of jobs. */
struct jobs_lost {
    uint64_t fractions;         /* of seconds; written all the same */
    uint64_t deadlines, priorities;
    uint64_t names, tenants;    /* not whole numbers above 0: numbered */
    uint64_t parts;             /* of a GPU: written as one */
    uint64_t no_gpus;           /* cores alone: 0 processors */
    uint64_t demands;           /* cores, memory, types of GPU */
};
/* Writes the jobs in the Standard Workload Format, version 2.2, with a header that
 * names `from`.  Returns what was lost; scratch memory comes from the arena. */
struct jobs_lost jobs_out_swf(struct arena *arena, struct out *out,
                              const struct jobs *jobs, const char *from);

#endif
