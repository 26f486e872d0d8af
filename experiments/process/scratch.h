/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scratch.h - a folder that goes with the run.
 */
#ifndef EXPERIMENTS_PROCESS_SCRATCH_H
#define EXPERIMENTS_PROCESS_SCRATCH_H

struct arena;
struct err;

/* Makes an empty folder below $TMPDIR, or below /tmp where that is not a whole path.
 * Returns its path, in the arena; NULL: err says why. */
const char *scratch_make(struct arena *arena, struct err *err);
/* Removes a folder and all in it; no link is followed.  What cannot be removed stays. */
void scratch_remove(const char *dir);

#endif
