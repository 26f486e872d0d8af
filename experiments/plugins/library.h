/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * library.h - what a shared library holds and asks for, read from its file before
 * any of its code runs.  Private to experiments/plugins.
 */
#ifndef EXPERIMENTS_PLUGINS_LIBRARY_H
#define EXPERIMENTS_PLUGINS_LIBRARY_H

#include <stdbool.h>

#include "sim/base/err.h"

struct arena;

/* Checks that the file is a library for this processor, that it needs no other
 * library but C's, that it calls nothing but what policies may call, and that it
 * has one table.  `called` is what errors call it.  Returns the table's symbol, in
 * the arena; NULL: err says what is wrong. */
const char *library_check(struct arena *arena, const char *path, const char *called,
                          struct err_pos pos, struct err *err);

#endif
