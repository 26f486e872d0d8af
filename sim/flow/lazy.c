/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lazy.c - a binary heap with lazy deletion.
 *
 * Sweeping costs what is there and leaves at least half of the room free, so a
 * push costs O(log n) on average.
 */
#include "sim/flow/lazy.h"

#include <assert.h>
#include <stdlib.h>

#include "sim/base/arena.h"

void lazy_release(struct lazy *heap)
{
    free(heap->item);
    *heap = (struct lazy){NULL, 0, 0};
}

static inline bool before(const struct lazy_item *a, const struct lazy_item *b)
{
    if (a->key != b->key)
        return a->key < b->key;
    if (a->tail != b->tail)
        return a->tail < b->tail;
    return a->id < b->id;
}

static void sink(struct lazy *heap, uint32_t hole, struct lazy_item item)
{
    struct lazy_item *all = heap->item;
    uint32_t child;

    assert(hole < heap->count);
    while ((child = 2 * hole + 1) < heap->count) {
        if (child + 1 < heap->count && before(&all[child + 1], &all[child]))
            child++;
        if (!before(&all[child], &item))
            break;
        all[hole] = all[child];
        hole = child;
    }
    all[hole] = item;
}

static void rise(struct lazy *heap, uint32_t hole, struct lazy_item item)
{
    struct lazy_item *all = heap->item;

    while (hole > 0 && before(&item, &all[(hole - 1) / 2])) {
        all[hole] = all[(hole - 1) / 2];
        hole = (hole - 1) / 2;
    }
    all[hole] = item;
}

/* Sweeps, and grows where that did not help much. */
static void make_room(struct lazy *heap, lazy_holds_fn *holds,
                      const void *self)
{
    uint32_t i, kept = 0;

    for (i = 0; i < heap->count; i++)
        if (holds(self, &heap->item[i]))
            heap->item[kept++] = heap->item[i];
    heap->count = kept;
    for (i = kept / 2; i-- > 0;)
        sink(heap, i, heap->item[i]);
    if (heap->room > 0 && kept <= heap->room / 2)
        return;
    assert(heap->room <= UINT32_MAX / 2);
    heap->room = heap->room == 0 ? 16 : heap->room * 2;
    heap->item = arena_resize_own(heap->item, heap->room, sizeof *heap->item);
}

void lazy_push(struct lazy *heap, struct lazy_item item, lazy_holds_fn *holds,
               const void *self)
{
    assert(item.key == item.key && item.tail == item.tail);     /* no NaN */
    if (heap->count == heap->room)
        make_room(heap, holds, self);
    rise(heap, heap->count++, item);
}

const struct lazy_item *lazy_top(struct lazy *heap, lazy_holds_fn *holds,
                                 const void *self)
{
    while (heap->count > 0 && !holds(self, &heap->item[0]))
        lazy_pop(heap);
    return heap->count > 0 ? &heap->item[0] : NULL;
}

void lazy_pop(struct lazy *heap)
{
    assert(heap->count > 0);
    heap->count--;
    if (heap->count > 0)
        sink(heap, 0, heap->item[heap->count]);
}
