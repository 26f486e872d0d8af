/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * file_schema.h - the JSON Schema of each kind of file, for editors and for
 * other programs.
 *
 * Key tables say most of it; what they hand on unread (CONF_NODE) is said in
 * file_schema.c, and the names that a file may use come from the catalogue and
 * the registries.
 */
#ifndef EXPERIMENTS_CLI_FILE_SCHEMA_H
#define EXPERIMENTS_CLI_FILE_SCHEMA_H

#include <stddef.h>

struct arena;
struct catalogue;

/* Kinds of files, ends with NULL. */
extern const char *const file_schema_kinds[];

/* Of one kind, or NULL: of every kind, told apart by their keys. */
const char *file_schema(struct arena *arena, const struct catalogue *catalogue,
                        const char *kind);

#endif
