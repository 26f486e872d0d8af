/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cache.h - trials in DIR/.trials: rows as they come, results at the end.
 *
 * A trial's file is named by the hash of what went into the trial (with the
 * program itself), is written beside and renamed, and ends with a checksum: a
 * file that is not whole is as good as absent.  Of a table that is long, the
 * rows go to a file beside it while the trial runs: memory does not grow with
 * what is written.  Both are read by the program that wrote them only.
 */
#ifndef EXPERIMENTS_RESULTS_CACHE_H
#define EXPERIMENTS_RESULTS_CACHE_H

#include <stdbool.h>
#include <stdint.h>

struct cache;
struct err;
struct folder;
struct out;
struct trial_result;
struct trial_tables;

enum cache_table {
    CACHE_JOBS, CACHE_PHASES, CACHE_TIMELINE, CACHE_DECISIONS, CACHE_SERVICES,
    CACHE_ARRIVED, CACHE_TENANTS,
    CACHE_TABLE_COUNT
};

/* A trial begins to fill these tables, which stay the caller's.  Should rows
 * not be writable, 1 is stored in *stop, if there is one. */
struct cache *cache_begin(const struct folder *dir, uint64_t hash,
                          const struct trial_tables *tables,
                          volatile int *stop);
/* It is done, and the tables are full: the trial is there, or err says why it
 * is not.  `result` NULL: it was not finished, and what was written of it is
 * removed; false only where rows could not be written.  Frees. */
bool cache_end(struct cache *cache, const struct trial_result *result,
               struct err *err);

/* False: there is none, or it is not whole.  Rows, without a header, go to
 * those of the files that are not NULL; `out` may be NULL. */
bool cache_read(const struct folder *dir, uint64_t hash,
                struct trial_result *result,
                struct out *const out[CACHE_TABLE_COUNT]);

/* Is it the name of a file that cache_begin or cache_end makes?  If so, of
 * which trial. */
bool cache_formed(const char *name, uint64_t *hash);

#endif
