/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * store.h - finished trials in DIR/.trials: rows as they come, results at the end.
 *
 * Each thread that runs trials appends them to a log of its own.  A trial is known by the
 * hash of what went into it, the program included.  Logs of shards, of ranks and of runs
 * that were killed are more logs in the same folder: what is whole in any of them is
 * there.  Logs are read by the program that wrote them only.
 */
#ifndef EXPERIMENTS_TRIALS_STORE_H
#define EXPERIMENTS_TRIALS_STORE_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct folder;
struct out;
struct store;
struct store_trial;
struct trial_result;
struct trial_tables;

enum store_table {
    STORE_JOBS, STORE_PHASES, STORE_TIMELINE, STORE_DECISIONS, STORE_SERVICES,
    STORE_ARRIVED, STORE_TENANTS,
    STORE_TABLE_COUNT
};

/* Opens the store of a folder.  The folder stays the caller's, and must stay open as long.
 * Nothing is read yet. */
struct store *store_open(const struct folder *dir);
void store_close(struct store *store);          /* accepts NULL */
const struct folder *store_folder(const struct store *store);

/* Opens a log for each of `count` threads that has none yet.  One thread calls it, while
 * no other thread uses the store. */
bool store_threads(struct store *store, uint32_t count, struct err *err);
/* A trial begins to fill these tables, which stay the caller's.  `thread` counts from 0:
 * it has one trial at a time.  Should rows not be writable, 1 is stored in *stop, if there
 * is one. */
struct store_trial *store_begin(struct store *store, uint32_t thread, uint64_t hash,
                                const struct trial_tables *tables, volatile int *stop);
/* It is done, and the tables are full: the trial is there, or err says why it is not.
 * `result` NULL: it was not finished, and what was written of it is forgotten; false
 * only where rows could not be written. */
bool store_end(struct store_trial *trial, const struct trial_result *result,
               struct err *err);

/* Reads what others have appended since the last look.  As store_read(), it may be called
 * by several threads, and while trials run. */
void store_look(struct store *store);
/* As store_look(), and reads what this process appended, too.  No trial may run
 * meanwhile. */
void store_settle(struct store *store);
/* Reads a trial that was found so.  False: there is none, or it is not whole any more.
 * Rows, without a header, go to those of the files that are not NULL; `out` may be
 * NULL. */
bool store_read(struct store *store, uint64_t hash, struct trial_result *result,
                struct out *const out[STORE_TABLE_COUNT]);
/* Puts the logs of another folder beside these, as links where they can be. */
bool store_take(struct store *store, const struct folder *from, struct err *err);
/* Removes all logs that hold only trials with these hashes, which are sorted, and their
 * claims.  No trial runs meanwhile, in no process. */
void store_drop(struct store *store, const uint64_t *hash, uint32_t count);

#endif
