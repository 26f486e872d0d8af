/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * set.c - a copy of a tree in which one value is replaced.
 *
 * Only the nodes on the path are copied; the rest is shared, as trees never
 * change.  A sweep makes one overlay per point from one file.
 */
#include "sim/config/conf.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/node.h"

#define NOT_FOUND   SIZE_MAX
#define STEPS_MAX   64
#define SHOWN_BYTES 80          /* of a path in a message */

/* What is set: the whole path for messages, the new value, and the place that
 * an error is reported at. */
struct setting {
    struct arena *arena;        /* of the new tree; the old one stays as it is */
    const char *path;
    const struct conf_node *value;
    struct err_pos pos;
    struct err *err;
};

/* Is the step of a path that name? */
static bool step_is(const char *step, size_t bytes, const char *name)
{
    return strlen(name) == bytes && memcmp(step, name, bytes) == 0;
}

/* Returns the place of a key in a map, or NOT_FOUND. */
static size_t find_pair(const struct conf_node *map, const char *step,
                        size_t bytes)
{
    assert(map->kind == CONF_MAP);
    for (size_t i = 0; i < map->count; i++) {
        if (step_is(step, bytes, map->pairs[i].key))
            return i;
    }
    return NOT_FOUND;
}

/* An index of digits only; NOT_FOUND for anything else.  At most 9 digits, so that it cannot
 * overflow. */
static size_t read_index(const char *step, size_t bytes)
{
    size_t index = 0;

    if (bytes == 0 || bytes > 9)
        return NOT_FOUND;
    for (size_t i = 0; i < bytes; i++) {
        if (step[i] < '0' || step[i] > '9')
            return NOT_FOUND;
        index = index * 10 + (size_t)(step[i] - '0');
    }
    return index;
}

/* An item's name: its `name`, else its `policy`, else itself if scalar. */
static const char *item_name(const struct conf_node *item)
{
    assert(item != NULL);
    if (item->kind == CONF_SCALAR)
        return item->text;
    if (item->kind != CONF_MAP)
        return NULL;
    const struct conf_node *name = conf_get(item, "name");
    if (name == NULL || name->kind != CONF_SCALAR)
        name = conf_get(item, "policy");
    return name != NULL && name->kind == CONF_SCALAR ? name->text : NULL;
}

/* Names win over indexes, and the first of equal names over the others.  A number in a
 * list of values names nothing.  For example, `policies.fcfs.seed` finds the item whose name
 * or policy is fcfs, and `policies.0.seed` the first one. */
static size_t find_item(const struct conf_node *list, const char *step,
                        size_t bytes)
{
    size_t index = read_index(step, bytes);

    assert(list->kind == CONF_LIST);
    for (size_t i = 0; i < list->count; i++) {
        const char *name = item_name(list->items[i]);
        if (list->items[i]->kind == CONF_SCALAR && index != NOT_FOUND)
            continue;
        if (name != NULL && step_is(step, bytes, name))
            return i;
    }
    return index < list->count ? index : NOT_FOUND;
}

/* Returns the length of the first step of a path below a node: of the longest key or name
 * there that the path begins with, as both may hold dots (`lora-3.1`), else up to the
 * first dot. */
static size_t measure_step(const struct conf_node *node, const char *path)
{
    size_t longest = 0;

    assert(node != NULL && path != NULL);
    for (size_t i = 0; node->kind != CONF_SCALAR && i < node->count; i++) {
        const char *name = node->kind == CONF_MAP ? node->pairs[i].key
                                                  : item_name(node->items[i]);
        size_t bytes = name == NULL ? 0 : strlen(name);
        if (bytes > longest && strncmp(path, name, bytes) == 0 &&
            (path[bytes] == '.' || path[bytes] == '\0'))
            longest = bytes;
    }
    return longest > 0 ? longest : strcspn(path, ".");
}

/* NULL: nothing stands there.  An empty path is the root. */
const struct conf_node *conf_find(const struct conf_node *root, const char *path)
{
    const struct conf_node *node = root;

    assert(path != NULL);
    while (node != NULL && *path != '\0') {
        size_t bytes = measure_step(node, path);
        size_t index = node->kind == CONF_MAP ? find_pair(node, path, bytes)
                     : node->kind == CONF_LIST ? find_item(node, path, bytes)
                                               : NOT_FOUND;

        if (index == NOT_FOUND)
            return NULL;
        node = node->kind == CONF_MAP ? node->pairs[index].value
                                      : node->items[index];
        path += bytes + (path[bytes] == '.');
    }
    return node;
}

/* Sets err: what is wrong with a step of the path. */
static void report_step(const struct setting *setting, enum err_kind kind,
                        const char *what, const char *step, size_t bytes)
{
    assert(kind != ERR_NONE && what[0] != '\0');
    if (bytes > SHOWN_BYTES)
        bytes = SHOWN_BYTES;
    err_set(setting->err, kind, setting->pos, "path '%.*s': %s '%.*s'",
            SHOWN_BYTES, setting->path, what, (int)bytes, step);
}

/* The keys that there are, or how many items. */
static void hint_steps(const struct setting *setting,
                       const struct conf_node *node)
{
    const char *names[33];
    char list[120];
    size_t count = 0;

    assert(node->kind != CONF_SCALAR);
    for (size_t i = 0; i < node->count && count < 32; i++) {
        const char *name = node->kind == CONF_MAP ? node->pairs[i].key
                                                  : item_name(node->items[i]);
        if (name != NULL)
            names[count++] = name;
    }
    names[count] = NULL;
    conf_join(names, list, sizeof list);
    if (count > 0)
        err_hint(setting->err, "There are: %s.", list);
}

static const struct conf_node *set_at(const struct setting *setting,
                                      const struct conf_node *node,
                                      const char *path, int depth);

/* Returns the list with item `index` set, or all of them: NOT_FOUND.  The list is copied,
 * items that are not set are shared. */
static const struct conf_node *set_items(const struct setting *setting,
                                         const struct conf_node *list, size_t index,
                                         const char *path, int depth)
{
    size_t bytes = measure_step(list, path);
    struct conf_node *copy = arena_alloc(setting->arena, 1, sizeof *copy);

    assert(list->kind == CONF_LIST && depth >= 0);
    assert(index == NOT_FOUND || index < list->count);
    *copy = *list;
    copy->items = arena_grow(setting->arena, list->items, list->count,
                             list->count, sizeof *copy->items);
    for (size_t i = 0; i < list->count; i++) {
        const struct conf_node *item = setting->value;
        if (index != NOT_FOUND && index != i)
            continue;
        if (path[bytes] == '.')
            item = set_at(setting, list->items[i], path + bytes + 1, depth + 1);
        if (item == NULL)
            return NULL;
        copy->items[i] = item;
    }
    return copy;
}

/* Returns the list with one item, or with `*` all items, set below. */
static const struct conf_node *set_in_list(const struct setting *setting,
                                           const struct conf_node *list,
                                           const char *path, int depth)
{
    assert(depth > 0 && depth <= STEPS_MAX);
    size_t bytes = measure_step(list, path);
    size_t index = find_item(list, path, bytes);
    bool all = step_is(path, bytes, "*") && path[bytes] == '.' && list->count > 0;

    if (index == NOT_FOUND && !all) {
        report_step(setting, ERR_REFERENCE, "the list has no item", path, bytes);
        hint_steps(setting, list);
        return NULL;
    }
    return set_items(setting, list, index, path, depth);
}

/* Returns the map with one value set below.  A key that is missing is added if
 * it is the last step. */
static const struct conf_node *set_in_map(const struct setting *setting,
                                          const struct conf_node *map,
                                          const char *path, int depth)
{
    assert(depth > 0 && depth <= STEPS_MAX);
    size_t bytes = measure_step(map, path);
    size_t index = find_pair(map, path, bytes);
    bool last = path[bytes] == '\0';
    const struct conf_node *value = setting->value;

    if (index == NOT_FOUND && !last) {
        report_step(setting, ERR_REFERENCE, "there is no key", path, bytes);
        hint_steps(setting, map);
        return NULL;
    }
    if (!last)
        value = set_at(setting, map->pairs[index].value, path + bytes + 1,
                       depth + 1);
    if (value == NULL)
        return NULL;
    struct conf_node *copy = arena_alloc(setting->arena, 1, sizeof *copy);
    *copy = *map;
    if (index == NOT_FOUND)
        index = copy->count++;
    copy->pairs = arena_grow(setting->arena, map->pairs, map->count,
                             copy->count, sizeof *copy->pairs);
    struct conf_pair *pair = &copy->pairs[index];
    if (pair->key == NULL) {
        char *key = arena_alloc(setting->arena, bytes + 1, 1);
        memcpy(key, path, bytes);
        *pair = (struct conf_pair){key, setting->pos, NULL};
    }
    pair->value = value;
    return copy;
}

/* The node with the value set at `path`, its first step being in it. */
static const struct conf_node *set_at(const struct setting *setting,
                                      const struct conf_node *node,
                                      const char *path, int depth)
{
    size_t bytes = strcspn(path, ".");

    assert(node != NULL);
    if (bytes == 0) {
        report_step(setting, ERR_USAGE, "an empty step before", path, strlen(path));
        return NULL;
    }
    if (depth > STEPS_MAX) {
        report_step(setting, ERR_USAGE, "more than 64 steps at", path, bytes);
        return NULL;
    }
    switch (node->kind) {
    case CONF_MAP: return set_in_map(setting, node, path, depth);
    case CONF_LIST: return set_in_list(setting, node, path, depth);
    case CONF_SCALAR: break;
    }
    report_step(setting, ERR_REFERENCE, "there is no key below a single value for",
                path, bytes);
    err_hint(setting->err, "Write it as a map in the file to set its keys.");
    return NULL;
}

const struct conf_node *conf_set(struct arena *arena,
                                 const struct conf_node *root,
                                 const char *path,
                                 const struct conf_node *value,
                                 struct err_pos pos, struct err *err)
{
    assert(arena != NULL && root != NULL);
    assert(path != NULL && value != NULL && err != NULL);
    struct setting setting = {arena, path, value, pos, err};

    return set_at(&setting, root, path, 1);
}

/* The value is parsed as YAML, so that it may be a list or a map.  Errors name "--set PATH" as
 * their file. */
const struct conf_node *conf_set_text(struct arena *arena,
                                      const struct conf_node *root,
                                      const char *path, const char *value,
                                      struct err *err)
{
    assert(arena != NULL && path != NULL);
    assert(value != NULL && err != NULL);
    char name[SHOWN_BYTES + 16];

    snprintf(name, sizeof name, "--set %.*s", SHOWN_BYTES, path);
    struct err_pos pos = {arena_text(arena, name), 0, 0};
    if (value[strspn(value, " \t\n")] == '\0') {
        err_set(err, ERR_USAGE, pos, "'%.*s' has no value", SHOWN_BYTES, path);
        err_hint(err, "Write --set KEY=VALUE.");
        return NULL;
    }
    const struct conf_node *node =
        conf_parse_at(arena, name, arena_text(arena, path), value, strlen(value), err);
    if (node == NULL)
        return NULL;
    return conf_set(arena, root, path, node, pos, err);
}

/* It is as if the user had written the text where `node` stands. */
const struct conf_node *conf_scalar_at(struct arena *arena, const struct conf_node *node,
                                       const char *text)
{
    struct conf_node *scalar = arena_alloc(arena, 1, sizeof *scalar);

    scalar->kind = CONF_SCALAR;
    scalar->plain = true;
    scalar->pos = node->pos;
    scalar->up = node->up;
    scalar->key = node->key;
    scalar->text = arena_text(arena, text);
    return scalar;
}

const struct conf_node *conf_map_of(struct arena *arena, const char *key,
                                    const struct conf_node *value)
{
    struct conf_node *map = arena_alloc(arena, 1, sizeof *map);

    assert(value != NULL);
    map->kind = CONF_MAP;
    map->pos = value->pos;
    map->up = value->up;
    map->key = value->key;
    map->pairs = arena_alloc(arena, 1, sizeof *map->pairs);
    map->pairs[0] = (struct conf_pair){ .key = arena_text(arena, key), .key_pos = value->pos,
                                        .value = value };
    map->count = 1;
    return map;
}

/* Trees do not change, and others may hold the list: a longer copy is made,
 * with the same items. */
const struct conf_node *conf_append(struct arena *arena,
                                    const struct conf_node *list,
                                    const struct conf_node *item)
{
    assert(list->kind == CONF_LIST && item != NULL);
    struct conf_node *longer = arena_alloc(arena, 1, sizeof *longer);
    const struct conf_node **items =
        arena_alloc(arena, list->count + 1, sizeof *items);

    for (size_t i = 0; i < list->count; i++)
        items[i] = list->items[i];
    items[list->count] = item;
    *longer = *list;
    longer->items = items;
    longer->count++;
    return longer;
}

/* For maps whose keys hold dots, which are steps of a path to conf_set(). */
const struct conf_node *conf_take(struct arena *arena, const struct conf_node *map,
                                  const struct conf_node *from, size_t i)
{
    assert(from->kind == CONF_MAP && i < from->count);
    struct conf_node *longer = arena_alloc(arena, 1, sizeof *longer);
    size_t count = map == NULL ? 0 : map->count;
    struct conf_pair *pairs = arena_alloc(arena, count + 1, sizeof *pairs);

    for (size_t k = 0; k < count; k++)
        pairs[k] = map->pairs[k];
    pairs[count] = from->pairs[i];
    *longer = map == NULL ? *from : *map;
    longer->pairs = pairs;
    longer->count = count + 1;
    return longer;
}
