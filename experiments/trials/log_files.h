/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * log_files.h - the logs of a folder as files: their names, which are open, how new
 * ones are made, how those of another folder come here.  For store.c only.
 */
#ifndef EXPERIMENTS_TRIALS_LOG_FILES_H
#define EXPERIMENTS_TRIALS_LOG_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "experiments/trials/log.h"

struct folder;

/* A log of the folder, as it is read. */
struct log_file {
    char name[32];              /* in the folder */
    bool own;                   /* a thread of this process writes it */
    struct log_reader reader;   /* `seen`: so far it is in the index */
};

/* All zero but `dir`: none is known. */
struct log_files {
    const struct folder *dir;
    struct log_file *file;      /* [file_count] */
    uint32_t file_count, file_room, open_count;
};

/* Adds the logs that came into the folder since the last look.  A folder that
 * cannot be read adds none: its trials are then run again. */
void log_files_find(struct log_files *files);
/* Adds a log that this process writes, and returns its number. */
uint32_t log_files_add_own(struct log_files *files, const char *name);
/* Returns the reader of a log, which is open, or NULL. */
struct log_reader *log_files_reach(struct log_files *files, uint32_t index);
/* Makes a log under a name that no other has, and stores the name.  Returns its
 * handle; -1: errno says why. */
int log_files_make(const struct folder *dir, char name[32]);
/* Puts the logs of another folder into this one, as links where they can be.  False:
 * errno says why. */
bool log_files_take(const struct folder *dir, const struct folder *from);
/* Closes all readers and frees what is in *files. */
void log_files_close(struct log_files *files);

#endif
