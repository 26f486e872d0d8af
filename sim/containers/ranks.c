/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ranks.c - a binary tree balanced by the sizes of its subtrees.
 *
 * After Adams (1993) with the parameters <3, 2> that Hirai and Yamamoto proved
 * right (Journal of Functional Programming 21, 2011): with weight = size + 1,
 * no child weighs more than three times its sibling, and a single rotation
 * serves where the inner grandchild weighs less than twice the outer.  Nothing
 * is random, so that equal histories give equal trees.
 */
#include "sim/containers/ranks.h"

#include <assert.h>
#include <stddef.h>

#include "sim/base/arena.h"

#define ROOM_MIN 64u
#define DELTA 3u
#define GAMMA 2u

void ranks_init(struct ranks *ranks, struct arena *arena, ranks_sum_fn *sum,
                void *owner)
{
    assert(ranks != NULL && arena != NULL);
    *ranks = (struct ranks){
        .arena = arena, .root = RANKS_NONE, .last_item = RANKS_NONE,
        .sum = sum, .owner = owner,
    };
}

static uint32_t size(const struct ranks *ranks, uint32_t item)
{
    return item == RANKS_NONE ? 0 : ranks->node[item].count;
}

static uint64_t weight(const struct ranks *ranks, uint32_t item)
{
    return (uint64_t)size(ranks, item) + 1;
}

uint32_t ranks_count(const struct ranks *ranks)
{
    assert(ranks != NULL);
    return size(ranks, ranks->root);
}

static void pull(struct ranks *ranks, uint32_t item)
{
    struct ranks_node *node = &ranks->node[item];
    node->count = size(ranks, node->left) + size(ranks, node->right) + 1;
    if (ranks->sum != NULL)
        ranks->sum(ranks->owner, item, node->left, node->right);
}

/* Puts `child` where `item` hangs. */
static void replace(struct ranks *ranks, uint32_t item, uint32_t child)
{
    uint32_t up = ranks->node[item].up;
    if (child != RANKS_NONE)
        ranks->node[child].up = up;
    if (up == RANKS_NONE)
        ranks->root = child;
    else if (ranks->node[up].left == item)
        ranks->node[up].left = child;
    else
        ranks->node[up].right = child;
}

/* The right child comes up, `item` goes down to its left. */
static uint32_t rotate_left(struct ranks *ranks, uint32_t item)
{
    struct ranks_node *node = ranks->node;
    uint32_t child = node[item].right, inner = node[child].left;
    replace(ranks, item, child);
    node[child].left = item;
    node[item].up = child;
    node[item].right = inner;
    if (inner != RANKS_NONE)
        node[inner].up = item;
    pull(ranks, item);
    pull(ranks, child);
    return child;
}

static uint32_t rotate_right(struct ranks *ranks, uint32_t item)
{
    struct ranks_node *node = ranks->node;
    uint32_t child = node[item].left, inner = node[child].right;
    replace(ranks, item, child);
    node[child].right = item;
    node[item].up = child;
    node[item].left = inner;
    if (inner != RANKS_NONE)
        node[inner].up = item;
    pull(ranks, item);
    pull(ranks, child);
    return child;
}

/* Sizes and balance of an item whose subtrees are right; returns what stands
 * in its place then. */
static uint32_t settle(struct ranks *ranks, uint32_t item)
{
    const struct ranks_node *node = ranks->node;
    uint32_t left = node[item].left, right = node[item].right;
    if (weight(ranks, right) > DELTA * weight(ranks, left)) {
        if (weight(ranks, node[right].left) >=
            GAMMA * weight(ranks, node[right].right))
            rotate_right(ranks, right);
        return rotate_left(ranks, item);
    }
    if (weight(ranks, left) > DELTA * weight(ranks, right)) {
        if (weight(ranks, node[left].right) >=
            GAMMA * weight(ranks, node[left].left))
            rotate_left(ranks, left);
        return rotate_right(ranks, item);
    }
    pull(ranks, item);
    return item;
}

static void settle_up(struct ranks *ranks, uint32_t item)
{
    while (item != RANKS_NONE)
        item = ranks->node[settle(ranks, item)].up;
}

static void make_room(struct ranks *ranks, uint32_t item)
{
    uint32_t room = ranks->room > 0 ? ranks->room : ROOM_MIN;
    if (item < ranks->room)
        return;
    while (room <= item)
        room *= 2;
    ranks->node = arena_grow(ranks->arena, ranks->node, ranks->room, room,
                             sizeof *ranks->node);
    ranks->room = room;
}

void ranks_insert(struct ranks *ranks, uint32_t item,
                  ranks_before_fn *before)
{
    assert(ranks != NULL && item != RANKS_NONE);
    make_room(ranks, item);
    assert(ranks->node[item].count == 0);
    uint32_t up = RANKS_NONE, at = ranks->root;
    bool goes_left = false;
    while (at != RANKS_NONE) {
        up = at;
        goes_left = before != NULL && before(ranks->owner, item, at);
        at = goes_left ? ranks->node[at].left : ranks->node[at].right;
    }
    ranks->node[item] = (struct ranks_node){ RANKS_NONE, RANKS_NONE, up, 1 };
    if (up == RANKS_NONE)
        ranks->root = item;
    else if (goes_left)
        ranks->node[up].left = item;
    else
        ranks->node[up].right = item;
    ranks->last_item = RANKS_NONE;
    settle_up(ranks, item);
}

void ranks_insert_at(struct ranks *ranks, uint32_t item, uint32_t other)
{
    assert(ranks != NULL && item != RANKS_NONE);
    make_room(ranks, item);
    struct ranks_node *node = ranks->node;
    assert(node[item].count == 0 && node[other].count > 0);
    uint32_t up = other;
    if (node[other].left == RANKS_NONE) {
        node[other].left = item;
    } else {
        up = node[other].left;
        while (node[up].right != RANKS_NONE)
            up = node[up].right;
        node[up].right = item;
    }
    node[item] = (struct ranks_node){ RANKS_NONE, RANKS_NONE, up, 1 };
    ranks->last_item = RANKS_NONE;
    settle_up(ranks, item);
}

void ranks_touch(struct ranks *ranks, uint32_t item)
{
    assert(ranks != NULL && item < ranks->room);
    assert(ranks->node[item].count > 0);
    for (; item != RANKS_NONE; item = ranks->node[item].up)
        pull(ranks, item);
}

static uint32_t leftmost(const struct ranks *ranks, uint32_t item)
{
    while (ranks->node[item].left != RANKS_NONE)
        item = ranks->node[item].left;
    return item;
}

static uint32_t next(const struct ranks *ranks, uint32_t item)
{
    if (ranks->node[item].right != RANKS_NONE)
        return leftmost(ranks, ranks->node[item].right);
    uint32_t up = ranks->node[item].up;
    while (up != RANKS_NONE && ranks->node[up].right == item) {
        item = up;
        up = ranks->node[up].up;
    }
    return up;
}

void ranks_remove(struct ranks *ranks, uint32_t item)
{
    assert(ranks != NULL && item < ranks->room);
    assert(ranks->node[item].count > 0);
    struct ranks_node *node = ranks->node;
    uint32_t left = node[item].left, right = node[item].right, from;
    /* Whoever walks on finds the next in the place of what left. */
    ranks->last_item = ranks->last_item == item ? next(ranks, item)
                                                : RANKS_NONE;
    if (left == RANKS_NONE || right == RANKS_NONE) {
        from = node[item].up;
        replace(ranks, item, left == RANKS_NONE ? right : left);
    } else {
        uint32_t heir = leftmost(ranks, right);
        from = heir;
        if (heir != right) {
            from = node[heir].up;
            replace(ranks, heir, node[heir].right);
            node[heir].right = right;
            node[right].up = heir;
        }
        replace(ranks, item, heir);
        node[heir].left = left;
        node[left].up = heir;
    }
    node[item].count = 0;
    settle_up(ranks, from);
}

uint32_t ranks_at(struct ranks *ranks, uint32_t i)
{
    assert(ranks != NULL);
    uint32_t at = ranks->root, skip = i;
    if (i >= ranks_count(ranks))
        return RANKS_NONE;
    if (ranks->last_item != RANKS_NONE &&
        (i == ranks->last_rank || i == ranks->last_rank + 1)) {
        at = i == ranks->last_rank ? ranks->last_item
                                   : next(ranks, ranks->last_item);
        skip = size(ranks, ranks->node[at].left);
    }
    while (skip != size(ranks, ranks->node[at].left)) {
        uint32_t left = size(ranks, ranks->node[at].left);
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

uint32_t ranks_rank(const struct ranks *ranks, uint32_t item)
{
    assert(ranks != NULL && item < ranks->room);
    assert(ranks->node[item].count > 0);
    const struct ranks_node *node = ranks->node;
    uint32_t rank = size(ranks, node[item].left);
    for (uint32_t up = node[item].up; up != RANKS_NONE;
         item = up, up = node[up].up)
        if (node[up].right == item)
            rank += size(ranks, node[up].left) + 1;
    return rank;
}

void ranks_list(const struct ranks *ranks, uint32_t *item)
{
    assert(ranks != NULL);
    uint32_t at = ranks->root == RANKS_NONE ? RANKS_NONE
                                            : leftmost(ranks, ranks->root);
    for (uint32_t i = 0; at != RANKS_NONE; i++) {
        item[i] = at;
        at = next(ranks, at);
    }
}

void ranks_clear(struct ranks *ranks)
{
    assert(ranks != NULL);
    for (uint32_t i = 0; i < ranks->room; i++)
        ranks->node[i].count = 0;
    ranks->root = ranks->last_item = RANKS_NONE;
}

/* The middle one on top of the two halves. */
static uint32_t build(struct ranks *ranks, const uint32_t *item,
                      uint32_t count, uint32_t up)
{
    if (count == 0)
        return RANKS_NONE;
    uint32_t half = count / 2, top = item[half];
    ranks->node[top].up = up;
    ranks->node[top].left = build(ranks, item, half, top);
    ranks->node[top].right = build(ranks, item + half + 1, count - half - 1,
                                   top);
    pull(ranks, top);
    return top;
}

void ranks_reorder(struct ranks *ranks, const uint32_t *item)
{
    assert(ranks != NULL);
    uint32_t count = ranks_count(ranks);
    assert(count == 0 || item != NULL);
    ranks->last_item = RANKS_NONE;
    ranks->root = build(ranks, item, count, RANKS_NONE);
}
