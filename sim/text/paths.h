/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * paths.h - names of files: relative to the file that names them; folders
 * made; text put together in an arena.
 */
#ifndef SIM_TEXT_PATHS_H
#define SIM_TEXT_PATHS_H

#include <stdarg.h>
#include <stdbool.h>

#include "sim/base/err.h"

struct arena;

/* Return a text formatted as by printf, in the arena, of any length. */
char *text_format(struct arena *arena, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
char *text_vformat(struct arena *arena, const char *fmt, va_list list)
    __attribute__((format(printf, 2, 0)));

/* Returns `name` as seen from the folder of `file`, which may be NULL; a name from the
 * root stays as it is.  New texts are in the arena, here and below. */
const char *path_beside(struct arena *arena, const char *file,
                        const char *name);
/* Returns "dir/name", with one slash between. */
const char *path_join(struct arena *arena, const char *dir, const char *name);
/* Returns the name without folders and without its last ".ext"; ".bashrc" stays. */
const char *path_stem(struct arena *arena, const char *path);

/* Is there such a folder, or such a regular file?  Links are followed. */
bool path_is_folder(const char *path);
bool path_is_file(const char *path);
/* False, with err at `pos`, if the file that the key names is not there or is a folder.  What
 * else may be wrong with it is told by what reads it. */
bool path_check_named(const char *path, const char *key, struct err_pos pos,
                      struct err *err);
/* Do both names mean one file?  False if either cannot be looked at. */
bool path_same(const char *a, const char *b);
/* Makes the folder and those above it.  True also if it is there; false and an
 * err that names it. */
bool path_make_folder(const char *path, struct err *err);
/* Makes folders as path_make_folder() does.  Nobody but their owner may read or write those
 * that it makes (mode 0700). */
bool path_make_own_folder(const char *path, struct err *err);

#endif
