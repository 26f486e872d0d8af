/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lazy_heap.c - a binary heap with lazy deletion.
 *
 * Sweeping costs what is there and leaves at least half of the room free, so a
 * push costs O(log n) on average.
 */
#include "sim/containers/lazy_heap.h"

#include <assert.h>
#include <stdlib.h>

#include "sim/base/arena.h"

/* The items are malloc's, not an arena's, because the heap grows and shrinks during a run. */
void lazy_heap_release(struct lazy_heap *heap)
{
    assert(heap->item != NULL || heap->room == 0);
    free(heap->item);
    *heap = (struct lazy_heap){NULL, 0, 0};
}

/* Does item a go before item b?  By key, tail and id.  So the order of equal
 * keys is the same on every machine. */
static inline bool goes_before(const struct lazy_heap_item *a, const struct lazy_heap_item *b)
{
    if (a->key != b->key)
        return a->key < b->key;
    if (a->tail != b->tail)
        return a->tail < b->tail;
    return a->id < b->id;
}

/* Moves an item down from a hole to where it belongs. */
static void sink_item(struct lazy_heap *heap, uint32_t hole, struct lazy_heap_item item)
{
    struct lazy_heap_item *all = heap->item;
    uint32_t child;

    assert(hole < heap->count);
    while ((child = 2 * hole + 1) < heap->count) {
        if (child + 1 < heap->count && goes_before(&all[child + 1], &all[child]))
            child++;
        if (!goes_before(&all[child], &item))
            break;
        all[hole] = all[child];
        hole = child;
    }
    all[hole] = item;
}

/* Moves an item up from a hole to where it belongs. */
static void raise_item(struct lazy_heap *heap, uint32_t hole, struct lazy_heap_item item)
{
    struct lazy_heap_item *all = heap->item;

    assert(hole < heap->count);
    while (hole > 0 && goes_before(&item, &all[(hole - 1) / 2])) {
        all[hole] = all[(hole - 1) / 2];
        hole = (hole - 1) / 2;
    }
    all[hole] = item;
}

/* Drops all items that do not hold, and makes a heap of the rest, in O(n)
 * (Floyd 1964). */
static void drop_stale(struct lazy_heap *heap, lazy_heap_holds_fn *holds,
                       const void *self)
{
    uint32_t i, kept = 0;

    for (i = 0; i < heap->count; i++)
        if (holds(self, &heap->item[i]))
            heap->item[kept++] = heap->item[i];
    heap->count = kept;
    assert(kept <= heap->room);
    for (i = kept / 2; i-- > 0;)
        sink_item(heap, i, heap->item[i]);
}

/* Sweeps, and grows where that did not help much.  After a sweep that leaves the heap more
 * than half full, room doubles; else the next sweep would come soon. */
static void make_room(struct lazy_heap *heap, lazy_heap_holds_fn *holds,
                      const void *self)
{
    if (holds != NULL)
        drop_stale(heap, holds, self);
    if (heap->room == 0 || heap->count > heap->room / 2)
        ARENA_REACH(NULL, heap->item, heap->room, heap->room);
    assert(heap->count < heap->room);
}

void lazy_heap_push(struct lazy_heap *heap, struct lazy_heap_item item, lazy_heap_holds_fn *holds,
                    const void *self)
{
    assert(item.key == item.key && item.tail == item.tail);     /* no NaN */
    if (heap->count == heap->room)
        make_room(heap, holds, self);
    raise_item(heap, heap->count++, item);
}

const struct lazy_heap_item *lazy_heap_top(struct lazy_heap *heap, lazy_heap_holds_fn *holds,
                                           const void *self)
{
    while (holds != NULL && heap->count > 0 && !holds(self, &heap->item[0]))
        lazy_heap_pop(heap);
    assert(heap->count <= heap->room);
    return heap->count > 0 ? &heap->item[0] : NULL;
}

void lazy_heap_lower(struct lazy_heap *heap, double key)
{
    assert(heap->count > 0);
    assert(key <= heap->item[0].key);
    heap->item[0].key = key;
}

void lazy_heap_pop(struct lazy_heap *heap)
{
    assert(heap->count > 0);
    double least = heap->item[0].key;

    heap->count--;
    if (heap->count > 0)
        sink_item(heap, 0, heap->item[heap->count]);
    assert(heap->count == 0 || heap->item[0].key >= least);
}
