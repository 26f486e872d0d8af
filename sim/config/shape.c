/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * shape.c - what is said of a key that a table hands on unread, and which table lies
 * below it.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "sim/config/doc.h"

#define NAME_BYTES 164

/* A * in the pattern stands for any letters.  For example "policies[].*" fits
 * "policies[].interval".  After a mismatch the last * takes one letter more. */
static bool fits(const char *pattern, const char *name)
{
    assert(pattern != NULL && name != NULL);
    const char *star = NULL, *from = NULL;

    while (*name != '\0') {
        if (*pattern == '*') {
            star = ++pattern;
            from = name;
        } else if (*pattern == *name) {
            pattern++;
            name++;
        } else if (star != NULL) {
            pattern = star;
            name = ++from;
        } else {
            return false;
        }
    }
    return pattern[strspn(pattern, "*")] == '\0';
}

const struct conf_shape *conf_find_shape(const struct conf_shape *shapes, size_t count,
                                         const char *table, const char *key)
{
    char name[NAME_BYTES];

    assert(table[0] != '\0' && key[0] != '\0');
    snprintf(name, sizeof name, "%s%s%s", table, key[0] == ':' ? "" : ".", key);
    for (size_t i = 0; i < count; i++)
        if (fits(shapes[i].name, name))
            return &shapes[i];
    return NULL;
}

/* Returns the table whose name has these bytes, and then `end`; NULL: there is none. */
static const struct conf_schema *find_table(const struct conf_schema *const *tables,
                                            size_t count, const char *name, size_t bytes,
                                            const char *end)
{
    assert(name != NULL && end != NULL);
    for (size_t i = 0; i < count; i++)
        if (strncmp(tables[i]->name, name, bytes) == 0 &&
            strcmp(tables[i]->name + bytes, end) == 0)
            return tables[i];
    return NULL;
}

/* Returns the first table among the @NAME@ of a shape, or NULL. */
static const struct conf_schema *find_reference(const struct conf_schema *const *tables,
                                                size_t count, const char *json)
{
    assert(json != NULL);
    for (const char *at = strchr(json, '@'), *end; at != NULL; at = strchr(end + 1, '@')) {
        end = strchr(at + 1, '@');
        assert(end != NULL);
        const struct conf_schema *table =
            find_table(tables, count, at + 1, (size_t)(end - at - 1), "");
        if (table != NULL)
            return table;
    }
    return NULL;
}

const struct conf_schema *conf_table_below(const struct conf_schema *const *tables,
                                           size_t table_count,
                                           const struct conf_shape *shapes, size_t shape_count,
                                           const char *table, const char *key)
{
    const struct conf_shape *shape = conf_find_shape(shapes, shape_count, table, key);
    char name[NAME_BYTES];

    assert(tables != NULL);
    if (shape != NULL)
        return find_reference(tables, table_count, shape->json);
    snprintf(name, sizeof name, "%s.%s", table, key);
    const struct conf_schema *map = find_table(tables, table_count, name, strlen(name), "");
    return map != NULL ? map
                       : find_table(tables, table_count, name, strlen(name), "[]");
}
