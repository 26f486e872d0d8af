/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * key_tables.h - which table of keys lies below a key, and where a key belongs that
 * stands in the wrong map.
 */
#ifndef EXPERIMENTS_SCHEMA_KEY_TABLES_H
#define EXPERIMENTS_SCHEMA_KEY_TABLES_H

#include <stddef.h>

struct arena;
struct conf_schema;
struct err;

/* Returns the table of the maps that a key of a table holds; NULL: it holds none.  `all` are
 * the tables of schemas_all(). */
const struct conf_schema *key_table(const struct conf_schema *const *all, size_t count,
                                    const struct conf_schema *table, const char *key);

/* Returns the error; where it is of a key that is not known in its map, but in the map
 * around it or in one below, a copy in the arena whose hint says so.  A nearest spelling
 * that the hint offers is kept instead. */
const struct err *key_tables_hint(struct arena *arena, const struct err *err);

#endif
