/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * schemas.h - every key table of every file, in one list.
 *
 * The tables read the files, so what is printed from them (explain, JSON
 * Schema, manual) cannot say something else.
 */
#ifndef EXPERIMENTS_CLI_SCHEMAS_H
#define EXPERIMENTS_CLI_SCHEMAS_H

#include <stddef.h>

struct arena;
struct conf_schema;

/* Returns the tables, and stores their number; the array is in the arena, the
 * tables are static. */
const struct conf_schema *const *schemas_all(struct arena *arena,
                                             size_t *count);

#endif
