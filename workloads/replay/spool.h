/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * spool.h - the jobs of a trace as they were checked, for trials to read.
 *
 * A trace is parsed once, when it is checked; every trial of the study reads
 * this instead of the text, at a tenth of the cost.  Short ones stay in memory,
 * the others go to a temporary file that has no name and ends with the arena:
 * memory does not grow with the trace.  Where no such file can be written (a
 * full disk, too many open files), memory takes what it does not.
 */
#ifndef WORKLOADS_REPLAY_SPOOL_H
#define WORKLOADS_REPLAY_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "workloads/formats/trace_row.h"

struct arena;
struct spool;
struct spool_reader;

/* `memory_bytes`: how much stays in memory. */
#define SPOOL_MEMORY_BYTES ((size_t)1 << 20)
struct spool *spool_new(struct arena *arena, size_t memory_bytes);
/* The name is copied; tenant, kind, application, rates, modes and regimes must
 * live as long as the spool; types are not kept. */
void spool_put(struct spool *spool, const struct row *row);
uint64_t spool_count(const struct spool *spool);
/* Of rows that stand in memory; of the others none. */
size_t spool_memory_bytes(const struct spool *spool);

/* Several readers may read at once, each in a thread of its own; nothing is
 * put any more. */
struct spool_reader *spool_read(const struct spool *spool,
                                struct arena *arena);
enum spool_step { SPOOL_ROW, SPOOL_END, SPOOL_ERROR };
/* The next row, good until the next call.  An error is one of the disk: errno
 * says which. */
enum spool_step spool_next(struct spool_reader *reader,
                           const struct row **row);

#endif
