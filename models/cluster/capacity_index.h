/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * capacity_index.h - nodes sorted by capacity: the number of units for which a
 * node has room.  A unit is a GPU, or a core, with a number of cores and an
 * amount of memory.
 *
 * Searches use few different units.  Each has an index, made at its first use.
 * A node that changes is noted; an index is brought up to date at its next use.
 */
#ifndef MODELS_CLUSTER_CAPACITY_INDEX_H
#define MODELS_CLUSTER_CAPACITY_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct cluster_spec;
struct capacity_index;

/* Which nodes have changed, since an index last asked. */
struct capacity_book {
    struct arena *arena;        /* of the cluster */
    const struct cluster_spec *spec;
    uint32_t *change;           /* nodes; NULL: nobody asked */
    uint32_t changes, room;     /* of `change` */
    uint64_t round;             /* of writing changes down, from 1 */
    struct capacity_index *caps; /* a chain of all indexes */
    uint32_t shapes;            /* indexes in it */
};

struct capacity_unit {
    bool gpu;                   /* else a core */
    uint32_t cores;             /* per unit */
    int64_t memory_bytes;       /* per unit, whole bytes */
    uint32_t memory_rest, memory_parts; /* rest / parts of a byte more */
};

/* Returns a book in the arena that notes no changes until an index is made. */
struct capacity_book *capacity_book_new(struct arena *arena,
                                        const struct cluster_spec *spec);
/* Notes that the free resources of the node have changed.  When more changes
 * are written down than there are nodes, all are looked at. */
static inline void capacity_note(struct capacity_book *book, uint32_t node)
{
    if (book->change == NULL)
        return;
    if (book->changes == book->room) {
        book->changes = 0;
        book->round++;
    }
    book->change[book->changes++] = node;
}

/* Returns the index of that unit; NULL: there are too many units. */
struct capacity_index *capacity_of(struct capacity_book *book, const struct capacity_unit *unit);
/* Returns a node whose capacity the caller must set by capacity_set();
 * UINT32_MAX: none is left, the index is up to date. */
uint32_t capacity_stale(struct capacity_index *caps);
void capacity_set(struct capacity_index *caps, uint32_t node, uint32_t cap);

/* Return, for a group of nodes, the sum of all capacities, and the number of
 * nodes in the index.  Nodes are sorted by capacity, then by number; nodes
 * without room are left out. */
uint64_t capacity_total(const struct capacity_index *caps, uint32_t group);
uint32_t capacity_count(const struct capacity_index *caps, uint32_t group);
/* Returns the first position whose capacity is at least `cap`. */
uint32_t capacity_from(const struct capacity_index *caps, uint32_t group, uint64_t cap);
/* Returns the node at position `place`. */
uint32_t capacity_node(struct capacity_index *caps, uint32_t group, uint32_t place);
/* Returns the capacity of a node; 0: it has no room. */
uint32_t capacity_cap(const struct capacity_index *caps, uint32_t node);

#endif
