/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * provenance.h - provenance.json: what the results were made from.
 *
 * No date, no host, no user: the same command on the same files by the same
 * program writes the same bytes.
 */
#ifndef EXPERIMENTS_RESULTS_PROVENANCE_H
#define EXPERIMENTS_RESULTS_PROVENANCE_H

#include <stdbool.h>

struct arena;
struct err;
struct folder;
struct experiment;
struct grid;

/* The words of the command line, as they were given; count 0: not known. */
struct provenance_command {
    int count;
    char *const *word;          /* [count]; the first is the program */
};

/* Writes provenance.json into the folder: the program, the command, the inputs with their
 * hashes, semantics, defaults, and the fingerprints of the grid's jobs.  The last of the
 * tables' files: where it stands, they are complete.  False: err says why. */
bool provenance_write(struct arena *arena, const struct folder *dir,
                      const struct experiment *experiment, const struct grid *grid,
                      const struct provenance_command *command,
                      struct err *err);
/* Returns the compiler's name and version, static. */
const char *provenance_compiler(void);

#endif
