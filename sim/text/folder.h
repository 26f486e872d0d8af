/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * folder.h - a folder that the program writes into, held by one handle.
 *
 * Its name is looked up once.  From then on every file is reached through the
 * handle, by a name without folders that the program formed, and no symbolic
 * link is followed: what lies elsewhere is never written, truncated or
 * removed.  Errors name the whole path.
 */
#ifndef SIM_TEXT_FOLDER_H
#define SIM_TEXT_FOLDER_H

#include <stdbool.h>
#include <stdio.h>

#include "sim/base/err.h"

struct arena;
struct folder;

/* The folder that the user named, made with those above it if it is not there;
 * the name itself may be a link.  NULL and an err. */
struct folder *folder_make(struct arena *arena, const char *path,
                           struct err *err);
/* A folder in it, made if it is not there: a link is refused. */
struct folder *folder_within(struct arena *arena, const struct folder *parent,
                             const char *name, struct err *err);
void folder_close(struct folder *folder);       /* accepts NULL */

int folder_handle(const struct folder *folder);
const char *folder_path(const struct folder *folder);
/* The path of a file in it, for messages and readers. */
const char *folder_join(struct arena *arena, const struct folder *folder,
                        const char *name);

/* Is there anything of that name, a link included?  Is it a regular file? */
bool folder_holds(const struct folder *folder, const char *name);
bool folder_holds_file(const struct folder *folder, const char *name);
/* Nothing in it, but maybe a file of the name `but`, which may be NULL, and parts of
 * it: what out_in() writes before it has that name. */
bool folder_is_empty(const struct folder *folder, const char *but);
/* Removes parts of the file that processes left which were killed.  Nobody may write
 * it meanwhile. */
void folder_clear_parts(const struct folder *folder, const char *name);
/* Removes all files that `formed` says the program formed the names of. */
void folder_sweep(const struct folder *folder,
                  bool (*formed)(const void *self, const char *name),
                  const void *self);
/* A regular file of it, to be read; NULL: there is none. */
FILE *folder_read(const struct folder *folder, const char *name);
/* Removes the name if it is there; false only when it stays. */
bool folder_remove(struct arena *arena, const struct folder *folder,
                   const char *name, struct err *err);
/* Removes a folder in it that is empty; else leaves it. */
void folder_drop(const struct folder *parent, const char *name);

/* No other program that tasks may have it until it is closed: the system lets
 * go of it even if the program is killed.  False: another one has it. */
bool folder_lock(struct folder *folder, struct err *err);
/* The same for programs that may have it together, but not with one that locked it.
 * After it, folder_lock() succeeds once the others have closed it; where it does not,
 * the folder is not locked any more. */
bool folder_share(struct folder *folder, struct err *err);

#endif
