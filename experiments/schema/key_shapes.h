/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * key_shapes.h - the shapes of what key tables hand on unread (CONF_NODE).  For
 * file_schema.c only.
 *
 * Here ' stands for " and @NAME@ for a reference (sim/config/doc.h).
 */
#ifndef EXPERIMENTS_SCHEMA_KEY_SHAPES_H
#define EXPERIMENTS_SCHEMA_KEY_SHAPES_H

#include <stddef.h>

#include "sim/config/doc.h"

#define OBJECT "'type': 'object'"
#define STRING "'type': 'string'"
/* The name of a metric of the experiment's own. */
#define OWN_NAME "{" STRING ", 'pattern': '^[a-z][a-z0-9_]{0,59}$'}"

/* Shapes by key; of a table, by its name and ":". */
extern const struct conf_shape key_shapes[];
extern const size_t key_shape_count;
/* Definitions to which shapes refer, that depend on no catalogue and no registry. */
extern const struct conf_shape key_definitions[];
extern const size_t key_definition_count;

#endif
