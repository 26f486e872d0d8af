/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * holes.h - for one number of GPUs, the stretches of time in which a plan has
 * so many free: its holes.
 *
 * The holes lie in a tree by time, which knows the longest hole of each
 * subtree.  Every function below costs the logarithm of their number.
 *
 * Invariant: holes rise in time and do not touch.
 */
#ifndef POLICIES_HOST_HOLES_H
#define POLICIES_HOST_HOLES_H

#include <stdint.h>

#include "sim/containers/rank_tree.h"

struct arena;

#define HOLE_NONE RANK_TREE_NONE

struct hole {
    int64_t start_ns, end_ns;   /* CLOCK_NEVER_NS: it does not end */
    int64_t longest_ns;         /* the longest hole of its subtree */
    int64_t last_ns;            /* the last end in its subtree */
};

struct holes {
    struct arena *arena;
    int64_t gpus;
    struct rank_tree tree;
    struct hole *hole;
    uint32_t count, room;       /* of hole[], the spare ones included */
    uint32_t *spare, spares;
};

/* Makes an empty list for a number of GPUs.  Memory comes from the arena. */
void host_holes_init(struct holes *holes, struct arena *arena, int64_t gpus);
void host_holes_clear(struct holes *holes);
/* Adds a hole after all others. */
void host_holes_append(struct holes *holes, int64_t start_ns, int64_t end_ns);
/* The GPUs are no longer free in [start, end), which lies in one hole. */
void host_holes_close(struct holes *holes, int64_t start_ns, int64_t end_ns);
/* The GPUs are free in [start, end), which meets no hole. */
void host_holes_open(struct holes *holes, int64_t start_ns, int64_t end_ns);
/* Drops what is before a time. */
void host_holes_forget(struct holes *holes, int64_t now_ns);
/* Returns the first hole that starts at from_ns or later, and that is as long
 * as run_ns or lasts until before_ns; HOLE_NONE: there is none. */
uint32_t host_holes_find(const struct holes *holes, int64_t from_ns,
                         int64_t run_ns, int64_t before_ns);
/* Returns the length of a hole, or CLOCK_NEVER_NS. */
int64_t host_hole_length(const struct hole *hole);

#endif
