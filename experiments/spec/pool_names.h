/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pool_names.h - the pools that a workload names: what a cluster must have for
 * it to be read at all.
 */
#ifndef EXPERIMENTS_SPEC_POOL_NAMES_H
#define EXPERIMENTS_SPEC_POOL_NAMES_H

#include <stddef.h>

#define POOL_NAMES_MAX 31

struct conf_node;

struct pool_names {             /* each once, in the order of the file */
    const char *name[POOL_NAMES_MAX];
    size_t count;
};

/* Adds those below a node; more than there is room for are left out. */
void pool_names_find(const struct conf_node *node, struct pool_names *pools);

#endif
