/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lazy_heap.h - a heap whose items become invalid instead of being removed.
 *
 * Order: least key, then least tail, then least id.  The owner keeps a stamp
 * for each id, and changes it to make the items of this id invalid.  Invalid
 * items are dropped when they come first, and all of them when the heap is
 * full; so it holds at most about twice the number of valid items.
 *
 * Where nothing becomes invalid, `holds` is NULL: a plain heap.
 */
#ifndef SIM_CONTAINERS_LAZY_HEAP_H
#define SIM_CONTAINERS_LAZY_HEAP_H

#include <stdbool.h>
#include <stdint.h>

struct lazy_heap_item {
    double key, tail;           /* the tail decides between equal keys */
    uint32_t id, stamp;         /* of the owner: `holds` compares the stamp with that of the id */
};

/* All zero: empty. */
struct lazy_heap {
    struct lazy_heap_item *item; /* item[0] is the first; owned, NULL while room is 0 */
    uint32_t count, room;       /* items, valid or not; items that there is room for */
};

/* True: the item is valid. */
typedef bool lazy_heap_holds_fn(const void *self, const struct lazy_heap_item *item);

/* Returns the heap's memory; it is empty then and may be used again. */
void lazy_heap_release(struct lazy_heap *heap);
/* Adds an item, whose key and tail must be numbers.  `self` goes to `holds`. */
void lazy_heap_push(struct lazy_heap *heap, struct lazy_heap_item item, lazy_heap_holds_fn *holds,
                    const void *self);
/* Returns the first valid item and drops invalid ones before it; NULL: there is
 * none. */
const struct lazy_heap_item *lazy_heap_top(struct lazy_heap *heap, lazy_heap_holds_fn *holds,
                                           const void *self);
/* Gives the first item, which must be there, a key that is not higher: it stays the first. */
void lazy_heap_lower(struct lazy_heap *heap, double key);
/* Removes the first item, which must be there; O(log n). */
void lazy_heap_pop(struct lazy_heap *heap);

#endif
