/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * schemas.h - every key table of every file, in one list.
 */
#ifndef EXPERIMENTS_CLI_SCHEMAS_H
#define EXPERIMENTS_CLI_SCHEMAS_H

#include <stddef.h>

struct arena;
struct conf_schema;

const struct conf_schema *const *schemas_all(struct arena *arena,
                                             size_t *count);

#endif
