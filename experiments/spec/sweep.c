/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sweep.c - points by their number, and their labels.
 */
#include "experiments/spec/sweep.h"

#include <assert.h>
#include <string.h>

#include "experiments/spec/experiment.h"
#include "experiments/spec/tree.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/paths.h"

#define POINTS_MAX 100000u

/* "workload.arrival.rate" -> "arrival.rate", unless another swept key would
 * then be called the same. */
static const char *short_key(const struct conf_node *sweep, size_t which)
{
    const char *key = conf_key(sweep, which), *dot = strchr(key, '.');

    for (size_t i = 0; i < conf_count(sweep); i++) {
        const char *other = strchr(conf_key(sweep, i), '.');

        if (dot != NULL && i != which && other != NULL &&
            strcmp(other, dot) == 0)
            return key;
    }
    return dot == NULL ? key : dot + 1;
}

static const char *value_label(struct arena *arena,
                               const struct conf_node *value, size_t index)
{
    const struct conf_node *name;

    if (conf_kind(value) == CONF_SCALAR)
        return conf_text(value);
    name = conf_kind(value) == CONF_MAP ? conf_get(value, "name") : NULL;
    if (name != NULL && conf_kind(name) == CONF_SCALAR)
        return conf_text(name);
    return text_format(arena, "#%zu", index + 1);
}

static bool first_step(const char *key, size_t bytes, const char *word)
{
    return strlen(word) == bytes && memcmp(key, word, bytes) == 0;
}

bool experiment_key_check(const char *key, const char *what, struct err_pos pos,
                          struct err *err)
{
    size_t root = strcspn(key, ".");

    if (!first_step(key, root, "workload") && !first_step(key, root, "cluster") &&
        !(first_step(key, root, "policies") && key[root] == '.') &&
        strcmp(key, "fidelity") != 0) {
        err_set(err, ERR_SCHEMA, pos, "%s must begin with workload. cluster. or "
                "policies.NAME., or be fidelity, and is '%.80s'", what, key);
        return err_hint(err, "Write it from the top of the file, as in "
                        "workload.arrival.rate.");
    }
    if (strstr(key, "..") != NULL || key[strlen(key) - 1] == '.')
        return err_set(err, ERR_SCHEMA, pos, "%s must have a name after each dot, "
                       "and is '%.80s'", what, key);
    return true;
}

bool sweep_check(const struct conf_node *keys, uint32_t *count,
                 struct err *err)
{
    uint64_t points = 1;

    if (conf_kind(keys) != CONF_MAP)
        return err_set(err, ERR_SCHEMA, conf_pos(keys),
                       "sweep must be a map from a key to a list of values");
    for (size_t i = 0; i < conf_count(keys); i++) {
        const char *key = conf_key(keys, i);
        const struct conf_node *list = conf_value(keys, i);

        if (!experiment_key_check(key, "a swept key", conf_key_pos(keys, i), err))
            return false;
        if (conf_kind(list) != CONF_LIST || conf_count(list) == 0)
            return err_set(err, ERR_SCHEMA, conf_pos(list),
                           "%.80s must be swept over a list of at least one "
                           "value", key);
        points *= conf_count(list);
        if (points > POINTS_MAX)
            return err_set(err, ERR_RANGE, conf_pos(keys),
                           "the sweep must have at most %u points, and has "
                           "at least %llu", POINTS_MAX,
                           (unsigned long long)points);
    }
    *count = (uint32_t)points;
    return true;
}

const struct conf_node *sweep_tree(struct experiment_inputs *inputs,
                                   const struct sweep *sweep, uint32_t index,
                                   const char **label, struct err *err)
{
    const struct conf_node *tree = sweep->root, *keys = sweep->keys;
    uint32_t rest = sweep->count, left = index;

    assert(index < sweep->count);
    *label = NULL;
    for (size_t i = 0; keys != NULL && i < conf_count(keys); i++) {
        const struct conf_node *list = conf_value(keys, i), *value;
        const char *word;
        size_t which;

        rest /= (uint32_t)conf_count(list);
        which = left / rest;
        left %= rest;
        value = conf_item(list, which);
        tree = tree_set(inputs, tree, conf_key(keys, i), value, NULL, err);
        if (tree == NULL)
            return NULL;
        word = text_format(inputs->arena, "%s=%s", short_key(keys, i),
                           value_label(inputs->arena, value, which));
        *label = *label == NULL
                     ? word
                     : text_format(inputs->arena, "%s %s", *label, word);
    }
    if (*label == NULL)
        *label = "base";
    return tree_graft(inputs, tree, err);
}
