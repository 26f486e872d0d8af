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

/* Opens the folder that the user named.  It is made, with those above it, if it is
 * not there; the name itself may be a link.  The folder lives in the arena, and
 * owns a handle that folder_close() returns.  NULL and an err: it cannot be made
 * or opened. */
struct folder *folder_make(struct arena *arena, const char *path,
                           struct err *err);
/* Opens a folder in `parent`, as folder_make() does, but refuses a link. */
struct folder *folder_within(struct arena *arena, const struct folder *parent,
                             const char *name, struct err *err);
void folder_close(struct folder *folder);       /* accepts NULL */

/* Return the handle, for openat() and its like, and the path as the user named it.
 * Both stay the folder's. */
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
/* Removes each file for whose name `formed` says that the program formed it. */
void folder_sweep(const struct folder *folder,
                  bool (*formed)(const void *self, const char *name),
                  const void *self);
/* Opens a regular file of it to read; the caller closes it.  NULL: there is none. */
FILE *folder_read(const struct folder *folder, const char *name);
/* Removes the name if it is there; false only when it stays. */
bool folder_remove(struct arena *arena, const struct folder *folder,
                   const char *name, struct err *err);
/* Removes a folder in it that is empty; else leaves it. */
void folder_drop(const struct folder *parent, const char *name);

/* Locks the folder against other programs that ask for it, until it is closed or
 * the program ends.  False and an err: another one has locked it.  A file system
 * that knows no locks gives true. */
bool folder_lock(struct folder *folder, struct err *err);
/* Locks the folder for reading: several programs may hold it so together, but none
 * while another one has locked it.  After it, folder_lock() succeeds once the others
 * have closed it; where it does not, the folder is not locked any more. */
bool folder_share(struct folder *folder, struct err *err);

#endif
