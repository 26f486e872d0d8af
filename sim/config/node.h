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
    const char *key;            /* NUL-terminated; no two of a map are equal */
    struct err_pos key_pos;     /* of the key; that of the value is in it */
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
    struct err_pos pos;         /* of its first character */
    const struct conf_node *up;         /* the list or map that it was written in; NULL: it is
                                           a root */
    const char *key;                    /* what it was written for in that map, or, of a root,
                                           the path that it is set at; NULL: neither */
    size_t count;                       /* of items or pairs */
    const char *text;                   /* CONF_SCALAR */
    const struct conf_node **items;     /* CONF_LIST */
    struct conf_pair *pairs;            /* CONF_MAP */
};

/* `key:` with nothing behind it, or null, or ~. */
bool conf_is_null(const struct conf_node *node);

/* Parses a value that is set at `place`, a path, as conf_parse() does. */
const struct conf_node *conf_parse_at(struct arena *arena, const char *path, const char *place,
                                      const char *text, size_t bytes, struct err *err);

/* Writes where the node was written, as "workload.services[].cpu": from the root of its file,
 * or from what `--set` sets.  A beginning for which out has no room becomes "...".  "": it is a
 * root, or was never written. */
void conf_write_path(const struct conf_node *node, char *out, size_t out_bytes);

/* "a list", "a map" ... for messages. */
const char *conf_kind_name(const struct conf_node *node);

/* `names` as "a, b, c", with ", ..." where out is too short. */
void conf_join(const char *const *names, char *out, size_t out_bytes);

#endif
