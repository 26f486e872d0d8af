/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * capacity_index.h - for how many units each node has room, where a unit is a GPU, or a
 * core, with so many cores and so much memory: nodes in the order of that.
 *
 * What searches ask for comes in a few shapes, and each has its order, made
 * when it is asked for the first time.  Nodes that change are written down, and
 * an order is brought up to date when it is asked for again.
 */
#ifndef MODELS_CLUSTER_CAPACITY_INDEX_H
#define MODELS_CLUSTER_CAPACITY_INDEX_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct cluster_spec;
struct capacity_index;
struct capacity_book;

struct capacity_unit {
    bool gpu;                   /* else a core */
    uint32_t cores;             /* that go with it */
    int64_t memory_bytes;
};

struct capacity_book *capacity_book_new(struct arena *arena,
                                        const struct cluster_spec *spec);
/* Something of that node was taken, or came back. */
void capacity_note(struct capacity_book *book, uint32_t node);

/* NULL: there are too many shapes. */
struct capacity_index *capacity_of(struct capacity_book *book, const struct capacity_unit *unit);
/* A node of which the cap is to be set; UINT32_MAX: all are as they should
 * be. */
uint32_t capacity_stale(struct capacity_index *caps);
void capacity_set(struct capacity_index *caps, uint32_t node, uint32_t cap);

/* Of a group of nodes: all caps together, and the places in its order, by cap
 * and then by node.  Nodes without room are not in it. */
uint64_t capacity_total(const struct capacity_index *caps, uint32_t group);
uint32_t capacity_count(const struct capacity_index *caps, uint32_t group);
/* The first with at least that cap. */
uint32_t capacity_from(const struct capacity_index *caps, uint32_t group, uint64_t cap);
uint32_t capacity_node(struct capacity_index *caps, uint32_t group, uint32_t place);
/* 0: it has no room. */
uint32_t capacity_cap(const struct capacity_index *caps, uint32_t node);

#endif
