/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * machines.h - nodes that somebody's cluster manager lists, written as a cluster.
 *
 * Managers say how many CPUs, GPUs and how much memory a node has, and what its
 * GPUs are called; the rest of a node is taken for granted, and reported.
 */
#ifndef EXPERIMENTS_IMPORT_MACHINES_H
#define EXPERIMENTS_IMPORT_MACHINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/base/err.h"
#include "sim/text/notes.h"

struct arena;

/* One node, or `count` nodes that are alike. */
struct machine {
    const char *name;           /* letters, digits, _, - and . */
    const char *gpu;            /* as the manager calls it; NULL: not said */
    int64_t cores, gpus, count; /* cores and GPUs of one node */
    int64_t memory_mib;         /* of one node, at least 1 */
    struct err_pos pos;         /* of its line, for messages */
};

struct machines_format;

/* Begins as {.arena = arena, .notes = {.arena = arena}}, with a file and a format. */
struct machines {
    struct arena *arena;        /* of the command */
    const char *file;           /* what the manager printed */
    const struct machines_format *format;
    struct machine *machine;    /* [count], in the order of the file */
    size_t count, room;
    struct notes notes;         /* what was taken for granted, each thing once */
};

/* Adds a node.  False, with err at its place: its cores, memory or GPUs are beyond
 * what a node may have, or its name is no name. */
bool machines_add(struct machines *machines, struct machine machine,
                  struct err *err);
/* Writes the cluster to `path`; neighbours that are alike are one group.  Prints
 * what was read, and what was taken for granted, to `report`.  False: err says
 * why, and there is no file. */
bool machines_write(struct machines *machines, const char *path, FILE *report,
                    struct err *err);

/* Is it a name of a node, or of a GPU: letters, digits, _, - and . alone? */
bool machines_name(const char *text);

struct machines_format {
    const char *name, *summary;
    /* Adds all nodes of machines->file; false: err is set. */
    bool (*read)(struct machines *machines, struct err *err);
    bool hidden;                /* names of GPUs are made up: they only count */
};
/* By number, NULL past the last; by name, or NULL. */
const struct machines_format *machines_format_at(size_t i);
const struct machines_format *machines_format_find(const char *name);

/* The readers, one in each file. */
bool openb_nodes_read(struct machines *machines, struct err *err);
bool slurm_nodes_read(struct machines *machines, struct err *err);
bool kube_nodes_read(struct machines *machines, struct err *err);

#endif
