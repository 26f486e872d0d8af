/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * holes.c - the stretches of time in which a number of GPUs is free, in blocks by
 * time.
 *
 * A block is cut when it is full and dropped when it is empty.  A hole that is closed
 * disappears, becomes shorter at one end, or is cut in two; one that is opened is
 * joined with those that it touches.
 */
#include "sim/containers/holes.h"

#include <assert.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/base/clock.h"

#define NEVER CLOCK_NEVER_NS

int64_t hole_length(const struct hole *hole)
{
    assert(hole->start_ns < hole->end_ns);
    return hole->end_ns == NEVER ? NEVER : hole->end_ns - hole->start_ns;
}

void holes_init(struct holes *holes, struct arena *arena, int64_t gpus)
{
    assert(gpus >= 0);
    *holes = (struct holes) { .arena = arena, .gpus = gpus, .changes = 1 };
}

/* ---- blocks ---- */

/* Keeps a block that is empty, for the next one that is needed. */
static void spare_block(struct holes *holes, struct hole_block *block)
{
    assert(block != NULL);
    ARENA_ADD(holes->arena, holes->spare, holes->spares, holes->spare_room, block);
}

void holes_clear(struct holes *holes)
{
    assert(holes->spares <= holes->spare_room);
    holes->changes++;
    for (uint32_t b = 0; b < holes->count; b++)
        spare_block(holes, holes->list[b].block);
    holes->count = 0;
}

/* Puts an empty block at a place of the list. */
static struct hole_block *add_block(struct holes *holes, uint32_t at)
{
    struct hole_block *block = holes->spares > 0
        ? holes->spare[--holes->spares]
        : arena_alloc(holes->arena, 1, sizeof *block);

    assert(at <= holes->count);
    ARENA_REACH(holes->arena, holes->list, holes->room, holes->count);
    memmove(&holes->list[at + 1], &holes->list[at],
            (holes->count - at) * sizeof *holes->list);
    holes->list[at] = (struct hole_blocks) { 0, 0, block };
    holes->count++;
    block->count = 0;
    return block;
}

/* Computes the entry of a block in the list again. */
static void note_block(struct holes *holes, uint32_t at)
{
    struct hole_blocks *entry = &holes->list[at];
    const struct hole_block *block = entry->block;
    int64_t longest_ns = 0;

    assert(block->count > 0);
    holes->changes++;
    for (uint32_t i = 0; i < block->count; i++) {
        int64_t ns = block->hole[i].end_ns - block->hole[i].start_ns;
        longest_ns = ns > longest_ns ? ns : longest_ns;
    }
    if (block->hole[block->count - 1].end_ns == NEVER)
        longest_ns = NEVER;
    entry->start_ns = block->hole[0].start_ns;
    entry->longest_ns = longest_ns;
}

/* Notes that a hole of a block is new or has changed.  length_ns: its length before;
 * 0 for a new hole, and for one that only became longer. */
static void note_hole(struct holes *holes, uint32_t at, const struct hole *hole,
                      int64_t length_ns)
{
    struct hole_blocks *entry = &holes->list[at];

    holes->changes++;
    entry->start_ns = entry->block->hole[0].start_ns;
    if (hole_length(hole) >= entry->longest_ns)
        entry->longest_ns = hole_length(hole);
    else if (length_ns == entry->longest_ns)
        note_block(holes, at);
}

/* The second half of a full block becomes a block of its own. */
static void split_block(struct holes *holes, uint32_t at)
{
    struct hole_block *rest = add_block(holes, at + 1);
    struct hole_block *block = holes->list[at].block;
    uint32_t half = block->count / 2;

    assert(block->count == HOLE_BLOCK);
    rest->count = block->count - half;
    memcpy(rest->hole, &block->hole[half], rest->count * sizeof *rest->hole);
    block->count = half;
    note_block(holes, at);
    note_block(holes, at + 1);
}

/* Inserts a hole at a place of a block that holds some, or is the only one. */
static void insert_hole(struct holes *holes, uint32_t at, uint32_t i,
                        struct hole hole)
{
    struct hole_block *block = holes->list[at].block;

    if (block->count == HOLE_BLOCK) {
        split_block(holes, at);
        if (i > block->count) {
            i -= block->count;
            block = holes->list[++at].block;
        }
    }
    assert(i <= block->count);
    memmove(&block->hole[i + 1], &block->hole[i],
            (block->count - i) * sizeof hole);
    block->hole[i] = hole;
    block->count++;
    note_hole(holes, at, &block->hole[i], 0);
}

/* Drops the holes [i, i + count) of a block, and the block if it gets empty. */
static void drop_holes(struct holes *holes, uint32_t at, uint32_t i, uint32_t count)
{
    struct hole_block *block = holes->list[at].block;
    bool shorter = count == 1 && hole_length(&block->hole[i]) < holes->list[at].longest_ns;

    assert(i + count <= block->count);
    block->count -= count;
    memmove(&block->hole[i], &block->hole[i + count],
            (block->count - i) * sizeof *block->hole);
    if (block->count > 0 && shorter) {
        holes->changes++;
        holes->list[at].start_ns = block->hole[0].start_ns;
        return;
    }
    if (block->count > 0) {
        note_block(holes, at);
        return;
    }
    holes->changes++;
    spare_block(holes, block);
    holes->count--;
    memmove(&holes->list[at], &holes->list[at + 1],
            (holes->count - at) * sizeof *holes->list);
}

/* ---- where a time is ---- */

/* Returns the last block that starts at a time or before it, else the first. */
static uint32_t find_block(const struct holes *holes, int64_t time_ns)
{
    uint32_t low = 0, high = holes->count;

    while (low + 1 < high) {
        uint32_t middle = low + (high - low) / 2;
        if (holes->list[middle].start_ns <= time_ns)
            low = middle;
        else
            high = middle;
    }
    assert(low == 0 || holes->list[low].start_ns <= time_ns);
    return low;
}

/* Returns how many holes of a block start at a time or before it. */
static uint32_t count_begun(const struct hole_block *block, int64_t time_ns)
{
    uint32_t low = 0, high = block->count;

    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (block->hole[middle].start_ns <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    assert(low == 0 || block->hole[low - 1].start_ns <= time_ns);
    return low;
}

/* ---- changes ---- */

void holes_append(struct holes *holes, int64_t start_ns, int64_t end_ns)
{
    assert(start_ns < end_ns);
    if (holes->count == 0)
        add_block(holes, 0);
    uint32_t last = holes->count - 1;
    const struct hole_block *block = holes->list[last].block;
    assert(block->count == 0 || block->hole[block->count - 1].end_ns < start_ns);
    insert_hole(holes, last, holes->list[last].block->count,
                (struct hole) { start_ns, end_ns });
}

void holes_close(struct holes *holes, int64_t start_ns, int64_t end_ns)
{
    uint32_t at = find_block(holes, start_ns);

    assert(holes->count > 0 && start_ns < end_ns);
    uint32_t i = count_begun(holes->list[at].block, start_ns);
    assert(i > 0);
    struct hole *hole = &holes->list[at].block->hole[--i];
    assert(hole->end_ns >= end_ns);
    bool from_start = hole->start_ns == start_ns, to_end = hole->end_ns == end_ns;
    if (from_start && to_end) {
        drop_holes(holes, at, i, 1);
        return;
    }
    struct hole rest = { end_ns, hole->end_ns };
    int64_t length_ns = hole_length(hole);
    if (from_start)
        hole->start_ns = end_ns;
    else
        hole->end_ns = start_ns;
    note_hole(holes, at, hole, length_ns);
    if (!from_start && !to_end)
        insert_hole(holes, at, i + 1, rest);
}

/* Two neighbours, the second at (at, i), become one. */
static void join_holes(struct holes *holes, struct hole *first, uint32_t first_at,
                       uint32_t at, uint32_t i)
{
    first->end_ns = holes->list[at].block->hole[i].end_ns;
    note_hole(holes, first_at, first, 0);
    drop_holes(holes, at, i, 1);
}

void holes_open(struct holes *holes, int64_t start_ns, int64_t end_ns)
{
    assert(start_ns < end_ns);
    if (holes->count == 0) {
        holes_append(holes, start_ns, end_ns);
        return;
    }
    uint32_t at = find_block(holes, start_ns);
    struct hole_block *block = holes->list[at].block;
    uint32_t i = count_begun(block, start_ns);
    /* The hole after it: in this block, or the first of the next one. */
    bool in_next = i == block->count && at + 1 < holes->count;
    uint32_t later_at = in_next ? at + 1 : at, later_i = in_next ? 0 : i;
    struct hole_block *later = holes->list[later_at].block;
    bool joins = i > 0 && block->hole[i - 1].end_ns == start_ns;
    bool meets = later_i < later->count && later->hole[later_i].start_ns == end_ns;

    assert(i == 0 || block->hole[i - 1].end_ns <= start_ns);
    if (joins && meets) {
        join_holes(holes, &block->hole[i - 1], at, later_at, later_i);
    } else if (joins) {
        block->hole[i - 1].end_ns = end_ns;
        note_hole(holes, at, &block->hole[i - 1], 0);
    } else if (meets) {
        later->hole[later_i].start_ns = start_ns;
        note_hole(holes, later_at, &later->hole[later_i], 0);
    } else {
        insert_hole(holes, at, i, (struct hole) { start_ns, end_ns });
    }
}

void holes_forget(struct holes *holes, int64_t now_ns)
{
    assert(now_ns >= 0);
    while (holes->count > 0 && holes->list[0].start_ns < now_ns) {
        struct hole_block *block = holes->list[0].block;
        uint32_t over = 0;
        while (over < block->count && block->hole[over].end_ns <= now_ns)
            over++;
        if (over < block->count && block->hole[over].start_ns < now_ns)
            block->hole[over].start_ns = now_ns;
        drop_holes(holes, 0, 0, over);
    }
}

/* Looks through the holes from a time on.  False: there is none, and *found is the
 * first that starts too late; it starts at NEVER if no hole does. */
static bool look_from(const struct holes *holes, int64_t from_ns, int64_t run_ns,
                      int64_t before_ns, struct hole *found)
{
    uint32_t at = find_block(holes, from_ns);

    for (; at < holes->count; at++) {
        const struct hole_blocks *entry = &holes->list[at];
        const struct hole_block *block = entry->block;
        assert(block->count > 0 && entry->start_ns == block->hole[0].start_ns);
        *found = block->hole[0];
        if (entry->start_ns >= before_ns)
            return false;
        if (entry->longest_ns < run_ns &&
            block->hole[block->count - 1].end_ns < before_ns)
            continue;
        uint32_t i = entry->start_ns < from_ns ? count_begun(block, from_ns - 1) : 0;
        for (; i < block->count; i++) {
            *found = block->hole[i];
            if (found->start_ns >= before_ns)
                return false;
            if (found->end_ns >= before_ns || hole_length(found) >= run_ns)
                return true;
        }
    }
    found->start_ns = NEVER;
    return false;
}

bool holes_find(struct holes *holes, int64_t from_ns, int64_t run_ns,
                int64_t before_ns, struct hole *found)
{
    struct hole_search *last = &holes->last;
    bool knows = last->changes == holes->changes, all = from_ns == 0;

    assert(run_ns >= 0);
    if (all && knows && last->run_ns <= run_ns && last->before_ns <= before_ns) {
        if (before_ns <= last->next_ns)
            return false;
        from_ns = last->before_ns;
    }
    if (look_from(holes, from_ns, run_ns, before_ns, found))
        return true;
    if (all && (!knows || run_ns < last->run_ns ||
                (run_ns == last->run_ns && before_ns > last->before_ns)))
        *last = (struct hole_search) { run_ns, before_ns, found->start_ns,
                                       holes->changes };
    return false;
}
