/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * winners.h - which of a fixed number of items has the highest score: a tournament tree.
 *
 * order.h orders items that come and go, by a comparison of the owner's.  Here the items
 * are a fixed number, a score is a number, and the first one alone is asked for: a change
 * plays the matches on its way to the root again, and ends where the winner stays.
 */
#ifndef SIM_CONTAINERS_WINNERS_H
#define SIM_CONTAINERS_WINNERS_H

#include <stdbool.h>
#include <stdint.h>

struct arena;

/* For example, four items with the scores 5, 9, 7 and 9: match 2 is won by item 1, match 3 by
 * item 3, and match 1 by item 1, the lower of the equals. */
struct winners {
    int32_t *score;             /* per item */
    uint32_t *match;            /* [1] the root; of match i those before it are 2i and
                                   2i + 1; [leaves + item] the item, or UINT32_MAX */
    uint32_t count, leaves;     /* items; the least power of two that is not below */
};

/* No item of `count` takes part yet.  Memory comes from the arena. */
void winners_init(struct winners *winners, struct arena *arena, uint32_t count);
/* _put: an item takes part, with this score from now on.  _drop: it does not, from now
 * on.  In O(log count). */
void winners_put(struct winners *winners, uint32_t item, int32_t score);
void winners_drop(struct winners *winners, uint32_t item);
/* Returns the item with the highest score, the lowest of equals; UINT32_MAX: none takes
 * part. */
uint32_t winners_first(const struct winners *winners);

#endif
