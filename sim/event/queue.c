/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * queue.c - the seldom-run parts of the event queue: growth, redistribution,
 * sweeping.
 *
 * When near and the FIFOs are empty, the first bucket that is not empty holds
 * the next events.  A small one is sorted into near whole, with those after it
 * while near is short, and near_limit becomes the end of its range: near has a
 * few dozen events whatever their density.  A large one becomes the new base (its least
 * key) and is filed anew below it; every entry moves to a lower level, so it
 * moves at most QUEUE_LEVEL_COUNT times in its life.
 */
#include "sim/event/queue.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/arena.h"

/* All these were chosen by measurement (README.md of this room, Bench results);
 * none changes the order of events.  CHUNK_BLOCKS: blocks that are asked of malloc at once.
 * RANK_BITS and PLACE_BITS: of the word by which fill_near() sorts, behind the time.
 * SORT_SHIFT_MAX: the widest bucket whose times still fit in that word.  FIRST_RECORDS and
 * MANY_RECORDS: how many there are at first, and from where on room grows by a quarter and no
 * longer doubles. */
#define CHUNK_BLOCKS 32u
#define RANK_BITS (64u - QUEUE_RANK_SHIFT)
#define PLACE_BITS 6u           /* QUEUE_SORT_MAX places */
#define SORT_SHIFT_MAX (64u - RANK_BITS - PLACE_BITS)
#define NEAR_MIN 16u            /* entries that near takes at least, if it can */
#define FIRST_RECORDS 256u
#define MANY_RECORDS 4096u

_Static_assert(1u << PLACE_BITS >= QUEUE_SORT_MAX, "a place fits in its bits");
_Static_assert(QUEUE_SORT_MAX % 8 == 0, "keys are compared in eights");
_Static_assert(QUEUE_SORT_MAX + NEAR_MIN <= QUEUE_NEAR_MAX, "near has room");

/* What is asked of the system at once: 32 KiB of blocks. `pad` keeps the
 * blocks at multiples of 16 bytes. */
struct queue_chunk {
    struct queue_chunk *next;
    uint64_t pad;
    struct queue_block block[CHUNK_BLOCKS];
};

/* The slot before the first entry stays zero: see queue_insert_near. */
static void start_near(struct queue *queue)
{
    queue->near_time_ns[0] = 0;
    queue->near_order[0] = 0;
    queue->near_head = 1;
    queue->near_tail = 1;
    assert(queue->near_head == queue->near_tail);
}

/* Everything empty: near alone holds what comes, up to a small number. */
void queue_init(struct queue *queue)
{
    memset(queue, 0, sizeof *queue);
    queue->free_slot = QUEUE_NO_SLOT;
    start_near(queue);
    queue->near_limit = UINT64_MAX;
    queue->near_max = QUEUE_NEAR_ALONE_MAX;
    assert(queue->live_count == 0 && queue->near_max <= QUEUE_NEAR_MAX);
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
    assert(queue->chunk == NULL && queue->record == NULL);
}

size_t queue_held_bytes(const struct queue *queue)
{
    assert(queue->record_count <= queue->record_room);
    return queue->record_room * sizeof *queue->record +
           queue->chunk_count * sizeof *queue->chunk;
}

/* More records, all on the free list, lowest slot first.  By a quarter once
 * there are many: an event may take 64 bytes, records that wait included.  The array may move;
 * nobody keeps a pointer into it, since handles name a slot. */
static void grow_records(struct queue *queue)
{
    uint32_t old = queue->record_room;
    uint32_t room = old < FIRST_RECORDS ? FIRST_RECORDS
                    : old < MANY_RECORDS ? 2 * old
                                         : old + old / 4;
    assert(queue->free_slot == QUEUE_NO_SLOT);
    assert(room > old && room < QUEUE_NO_SLOT);
    struct queue_record *record =
        arena_resize_own(queue->record, room, sizeof *record);
    for (uint32_t slot = old; slot < room; slot++) {
        record[slot].generation = 1;
        record[slot].next_free = slot + 1 < room ? slot + 1 : QUEUE_NO_SLOT;
    }
    queue->record = record;
    queue->record_room = room;
    queue->record_count = room;
    queue->free_slot = old;
}

struct loop_handle queue_push_grown(struct queue *queue, uint64_t order,
                                    uint64_t time_ns, loop_fn *fn, void *self,
                                    uint64_t arg)
{
    assert(queue->free_slot == QUEUE_NO_SLOT);
    grow_records(queue);
    return queue_push(queue, time_ns, (uint32_t)(order >> QUEUE_RANK_SHIFT),
                      fn, self, arg);
}

/* A block is free for any chain. */
static void give_block(struct queue *queue, struct queue_block *block)
{
    assert(block != queue->free_block);
    block->next = queue->free_block;
    queue->free_block = block;
}

/* Gets blocks from the system, all of them free. */
static void more_blocks(struct queue *queue)
{
    assert(queue->free_block == NULL);
    struct queue_chunk *chunk = arena_resize_own(NULL, 1, sizeof *chunk);
    chunk->next = queue->chunk;
    queue->chunk = chunk;
    queue->chunk_count++;
    for (size_t i = CHUNK_BLOCKS; i-- > 0;)
        give_block(queue, &chunk->block[i]);
}

/* A chain without blocks; entries that are dead count as entries. */
static bool chain_is_empty(const struct queue_chain *chain)
{
    return chain->head == NULL;
}

/* Returns the last block of a chain that has one.  A chain has no pointer to its last block:
 * `end` points behind that block's entries, and the block begins a known distance before. */
static struct queue_block *last_block(const struct queue_chain *chain)
{
    assert(chain->end != NULL);
    return (struct queue_block *)(void *)
        ((char *)(chain->end - QUEUE_BLOCK_ENTRIES) -
         offsetof(struct queue_block, entry));
}

/* A chain that gets its first block is marked in the masks.  A chain of the array `bucket` has
 * the index level x QUEUE_DIGIT_COUNT + digit; any other is one of the FIFOs. */
static void mark_chain(struct queue *queue, const struct queue_chain *chain)
{
    assert(chain->head != NULL);
    if (chain >= queue->bucket &&
        chain < queue->bucket + QUEUE_BUCKET_COUNT) {
        uint32_t index = (uint32_t)(chain - queue->bucket);
        uint32_t level = index / QUEUE_DIGIT_COUNT;
        queue->level_mask |= 1u << level;
        queue->digit_mask[level] |= 1u << index % QUEUE_DIGIT_COUNT;
    } else {
        queue->rank_mask |= 1u << (chain - queue->rank_fifo);
    }
}

/* The slow path of a push: the chain's last block is full, or it has none. */
struct loop_handle queue_push_extended(struct queue *queue,
                                       struct queue_chain *chain,
                                       struct queue_entry entry)
{
    assert(chain->write == chain->end);
    if (queue->free_block == NULL)
        more_blocks(queue);
    struct queue_block *block = queue->free_block;
    queue->free_block = block->next;
    block->next = NULL;
    if (chain_is_empty(chain)) {
        chain->head = block;
        mark_chain(queue, chain);
    } else {
        last_block(chain)->next = block;
    }
    block->entry[0] = entry;
    chain->write = block->entry + 1;
    chain->end = block->entry + QUEUE_BLOCK_ENTRIES;
    return queue_handle(entry);
}

/* How many entries of a block are in use. */
static size_t block_fill(const struct queue_chain *chain,
                         const struct queue_block *block)
{
    assert(block->next != NULL || chain->write <= chain->end);
    return block->next != NULL ? QUEUE_BLOCK_ENTRIES
                               : (size_t)(chain->write - block->entry);
}

/* Takes all entries of a bucket, which is empty then. */
static struct queue_chain take_bucket(struct queue *queue, uint32_t level,
                                      uint32_t digit)
{
    assert(level < QUEUE_LEVEL_COUNT && digit < QUEUE_DIGIT_COUNT);
    struct queue_chain *bucket =
        &queue->bucket[level * QUEUE_DIGIT_COUNT + digit];
    struct queue_chain taken = *bucket;
    assert(!chain_is_empty(bucket) && bucket->read == 0);
    memset(bucket, 0, sizeof *bucket);
    queue->digit_mask[level] &= ~(1u << digit);
    if (queue->digit_mask[level] == 0)
        queue->level_mask &= ~(1u << level);
    return taken;
}

/* The head of near, else the first of the lowest FIFO, goes. */
void queue_drop_front(struct queue *queue)
{
    if (queue->near_head != queue->near_tail) {
        queue_drop_near(queue);
        return;
    }
    assert(queue->rank_mask != 0);
    uint32_t rank = (uint32_t)__builtin_ctz(queue->rank_mask);
    struct queue_chain *fifo = &queue->rank_fifo[rank];
    struct queue_block *block = fifo->head;
    fifo->read++;
    if (fifo->read < block_fill(fifo, block))
        return;
    fifo->head = block->next;
    fifo->read = 0;
    give_block(queue, block);
    if (chain_is_empty(fifo)) {
        memset(fifo, 0, sizeof *fifo);
        queue->rank_mask &= ~(1u << rank);
    }
}

/* Copies the entries that are not dead; without a branch, for which are dead
 * cannot be guessed.  Each entry is written, and the place moves on only if it lives, so that
 * the next one overwrites a dead one.  `live` has room for `count` entries. */
static size_t keep_live(struct queue *queue, const struct queue_entry *entry,
                        size_t count, struct queue_entry *live)
{
    size_t live_count = 0;
    for (size_t i = 0; i < count; i++) {
        live[live_count] = entry[i];
        live_count += !queue_is_dead(queue, &entry[i]);
    }
    assert(queue->dead_count >= count - live_count);
    queue->dead_count -= count - live_count;
    return live_count;
}

/* Files the live entries of a chain anew; its blocks are given back as they
 * are read, so that this takes no more memory. */
static void refile_chain(struct queue *queue, struct queue_chain chain)
{
    assert(chain.head != NULL || chain.read == 0);
    struct queue_entry live[QUEUE_BLOCK_ENTRIES];
    struct queue_block *block = chain.head;
    size_t from = chain.read;
    while (block != NULL) {
        struct queue_block *next = block->next;
        const struct queue_entry *entry = block->entry + from;
        size_t count = block_fill(&chain, block) - from;
        if (queue->dead_count != 0) {
            count = keep_live(queue, entry, count, live);
            entry = live;
        }
        for (size_t i = 0; i < count; i++)
            queue_file(queue, entry[i]);
        give_block(queue, block);
        block = next;
        from = 0;
    }
}

/* Everything but near, filed anew relative to base without the dead.  Equal
 * times stand in one chain before and after, so their order stays.  The base may
 * go back: to a time limit that the loop stopped at. */
static void rebuild_buckets(struct queue *queue, uint64_t base)
{
    assert(base <= queue->base);
    struct queue_chain bucket[QUEUE_BUCKET_COUNT];
    struct queue_chain fifo[LOOP_RANK_COUNT];
    memcpy(bucket, queue->bucket, sizeof bucket);
    memcpy(fifo, queue->rank_fifo, sizeof fifo);
    memset(queue->bucket, 0, sizeof queue->bucket);
    memset(queue->rank_fifo, 0, sizeof queue->rank_fifo);
    memset(queue->digit_mask, 0, sizeof queue->digit_mask);
    queue->level_mask = 0;
    queue->rank_mask = 0;
    queue->base = base;
    for (size_t i = 0; i < LOOP_RANK_COUNT; i++)
        refile_chain(queue, fifo[i]);
    for (size_t i = 0; i < QUEUE_BUCKET_COUNT; i++)
        refile_chain(queue, bucket[i]);
}

void queue_sweep(struct queue *queue)
{
    rebuild_buckets(queue, queue->base);
    assert(queue->dead_count <= QUEUE_NEAR_MAX);
}

/* near is full: move it to its start if that makes room, else file it.  Its
 * entries lie before every other and at or after now, so now is a base for
 * all, and one that leaves the buckets as they are unless base was later,
 * which is so only after a run that stopped short of its next event. */
static void make_room(struct queue *queue)
{
    uint32_t count = queue->near_tail - queue->near_head;
    const uint64_t *time_ns = &queue->near_time_ns[queue->near_head];
    const uint64_t *order = queue->near_order + queue->near_head;
    assert(count <= queue->near_max);
    if (count < queue->near_max) {
        memmove(&queue->near_time_ns[1], time_ns, count * sizeof *time_ns);
        memmove(queue->near_order + 1, order, count * sizeof *order);
        queue->near_head = 1;
        queue->near_tail = 1 + count;
        return;
    }
    if (queue->now < queue->base)
        rebuild_buckets(queue, queue->now);
    queue->base = queue->now;
    queue->near_limit = queue->now;
    queue->near_max = QUEUE_NEAR_MAX;
    for (uint32_t i = 0; i < count; i++)
        queue_file(queue, (struct queue_entry){time_ns[i], order[i]});
    start_near(queue);
}

struct loop_handle queue_push_crowded(struct queue *queue,
                                      struct queue_entry entry)
{
    make_room(queue);
    assert(queue->near_tail < QUEUE_NEAR_ROOM);
    if (entry.time_ns >= queue->near_limit)
        return queue_file(queue, entry);
    queue_insert_near(queue, entry);
    return queue_handle(entry);
}

/* Returns how many of the keys are less. Sums of comparisons in eights, which
 * the compiler turns into vector instructions. */
static size_t count_less(const uint64_t *key, size_t count, uint64_t than)
{
    size_t less = 0;
    assert(count % 8 == 0);
    for (size_t i = 0; i < count; i += 8)
        less += (size_t)(key[i] < than) + (size_t)(key[i + 1] < than) +
                (size_t)(key[i + 2] < than) + (size_t)(key[i + 3] < than) +
                (size_t)(key[i + 4] < than) + (size_t)(key[i + 5] < than) +
                (size_t)(key[i + 6] < than) + (size_t)(key[i + 7] < than);
    return less;
}

/* A bucket joins near, sorted by counting for each entry those that go before
 * it: more compares than insertion needs, but none is a branch, and a
 * wrong guess costs more than ten compares.  (time, rank, place) fits in one
 * word, unless the bucket spans years; the keys are filled up to a multiple of
 * eight with ones that go before nothing. */
static void fill_near(struct queue *queue, const struct queue_entry *entry,
                      size_t count, uint64_t start_ns)
{
    uint64_t key[QUEUE_SORT_MAX];   /* a multiple of eight */
    struct queue_entry live[QUEUE_SORT_MAX];
    size_t i = 0;
    assert(count > 0 && count <= QUEUE_SORT_MAX);
    if (queue->dead_count != 0) {
        count = keep_live(queue, entry, count, live);
        entry = live;
    }
    uint32_t tail = queue->near_tail;
    queue->near_tail += (uint32_t)count;
    assert(queue->near_tail <= QUEUE_NEAR_ROOM);
    for (; i < count; i++) {
        __builtin_prefetch(&queue->record[queue_slot(&entry[i])]);
        key[i] = (entry[i].time_ns - start_ns) << (RANK_BITS + PLACE_BITS) |
                 (uint64_t)queue_rank(&entry[i]) << PLACE_BITS | i;
    }
    for (; i % 8 != 0; i++)
        key[i] = UINT64_MAX;
    for (size_t k = 0; k < count; k++) {
        size_t at = tail + count_less(key, i, key[k]);
        queue->near_time_ns[at] = entry[k].time_ns;
        queue->near_order[at] = entry[k].order;
    }
}

/* Returns the least time in a bucket, dead entries included: any time at or
 * before all live ones is a base.  O(entries of the bucket); each entry is looked at once at
 * most for each level that it moves down. */
static uint64_t least_time(const struct queue_chain *chain)
{
    uint64_t least = UINT64_MAX;
    assert(chain->head != NULL);
    for (const struct queue_block *block = chain->head; block != NULL;
         block = block->next) {
        size_t fill = block_fill(chain, block);
        for (size_t i = 0; i < fill; i++)
            if (block->entry[i].time_ns < least)
                least = block->entry[i].time_ns;
    }
    return least;
}

/* Nothing is left: near takes what comes. */
static void start_alone(struct queue *queue)
{
    assert(queue->live_count == 0 && queue->dead_count == 0);
    start_near(queue);
    queue->base = queue->now;
    queue->near_limit = UINT64_MAX;
    queue->near_max = QUEUE_NEAR_ALONE_MAX;
}

/* Whether a bucket is small enough to be sorted.  Only a chain of one block is, with at most
 * QUEUE_SORT_MAX entries.  `shift` is the number of bits of the time that entries of the
 * bucket may differ in; above SORT_SHIFT_MAX their times do not fit in the word of
 * fill_near(). */
static bool is_sortable(const struct queue_chain *chain, uint32_t shift)
{
    assert(chain->head != NULL);
    size_t count = block_fill(chain, chain->head);
    if (chain->head->next != NULL || count > QUEUE_SORT_MAX)
        return false;
    return shift <= SORT_SHIFT_MAX || count == 1;
}

/* Moves the first buckets of a level to near, until it has NEAR_MIN entries
 * or the next is large: what is sorted together is fetched together. */
static void fill_near_from(struct queue *queue, uint32_t level)
{
    uint32_t shift = level * QUEUE_DIGIT_BITS;
    assert(level < QUEUE_LEVEL_COUNT && queue->digit_mask[level] != 0);
    start_near(queue);
    queue->near_max = QUEUE_NEAR_MAX;
    do {
        uint32_t digit = (uint32_t)__builtin_ctz(queue->digit_mask[level]);
        const struct queue_chain *next =
            &queue->bucket[level * QUEUE_DIGIT_COUNT + digit];
        if (!is_sortable(next, shift))
            break;
        struct queue_chain chain = take_bucket(queue, level, digit);
        uint64_t start_ns = chain.head->entry->time_ns >> shift << shift;
        queue->near_limit = start_ns + (UINT64_C(1) << shift);
        fill_near(queue, chain.head->entry, block_fill(&chain, chain.head),
                  start_ns);
        give_block(queue, chain.head);
    } while (queue->digit_mask[level] != 0 &&
             queue->near_tail - queue->near_head < NEAR_MIN);
    if (queue->level_mask == 0 &&
        queue->near_tail - queue->near_head <= QUEUE_NEAR_ALONE_MAX / 2) {
        queue->near_limit = UINT64_MAX;
        queue->near_max = QUEUE_NEAR_ALONE_MAX;
    }
}

/* Called when near and the FIFOs are empty. After it returns true, one of them
 * has an entry, dead or alive; queue_peek() looks again.  For example, base 0x1200 and a large
 * first bucket with times 0x1310 to 0x13ff: base becomes 0x1310, and all entries are filed
 * again, now by their last two digits. */
bool queue_refill(struct queue *queue)
{
    assert(queue->rank_mask == 0);
    assert(queue->near_head == queue->near_tail);
    if (queue->level_mask == 0) {
        start_alone(queue);
        return false;
    }
    uint32_t level = (uint32_t)__builtin_ctz(queue->level_mask);
    uint32_t digit = (uint32_t)__builtin_ctz(queue->digit_mask[level]);
    const struct queue_chain *first =
        &queue->bucket[level * QUEUE_DIGIT_COUNT + digit];
    if (is_sortable(first, level * QUEUE_DIGIT_BITS)) {
        fill_near_from(queue, level);
        return true;
    }
    struct queue_chain chain = take_bucket(queue, level, digit);
    queue->base = least_time(&chain);
    queue->near_limit = queue->base;
    queue->near_max = QUEUE_NEAR_MAX;
    refile_chain(queue, chain);
    return true;
}
