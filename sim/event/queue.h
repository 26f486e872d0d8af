/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * queue.h - the pending events, in the order (time, rank, push number).
 *
 * Internal to sim/: loop.h is the interface.  A monotone radix heap (Ahuja,
 * Mehlhorn, Orlin & Tarjan 1990) with a short sorted list in front.  Simulated
 * time never goes back; so an entry can be filed by the highest digit in which
 * its time differs from a base at or before all pending times:
 *
 *   near        a sorted list of all entries before near_limit; of all entries
 *               while there are few
 *   rank_fifo   entries at base, one FIFO per rank
 *   bucket      all others, by (level, digit) of that highest digit; unsorted
 *
 * Invariants: near < near_limit <= rank_fifo and buckets; a FIFO is filled only
 * while near_limit <= base; equal times are always in one place.  Every move
 * keeps the order of entries, so that the push number need not be stored: an
 * entry has 16 bytes.
 *
 * Cancelling frees the record at once and leaves a dead entry, which has an old
 * generation.  A dead entry is dropped when it is met.  All of them are swept
 * when they outnumber the live ones by QUEUE_DEAD_SLACK.
 */
#ifndef SIM_EVENT_QUEUE_H
#define SIM_EVENT_QUEUE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "sim/event/loop.h"

/* A time of 64 bits has 16 digits of 4 bits.  For example, with base 0x1200 the time 0x1234
 * first differs in the digit 3 of level 1 (counted from the lowest), so it is filed in bucket
 * (1, 3). */
#define QUEUE_DIGIT_BITS 4u
#define QUEUE_LEVEL_COUNT (64u / QUEUE_DIGIT_BITS)
#define QUEUE_DIGIT_COUNT (1u << QUEUE_DIGIT_BITS)
#define QUEUE_BUCKET_COUNT (QUEUE_LEVEL_COUNT * QUEUE_DIGIT_COUNT)
#define QUEUE_NEAR_MAX 128u     /* above it, near is filed into buckets */
#define QUEUE_NEAR_ALONE_MAX 32u    /* the bound while all buckets are empty */
#define QUEUE_NEAR_ROOM 256u    /* so that near is seldom moved to its start */
#define QUEUE_SORT_MAX 48u      /* a bucket up to this size is sorted whole */
#define QUEUE_AHEAD 1u          /* which event's object is fetched early */
#define QUEUE_DEAD_SLACK 4096u
#define QUEUE_BLOCK_ENTRIES 63u /* with its link, a block is 1 KiB */
#define QUEUE_GENERATION_MAX ((UINT32_C(1) << 29) - 1)
#define QUEUE_RANK_SHIFT 61u
#define QUEUE_NO_SLOT UINT32_MAX

/* order is rank (3 bits), generation (29 bits), slot (32 bits). */
struct queue_entry {
    uint64_t time_ns;           /* when it is due */
    uint64_t order;
};

/* What an event calls. Its slot is the handle's slot, while its entry moves
 * through near, FIFOs and buckets. A free record is linked by next_free. */
struct queue_record {
    loop_fn *fn;                /* called with self and arg when the event is due */
    void *self;                 /* of the caller that pushed; not owned */
    uint64_t arg;               /* given to fn as it is */
    uint32_t generation;        /* of the event it holds or will hold next; from 1 on */
    uint32_t next_free;         /* slot of the next free record; QUEUE_NO_SLOT: none */
};

/* Storage of a chain, or free.  `pad` makes its size 1 KiB and keeps the
 * entries on boundaries of 16 bytes. */
struct queue_block {
    struct queue_block *next;   /* NULL: the last of its chain */
    uint64_t pad;
    struct queue_entry entry[QUEUE_BLOCK_ENTRIES];
};

/* A FIFO of entries in blocks.  The next goes to *write, and write == end is
 * the end of the last block; empty: all NULL.  Only rank_fifo is read from its
 * front, so elsewhere read is 0. */
struct queue_chain {
    struct queue_block *head;   /* read from here on */
    struct queue_entry *write, *end;
    uint64_t read;              /* entries of head that were taken */
};

struct queue {
    uint64_t near_limit;        /* near holds what comes before it, in ns */
    uint64_t base;              /* at or before all times but those of near, in ns */
    uint64_t now;               /* time of the last event popped */
    uint32_t near_head, near_tail; /* near holds those from head to before tail */
    uint32_t near_max;          /* NEAR_MAX, or NEAR_ALONE_MAX */
    uint32_t rank_mask;         /* bit r: rank_fifo[r] is not empty */
    uint32_t level_mask;        /* bit l: some bucket of level l is not empty */
    struct queue_record *record; /* by slot; moves when it grows */
    uint32_t free_slot, record_count, record_room; /* free_slot: the first free record */
    uint64_t live_count, dead_count; /* entries; dead: cancelled, not met yet */
    /* Two arrays, because the compiler would move pairs by one load; a load of
     * two halves that were just written waits until both are in memory. */
    uint64_t near_time_ns[QUEUE_NEAR_ROOM]; /* sorted, from near_head on */
    uint64_t near_order[QUEUE_NEAR_ROOM + QUEUE_AHEAD]; /* rank, generation and slot of the
                                                         * same entries */
    struct queue_chain rank_fifo[LOOP_RANK_COUNT]; /* by rank: entries at base */
    uint32_t digit_mask[QUEUE_LEVEL_COUNT]; /* bit d: bucket d of the level is not empty */
    struct queue_chain bucket[QUEUE_BUCKET_COUNT]; /* by level x QUEUE_DIGIT_COUNT + digit */
    struct queue_block *free_block; /* emptied, to be used again */
    struct queue_chunk *chunk;  /* what malloc gave, a chain, to give back */
    size_t chunk_count;         /* of the chain `chunk` */
};

/* queue_init() makes an empty queue of any storage and allocates nothing.
 * queue_clear() drops all events, returns all memory, and leaves it empty.
 * queue_held_bytes() counts records and blocks, used or free. */
void queue_init(struct queue *queue);
void queue_clear(struct queue *queue);
size_t queue_held_bytes(const struct queue *queue);

/* Parts that seldom run.  Those of queue_push() are tail calls, so that
 * queue_push() saves no registers. */
struct loop_handle queue_push_grown(struct queue *queue, uint64_t order,
                                    uint64_t time_ns, loop_fn *fn, void *self,
                                    uint64_t arg);
struct loop_handle queue_push_extended(struct queue *queue,
                                       struct queue_chain *chain,
                                       struct queue_entry entry);
struct loop_handle queue_push_crowded(struct queue *queue,
                                      struct queue_entry entry);
void queue_sweep(struct queue *queue);
bool queue_refill(struct queue *queue);         /* false: nothing is left */
void queue_drop_front(struct queue *queue);

/* The index of the entry's record. */
static inline uint32_t queue_slot(const struct queue_entry *entry)
{
    return (uint32_t)entry->order;
}

/* The generation that the record had when the event was pushed. */
static inline uint32_t queue_generation(const struct queue_entry *entry)
{
    return (uint32_t)(entry->order >> 32) & QUEUE_GENERATION_MAX;
}

/* The loop_rank of the event, which decides between equal times. */
static inline uint32_t queue_rank(const struct queue_entry *entry)
{
    return (uint32_t)(entry->order >> QUEUE_RANK_SHIFT);
}

/* An entry is dead when its record went on to a later generation. */
static inline bool queue_is_dead(const struct queue *queue,
                                 const struct queue_entry *entry)
{
    return queue->record[queue_slot(entry)].generation !=
           queue_generation(entry);
}

/* An order without its rank is a handle as it lies in memory: one operation,
 * where building it from its halves takes the compiler a detour. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "slot comes first");
_Static_assert(offsetof(struct loop_handle, generation) == 4 &&
                   sizeof(struct loop_handle) == 8, "a handle is one word");

/* Returns the handle of the event that an entry stands for. */
static inline struct loop_handle queue_handle(struct queue_entry entry)
{
    uint64_t both = entry.order & ((UINT64_C(1) << QUEUE_RANK_SHIFT) - 1);
    struct loop_handle handle;
    memcpy(&handle, &both, sizeof handle);
    assert(handle.generation != 0);     /* 0: the handle of no event */
    return handle;
}

/* Where an entry at or after base belongs: by the highest digit that differs
 * from base, or by its rank if none does. */
static inline struct queue_chain *queue_chain_for(struct queue *queue,
                                                  struct queue_entry entry)
{
    assert(entry.time_ns >= queue->base);
    uint64_t differs = entry.time_ns ^ queue->base;
    if (differs == 0)
        return &queue->rank_fifo[queue_rank(&entry)];
    uint32_t level = (uint32_t)(63 - __builtin_clzll(differs)) /
                     QUEUE_DIGIT_BITS;
    uint32_t digit = (uint32_t)(entry.time_ns >> level * QUEUE_DIGIT_BITS) &
                     (QUEUE_DIGIT_COUNT - 1);
    return &queue->bucket[level * QUEUE_DIGIT_COUNT + digit];
}

/* Files an entry that is not for near. O(1). */
static inline struct loop_handle queue_file(struct queue *queue,
                                            struct queue_entry entry)
{
    assert(entry.time_ns >= queue->near_limit);
    struct queue_chain *chain = queue_chain_for(queue, entry);
    if (chain->write == chain->end)
        return queue_push_extended(queue, chain, entry);
    *chain->write++ = entry;
    return queue_handle(entry);
}

/* The entry goes before those that are later, or as late with a higher rank,
 * but not before an equal one: that was pushed first. */
static inline bool queue_goes_before(const struct queue *queue,
                                     struct queue_entry entry, uint32_t at)
{
    uint64_t rank_end = (uint64_t)(queue_rank(&entry) + 1) << QUEUE_RANK_SHIFT;

    return queue->near_time_ns[at] > entry.time_ns ||
           (queue->near_time_ns[at] == entry.time_ns &&
            queue->near_order[at] >= rank_end);
}

/* Copies an entry of near from one place to another. */
static inline void queue_move_near(struct queue *queue, uint32_t to,
                                   uint32_t from)
{
    queue->near_time_ns[to] = queue->near_time_ns[from];
    queue->near_order[to] = queue->near_order[from];
}

/* near must have room behind its tail.  What comes at once, or next, as many
 * events do, takes the room that earlier ones left before the head.  The slot
 * before near_head is all zero, which goes before everything. */
static inline void queue_insert_near(struct queue *queue,
                                     struct queue_entry entry)
{
    uint32_t at = queue->near_tail;

    assert(at < QUEUE_NEAR_ROOM && entry.time_ns < queue->near_limit);
    if (queue->near_head > 1 && queue->near_tail - queue->near_head > 2 &&
        queue_goes_before(queue, entry, queue->near_head + 1)) {
        at = --queue->near_head;
        if (!queue_goes_before(queue, entry, at + 1)) {
            queue_move_near(queue, at, at + 1);
            at++;
        }
    } else {
        queue->near_tail++;
        for (; queue_goes_before(queue, entry, at - 1); at--)
            queue_move_near(queue, at, at - 1);
    }
    assert(at >= queue->near_head && at < queue->near_tail);
    queue->near_time_ns[at] = entry.time_ns;
    queue->near_order[at] = entry.order;
}

/* The slots that near has left are zeroed: queue_insert_near stops there.  Takes the first
 * entry out of near, which is not empty. */
static inline void queue_drop_near(struct queue *queue)
{
    assert(queue->near_head < queue->near_tail);
    queue->near_time_ns[queue->near_head] = 0;
    queue->near_order[queue->near_head] = 0;
    queue->near_head++;
}

/* Adds an event at time_ns, at or after that of the last one popped. O(1) but
 * for the sorted insertion into near, which is short. */
static inline struct loop_handle queue_push(struct queue *queue,
                                            uint64_t time_ns, uint32_t rank,
                                            loop_fn *fn, void *self,
                                            uint64_t arg)
{
    uint64_t order = (uint64_t)rank << QUEUE_RANK_SHIFT;
    uint32_t slot = queue->free_slot;
    if (slot == QUEUE_NO_SLOT)
        return queue_push_grown(queue, order, time_ns, fn, self, arg);
    assert(slot < queue->record_count && time_ns >= queue->now);
    struct queue_record *record = &queue->record[slot];
    queue->free_slot = record->next_free;
    queue->live_count++;
    record->fn = fn;
    record->self = self;
    record->arg = arg;
    struct queue_entry entry = {
        .time_ns = time_ns,
        .order = order | (uint64_t)record->generation << 32 | slot,
    };
    if (time_ns >= queue->near_limit)
        return queue_file(queue, entry);
    if (queue->near_tail == QUEUE_NEAR_ROOM ||
        queue->near_tail - queue->near_head == queue->near_max)
        return queue_push_crowded(queue, entry);
    queue_insert_near(queue, entry);
    return queue_handle(entry);
}

/* A slot that has used up its generations is not used again, so an old handle
 * or a dead entry can never be taken for a new event. */
static inline void queue_release(struct queue *queue, uint32_t slot)
{
    struct queue_record *record = &queue->record[slot];
    assert(queue->live_count > 0);
    assert(record->generation <= QUEUE_GENERATION_MAX);
    queue->live_count--;
    record->generation++;
    if (record->generation > QUEUE_GENERATION_MAX)
        return;
    record->next_free = queue->free_slot;
    queue->free_slot = slot;
}

/* Frees the record at once; the entry stays, dead, until it is met or swept.
 * False: the event ran or was cancelled before, or the handle is that of no
 * event. */
static inline bool queue_cancel(struct queue *queue, struct loop_handle handle)
{
    assert(handle.slot < queue->record_count || handle.generation == 0);
    if (handle.generation == 0 ||
        queue->record[handle.slot].generation != handle.generation)
        return false;
    queue_release(queue, handle.slot);
    queue->dead_count++;
    if (queue->dead_count > queue->live_count + QUEUE_DEAD_SLACK)
        queue_sweep(queue);
    return true;
}

/* The first live entry; false: there is none.  Dead entries that stand before it are dropped
 * on the way, each once. */
static inline bool queue_peek(struct queue *queue, struct queue_entry *first)
{
    for (;;) {
        if (queue->near_head != queue->near_tail) {
            first->time_ns = queue->near_time_ns[queue->near_head];
            first->order = queue->near_order[queue->near_head];
        } else if (queue->rank_mask != 0) {
            const struct queue_chain *fifo =
                &queue->rank_fifo[__builtin_ctz(queue->rank_mask)];
            *first = fifo->head->entry[fifo->read];
        } else {
            if (!queue_refill(queue))
                return false;
            continue;
        }
        if (!queue_is_dead(queue, first))
            return true;
        assert(queue->dead_count > 0);
        queue->dead_count--;
        queue_drop_front(queue);
    }
}

/* Near knows the next events, so what they will touch can be on its way: their
 * records since they were sorted, their objects from here.  Behind the tail
 * stand old slots, which do no harm. */
static inline void queue_fetch_ahead(const struct queue *queue)
{
    uint64_t order = queue->near_order[queue->near_head + QUEUE_AHEAD - 1];
    __builtin_prefetch(queue->record[(uint32_t)order].self);
}

/* Takes what queue_peek gave out of the queue and frees its record. */
static inline void queue_pop(struct queue *queue,
                             const struct queue_entry *first)
{
    if (queue->near_head != queue->near_tail)
        queue_drop_near(queue);
    else
        queue_drop_front(queue);
    assert(first->time_ns >= queue->now);
    queue->now = first->time_ns;
    queue_release(queue, queue_slot(first));
}

#endif
