/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * conf_doc.h - what the key tables say, for people and for editors.
 *
 * `explain`, the JSON Schema and the manual are printed from the tables that
 * read the files, so that they cannot say something else.  All texts live in
 * the arena.
 */
#ifndef SIM_CONF_DOC_H
#define SIM_CONF_DOC_H

#include <stddef.h>

#include "sim/conf.h"

struct arena;

/* A few lines on one key; NULL when the schema has no such key. */
char *conf_explain(struct arena *arena, const struct conf_schema *schema,
                   const char *key);

/* A JSON Schema (draft 2020-12) with one definition per schema.  A CONF_NODE
 * key refers to the definition named "<schema>.<key>" or "<schema>.<key>[]"
 * where there is one, or "<key>" or "<key>[]" alone. */
char *conf_json_schema(struct arena *arena,
                       const struct conf_schema *const *schemas,
                       size_t count);

/* A table of the keys in Markdown, without a heading. */
char *conf_markdown(struct arena *arena, const struct conf_schema *schema);

#endif
