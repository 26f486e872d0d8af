/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cache.h - finished trials in DIR/.trials, one file each.
 *
 * A file is named by the hash of what went into its trial (with the program
 * itself), is written beside and renamed, and ends with a checksum: a file
 * that is not whole is as good as absent.  It is read by the program that
 * wrote it only.
 */
#ifndef EXPERIMENTS_CACHE_H
#define EXPERIMENTS_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct err;
struct trial_result;
struct trial_tables;

enum cache_table {
    CACHE_JOBS, CACHE_PHASES, CACHE_TIMELINE, CACHE_DECISIONS, CACHE_SERVICES,
    CACHE_ARRIVED,
    CACHE_TABLE_COUNT
};

struct cache_rows {             /* rows without header, ready for a file */
    const char *bytes;
    size_t count;
};

bool cache_write(const char *dir, uint64_t hash,
                 const struct trial_result *result,
                 const struct trial_tables *tables, struct err *err);
/* False: there is none, or it is not whole.  Rows live in the arena; `rows`
 * may be NULL. */
bool cache_read(struct arena *arena, const char *dir, uint64_t hash,
                struct trial_result *result,
                struct cache_rows rows[CACHE_TABLE_COUNT]);

#endif
