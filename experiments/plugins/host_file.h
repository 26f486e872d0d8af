/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * host_file.h - the file that this code is in: the program, or a library that a program
 * has loaded.
 */
#ifndef EXPERIMENTS_PLUGINS_HOST_FILE_H
#define EXPERIMENTS_PLUGINS_HOST_FILE_H

struct arena;

/* Returns its path, in the arena. */
const char *host_file_path(struct arena *arena);
/* Returns the path by which other processes find the file, links followed, in the arena;
 * "": it is not known. */
const char *host_file_target(struct arena *arena);
/* Lets libraries of policies find the cs_ functions of this file: one that was loaded
 * for its caller alone, as an interpreter loads its modules, hides them. */
void host_file_share(void);

#endif
