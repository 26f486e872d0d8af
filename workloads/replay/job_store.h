/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * job_store.h - the checked jobs of a trace, stored for trials.
 *
 * A trace is parsed once, when it is checked.  Every trial reads this store
 * instead of the text, at a tenth of the cost.  A short trace stays in memory.
 * A longer one goes to a temporary file without a name, which ends with the
 * arena; so memory does not grow with the trace.  If the file cannot be written
 * (a full disk, too many open files), the rest stays in memory.
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

/* memory_bytes: most bytes of rows that stay in memory. */
#define JOB_STORE_MEMORY_BYTES ((size_t)1 << 20)
/* Returns an empty store in the arena, which also owns its file. */
struct job_store *job_store_new(struct arena *arena, size_t memory_bytes);
/* Adds a row.  The name is copied.  tenant, kind, application, rates, modes and
 * regimes must live as long as the store; types are not stored. */
void job_store_put(struct job_store *job_store, const struct row *row);
uint64_t job_store_count(const struct job_store *job_store);
/* Returns the bytes of the rows in memory. */
size_t job_store_memory_bytes(const struct job_store *job_store);

/* Returns a reader at the first row.  Several threads may read at once, each
 * with a reader of its own; no row may be added after the first call. */
struct job_store_reader *job_store_read(const struct job_store *job_store,
                                        struct arena *arena);
enum job_store_step { JOB_STORE_ROW, JOB_STORE_END, JOB_STORE_ERROR };
/* Stores the next row in *row; it is valid until the next call.
 * JOB_STORE_ERROR: the disk failed, and errno says how. */
enum job_store_step job_store_next(struct job_store_reader *reader,
                                   const struct row **row);

#endif
