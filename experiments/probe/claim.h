/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * claim.h - which of several processes runs a trial.  Private to experiments/probe.
 *
 * A process that runs a trial holds a lock on the file HASH.claim of .trials.  The
 * system lets go of it when the process ends, however it ends: so a killed process
 * keeps nothing from the others.
 */
#ifndef EXPERIMENTS_PROBE_CLAIM_H
#define EXPERIMENTS_PROBE_CLAIM_H

#include <stdbool.h>
#include <stdint.h>

struct folder;

#define CLAIM_NONE (-1)         /* the folder takes no file: nothing is shared */

/* Takes the trial; *claim is for claim_drop().  False: another process has it now. */
bool claim_take(const struct folder *dir, uint64_t hash, int *claim);
/* Lets go of it and removes the file. */
void claim_drop(const struct folder *dir, uint64_t hash, int claim);

#endif
