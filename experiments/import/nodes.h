/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * nodes.h - makes a cluster from a published list of nodes.
 */
#ifndef EXPERIMENTS_IMPORT_NODES_H
#define EXPERIMENTS_IMPORT_NODES_H

#include <stdbool.h>
#include <stdio.h>

struct arena;
struct err;

#define IMPORT_NODES "openb-nodes"      /* the format, on a command line */

/* Reads the list `file`, writes the cluster to `path`, and a summary of it to
 * `report`.  False: err says why, and no cluster is left at `path`. */
bool import_nodes(struct arena *arena, const char *file, const char *path,
                  FILE *report, struct err *err);

#endif
