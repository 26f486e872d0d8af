/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rank_tree.c - a binary tree balanced by the sizes of its subtrees.
 *
 * After Adams (1993) with the parameters <3, 2> that Hirai and Yamamoto proved
 * right (Journal of Functional Programming 21, 2011): with weight = size + 1,
 * no child weighs more than three times its sibling, and a single rotation
 * serves where the inner grandchild weighs less than twice the outer.  Nothing
 * is random, so that equal histories give equal trees.
 */
#include "sim/containers/rank_tree.h"

#include <assert.h>
#include <stddef.h>

#include "sim/base/arena.h"

/* The balance parameters: DELTA bounds the weights of siblings, GAMMA chooses between one
 * rotation and two. */
#define DELTA 3u
#define GAMMA 2u

void rank_tree_init(struct rank_tree *ranks, struct arena *arena, rank_tree_sum_fn *sum,
                    void *owner)
{
    assert(ranks != NULL && arena != NULL);
    *ranks = (struct rank_tree){
        .arena = arena, .root = RANK_TREE_NONE, .last_item = RANK_TREE_NONE,
        .sum = sum, .owner = owner, .sum_owner = owner,
    };
}

/* Returns the number of items in a subtree; `item` may be RANK_TREE_NONE. */
static uint32_t count_of(const struct rank_tree *ranks, uint32_t item)
{
    return item == RANK_TREE_NONE ? 0 : ranks->node[item].count;
}

/* Returns the weight of a subtree, which balances the tree. */
static uint64_t weight_of(const struct rank_tree *ranks, uint32_t item)
{
    return (uint64_t)count_of(ranks, item) + 1;
}

uint32_t rank_tree_count(const struct rank_tree *ranks)
{
    assert(ranks != NULL);
    return count_of(ranks, ranks->root);
}

/* Makes the sums of an item from those of its children.  The sums of the children must be
 * right. */
static void sum_item(struct rank_tree *ranks, uint32_t item)
{
    struct rank_tree_node *node = &ranks->node[item];
    node->count = count_of(ranks, node->left) + count_of(ranks, node->right) + 1;
    if (ranks->sum != NULL)
        ranks->sum(ranks->sum_owner, item, node->left, node->right);
}

/* Puts `child` where `item` hangs. */
static void replace_child(struct rank_tree *ranks, uint32_t item, uint32_t child)
{
    uint32_t up = ranks->node[item].up;
    assert(child != item && up != item);
    if (child != RANK_TREE_NONE)
        ranks->node[child].up = up;
    if (up == RANK_TREE_NONE)
        ranks->root = child;
    else if (ranks->node[up].left == item)
        ranks->node[up].left = child;
    else
        ranks->node[up].right = child;
}

/* The right child comes up, `item` goes down to its left.  Returns the child.  The order of
 * items stays the same, and both sums are made anew, the lower one first. */
static uint32_t rotate_left(struct rank_tree *ranks, uint32_t item)
{
    struct rank_tree_node *node = ranks->node;
    uint32_t child = node[item].right, inner = node[child].left;
    assert(child != RANK_TREE_NONE);
    replace_child(ranks, item, child);
    node[child].left = item;
    node[item].up = child;
    node[item].right = inner;
    if (inner != RANK_TREE_NONE)
        node[inner].up = item;
    sum_item(ranks, item);
    sum_item(ranks, child);
    return child;
}

/* The left child comes up, `item` goes down to its right. */
static uint32_t rotate_right(struct rank_tree *ranks, uint32_t item)
{
    struct rank_tree_node *node = ranks->node;
    uint32_t child = node[item].left, inner = node[child].right;
    assert(child != RANK_TREE_NONE);
    replace_child(ranks, item, child);
    node[child].right = item;
    node[item].up = child;
    node[item].left = inner;
    if (inner != RANK_TREE_NONE)
        node[inner].up = item;
    sum_item(ranks, item);
    sum_item(ranks, child);
    return child;
}

/* One side of an item is too heavy; returns what stands in its place then.  If the inner
 * grandchild is too heavy, one rotation would only move the weight to the other side.  The
 * child is rotated first, so that the weight stands outside. */
static uint32_t balance_item(struct rank_tree *ranks, uint32_t item, bool left_heavy)
{
    const struct rank_tree_node *node = ranks->node;
    uint32_t child = left_heavy ? node[item].left : node[item].right;

    assert(child != RANK_TREE_NONE);    /* the heavy side */
    if (left_heavy) {
        if (weight_of(ranks, node[child].right) >=
            GAMMA * weight_of(ranks, node[child].left))
            rotate_left(ranks, child);
        return rotate_right(ranks, item);
    }
    if (weight_of(ranks, node[child].left) >=
        GAMMA * weight_of(ranks, node[child].right))
        rotate_right(ranks, child);
    return rotate_left(ranks, item);
}

/* Sizes and balance of an item whose subtrees are right, and of all above it:
 * most are in balance, and are looked at once. */
static void settle_up(struct rank_tree *ranks, uint32_t item)
{
    while (item != RANK_TREE_NONE) {
        struct rank_tree_node *node = &ranks->node[item];
        uint64_t left = weight_of(ranks, node->left);
        uint64_t right = weight_of(ranks, node->right);
        if (right > DELTA * left || left > DELTA * right) {
            node = &ranks->node[balance_item(ranks, item, left > right)];
        } else {
            assert(left + right - 1 <= UINT32_MAX);
            node->count = (uint32_t)(left + right - 1);
            if (ranks->sum != NULL)
                ranks->sum(ranks->sum_owner, item, node->left, node->right);
        }
        item = node->up;
    }
}

/* Goes down to a leaf, behind all equals, and restores balance and counts on
 * the way up.  O(log n) calls of before().  With NULL for it the walk goes right each time. */
void rank_tree_insert(struct rank_tree *ranks, uint32_t item,
                      rank_tree_before_fn *before)
{
    assert(ranks != NULL && item != RANK_TREE_NONE);
    ARENA_REACH(ranks->arena, ranks->node, ranks->room, item);
    assert(ranks->node[item].count == 0);
    uint32_t up = RANK_TREE_NONE, at = ranks->root;
    uint32_t count = rank_tree_count(ranks);
    bool goes_left = false;
    while (at != RANK_TREE_NONE) {
        up = at;
        goes_left = before != NULL && before(ranks->owner, item, at);
        at = goes_left ? ranks->node[at].left : ranks->node[at].right;
    }
    ranks->node[item] = (struct rank_tree_node){ RANK_TREE_NONE, RANK_TREE_NONE, up, 1 };
    if (up == RANK_TREE_NONE)
        ranks->root = item;
    else if (goes_left)
        ranks->node[up].left = item;
    else
        ranks->node[up].right = item;
    ranks->last_item = RANK_TREE_NONE;
    settle_up(ranks, item);
    assert(rank_tree_count(ranks) == count + 1);
}

/* The new item becomes the left child of `other`, or the right child of the
 * item before `other`: the place in order between both. */
void rank_tree_insert_at(struct rank_tree *ranks, uint32_t item, uint32_t other)
{
    assert(ranks != NULL && item != RANK_TREE_NONE);
    ARENA_REACH(ranks->arena, ranks->node, ranks->room, item);
    struct rank_tree_node *node = ranks->node;
    assert(node[item].count == 0 && node[other].count > 0);
    uint32_t count = rank_tree_count(ranks);
    uint32_t up = other;
    if (node[other].left == RANK_TREE_NONE) {
        node[other].left = item;
    } else {
        up = node[other].left;
        while (node[up].right != RANK_TREE_NONE)
            up = node[up].right;
        node[up].right = item;
    }
    node[item] = (struct rank_tree_node){ RANK_TREE_NONE, RANK_TREE_NONE, up, 1 };
    ranks->last_item = RANK_TREE_NONE;
    settle_up(ranks, item);
    assert(rank_tree_count(ranks) == count + 1);
}

void rank_tree_touch(struct rank_tree *ranks, uint32_t item)
{
    assert(ranks != NULL && item < ranks->room);
    assert(ranks->node[item].count > 0);
    for (; item != RANK_TREE_NONE; item = ranks->node[item].up)
        sum_item(ranks, item);
}

/* Return the first and the last item of a subtree that is not empty. */
static uint32_t find_leftmost(const struct rank_tree *ranks, uint32_t item)
{
    assert(ranks->node[item].count > 0);
    while (ranks->node[item].left != RANK_TREE_NONE)
        item = ranks->node[item].left;
    return item;
}

/* Returns the last item of the subtree of an item. */
static uint32_t find_rightmost(const struct rank_tree *ranks, uint32_t item)
{
    assert(ranks->node[item].count > 0);
    while (ranks->node[item].right != RANK_TREE_NONE)
        item = ranks->node[item].right;
    return item;
}

uint32_t rank_tree_first(const struct rank_tree *ranks)
{
    assert(ranks->root == RANK_TREE_NONE || ranks->root < ranks->room);
    return ranks->root == RANK_TREE_NONE ? RANK_TREE_NONE
                                         : find_leftmost(ranks, ranks->root);
}

uint32_t rank_tree_last(const struct rank_tree *ranks)
{
    assert(ranks->root == RANK_TREE_NONE || ranks->root < ranks->room);
    return ranks->root == RANK_TREE_NONE ? RANK_TREE_NONE
                                         : find_rightmost(ranks, ranks->root);
}

/* The last item of the left subtree, or else the first one above that this one is not to the
 * left of. */
uint32_t rank_tree_previous(const struct rank_tree *ranks, uint32_t item)
{
    assert(ranks->node[item].count > 0);
    if (ranks->node[item].left != RANK_TREE_NONE)
        return find_rightmost(ranks, ranks->node[item].left);
    uint32_t up = ranks->node[item].up;
    while (up != RANK_TREE_NONE && ranks->node[up].left == item) {
        item = up;
        up = ranks->node[up].up;
    }
    return up;
}

/* The first item of the right subtree, or else the first one above that this one is to the
 * left of. */
uint32_t rank_tree_next(const struct rank_tree *ranks, uint32_t item)
{
    assert(ranks->node[item].count > 0);
    if (ranks->node[item].right != RANK_TREE_NONE)
        return find_leftmost(ranks, ranks->node[item].right);
    uint32_t up = ranks->node[item].up;
    while (up != RANK_TREE_NONE && ranks->node[up].right == item) {
        item = up;
        up = ranks->node[up].up;
    }
    return up;
}

/* An item with two children is replaced by its successor, which takes over its
 * node: items are indices, so none may be copied into another. */
void rank_tree_remove(struct rank_tree *ranks, uint32_t item)
{
    assert(ranks != NULL && item < ranks->room);
    assert(ranks->node[item].count > 0);
    struct rank_tree_node *node = ranks->node;
    uint32_t left = node[item].left, right = node[item].right, from;
    uint32_t count = rank_tree_count(ranks);
    /* A walk by place goes on at the next item, which now has this place. */
    ranks->last_item = ranks->last_item == item ? rank_tree_next(ranks, item)
                                                : RANK_TREE_NONE;
    if (left == RANK_TREE_NONE || right == RANK_TREE_NONE) {
        from = node[item].up;
        replace_child(ranks, item, left == RANK_TREE_NONE ? right : left);
    } else {
        uint32_t heir = find_leftmost(ranks, right);
        from = heir;
        if (heir != right) {
            from = node[heir].up;
            replace_child(ranks, heir, node[heir].right);
            node[heir].right = right;
            node[right].up = heir;
        }
        replace_child(ranks, item, heir);
        node[heir].left = left;
        node[left].up = heir;
    }
    node[item].count = 0;
    settle_up(ranks, from);
    assert(rank_tree_count(ranks) == count - 1);
}

/* The item of the last access, or the one after it, is a shorter way than from
 * the root: loops over places call this with i, i + 1, ... */
uint32_t rank_tree_at(struct rank_tree *ranks, uint32_t i)
{
    assert(ranks != NULL);
    uint32_t at = ranks->root, skip = i;
    if (i >= rank_tree_count(ranks))
        return RANK_TREE_NONE;
    if (ranks->last_item != RANK_TREE_NONE &&
        (i == ranks->last_rank || i == ranks->last_rank + 1)) {
        at = i == ranks->last_rank ? ranks->last_item
                                   : rank_tree_next(ranks, ranks->last_item);
        skip = count_of(ranks, ranks->node[at].left);
    }
    while (skip != count_of(ranks, ranks->node[at].left)) {
        uint32_t left = count_of(ranks, ranks->node[at].left);
        if (skip < left) {
            at = ranks->node[at].left;
        } else {
            skip -= left + 1;
            at = ranks->node[at].right;
        }
    }
    ranks->last_item = at;
    ranks->last_rank = i;
    return at;
}

/* Walks up: what is left of the path comes before.  If an item is a right child, its parent
 * and the parent's left subtree come before it. */
uint32_t rank_tree_rank(const struct rank_tree *ranks, uint32_t item)
{
    assert(ranks != NULL && item < ranks->room);
    assert(ranks->node[item].count > 0);
    const struct rank_tree_node *node = ranks->node;
    uint32_t rank = count_of(ranks, node[item].left);
    for (uint32_t up = node[item].up; up != RANK_TREE_NONE;
         item = up, up = node[up].up)
        if (node[up].right == item)
            rank += count_of(ranks, node[up].left) + 1;
    return rank;
}

void rank_tree_list(const struct rank_tree *ranks, uint32_t *item)
{
    assert(ranks != NULL);
    uint32_t at = rank_tree_first(ranks), i = 0;
    for (; at != RANK_TREE_NONE; i++) {
        item[i] = at;
        at = rank_tree_next(ranks, at);
    }
    assert(i == rank_tree_count(ranks));
}

void rank_tree_clear(struct rank_tree *ranks)
{
    assert(ranks != NULL);
    for (uint32_t i = 0; i < ranks->room; i++)
        ranks->node[i].count = 0;
    ranks->root = ranks->last_item = RANK_TREE_NONE;
    assert(rank_tree_count(ranks) == 0);
}

/* Builds a balanced tree from a list: the middle item on top of the two halves.
 * Recursion is log2(count) deep. */
static uint32_t build_subtree(struct rank_tree *ranks, const uint32_t *item,
                              uint32_t count, uint32_t up)
{
    if (count == 0)
        return RANK_TREE_NONE;
    uint32_t half = count / 2, top = item[half];
    assert(item[half] < ranks->room);
    ranks->node[top].up = up;
    ranks->node[top].left = build_subtree(ranks, item, half, top);
    ranks->node[top].right = build_subtree(ranks, item + half + 1, count - half - 1,
                                           top);
    sum_item(ranks, top);
    return top;
}

void rank_tree_reorder(struct rank_tree *ranks, const uint32_t *item)
{
    assert(ranks != NULL);
    uint32_t count = rank_tree_count(ranks);
    assert(count == 0 || item != NULL);
    ranks->last_item = RANK_TREE_NONE;
    ranks->root = build_subtree(ranks, item, count, RANK_TREE_NONE);
    assert(rank_tree_count(ranks) == count);
}
