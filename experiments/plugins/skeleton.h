/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * skeleton.h - the source of a policy to begin with.
 */
#ifndef EXPERIMENTS_PLUGINS_SKELETON_H
#define EXPERIMENTS_PLUGINS_SKELETON_H

struct arena;

/* Returns a whole policy in C, in the arena: it compiles, runs and starts the task
 * that asks for the most GPUs first.  `name` matches [a-z][a-z0-9-]*. */
const char *skeleton_text(struct arena *arena, const char *name);

#endif
