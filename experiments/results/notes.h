/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * notes.h - what a reader of the tables must know of their samples: seeds that
 * are copies, policies that nothing set apart, and limits that cut.
 */
#ifndef EXPERIMENTS_RESULTS_NOTES_H
#define EXPERIMENTS_RESULTS_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct grid;

struct notes {
    const char **line;          /* whole sentences without a full stop */
    size_t count;
};

/* Returns the notes on a grid, in the arena; count 0: there is nothing to know. */
struct notes notes_of(struct arena *arena, const struct grid *grid);
/* Writes one sentence, without a full stop, where a limit of the policy (depth_max
 * and the like, which bound what a decision looks at) left something out; false: no
 * trial of that policy met a limit.  `limits`: what the entry says of them,
 * "depth_max: 60", or NULL. */
bool notes_limits(const struct grid *grid, uint32_t policy, const char *limits,
                  char *out, uint32_t out_bytes);

#endif
