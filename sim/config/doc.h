/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * doc.h - what the key tables say, for people and for editors.
 *
 * `explain`, the JSON Schema and the manual are printed from the tables that
 * read the files, so that they cannot say something else.  All texts live in
 * the arena.
 */
#ifndef SIM_CONFIG_DOC_H
#define SIM_CONFIG_DOC_H

#include <stddef.h>

#include "sim/config/conf.h"

struct arena;

/* A few lines on one key; NULL when the schema has no such key. */
char *conf_explain(struct arena *arena, const struct conf_schema *schema,
                   const char *key);

/* JSON where no key table says it.  To be read in C: ' stands for ", and @NAME@
 * for a reference to the definition of that name. */
struct conf_shape {
    const char *name;
    const char *json;
    const char *open;   /* instead, where names are open; NULL: the same */
};

/* Returns the first shape that fits TABLE.KEY, or, with ":" for a key, TABLE: itself; NULL:
 * none does. */
const struct conf_shape *conf_find_shape(const struct conf_shape *shapes, size_t count,
                                         const char *table, const char *key);

/* Returns the table of the map, or of the maps of the list, that a key of a table holds;
 * NULL: it holds none, or maps of no table.  Of several, the first that its shape names. */
const struct conf_schema *conf_table_below(const struct conf_schema *const *tables,
                                           size_t table_count,
                                           const struct conf_shape *shapes, size_t shape_count,
                                           const char *table, const char *key);

/* What a JSON Schema is made of.  Each key table becomes a definition of its
 * name; `definitions` are others.  A shape is found by "TABLE.KEY", a * in its
 * name standing for any letters, and says what a CONF_NODE or CONF_TEXT key
 * may hold; the shape "TABLE:" has members that are added to that table's
 * definition.  The first that fits counts.  A CONF_NODE key without a shape
 * refers to the table "TABLE.KEY", or is a list of "TABLE.KEY[]". */
struct conf_json {
    const char *title;          /* of the schema */
    const char *root;           /* as in conf_shape.json */
    const struct conf_schema *const *tables;
    size_t table_count;
    const struct conf_shape *shapes;
    size_t shape_count;
    const struct conf_shape *definitions;
    size_t definition_count;
    bool with_open;             /* names that a user's catalogue may add pass */
};

/* A JSON Schema, draft 07.  Quantities are the definitions "time", "bytes" ...
 * and, where 0 is not allowed, "time above 0" ...  With `with_open`
 * all stand there twice, the second time as "open NAME" with open names. */
char *conf_json_schema(struct arena *arena, const struct conf_json *json);

#endif
