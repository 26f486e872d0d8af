/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rank_tree.h - a sequence that knows places: put in, take out, the i-th.
 *
 * Items are small numbers of the owner's (slots), each in the sequence at most
 * once.  Everything costs the logarithm of the length; walking on from the
 * item last asked for is O(1) on average.  The owner may keep sums over
 * subtrees: it is told whenever those of an item have to be made again from
 * the item and its two children.
 */
#ifndef SIM_CONTAINERS_RANK_TREE_H
#define SIM_CONTAINERS_RANK_TREE_H

#include <stdbool.h>
#include <stdint.h>

struct arena;

#define RANK_TREE_NONE UINT32_MAX

/* Should a stand before b?  a is what is put in. */
typedef bool rank_tree_before_fn(void *owner, uint32_t a, uint32_t b);
/* Children may be RANK_TREE_NONE. */
typedef void rank_tree_sum_fn(void *owner, uint32_t item, uint32_t left,
                              uint32_t right);

struct rank_tree_node {
    uint32_t left, right, up;
    uint32_t count;             /* of its subtree; 0: not in the sequence */
};

struct rank_tree {
    struct arena *arena;
    struct rank_tree_node *node;    /* by item */
    uint32_t room, root;
    uint32_t last_item, last_rank;      /* what was asked for last */
    rank_tree_sum_fn *sum;          /* NULL: no sums */
    void *owner, *sum_owner;        /* of before(); of sums: the same at first */
};

void rank_tree_init(struct rank_tree *ranks, struct arena *arena, rank_tree_sum_fn *sum,
                    void *owner);
uint32_t rank_tree_count(const struct rank_tree *ranks);
/* After all that it should not stand before; NULL: at the end. */
void rank_tree_insert(struct rank_tree *ranks, uint32_t item,
                      rank_tree_before_fn *before);
/* Right before another. */
void rank_tree_insert_at(struct rank_tree *ranks, uint32_t item, uint32_t other);
void rank_tree_remove(struct rank_tree *ranks, uint32_t item);
/* What the owner sums up of an item has changed. */
void rank_tree_touch(struct rank_tree *ranks, uint32_t item);
/* The i-th from 0; RANK_TREE_NONE past the last. */
uint32_t rank_tree_at(struct rank_tree *ranks, uint32_t i);
uint32_t rank_tree_rank(const struct rank_tree *ranks, uint32_t item);
uint32_t rank_tree_first(const struct rank_tree *ranks);
uint32_t rank_tree_last(const struct rank_tree *ranks);
/* The neighbour of an item; RANK_TREE_NONE. */
uint32_t rank_tree_next(const struct rank_tree *ranks, uint32_t item);
uint32_t rank_tree_previous(const struct rank_tree *ranks, uint32_t item);
/* All items, in order. */
void rank_tree_list(const struct rank_tree *ranks, uint32_t *item);
/* Takes out all. */
void rank_tree_clear(struct rank_tree *ranks);
/* The same items, in another order. */
void rank_tree_reorder(struct rank_tree *ranks, const uint32_t *item);

#endif
