/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * holes.h - for one number of GPUs, the stretches of time in which a plan has
 * that many free: its holes.
 *
 * The holes lie by time in blocks of up to HOLE_BLOCK, and a list of the blocks
 * knows the first start and the longest hole of each.  A change looks for its block
 * by halving the list, and then at that block alone; a search passes over the blocks
 * whose holes are too short.
 *
 * Invariant: holes rise in time and do not touch; no block is empty.
 */
#ifndef SIM_CONTAINERS_HOLES_H
#define SIM_CONTAINERS_HOLES_H

#include <stdbool.h>
#include <stdint.h>

struct arena;

#define HOLE_BLOCK 64u

struct hole {
    int64_t start_ns, end_ns;   /* CLOCK_NEVER_NS: it does not end */
};

struct hole_block {
    uint32_t count;
    struct hole hole[HOLE_BLOCK];
};

struct hole_blocks {
    int64_t start_ns;           /* the first start in the block */
    int64_t longest_ns;         /* its longest hole */
    struct hole_block *block;
};

/* What a search did not find: a hole that starts before before_ns, and is as long
 * as run_ns or lasts until then.  It holds until the holes change. */
struct hole_search {
    int64_t run_ns, before_ns;
    int64_t next_ns;            /* the first start from before_ns on */
    uint64_t changes;
};

struct holes {
    struct arena *arena;
    int64_t gpus;
    uint64_t changes;           /* of the holes so far, + 1 */
    struct hole_search last;
    struct hole_blocks *list;
    uint32_t count, room;       /* blocks */
    struct hole_block **spare;  /* emptied, to be used again */
    uint32_t spares, spare_room;
};

/* Makes an empty list for a number of GPUs.  Memory comes from the arena. */
void holes_init(struct holes *holes, struct arena *arena, int64_t gpus);
void holes_clear(struct holes *holes);
/* Adds a hole after all others. */
void holes_append(struct holes *holes, int64_t start_ns, int64_t end_ns);
/* The GPUs are no longer free in [start, end), which lies in one hole. */
void holes_close(struct holes *holes, int64_t start_ns, int64_t end_ns);
/* The GPUs are free in [start, end), which meets no hole. */
void holes_open(struct holes *holes, int64_t start_ns, int64_t end_ns);
/* Drops holes that end by a time; a hole that lasts longer starts at that time. */
void holes_forget(struct holes *holes, int64_t now_ns);
/* Finds the first hole that starts at from_ns or later, but before before_ns,
 * and that is as long as run_ns or lasts until before_ns.  False: there is none;
 * the next search for such a hole, or a longer one, goes on from there. */
bool holes_find(struct holes *holes, int64_t from_ns, int64_t run_ns,
                int64_t before_ns, struct hole *found);
/* Returns the length of a hole, or CLOCK_NEVER_NS. */
int64_t hole_length(const struct hole *hole);

#endif
