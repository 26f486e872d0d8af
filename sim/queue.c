/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * queue.c - the seldom-run parts of the event queue: growth, redistribution,
 * sweeping.
 *
 * When near and the FIFOs are empty, the first bucket that is not empty holds
 * the next events.  A small one is sorted into near whole, and near_limit
 * becomes the end of its range.  A large one becomes the new base (its least
 * key) and is filed anew below it; every entry moves to a lower level, so it
 * moves at most QUEUE_LEVEL_COUNT times in its life.
 */
#include "sim/queue.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK_BLOCKS 32u
#define FIRST_RECORDS 256u
#define MANY_RECORDS 4096u

struct queue_chunk {
    struct queue_chunk *next;
    uint64_t pad;
    struct queue_block block[CHUNK_BLOCKS];
};

static void chain_init(struct queue_chain *chain)
{
    *chain = (struct queue_chain){.write = QUEUE_BLOCK_ENTRIES};
}

void queue_init(struct queue *queue)
{
    memset(queue, 0, sizeof *queue);
    queue->free_slot = QUEUE_NO_SLOT;
    for (size_t i = 0; i < LOOP_RANK_COUNT; i++)
        chain_init(&queue->rank_fifo[i]);
    for (size_t i = 0; i < QUEUE_LEVEL_COUNT * QUEUE_DIGIT_COUNT; i++)
        chain_init(&queue->bucket[i]);
}

void queue_clear(struct queue *queue)
{
    while (queue->chunk != NULL) {
        struct queue_chunk *chunk = queue->chunk;
        queue->chunk = chunk->next;
        free(chunk);
    }
    free(queue->record);
    queue_init(queue);
}

size_t queue_held_bytes(const struct queue *queue)
{
    return queue->record_room * sizeof *queue->record +
           queue->chunk_count * sizeof *queue->chunk;
}

/* More records, all on the free list, lowest slot first.  By a quarter once
 * there are many: an event may take 64 bytes, records that wait included. */
void queue_grow(struct queue *queue)
{
    uint32_t old = queue->record_room;
    uint32_t room = old < FIRST_RECORDS ? FIRST_RECORDS
                    : old < MANY_RECORDS ? 2 * old
                                         : old + old / 4;
    assert(queue->free_slot == QUEUE_NO_SLOT);
    assert(room > old && room < QUEUE_NO_SLOT);
    struct queue_record *record =
        realloc(queue->record, room * sizeof *record);
    assert(record != NULL && "out of memory for events");
    for (uint32_t slot = old; slot < room; slot++) {
        record[slot].generation = 1;
        record[slot].next_free = slot + 1 < room ? slot + 1 : QUEUE_NO_SLOT;
    }
    queue->record = record;
    queue->record_room = room;
    queue->record_count = room;
    queue->free_slot = old;
}

static void give_block(struct queue *queue, struct queue_block *block)
{
    block->next = queue->free_block;
    queue->free_block = block;
}

static void more_blocks(struct queue *queue)
{
    struct queue_chunk *chunk = malloc(sizeof *chunk);
    assert(chunk != NULL && "out of memory for events");
    chunk->next = queue->chunk;
    queue->chunk = chunk;
    queue->chunk_count++;
    for (size_t i = CHUNK_BLOCKS; i-- > 0;)
        give_block(queue, &chunk->block[i]);
}

void queue_extend(struct queue *queue, struct queue_chain *chain)
{
    assert(chain->write == QUEUE_BLOCK_ENTRIES);
    if (queue->free_block == NULL)
        more_blocks(queue);
    struct queue_block *block = queue->free_block;
    queue->free_block = block->next;
    block->next = NULL;
    if (chain->tail == NULL) {
        chain->head = block;
        chain->read = 0;
    } else {
        chain->tail->next = block;
    }
    chain->tail = block;
    chain->write = 0;
}

/* Entries of the first block of a chain. */
static uint32_t block_end(const struct queue_chain *chain,
                          const struct queue_block *block)
{
    return block == chain->tail ? chain->write : QUEUE_BLOCK_ENTRIES;
}

/* Takes the whole chain away and leaves it empty. */
static struct queue_chain take_chain(struct queue_chain *chain)
{
    struct queue_chain taken = *chain;
    chain_init(chain);
    return taken;
}

static struct queue_chain take_bucket(struct queue *queue, uint32_t level,
                                      uint32_t digit)
{
    queue->digit_mask[level] &= ~(1u << digit);
    if (queue->digit_mask[level] == 0)
        queue->level_mask &= ~(1u << level);
    return take_chain(&queue->bucket[level * QUEUE_DIGIT_COUNT + digit]);
}

/* The head of near, else the first of the lowest FIFO, goes. */
void queue_drop_front(struct queue *queue)
{
    if (queue->near_head != queue->near_tail) {
        queue->near_head++;
        return;
    }
    assert(queue->rank_mask != 0);
    uint32_t rank = (uint32_t)__builtin_ctz(queue->rank_mask);
    struct queue_chain *fifo = &queue->rank_fifo[rank];
    fifo->read++;
    fifo->count--;
    if (fifo->count == 0) {
        give_block(queue, fifo->head);
        chain_init(fifo);
        queue->rank_mask &= ~(1u << rank);
    } else if (fifo->read == QUEUE_BLOCK_ENTRIES) {
        struct queue_block *block = fifo->head;
        fifo->head = block->next;
        fifo->read = 0;
        give_block(queue, block);
    }
}

/* Files the live entries of a chain anew; its blocks are given back as they
 * are read, so that this takes no more memory. */
static void refile(struct queue *queue, struct queue_chain chain)
{
    struct queue_block *block = chain.head;
    uint32_t i = chain.read;
    while (block != NULL) {
        struct queue_block *next = block->next;
        uint32_t end = block_end(&chain, block);
        for (; i < end; i++) {
            if (queue->dead_count != 0 &&
                queue_is_dead(queue, &block->entry[i]))
                queue->dead_count--;
            else
                queue_file(queue, block->entry[i]);
        }
        give_block(queue, block);
        block = next;
        i = 0;
    }
}

/* Everything but near, filed anew relative to base without the dead.  Equal
 * times stand in one chain before and after, so their order stays. */
static void rebuild(struct queue *queue, uint64_t base)
{
    struct queue_chain all[QUEUE_LEVEL_COUNT * QUEUE_DIGIT_COUNT];
    struct queue_chain fifo[LOOP_RANK_COUNT];
    memcpy(all, queue->bucket, sizeof all);
    memcpy(fifo, queue->rank_fifo, sizeof fifo);
    for (size_t i = 0; i < QUEUE_LEVEL_COUNT * QUEUE_DIGIT_COUNT; i++)
        chain_init(&queue->bucket[i]);
    for (size_t i = 0; i < LOOP_RANK_COUNT; i++)
        chain_init(&queue->rank_fifo[i]);
    memset(queue->digit_mask, 0, sizeof queue->digit_mask);
    queue->level_mask = 0;
    queue->rank_mask = 0;
    queue->base = base;
    for (size_t i = 0; i < LOOP_RANK_COUNT; i++)
        refile(queue, fifo[i]);
    for (size_t i = 0; i < QUEUE_LEVEL_COUNT * QUEUE_DIGIT_COUNT; i++)
        refile(queue, all[i]);
}

void queue_sweep(struct queue *queue)
{
    rebuild(queue, queue->base);
    assert(queue->dead_count <= QUEUE_NEAR_MAX);
}

/* near is full: move it to its start if that makes room, else file it.  Its
 * entries lie before every other and at or after now, so now is a base for
 * all, and one that leaves the buckets as they are unless base was later,
 * which is so only after a run that stopped short of its next event. */
void queue_make_room(struct queue *queue)
{
    uint32_t count = queue->near_tail - queue->near_head;
    const struct queue_entry *near = queue->near + queue->near_head;
    assert(count <= QUEUE_NEAR_MAX);
    if (count < QUEUE_NEAR_MAX) {
        memmove(queue->near, near, count * sizeof *near);
        queue->near_head = 0;
        queue->near_tail = count;
        return;
    }
    if (queue->now < queue->base)
        rebuild(queue, queue->now);
    queue->base = queue->now;
    queue->near_limit = queue->now;
    for (uint32_t i = 0; i < count; i++)
        queue_file(queue, near[i]);
    queue->near_head = 0;
    queue->near_tail = 0;
}

/* A bucket becomes near, sorted and without the dead. */
static void fill_near(struct queue *queue, struct queue_chain chain)
{
    assert(queue->near_head == queue->near_tail);
    assert(chain.count <= QUEUE_SORT_MAX);
    queue->near_head = 0;
    queue->near_tail = 0;
    assert(chain.head == chain.tail);
    for (uint32_t i = chain.read; i < chain.write; i++) {
        struct queue_entry entry = chain.head->entry[i];
        __builtin_prefetch(&queue->record[queue_slot(&entry)]);
        queue_insert_near(queue, entry);
    }
    give_block(queue, chain.head);
}

static uint64_t least_time(const struct queue_chain *chain)
{
    uint64_t least = UINT64_MAX;
    uint32_t i = chain->read;
    for (const struct queue_block *block = chain->head; block != NULL;
         block = block->next, i = 0) {
        for (; i < block_end(chain, block); i++)
            if (block->entry[i].time_ns < least)
                least = block->entry[i].time_ns;
    }
    return least;
}

bool queue_refill(struct queue *queue)
{
    assert(queue->rank_mask == 0);
    assert(queue->near_head == queue->near_tail);
    if (queue->level_mask == 0) {
        assert(queue->live_count == 0 && queue->dead_count == 0);
        queue->base = queue->now;
        queue->near_limit = queue->now;
        return false;
    }
    uint32_t level = (uint32_t)__builtin_ctz(queue->level_mask);
    uint32_t digit = (uint32_t)__builtin_ctz(queue->digit_mask[level]);
    struct queue_chain chain = take_bucket(queue, level, digit);
    if (chain.count > QUEUE_SORT_MAX) {
        queue->base = least_time(&chain);
        queue->near_limit = queue->base;
        refile(queue, chain);
        return true;
    }
    uint32_t shift = level * QUEUE_DIGIT_BITS;
    uint64_t time_ns = chain.head->entry[chain.read].time_ns;
    queue->near_limit = ((time_ns >> shift) + 1) << shift;
    fill_near(queue, chain);
    return true;
}
