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

/* Begins a trial that fills these tables, which stay the caller's; cache_end()
 * must follow, by the same thread.  If rows cannot be written, 1 is stored in
 * *stop, if there is one, so that the trial may end early. */
struct cache *cache_begin(const struct folder *dir, uint64_t hash,
                          const struct trial_tables *tables,
                          volatile int *stop);
/* Ends the trial, and frees.  With a result, the tables are full: the trial's
 * files are there, or err says why they are not.  `result` NULL: it was not
 * finished, and what was written of it is removed; false only where rows could not
 * be written. */
bool cache_end(struct cache *cache, const struct trial_result *result,
               struct err *err);

/* Reads a trial: its result, and its rows, without a header, into those of the
 * files that are not NULL; `out` may be NULL.  False: there is no such trial, or
 * its file is not whole; the files may then hold some rows. */
bool cache_read(const struct folder *dir, uint64_t hash,
                struct trial_result *result,
                struct out *const out[CACHE_TABLE_COUNT]);

/* Is it the name of a file that cache_begin() or cache_end() makes?  If so, *hash
 * is that of the trial. */
bool cache_formed(const char *name, uint64_t *hash);

#endif
