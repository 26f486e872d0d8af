/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rank_tree.h - a sequence with insertion, removal and access by position.
 *
 * Items are small numbers of the owner (slots), each at most once.  Every
 * operation takes logarithmic time; going on from the item of the last access
 * takes O(1) on average.  The owner may keep sums over subtrees: it is called
 * whenever the sum of an item must be computed again from the item and its two
 * children.
 *
 * Nothing here fails; memory is the arena's and grows with the largest item.
 */
#ifndef SIM_CONTAINERS_RANK_TREE_H
#define SIM_CONTAINERS_RANK_TREE_H

#include <stdbool.h>
#include <stdint.h>

struct arena;

#define RANK_TREE_NONE UINT32_MAX

/* True: a, the item that is inserted, belongs before b. */
typedef bool rank_tree_before_fn(void *owner, uint32_t a, uint32_t b);
/* Children may be RANK_TREE_NONE. */
typedef void rank_tree_sum_fn(void *owner, uint32_t item, uint32_t left,
                              uint32_t right);

/* The place of an item in the tree. */
struct rank_tree_node {
    uint32_t left, right, up;   /* items, or RANK_TREE_NONE */
    uint32_t count;             /* of its subtree; 0: not in the sequence */
};

struct rank_tree {
    struct arena *arena;        /* owns `node` */
    struct rank_tree_node *node;    /* by item */
    uint32_t room, root;        /* nodes that there is room for; the top item or RANK_TREE_NONE */
    uint32_t last_item, last_rank; /* of the last access by place; RANK_TREE_NONE: none holds */
    rank_tree_sum_fn *sum;          /* NULL: no sums */
    void *owner, *sum_owner;        /* of before(); of sums: the same at first */
};

/* Makes an empty sequence. `sum` may be NULL; `owner` stays the caller's and
 * is handed to the callbacks. */
void rank_tree_init(struct rank_tree *ranks, struct arena *arena, rank_tree_sum_fn *sum,
                    void *owner);
/* Returns the number of items in the sequence.  O(1). */
uint32_t rank_tree_count(const struct rank_tree *ranks);
/* Inserts before the first item that it belongs before; NULL: at the end. */
void rank_tree_insert(struct rank_tree *ranks, uint32_t item,
                      rank_tree_before_fn *before);
/* Inserts directly before `other`. */
void rank_tree_insert_at(struct rank_tree *ranks, uint32_t item, uint32_t other);

/* Removes an item, which must be in the sequence. */
void rank_tree_remove(struct rank_tree *ranks, uint32_t item);
/* Computes the sums again after the owner's value of an item changed. */
void rank_tree_touch(struct rank_tree *ranks, uint32_t item);
/* Returns the i-th item, from 0; RANK_TREE_NONE past the last. */
uint32_t rank_tree_at(struct rank_tree *ranks, uint32_t i);
/* Returns the position of an item. */
uint32_t rank_tree_rank(const struct rank_tree *ranks, uint32_t item);
/* Return the first and the last item; RANK_TREE_NONE: the sequence is empty. */
uint32_t rank_tree_first(const struct rank_tree *ranks);
uint32_t rank_tree_last(const struct rank_tree *ranks);
/* Return the neighbour of an item; RANK_TREE_NONE: it is at that end. */
uint32_t rank_tree_next(const struct rank_tree *ranks, uint32_t item);
uint32_t rank_tree_previous(const struct rank_tree *ranks, uint32_t item);
/* Fills item[] with all items, in order. */
void rank_tree_list(const struct rank_tree *ranks, uint32_t *item);
/* Removes all items. */
void rank_tree_clear(struct rank_tree *ranks);
/* Puts the items in the order of item[], which lists each of them once.  O(n);
 * all sums are made anew. */
void rank_tree_reorder(struct rank_tree *ranks, const uint32_t *item);

#endif
