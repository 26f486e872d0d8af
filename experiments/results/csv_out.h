/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * csv_out.h - a table of a results folder, written at once.
 */
#ifndef EXPERIMENTS_RESULTS_CSV_OUT_H
#define EXPERIMENTS_RESULTS_CSV_OUT_H

#include <stdbool.h>

struct arena;
struct csv_kind;
struct err;
struct folder;
struct out;
struct table;

/* Opens the file of that kind in the folder, with its header line; the caller
 * closes it by csv_out_close().  NULL: err says why it cannot be written. */
struct out *csv_out_open(struct arena *arena, const struct folder *dir,
                         const struct csv_kind *kind, struct err *err);
/* Does the folder hold the file of that kind, with its header line? */
bool csv_out_is_there(const struct folder *dir, const struct csv_kind *kind);
/* Writes the rows, closes the file and frees the table in any case.  False: err
 * says why; the file is then not there. */
bool csv_out_close(struct out *out, struct table *table, struct err *err);

#endif
