/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lazy.h - a heap whose items go stale instead of being taken out.
 *
 * Least key first, then least tail, then least id.  The owner keeps a stamp
 * for each id and changes it when what it pushed no longer holds: stale items
 * are dropped when they come first, and swept when the heap is full, so that
 * it holds at most twice what is valid, and a little.
 */
#ifndef SIM_FLOW_LAZY_H
#define SIM_FLOW_LAZY_H

#include <stdbool.h>
#include <stdint.h>

struct lazy_item {
    double key, tail;
    uint32_t id, stamp;
};

/* All zero: empty. */
struct lazy {
    struct lazy_item *item;
    uint32_t count, room;
};

typedef bool lazy_holds_fn(const void *self, const struct lazy_item *item);

void lazy_release(struct lazy *heap);
void lazy_push(struct lazy *heap, struct lazy_item item, lazy_holds_fn *holds,
               const void *self);
/* The least item that holds, or NULL; stale ones before it are dropped. */
const struct lazy_item *lazy_top(struct lazy *heap, lazy_holds_fn *holds,
                                 const void *self);
void lazy_pop(struct lazy *heap);

#endif
