/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * file_schema.h - the JSON Schema of each kind of file, for editors and for
 * other programs.
 *
 * JSON Schema, draft 07.  Key tables say most of it; what they hand on unread
 * (CONF_NODE) is said in key_shapes.c, and the names that a file may use come from
 * the catalogue and the registries.  The schema accepts every file that the reader
 * accepts; it cannot refuse all that the reader refuses (sums, references).
 */
#ifndef EXPERIMENTS_CLI_FILE_SCHEMA_H
#define EXPERIMENTS_CLI_FILE_SCHEMA_H

#include <stddef.h>

struct arena;
struct catalogue;

/* Kinds of files, ends with NULL. */
extern const char *const file_schema_kinds[];

/* Returns the schema of one kind of file, as JSON in the arena; kind NULL: of
 * every kind, told apart by their keys.  An unknown kind counts as NULL.
 * `catalogue`: whose GPUs, models ... a file may name. */
const char *file_schema(struct arena *arena, const struct catalogue *catalogue,
                        const char *kind);

#endif
