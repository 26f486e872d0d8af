/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ranks.h - a sequence that knows places: put in, take out, the i-th.
 *
 * Items are small numbers of the owner's (slots), each in the sequence at most
 * once.  Everything costs the logarithm of the length; walking on from the
 * item last asked for is O(1) on average.  The owner may keep sums over
 * subtrees: it is told whenever those of an item have to be made again from
 * the item and its two children.
 */
#ifndef SIM_CONTAINERS_RANKS_H
#define SIM_CONTAINERS_RANKS_H

#include <stdbool.h>
#include <stdint.h>

struct arena;

#define RANKS_NONE UINT32_MAX

/* Should a stand before b?  a is what is put in. */
typedef bool ranks_before_fn(void *owner, uint32_t a, uint32_t b);
/* Children may be RANKS_NONE. */
typedef void ranks_sum_fn(void *owner, uint32_t item, uint32_t left,
                          uint32_t right);

struct ranks_node {
    uint32_t left, right, up;
    uint32_t count;             /* of its subtree; 0: not in the sequence */
};

struct ranks {
    struct arena *arena;
    struct ranks_node *node;    /* by item */
    uint32_t room, root;
    uint32_t last_item, last_rank;      /* what was asked for last */
    ranks_sum_fn *sum;          /* NULL: no sums */
    void *owner;
};

void ranks_init(struct ranks *ranks, struct arena *arena, ranks_sum_fn *sum,
                void *owner);
uint32_t ranks_count(const struct ranks *ranks);
/* After all that it should not stand before; NULL: at the end. */
void ranks_insert(struct ranks *ranks, uint32_t item,
                  ranks_before_fn *before);
/* Right before another. */
void ranks_insert_at(struct ranks *ranks, uint32_t item, uint32_t other);
void ranks_remove(struct ranks *ranks, uint32_t item);
/* What the owner sums up of an item has changed. */
void ranks_touch(struct ranks *ranks, uint32_t item);
/* The i-th from 0; RANKS_NONE past the last. */
uint32_t ranks_at(struct ranks *ranks, uint32_t i);
uint32_t ranks_rank(const struct ranks *ranks, uint32_t item);
/* All items, in order. */
void ranks_list(const struct ranks *ranks, uint32_t *item);
/* Takes out all. */
void ranks_clear(struct ranks *ranks);
/* The same items, in another order. */
void ranks_reorder(struct ranks *ranks, const uint32_t *item);

#endif
