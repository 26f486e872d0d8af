/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * claim.h - which of several processes runs a trial.  Private to experiments/probe.
 *
 * A process that runs a trial holds a lock on the file HASH.claim of .trials.  The
 * system releases the lock when the process ends, however it ends: so a killed process
 * keeps nothing from the others.
 */
#ifndef EXPERIMENTS_PROBE_CLAIM_H
#define EXPERIMENTS_PROBE_CLAIM_H

#include <stdbool.h>
#include <stdint.h>

struct folder;

#define CLAIM_NONE (-1)         /* the folder takes no file: nothing is shared */

/* Takes trial `hash` in the folder .trials, without waiting.  True: this process
 * runs it, and must pass *claim (a file handle, or CLAIM_NONE where nothing can be
 * shared) to claim_drop().  False: another process has it now, and *claim is
 * CLAIM_NONE. */
bool claim_take(const struct folder *dir, uint64_t hash, int *claim);
/* Removes the file, then releases the lock.  Not before the trial's result is
 * stored, or another process may run it again.  CLAIM_NONE: nothing is done. */
void claim_drop(const struct folder *dir, uint64_t hash, int claim);

#endif
