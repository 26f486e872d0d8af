/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * node.h - the tree behind conf.h, for the conf_*.c files alone.
 *
 * Nodes are never changed once they are in a tree, so trees share them: an
 * overlay (conf_set) copies the nodes on one path and points at the rest.
 */
#ifndef SIM_CONFIG_NODE_H
#define SIM_CONFIG_NODE_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/config/conf.h"

/* A key and its value; the file's order is kept. */
struct conf_pair {
    const char *key;
    struct err_pos key_pos;
    const struct conf_node *value;
};

/* How a node was repaired, so that the rest of a file can be read after an
 * error (mend.c). */
enum conf_mark {
    CONF_NEUTRAL = 1,   /* stands for a value: any type takes it */
    CONF_GUESSED = 2,   /* the nearest spelling stands here */
    CONF_HURT = 4       /* a key or an item was taken out of it */
};

struct conf_node {
    enum conf_kind kind;
    bool plain;                         /* a scalar without quotes */
    uint8_t marks;                      /* bits of enum conf_mark */
    struct err_pos pos;
    size_t count;                       /* of items or pairs */
    const char *text;                   /* CONF_SCALAR */
    const struct conf_node **items;     /* CONF_LIST */
    struct conf_pair *pairs;            /* CONF_MAP */
};

/* `key:` with nothing behind it, or null, or ~. */
bool conf_is_null(const struct conf_node *node);

/* "a list", "a map" ... for messages. */
const char *conf_kind_name(const struct conf_node *node);

/* `names` as "a, b, c", with ", ..." where out is too short. */
void conf_join(const char *const *names, char *out, size_t out_bytes);

#endif
