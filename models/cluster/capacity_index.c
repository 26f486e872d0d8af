/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * capacity_index.c - a tree of nodes per shape and group, see capacity_index.h.
 *
 * An index holds, for one unit, the nodes of each group that have room for at
 * least one, in the order (capacity, number) of a rank tree.  Changes of the
 * cluster are written into one list for all indexes; each index remembers how
 * far it has read.  The caller, which knows the rule, computes capacities.
 */
#include "models/cluster/capacity_index.h"

#include <assert.h>

#include "models/cluster/cluster.h"
#include "sim/base/arena.h"
#include "sim/containers/rank_tree.h"

/* Units with an index of their own; a workload with more falls back to
 * walking. */
#define SHAPES_MAX 64u

struct capacity_group {
    struct rank_tree order;         /* nodes, from 0 in the group */
    uint32_t *cap;              /* units that it has room for, by node in the group */
    uint64_t total;             /* sum of `cap` */
    uint32_t first_node;        /* number in the cluster of node 0 of the group */
};

/* How many units of one shape each node could hold, kept by group; stale nodes
 * are counted again when they are asked for. */
struct capacity_index {
    struct capacity_book *book; /* the cluster's; not owned */
    struct capacity_unit unit;  /* what is counted */
    struct capacity_group *group; /* by group of the cluster */
    uint64_t round;             /* of the book; another: all nodes are stale */
    uint32_t all, seen;         /* of all nodes; of the book's changes */
    struct capacity_index *next; /* of another unit; NULL: the last */
};

struct capacity_book *capacity_book_new(struct arena *arena,
                                        const struct cluster_spec *spec)
{
    assert(arena != NULL);
    assert(spec->node_count > 0);
    struct capacity_book *book = arena_alloc(arena, 1, sizeof *book);

    book->arena = arena;
    book->spec = spec;
    book->round = 1;
    return book;
}

/* Do two requests need one index? */
static bool same_unit(const struct capacity_unit *a, const struct capacity_unit *b)
{
    return a->gpu == b->gpu && a->cores == b->cores &&
           a->memory_bytes == b->memory_bytes &&
           a->memory_rest == b->memory_rest && a->memory_parts == b->memory_parts;
}

/* Makes the index of a unit; all its nodes are stale.  The list of changes
 * begins with the first index. */
static struct capacity_index *make_index(struct capacity_book *book,
                                         const struct capacity_unit *unit)
{
    assert(unit != NULL);
    const struct cluster_spec *spec = book->spec;
    struct capacity_index *caps = arena_alloc(book->arena, 1, sizeof *caps);

    *caps = (struct capacity_index) { .book = book, .unit = *unit,
                            .next = book->caps };
    caps->group = arena_alloc(book->arena, spec->group_count,
                              sizeof *caps->group);
    for (uint32_t g = 0; g < spec->group_count; g++) {
        struct capacity_group *group = &caps->group[g];
        group->first_node = spec->group[g].first_node;
        group->cap = arena_alloc(book->arena, spec->group[g].node_count,
                                 sizeof *group->cap);
        rank_tree_init(&group->order, book->arena, NULL, group);
    }
    if (book->change == NULL) {
        book->room = 4 * spec->node_count;
        book->change = arena_alloc(book->arena, book->room,
                                   sizeof *book->change);
    }
    book->caps = caps;
    book->shapes++;
    return caps;
}

/* An index is made at the first question for a shape and kept up to date from
 * then on; NULL if there are too many shapes to pay for that. */
struct capacity_index *capacity_of(struct capacity_book *book, const struct capacity_unit *unit)
{
    assert(book != NULL && unit != NULL);
    struct capacity_index *caps = book->caps;

    while (caps != NULL && !same_unit(&caps->unit, unit))
        caps = caps->next;
    if (caps == NULL && book->shapes < SHAPES_MAX)
        caps = make_index(book, unit);
    return caps;
}

/* First all nodes, once, then those that changed.  A book that wrote more
 * changes than it has room for begins a new round, in which all are stale
 * again. */
uint32_t capacity_stale(struct capacity_index *caps)
{
    const struct capacity_book *book = caps->book;

    if (caps->round != book->round) {
        caps->round = book->round;
        caps->seen = book->changes;
        caps->all = 0;
    }
    if (caps->all < book->spec->node_count)
        return caps->all++;
    return caps->seen < book->changes ? book->change[caps->seen++]
                                      : UINT32_MAX;
}

/* The order of the trees: by capacity, then by number. */
static bool goes_before(void *owner, uint32_t a, uint32_t b)
{
    const struct capacity_group *group = owner;

    return group->cap[a] != group->cap[b] ? group->cap[a] < group->cap[b]
                                          : a < b;
}

/* Groups are few. */
static struct capacity_group *group_of(const struct capacity_index *caps, uint32_t node)
{
    uint32_t g = caps->book->spec->group_count - 1;

    assert(node < caps->book->spec->node_count);
    while (node < caps->group[g].first_node)
        g--;
    return &caps->group[g];
}

/* O(log n).  A node without room is in no tree. */
void capacity_set(struct capacity_index *caps, uint32_t node, uint32_t cap)
{
    assert(caps != NULL);
    struct capacity_group *group = group_of(caps, node);
    uint32_t at = node - group->first_node, before = group->cap[at];

    if (cap == before)
        return;
    if (before > 0)
        rank_tree_remove(&group->order, at);
    group->cap[at] = cap;
    group->total += (uint64_t)cap - before;
    if (cap > 0)
        rank_tree_insert(&group->order, at, goes_before);
}

uint64_t capacity_total(const struct capacity_index *caps, uint32_t group)
{
    assert(group < caps->book->spec->group_count);
    return caps->group[group].total;
}

uint32_t capacity_count(const struct capacity_index *caps, uint32_t group)
{
    assert(caps != NULL);
    return rank_tree_count(&caps->group[group].order);
}

/* Walks down the tree, counting the nodes that are passed on the left.  For example, nodes
 * with the capacities 1, 3, 3 and 8: from 3 it is place 1, from 4 place 3. */
uint32_t capacity_from(const struct capacity_index *caps, uint32_t g, uint64_t cap)
{
    assert(caps != NULL);
    const struct capacity_group *group = &caps->group[g];
    const struct rank_tree_node *node = group->order.node;
    uint32_t at = group->order.root, place = 0;

    while (at != RANK_TREE_NONE) {
        uint32_t left = node[at].left;
        if (group->cap[at] >= cap) {
            at = left;
        } else {
            place += 1 + (left == RANK_TREE_NONE ? 0 : node[left].count);
            at = node[at].right;
        }
    }
    return place;
}

uint32_t capacity_node(struct capacity_index *caps, uint32_t g, uint32_t place)
{
    struct capacity_group *group = &caps->group[g];

    assert(place < rank_tree_count(&group->order));
    return group->first_node + rank_tree_at(&group->order, place);
}

uint32_t capacity_cap(const struct capacity_index *caps, uint32_t node)
{
    assert(caps != NULL);
    const struct capacity_group *group = group_of(caps, node);

    return group->cap[node - group->first_node];
}
