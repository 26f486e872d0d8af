/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * key_tables.c - which table of keys lies below a key, and where a key belongs that
 * stands in the wrong map.
 *
 * A key one level too high or too low is a usual fault of a YAML file.  The error itself
 * knows one table; this looks in those around and below.
 */
#include "experiments/schema/key_tables.h"

#include <stdio.h>
#include <string.h>

#include "experiments/schema/key_shapes.h"
#include "experiments/schema/schemas.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/config/doc.h"
#include "sim/text/paths.h"

#define NAME_BYTES 128
#define PATHS_MAX 3             /* more of them would say nothing */
#define DEPTH_MAX 2             /* levels below that are looked at */

/* What is looked for, and what was found. */
struct stray {
    const struct conf_schema *const *all;
    size_t count;
    char key[NAME_BYTES], table[NAME_BYTES];    /* as the error names them */
    char path[PATHS_MAX][NAME_BYTES];           /* from the table down to the key */
    size_t path_count;
};

const struct conf_schema *key_table(const struct conf_schema *const *all, size_t count,
                                    const struct conf_schema *table, const char *key)
{
    return conf_table_below(all, count, key_shapes, key_shape_count, table->name, key);
}

/* Reads the text of an error; false: it is of something else. */
static bool read_stray(const struct err *err, struct stray *out)
{
    return err->fault == FAULT_KEY && strncmp(err->hint, "Did you mean", 12) != 0 &&
           sscanf(err->text, "key '%127[^']' is not known in '%127[^']'", out->key,
                  out->table) == 2;
}

static bool has_key(const struct conf_schema *table, const char *key)
{
    for (size_t k = 0; k < table->count; k++)
        if (strcmp(table->fields[k].key, key) == 0)
            return true;
    return false;
}

/* Adds the paths below a table that lead to the key; `before` leads to the table. */
static void find_below(struct stray *stray, const struct conf_schema *table,
                       const char *before, int depth)
{
    for (size_t k = 0; k < table->count; k++) {
        const char *key = table->fields[k].key;
        const struct conf_schema *below = key_table(stray->all, stray->count, table, key);
        char path[NAME_BYTES];

        if (below == NULL ||
            snprintf(path, sizeof path, "%s%s.", before, key) >= (int)sizeof path)
            continue;
        if (has_key(below, stray->key)) {
            if (stray->path_count < PATHS_MAX)
                snprintf(stray->path[stray->path_count], NAME_BYTES, "%.60s%.60s", path,
                         stray->key);
            stray->path_count++;
        }
        if (depth < DEPTH_MAX)
            find_below(stray, below, path, depth + 1);
    }
}

/* Does a table that has the key hold maps of the other table? */
static bool is_around(const struct stray *stray, const struct conf_schema *table)
{
    for (size_t i = 0; i < stray->count; i++) {
        const struct conf_schema *outer = stray->all[i];

        if (!has_key(outer, stray->key))
            continue;
        for (size_t k = 0; k < outer->count; k++)
            if (key_table(stray->all, stray->count, outer, outer->fields[k].key) == table)
                return true;
    }
    return false;
}

const struct err *key_tables_hint(struct arena *arena, const struct err *err)
{
    const struct conf_schema *in = NULL;
    struct stray stray = { .path_count = 0 };
    const char *says;
    struct err *copy;

    if (!read_stray(err, &stray))
        return err;
    stray.all = schemas_all(arena, &stray.count);
    for (size_t i = 0; i < stray.count && in == NULL; i++)
        if (strcmp(stray.all[i]->name, stray.table) == 0)
            in = stray.all[i];
    if (in == NULL)
        return err;
    find_below(&stray, in, "", 1);
    if (stray.path_count > PATHS_MAX || (stray.path_count == 0 && !is_around(&stray, in)))
        return err;
    says = stray.path_count == 0
        ? "It is a key of the map around this one"
        : text_format(arena, "Below this map there is '%s'", stray.path[0]);
    for (size_t i = 1; i < stray.path_count; i++)
        says = text_format(arena, "%s%s'%s'", says, i + 1 < stray.path_count ? ", " : " and ",
                           stray.path[i]);
    copy = arena_alloc(arena, 1, sizeof *copy);
    *copy = *err;
    copy->hint[0] = '\0';
    err_hint(copy, "%s. %s", says, err->hint);
    return copy;
}
