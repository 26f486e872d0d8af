/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * heap4.c - a plain 4-ary heap with lazy cancelling, and a loop around it.
 *
 * An entry is one number of 128 bits: time (64), rank (3), push number (37),
 * slot of its record (24), so that comparing two needs no branch.  The root
 * stands at 3 and the children of i at 4i - 8 to 4i - 5, the four of them in
 * one cache line; behind the last entry stand four that go after everything.
 * A record knows the push it was made by; an entry of another one is dead.
 */
#include "tests/oracles/heap4.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/base/digest.h"

#define RANK_SHIFT 61u
#define SLOT_BITS 24u
#define SLOT_COUNT_MAX (UINT32_C(1) << SLOT_BITS)
#define PUSH_COUNT_MAX (UINT64_C(1) << (RANK_SHIFT - SLOT_BITS))
#define NO_SLOT UINT32_MAX
#define ROOT 3u
#define FIRST_CHILD(i) (4 * (i) - 8)
#define PARENT(i) ((i) / 4 + 2)

__extension__ typedef unsigned __int128 entry;

struct record {
    heap4_fn *fn;
    void *self;
    uint64_t arg;
    uint64_t order;             /* low half of its entry; 0: free */
    uint32_t generation, next_free;
};

struct heap4 {
    entry *entry;
    size_t end, room;           /* entries stand from ROOT to before end */
    struct record *record;
    uint32_t record_room, free_slot;
    uint64_t push_count, digest;
    int64_t now_ns;
};

static void grow_entries(struct heap4 *heap)
{
    size_t room = heap->room == 0 ? 256 : heap->room * 2;
    entry *bigger = aligned_alloc(64, room * sizeof *bigger);
    assert(bigger != NULL);
    if (heap->room > 0)
        memcpy(bigger, heap->entry, heap->room * sizeof *bigger);
    memset(bigger + heap->room, 0xff, (room - heap->room) * sizeof *bigger);
    free(heap->entry);
    heap->entry = bigger;
    heap->room = room;
}

struct heap4 *heap4_new(void)
{
    struct heap4 *heap = arena_resize_own(NULL, 1, sizeof *heap);
    memset(heap, 0, sizeof *heap);
    heap->free_slot = NO_SLOT;
    heap->push_count = 1;
    heap->end = ROOT;
    grow_entries(heap);
    return heap;
}

void heap4_free(struct heap4 *heap)
{
    if (heap == NULL)
        return;
    free(heap->entry);
    free(heap->record);
    free(heap);
}

static void grow_records(struct heap4 *heap)
{
    uint32_t old = heap->record_room;
    uint32_t room = old == 0 ? 256 : old * 2;
    assert(room > old && room <= SLOT_COUNT_MAX);
    heap->record =
        arena_resize_own(heap->record, room, sizeof *heap->record);
    for (uint32_t slot = old; slot < room; slot++) {
        heap->record[slot].order = 0;
        heap->record[slot].generation = 1;
        heap->record[slot].next_free = slot + 1 < room ? slot + 1 : NO_SLOT;
    }
    heap->record_room = room;
    heap->free_slot = old;
}

static void push_entry(struct heap4 *heap, entry key)
{
    if (heap->end + 4 >= heap->room)
        grow_entries(heap);
    size_t i = heap->end++;
    while (i > ROOT && key < heap->entry[PARENT(i)]) {
        heap->entry[i] = heap->entry[PARENT(i)];
        i = PARENT(i);
    }
    heap->entry[i] = key;
}

/* Two pairs and then their winners: shorter to wait for than one by one. */
static inline size_t least_child(const entry *heap, size_t first)
{
    size_t a = first + (heap[first + 1] < heap[first]);
    size_t b = first + 2 + (heap[first + 3] < heap[first + 2]);
    return heap[b] < heap[a] ? b : a;
}

static entry pop_entry(struct heap4 *heap)
{
    assert(heap->end > ROOT);
    entry *at = heap->entry, top = at[ROOT], last = at[--heap->end];
    size_t i = ROOT;
    at[heap->end] = ~(entry)0;
    while (FIRST_CHILD(i) < heap->end) {
        size_t child = least_child(at, FIRST_CHILD(i));
        if (last <= at[child])
            break;
        at[i] = at[child];
        i = child;
    }
    if (heap->end > ROOT)
        at[i] = last;
    return top;
}

static void release(struct heap4 *heap, uint32_t slot)
{
    heap->record[slot].order = 0;
    heap->record[slot].generation++;
    heap->record[slot].next_free = heap->free_slot;
    heap->free_slot = slot;
}

struct loop_handle heap4_at(struct heap4 *heap, int64_t time_ns,
                            enum loop_rank rank, heap4_fn *fn, void *self,
                            uint64_t arg)
{
    assert(time_ns >= heap->now_ns && fn != NULL);
    if (heap->free_slot == NO_SLOT)
        grow_records(heap);
    uint32_t slot = heap->free_slot;
    struct record *record = &heap->record[slot];
    heap->free_slot = record->next_free;
    record->fn = fn;
    record->self = self;
    record->arg = arg;
    record->order = (uint64_t)rank << RANK_SHIFT |
                    heap->push_count++ << SLOT_BITS | slot;
    assert(heap->push_count < PUSH_COUNT_MAX);
    push_entry(heap, (entry)(uint64_t)time_ns << 64 | record->order);
    return (struct loop_handle){slot, record->generation};
}

bool heap4_cancel(struct heap4 *heap, struct loop_handle handle)
{
    if (handle.generation == 0 ||
        heap->record[handle.slot].generation != handle.generation)
        return false;
    release(heap, handle.slot);
    return true;
}

void heap4_run(struct heap4 *heap, uint64_t event_count)
{
    while (event_count > 0 && heap->end > ROOT) {
        entry key = pop_entry(heap);
        uint64_t order = (uint64_t)key;
        uint32_t slot = (uint32_t)order & (SLOT_COUNT_MAX - 1);
        struct record record = heap->record[slot];
        if (record.order != order)
            continue;
        release(heap, slot);
        heap->now_ns = (int64_t)(key >> 64);
        heap->digest = digest_event(heap->digest, (uint64_t)(key >> 64),
                                    order >> RANK_SHIFT, record.arg);
        event_count--;
        record.fn(heap, record.self, record.arg);
    }
}

int64_t heap4_now_ns(const struct heap4 *heap)
{
    return heap->now_ns;
}

uint64_t heap4_digest(const struct heap4 *heap)
{
    return heap->digest;
}
