/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * self.h - the file of the program that runs.
 *
 * POSIX has no call for it: Linux has a link, macOS a function, elsewhere it is not
 * known.
 */
#ifndef EXPERIMENTS_PROCESS_SELF_H
#define EXPERIMENTS_PROCESS_SELF_H

#include <stdbool.h>
#include <stddef.h>

/* Returns a name by which the file can be opened, also where it was replaced since;
 * static.  NULL: it is not known. */
const char *self_open_name(void);
/* Writes its path.  False: it is not known, or has no room in `path`. */
bool self_path(char *path, size_t room);

#endif
