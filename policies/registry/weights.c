/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weights.c - reads the weights of a learned policy, from an entry or a file.
 */
#include "policies/registry/weights.h"

#include <string.h>

#include "policies/params.h"
#include "policies/policy.h"
#include "policies/state/terms.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/paths.h"

/* Reads a weights file; its path is relative to the file that names it.  A file that is not
 * there is an error of the line that names it; what is wrong within the file is an error of the
 * file.  Returns the map under its key `weights`.  NULL: err says why. */
static const struct conf_node *load_weights(struct arena *arena,
                                            const struct conf_node *node,
                                            struct err *err)
{
    const char *name = conf_text(node), *file = conf_pos(node).file;
    const char *slash = file ? strrchr(file, '/') : NULL;
    size_t folder = slash && name[0] != '/' ? (size_t)(slash - file) + 1 : 0;
    char *path = arena_alloc(arena, folder + strlen(name) + 1, 1);

    memcpy(path, file, folder);
    memcpy(path + folder, name, strlen(name) + 1);
    struct err why = { 0 };
    const struct conf_node *root = conf_load(arena, path, &why);
    if (!root && why.kind == ERR_IO) {      /* point at the naming file */
        err_set(err, ERR_IO, conf_pos(node), "weights names the file '%.100s': "
                "%.100s", path, why.text);
        err_hint_path(err, path, "Paths are relative to the file that names "
                                 "them.");
    } else if (!root) {
        *err = why;
    }
    if (!root)
        return NULL;
    const struct conf_node *map =
        conf_kind(root) == CONF_MAP ? conf_get(root, "weights") : NULL;
    if (!map || conf_kind(map) != CONF_MAP)
        err_set(err, ERR_SCHEMA, conf_pos(root),
                "a weights file needs the key weights, a map of numbers");
    return map && conf_kind(map) == CONF_MAP ? map : NULL;
}

/* Returns what the policy declares under that key, or NULL. */
static const struct cs_weights *declared_weights(const struct cs_policy *policy,
                                                 const char *key)
{
    for (uint32_t i = 0; i < policy->weights_count; i++)
        if (strcmp(policy->weights[i].key, key) == 0)
            return &policy->weights[i];
    return NULL;
}

/* A policy that declares no weights takes any key. */
bool weights_know(struct arena *arena, const struct cs_policy *policy,
                  const char *key, struct err_pos pos, struct err *err)
{
    if (policy->weights_count == 0 || declared_weights(policy, key) != NULL)
        return true;
    const char **name = arena_alloc(arena, policy->weights_count + 1, sizeof *name);
    const char *all = "", *near;
    for (uint32_t i = 0; i < policy->weights_count; i++) {
        name[i] = policy->weights[i].key;
        all = text_format(arena, "%s%s%s", all, i == 0 ? "" : ", ", name[i]);
    }
    near = conf_nearest(key, name);
    err_set(err, ERR_REFERENCE, pos, "policy %.60s knows no weight '%.60s'",
            policy->name, key);
    return near != NULL
        ? err_hint(err, "Did you mean '%s'? Its weights are %s.", near, all)
        : err_hint(err, "Its weights are %s.", all);
}

/* Reads a list of weights, which must have the length that the policy declares. */
static bool read_weight_list(struct arena *arena, const struct conf_node *node,
                             const struct cs_weights *shape,
                             struct host_weight *out, struct err *err)
{
    const struct conf_field field = { .key = shape->key, .type = CONF_REAL };
    size_t count = conf_kind(node) == CONF_LIST ? conf_count(node) : 1;

    if (conf_kind(node) != CONF_LIST || count != shape->count)
        return err_set(err, ERR_SCHEMA, conf_pos(node),
                       "weights of '%.60s' must be a list of %u numbers, found %zu",
                       shape->key, shape->count, count);
    double *list = arena_alloc(arena, count, sizeof *list);
    for (size_t i = 0; i < count; i++)
        if (!conf_read(conf_item(node, i), &field, &list[i], err))
            return false;
    *out = (struct host_weight) { .key = shape->key, .list = list,
                                  .count = shape->count };
    return true;
}

/* Reads weight i of the map, a number or the list that the policy declares.  A number may have
 * any value. */
static bool read_weight(struct arena *arena, const struct conf_node *node,
                        size_t i, const struct cs_policy *policy,
                        struct host_weight *out, struct err *err)
{
    const struct conf_field field = { .key = conf_key(node, i),
                                      .type = CONF_REAL };
    const struct cs_weights *shape = declared_weights(policy, field.key);

    if (!weights_know(arena, policy, field.key, conf_key_pos(node, i), err))
        return false;
    if (shape != NULL && shape->count > 0)
        return read_weight_list(arena, conf_value(node, i), shape, out, err);
    *out = (struct host_weight) { .key = field.key };
    return conf_read(conf_value(node, i), &field, &out->value, err);
}

/* Reads `weights:`, a map or a file that holds one.  A declared list that is
 * missing is an error: 0 in its place would be another policy. */
bool weights_read(struct arena *arena, const struct conf_node *node,
                  struct host_policy *out, struct err *err)
{
    const struct cs_policy *policy = out->policy;

    if (conf_kind(node) == CONF_SCALAR)
        node = load_weights(arena, node, err);
    if (!node)
        return false;
    if (conf_kind(node) != CONF_MAP)
        return err_set(err, ERR_SCHEMA, conf_pos(node),
                       "key weights: expected a file name or a map of "
                       "numbers, found a list");
    size_t count = conf_count(node);
    struct host_weight *weight = arena_alloc(arena, count, sizeof *weight);
    for (size_t i = 0; i < count; i++)
        if (!read_weight(arena, node, i, policy, &weight[i], err))
            return false;
    for (uint32_t i = 0; i < policy->weights_count; i++)
        if (policy->weights[i].count > 0 && !conf_get(node, policy->weights[i].key))
            return err_set(err, ERR_SCHEMA, conf_pos(node),
                           "weights of policy %.60s lack the key '%.60s'",
                           policy->name, policy->weights[i].key);
    out->weight = weight;
    out->weight_count = (uint32_t)count;
    return true;
}
