/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pool_names.c - each `pool:` and `home:` of a workload, wherever it stands.
 *
 * Walks the tree without knowing the keys of recipes, so a new recipe needs
 * nothing here.
 */
#include "experiments/spec/pool_names.h"

#include <stdbool.h>
#include <string.h>

#include "sim/config/conf.h"

/* Adds a name, unless it is there or there is no room. */
static void add_name(struct pool_names *pools, const char *name)
{
    for (size_t i = 0; i < pools->count; i++)
        if (strcmp(pools->name[i], name) == 0)
            return;
    if (pools->count < POOL_NAMES_MAX)
        pools->name[pools->count++] = name;
}

void pool_names_find(const struct conf_node *node, struct pool_names *pools)
{
    if (conf_kind(node) == CONF_SCALAR)
        return;
    for (size_t i = 0; i < conf_count(node); i++) {
        bool map = conf_kind(node) == CONF_MAP;
        const struct conf_node *value = map ? conf_value(node, i)
                                            : conf_item(node, i);

        if (map && conf_kind(value) == CONF_SCALAR &&
            (strcmp(conf_key(node, i), "pool") == 0 ||
             strcmp(conf_key(node, i), "home") == 0))
            add_name(pools, conf_text(value));
        pool_names_find(value, pools);
    }
}
