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

/* Reports a key of a map that the table does not have.  The hint is the nearest one, of
 * those that the map has not got if any is near, or all. */
static bool fail_unknown(const struct conf_schema *schema, const struct conf_node *map,
                         const char *key, struct err_pos pos, struct err *err)
{
    const char *names[FIELD_COUNT_MAX + 1], *free_names[FIELD_COUNT_MAX + 1];
    char list[130];
    size_t count = 0;

    assert(schema->count <= FIELD_COUNT_MAX);
    for (size_t i = 0; i < schema->count; i++) {
        names[i] = schema->fields[i].key;
        if (conf_get(map, names[i]) == NULL)
            free_names[count++] = names[i];
    }
    names[schema->count] = free_names[count] = NULL;
    err_set(err, ERR_SCHEMA, pos, "key '%.80s' is not known in '%s'", key,
            schema->name);
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
    assert(field->help != NULL);
    if (field->fallback == NULL) {
        err_set(err, ERR_SCHEMA, map->pos, "key '%s' is missing in '%s'",
                field->key, schema->name);
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
    char *bytes = out;

    if (map->kind != CONF_MAP)
        return err_set(err, ERR_SCHEMA, map->pos,
                       "'%s' must be a map of keys, found %s", schema->name,
                       conf_kind_name(map));
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
