/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * archive.h - a run as one file that others run again.
 *
 *   archive.json         how it was run: version, hash of the program, file, options
 *   inputs/...           every input of provenance.json, as they lie beside each other
 *   results/...          the folder of results, charts included
 */
#ifndef EXPERIMENTS_PAPER_ARCHIVE_H
#define EXPERIMENTS_PAPER_ARCHIVE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct arena;
struct err;

#define ARCHIVE_FORMAT 1

/* Packs the results folder `dir` and what it was made from into the file `path`.  Run from
 * the folder in which the experiment was run, since provenance.json names its inputs from
 * there.  False: err says why, as where an input has changed since. */
bool archive_make(struct arena *arena, const char *dir, const char *path, struct err *err);

/* How a run that was copied is run again. */
struct archive_copy {
    const char *folder;         /* below that of the copy: where the program is started */
    const char *experiment;     /* the file, from there */
    const char *options;        /* that it was run with, each after a blank, for a shell */
};

/* Copies what the results folder `dir` was made from into the folder `to`, which is made, as
 * archive_make() packs it; nothing of the results.  *copy lies in the arena.  False: err says
 * why. */
bool archive_copy(struct arena *arena, const char *dir, const char *to,
                  struct archive_copy *copy, struct err *err);

/* What came of running an archive again. */
struct archive_told {
    uint32_t files, different;  /* tables and audit.json */
};

/* Unpacks the file into a folder of its own below $TMPDIR or /tmp, runs it with the program
 * of this process, compares every table and audit.json to the byte, tells `file` what
 * differs, and removes the folder, also where SIGINT, SIGTERM or SIGHUP ends it early.
 * False: err says why it could not. */
bool archive_reproduce(struct arena *arena, const char *path, FILE *file,
                       struct archive_told *told, struct err *err);

#endif
