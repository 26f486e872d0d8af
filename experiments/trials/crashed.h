/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * crashed.h - the file `crashed` in .trials: trials that took their process with them.
 *
 * A line is the hash of a trial in 16 hexadecimal digits, as a process that crashed noted
 * it.  If a tab, the kind of error, and its two texts follow, the trial failed in a process
 * of its own, and is passed over from then on: the same program would crash again.
 */
#ifndef EXPERIMENTS_TRIALS_CRASHED_H
#define EXPERIMENTS_TRIALS_CRASHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct err;
struct folder;

#define CRASHED_FILE "crashed"

struct crashed_trial {
    uint64_t hash;              /* experiment_trial_hash() */
    const struct err *err;      /* why it failed; NULL: it is not known yet */
};

/* Sorted by hash, each once. */
struct crashed {
    const struct crashed_trial *trial;  /* [count] */
    size_t count;
};

/* Reads the file of that folder, in the arena; no file, or lines that are not whole, are
 * none. */
struct crashed crashed_read(struct arena *arena, const struct folder *trials);
/* Returns the trial with that hash, or NULL. */
const struct crashed_trial *crashed_find(const struct crashed *crashed, uint64_t hash);
/* Adds that the trial failed so.  False: err says why it could not be written. */
bool crashed_add(struct arena *arena, const struct folder *trials, uint64_t hash,
                 const struct err *why, struct err *err);

#endif
