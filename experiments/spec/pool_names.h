/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pool_names.h - the pools that a workload names.  A cluster must have them, or
 * the workload cannot be read.
 */
#ifndef EXPERIMENTS_SPEC_POOL_NAMES_H
#define EXPERIMENTS_SPEC_POOL_NAMES_H

#include <stddef.h>

/* A pool is a bit of a 32-bit mask. */
#define POOL_NAMES_MAX 31

struct conf_node;

struct pool_names {             /* each once, in the order of the file */
    const char *name[POOL_NAMES_MAX];
    size_t count;
};

/* Adds the pools named below a node; after POOL_NAMES_MAX, none are added. */
void pool_names_find(const struct conf_node *node, struct pool_names *pools);

#endif
