/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * results.h - the results folder: cleared, filled in trial order, file by
 * file, each whole or absent.
 */
#ifndef EXPERIMENTS_RESULTS_RESULTS_H
#define EXPERIMENTS_RESULTS_RESULTS_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct csv_kind;
struct err;
struct folder;
struct grid;
struct runner_trial;
struct experiment;
struct store;

/* Says how trials that failed by a fault of the program are run again. */
#define REPRO_FILE "repro.txt"

/* The folder, locked, and DIR/.trials, where finished trials wait to be put
 * together. */
struct results {
    struct folder *dir, *trials;
    struct store *store;        /* of `trials` */
};

/* Makes the folder and its .trials, and removes nothing.  Other processes may have
 * it open likewise, but no run.  False: err says why. */
bool results_open(struct arena *arena, const char *dir, struct results *results,
                  struct err *err);
/* May a table that a search makes be written there?  It may replace one of its
 * kind, and nothing else of that name.  False: err. */
bool results_may_write(struct arena *arena, const struct folder *dir,
                       const struct csv_kind *kind, struct err *err);
/* Makes the folder, locks it for this process alone, and removes the tables of an
 * earlier run; its finished trials stay.  False: err says why, such as another run
 * in the folder. */
bool results_begin(struct arena *arena, const struct experiment *experiment,
                   struct results *results, struct err *err);
/* Writes into .trials what the shard is that runs there: a text of the caller's. */
bool results_tell_shard(struct arena *arena, const struct results *results,
                        const char *text, struct err *err);
/* That text of the folder DIR, in the arena; NULL: it holds no shard. */
const char *results_shard(struct arena *arena, const char *dir);
/* Puts the logs of the folder DIR's .trials among those of `results`, as links where they
 * can be. */
bool results_take_logs(struct arena *arena, const struct results *results,
                       const char *dir, struct err *err);
/* Opens the folder and its .trials beside the run that has begun there, for another
 * process of it. */
bool results_join(struct arena *arena, const char *dir, struct results *results,
                  struct err *err);
/* Marks waiting trials that .trials already holds as done. */
void results_recall(const struct results *results,
                    const struct experiment *experiment, struct runner_trial *trial);
/* Writes all tables but checks.csv, from .trials and the results in memory, in the
 * order of trials, on `threads` threads. *grid becomes what summary.csv then says, so
 * that whatever is made of the values is the same now and when the folder is read
 * again.  False: err says why. */
bool results_write(struct arena *arena, const struct results *results,
                   const struct experiment *experiment, const struct runner_trial *trial,
                   uint32_t threads, const struct grid **grid, struct err *err);
/* Removes this experiment's trials, as nothing is left to resume, and .trials if
 * it holds no others: then true. */
bool results_end(struct arena *arena, const struct results *results,
                 const struct experiment *experiment);
/* Has no other process the folder open?  After results_open(), before results_drop()
 * and results_close(). */
bool results_alone(const struct results *results);
/* Removes the trials with these hashes, and .trials if it holds no others: then
 * true.  It sorts the hashes. */
bool results_drop(const struct results *results, uint64_t *hash, uint32_t count);
/* Closes the folder and releases its lock. */
void results_close(struct results *results);

#endif
