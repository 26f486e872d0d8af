/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weights.h - weights of a learned policy.  For readers of entries, and for searches that
 * change weights.
 */
#ifndef POLICIES_REGISTRY_WEIGHTS_H
#define POLICIES_REGISTRY_WEIGHTS_H

#include <stdbool.h>

#include "sim/base/err.h"

struct arena;
struct conf_node;
struct cs_policy;
struct host_policy;

/* Reads all weights into *out, from the map or from the file that it names, whose path is
 * relative to the file of the node.  They are in the arena.  False: err says why. */
bool weights_read(struct arena *arena, const struct conf_node *node,
                  struct host_policy *out, struct err *err);
/* May `weights:` name this key?  A policy that declares none takes any.  False: err
 * says at pos which it knows, and the nearest. */
bool weights_know(struct arena *arena, const struct cs_policy *policy,
                  const char *key, struct err_pos pos, struct err *err);

#endif
