/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tables.h - rows of jobs.csv, timeline.csv, tenants.csv and services.csv, read again.
 *
 * Reals have nine digits there, so that sums over rows differ by 1e-8 at most.
 */
#ifndef EXPERIMENTS_RECOUNT_TABLES_H
#define EXPERIMENTS_RECOUNT_TABLES_H

#include <stddef.h>
#include <stdint.h>

#include "models/jobs/job.h"

struct host_job;
struct judge;
struct recount_books;
struct recount_parts;
struct table;

#define TABLES_JOBS 8u          /* rows of jobs.csv that the quick form reads */

/* The row of a job that has ended was written last; `since` is how many bytes the table
 * had before, and becomes how many it has. */
void tables_job(const struct table *table, size_t *since, const struct host_job *job,
                enum job_status status, struct judge *judge);
/* All other tables, of a run that ended at end_ns. */
void tables_judge(const struct recount_books *books, const struct recount_parts *parts,
                  int64_t end_ns, struct judge *judge);

/* The parts of tables_judge(), each in the file of its table. */

/* Compares the rows of one pool in timeline.csv with the books, up to the end of the run in
 * seconds. */
void tables_judge_pool(const struct recount_books *books, const struct recount_parts *parts,
                       uint32_t pool, double end_s, struct judge *judge);
/* Compares tenants.csv with the rows of jobs, where all of them were kept. */
void tables_judge_tenants(const struct recount_books *books,
                          const struct recount_parts *parts, int64_t end_ns,
                          struct judge *judge);
/* Compares services.csv, and the metrics of services, with what their replicas were
 * charged. */
void tables_judge_services(const struct recount_books *books,
                           const struct recount_parts *parts, struct judge *judge);

#endif
