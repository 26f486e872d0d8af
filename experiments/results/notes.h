/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * notes.h - what a reader of the tables must know of their samples: seeds that
 * are copies, and policies that nothing set apart.
 */
#ifndef EXPERIMENTS_RESULTS_NOTES_H
#define EXPERIMENTS_RESULTS_NOTES_H

#include <stddef.h>

struct arena;
struct grid;

struct notes {
    const char **line;          /* whole sentences without a full stop */
    size_t count;
};

/* Returns the notes on a grid, in the arena; count 0: there is nothing to know. */
struct notes notes_of(struct arena *arena, const struct grid *grid);

#endif
