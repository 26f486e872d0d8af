/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plugin.h - policies that are not built in: a library, FILE.so, or a source in
 * C, FILE.c, which is compiled first.
 *
 * The file defines one table, a struct cs_policy whose name ends in `_policy`,
 * and includes headers of policies/ as a built-in policy does.  It may call what
 * a built-in policy may call, and is refused otherwise.  It stays loaded to the
 * end of the program.
 */
#ifndef EXPERIMENTS_PLUGINS_PLUGIN_H
#define EXPERIMENTS_PLUGINS_PLUGIN_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/err.h"

struct arena;
struct cs_policy;

struct plugin {
    const struct cs_policy *policy;     /* of the library, to the program's end */
    uint64_t hash;                      /* of the library's bytes */
};

/* Does an entry of `policies:` name a file rather than a built-in policy? */
bool plugin_is_file(const char *text);

/* Loads the file at `path`; `pos` is where the user named it.  False: err says
 * why it is refused. */
bool plugin_load(struct arena *arena, const char *path, struct err_pos pos,
                 struct plugin *out, struct err *err);

#endif
