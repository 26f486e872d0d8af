/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fill.c - a map fills a struct through its table of keys.
 *
 * Keys are taken in the file's order, so that the first error told is the
 * first in the file; then absent keys get their fallbacks, in the table's.
 */
#include "sim/config/conf.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/err.h"
#include "sim/config/node.h"

#define FIELD_COUNT_MAX 128     /* of a table: names of keys are listed on the
                                   stack */
#define PATH_BYTES 100          /* of a path in a message */

/* Returns the row of a key; NULL: the table has no such key. */
static const struct conf_field *find_field(const struct conf_schema *schema,
                                           const char *key)
{
    assert(schema != NULL && key != NULL);
    for (size_t i = 0; i < schema->count; i++) {
        if (strcmp(schema->fields[i].key, key) == 0)
            return &schema->fields[i];
    }
    return NULL;
}

/* Is `path` the end of `name`, or the end without the last word of it? */
static bool ends_name(const char *name, const char *path)
{
    size_t bytes = strlen(path), whole = strlen(name);
    const char *last = strrchr(name, '.');

    assert(bytes > 0);
    for (int i = 0; i < 2; i++) {
        if (whole >= bytes && strncmp(name + whole - bytes, path, bytes) == 0 &&
            (whole == bytes || name[whole - bytes - 1] == '.'))
            return true;
        if (last == NULL)
            break;
        whole = (size_t)(last - name);
    }
    return false;
}

/* Returns where a map of the table stands, for messages: the name of the table, where the user
 * wrote the map in such a place, else the path that the user wrote, as many tables are read in
 * several places.  A name may have one more word, which says of what kind the map is, such as
 * the recipe of "workload.mix[].sft", and its file may be a part of an experiment: "mix[]". */
static const char *find_name(const struct conf_schema *schema, const struct conf_node *map,
                             char *path, size_t path_bytes)
{
    assert(schema->name != NULL);
    conf_write_path(map, path, path_bytes);
    return path[0] == '\0' || ends_name(schema->name, path) ? schema->name : path;
}

/* Reports a key of a map that the table does not have.  The hint is the nearest one, of
 * those that the map has not got if any is near, or all. */
static bool fail_unknown(const struct conf_schema *schema, const struct conf_node *map,
                         const char *key, struct err_pos pos, struct err *err)
{
    const char *names[FIELD_COUNT_MAX + 1], *free_names[FIELD_COUNT_MAX + 1];
    char list[130], path[PATH_BYTES];
    size_t count = 0;

    assert(schema->count <= FIELD_COUNT_MAX);
    for (size_t i = 0; i < schema->count; i++) {
        names[i] = schema->fields[i].key;
        if (conf_get(map, names[i]) == NULL)
            free_names[count++] = names[i];
    }
    names[schema->count] = free_names[count] = NULL;
    err_set(err, ERR_SCHEMA, pos, "key '%.80s' is not known in '%s'", key,
            find_name(schema, map, path, sizeof path));
    err->fault = FAULT_KEY;
    const char *nearest = conf_nearest(key, free_names);
    if (nearest == NULL)
        nearest = conf_nearest(key, names);
    if (nearest != NULL)
        return err_hint(err, "Did you mean '%s'?", nearest);
    conf_join(names, list, sizeof list);
    return err_hint(err, "Keys are %s.", list);
}

/* `pos` is where a message would point, though a fallback is never wrong. */
bool conf_read_fallback(const struct conf_field *field, struct err_pos pos, void *out,
                        struct err *err)
{
    assert(field->fallback != NULL);
    const struct conf_node node = {.kind = CONF_SCALAR, .pos = pos, .text = field->fallback};

    return conf_read(&node, field, out, err);
}

/* Gives an absent key its fallback, which is read as if the user had written
 * it.  A required key is an error at the place of the map. */
static bool fill_absent(const struct conf_node *map,
                        const struct conf_field *field,
                        const struct conf_schema *schema, void *value,
                        struct err *err)
{
    char path[PATH_BYTES];

    assert(field->help != NULL);
    if (field->fallback == NULL) {
        err_set(err, ERR_SCHEMA, map->pos, "key '%s' is missing in '%s'",
                field->key, find_name(schema, map, path, sizeof path));
        err->fault = FAULT_MISSING;
        err->key = field->key;
        if (field->type == CONF_NODE || field->type == CONF_CHOICE)
            return err_hint(err, "It says: %s.", field->help);
        return err_hint(err, "It says: %s; a %s such as %s.", field->help,
                        conf_type_name(field->type),
                        conf_type_example(field->type));
    }
    if (strcmp(field->fallback, CONF_ABSENT) == 0)
        return true;
    assert(field->type != CONF_NODE);
    bool good = conf_read_fallback(field, map->pos, value, err);
    assert(good);               /* the table's own fallback must be valid */
    return good;
}

/* Values are not looked at.  For maps whose values are read later or elsewhere. */
bool conf_known(const struct conf_node *map, const struct conf_schema *schema, struct err *err)
{
    assert(map != NULL && map->kind == CONF_MAP);
    for (size_t i = 0; i < map->count; i++)
        if (find_field(schema, map->pairs[i].key) == NULL)
            return fail_unknown(schema, map, map->pairs[i].key, map->pairs[i].key_pos, err);
    return true;
}

/* Keys of the map come first, in their order, so that the first error is the
 * first in the file; then defaults for what is absent. */
bool conf_fill(const struct conf_node *map, const struct conf_schema *schema,
               void *out, struct err *err)
{
    assert(map != NULL && schema != NULL);
    assert(out != NULL && err != NULL);
    char *bytes = out, path[PATH_BYTES];

    if (map->kind != CONF_MAP)
        return err_set(err, ERR_SCHEMA, map->pos, "'%s' must be a map of keys, found %s",
                       find_name(schema, map, path, sizeof path), conf_kind_name(map));
    for (size_t i = 0; i < map->count; i++) {
        const struct conf_pair *pair = &map->pairs[i];
        const struct conf_field *field = find_field(schema, pair->key);
        if (field == NULL)
            return fail_unknown(schema, map, pair->key, pair->key_pos, err);
        if (!conf_read(pair->value, field, bytes + field->offset, err))
            return false;
    }
    for (size_t i = 0; i < schema->count; i++) {
        const struct conf_field *field = &schema->fields[i];
        if (conf_get(map, field->key) == NULL &&
            !fill_absent(map, field, schema, bytes + field->offset, err))
            return false;
    }
    return true;
}

/* For keys that depend on another one: a key without effect is refused, since
 * its writer expects one. */
bool conf_acts(const struct conf_node *map, const char *key, bool idle,
               const char *needs, struct err *err)
{
    for (size_t i = 0; idle && map != NULL && conf_kind(map) == CONF_MAP &&
                       i < conf_count(map); i++) {
        if (strcmp(conf_key(map, i), key) != 0)
            continue;
        err_set(err, ERR_SCHEMA, conf_key_pos(map, i),
                "key '%s' does nothing here: it %s", key, needs);
        return err_hint(err, "Set what it needs, or leave '%s' out.", key);
    }
    return true;
}
