/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * build.h - compiles the source of a policy, once.  Private to experiments/plugins.
 *
 * The compiler is $CC, else cc.  Libraries are kept in $XDG_CACHE_HOME/clustersim,
 * else ~/.cache/clustersim, under the hash of what they were made from: the source,
 * the headers that it includes, the compiler, its flags and this program's headers.
 */
#ifndef EXPERIMENTS_PLUGINS_BUILD_H
#define EXPERIMENTS_PLUGINS_BUILD_H

#include "sim/base/err.h"

struct arena;

/* Returns the path of the library, in the arena.  NULL: err has the compiler's
 * errors, at their places in the source, or says why nothing could be written. */
const char *build_library(struct arena *arena, const char *source, struct err_pos pos,
                          struct err *err);

#endif
