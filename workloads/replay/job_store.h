/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * job_store.h - the jobs of a trace as they were checked, for trials to read.
 *
 * A trace is parsed once, when it is checked; every trial of the experiment reads
 * this instead of the text, at a tenth of the cost.  Short ones stay in memory,
 * the others go to a temporary file that has no name and ends with the arena:
 * memory does not grow with the trace.  Where no such file can be written (a
 * full disk, too many open files), memory takes what it does not.
 */
#ifndef WORKLOADS_REPLAY_JOB_STORE_H
#define WORKLOADS_REPLAY_JOB_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "workloads/formats/trace_row.h"

struct arena;
struct job_store;
struct job_store_reader;

/* `memory_bytes`: how much stays in memory. */
#define JOB_STORE_MEMORY_BYTES ((size_t)1 << 20)
struct job_store *job_store_new(struct arena *arena, size_t memory_bytes);
/* The name is copied; tenant, kind, application, rates, modes and regimes must
 * live as long as the job_store; types are not kept. */
void job_store_put(struct job_store *job_store, const struct row *row);
uint64_t job_store_count(const struct job_store *job_store);
/* Of rows that stand in memory; of the others none. */
size_t job_store_memory_bytes(const struct job_store *job_store);

/* Several readers may read at once, each in a thread of its own; nothing is
 * put any more. */
struct job_store_reader *job_store_read(const struct job_store *job_store,
                                        struct arena *arena);
enum job_store_step { JOB_STORE_ROW, JOB_STORE_END, JOB_STORE_ERROR };
/* The next row, good until the next call.  An error is one of the disk: errno
 * says which. */
enum job_store_step job_store_next(struct job_store_reader *reader,
                                   const struct row **row);

#endif
