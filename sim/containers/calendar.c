/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * calendar.c - ends in the order (time, id), in blocks of some dozens.
 *
 * A block is an array, and so is the list of blocks, with the first end and the
 * sum of GPUs of each: what a processor reads ahead and moves at once, where a
 * tree would wait for memory at each of its levels.  A search halves both
 * arrays.  A full block is cut in two; one that fits into its neighbour with
 * room to spare is joined to it, so that blocks stay filled by a quarter at
 * least, on average.
 *
 * Invariant: no block is empty; heads[b] tells of block b what stands in it.
 */
#include "sim/containers/calendar.h"

#include <assert.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/base/clock.h"

#define BLOCK_ENDS 64u

/* One lease: when it should end, and the GPUs that it frees then. */
struct end {
    int64_t ns;                 /* the time at which it should end */
    uint32_t id, gpus;          /* its id, and the GPUs that it frees then */
};

/* The ends of a block, in order; the head of the block counts them. */
struct block {
    struct end end[BLOCK_ENDS];
};

/* What the list knows of a block, so that a search need not fetch the block itself. */
struct head {
    struct end first;           /* of the block */
    uint64_t gpus;              /* of all of it */
    uint32_t count;             /* ends in it, 1 to BLOCK_ENDS */
    struct block *block;
};

/* Heads of blocks in order of time, the ends of each block in order too; no
 * block is empty. */
struct calendar {
    struct arena *arena;        /* of the caller */
    struct head *heads;
    uint32_t blocks, room;      /* heads that are used; heads that there is room for */
    struct block **spare;       /* blocks to use again; room for `room` */
    uint32_t spares;            /* emptied blocks in `spare` */
};

struct calendar *calendar_new(struct arena *arena)
{
    struct calendar *ends = arena_alloc(arena, 1, sizeof *ends);

    ends->arena = arena;
    return ends;
}

/* The order of ends: by time, then by id, so that no two are equal. */
static bool is_after(const struct end *end, int64_t ns, uint32_t id)
{
    return end->ns > ns || (end->ns == ns && end->id > id);
}

/* Returns the last block that begins at or before that end, or the first.  `from` always
 * begins at or before the end that is looked for, or is 0, and count is how many blocks from
 * there on may still be the one: it halves with each step. */
static uint32_t find_block(const struct calendar *ends, int64_t ns, uint32_t id)
{
    uint32_t from = 0, count = ends->blocks;

    while (count > 1) {
        uint32_t half = count / 2;

        from += is_after(&ends->heads[from + half].first, ns, id) ? 0 : half;
        count -= half;
    }
    assert(from == 0 || from < ends->blocks);
    return from;
}

/* Returns how many of a block's ends are at or before that end. */
static uint32_t find_end(const struct head *head, int64_t ns, uint32_t id)
{
    const struct end *end = head->block->end;
    uint32_t from = 0, count = head->count;

    while (count > 0) {
        uint32_t half = count / 2;
        bool after = is_after(&end[from + half], ns, id);

        from += after ? 0 : half + 1;
        count = after ? half : count - half - 1;
    }
    assert(from <= head->count);
    return from;
}

/* Inserts an empty block at a place of the list.  Pointers to heads that callers had are not
 * valid then.  `spare` has room for as many blocks as `heads`, so that remove_head() never
 * needs memory. */
static struct head *insert_head(struct calendar *ends, uint32_t at)
{
    assert(at <= ends->blocks);
    uint32_t room = ends->room;

    ARENA_REACH(ends->arena, ends->heads, room, ends->blocks);
    ARENA_REACH(ends->arena, ends->spare, ends->room, ends->blocks);
    memmove(&ends->heads[at + 1], &ends->heads[at],
            (ends->blocks - at) * sizeof *ends->heads);
    ends->blocks++;
    ends->heads[at] = (struct head){
        .block = ends->spares > 0
                     ? ends->spare[--ends->spares]
                     : arena_alloc(ends->arena, 1, sizeof(struct block))};
    return &ends->heads[at];
}

/* Removes a block that is empty or was joined; its memory serves another one. */
static void remove_head(struct calendar *ends, uint32_t at)
{
    assert(at < ends->blocks);
    ends->spare[ends->spares++] = ends->heads[at].block;
    ends->blocks--;
    memmove(&ends->heads[at], &ends->heads[at + 1],
            (ends->blocks - at) * sizeof *ends->heads);
}

/* The second half of a full block becomes the next one. */
static void split_block(struct calendar *ends, uint32_t at)
{
    struct head *right = insert_head(ends, at + 1);
    struct head *left = &ends->heads[at];

    right->count = left->count / 2;
    left->count -= right->count;
    memcpy(right->block->end, left->block->end + left->count,
           right->count * sizeof(struct end));
    right->first = right->block->end[0];
    for (uint32_t i = 0; i < right->count; i++)
        right->gpus += right->block->end[i].gpus;
    left->gpus -= right->gpus;
    assert(left->count > 0 && right->count > 0);
}

/* Joins a block to that after it, if there is room to spare.  Both together may fill half of a
 * block at most. */
static void join_blocks(struct calendar *ends, uint32_t at)
{
    struct head *left = &ends->heads[at], *right = left + 1;

    if (at + 1 >= ends->blocks ||
        left->count + right->count > BLOCK_ENDS / 2)
        return;
    assert(right->count > 0);
    memcpy(left->block->end + left->count, right->block->end,
           right->count * sizeof(struct end));
    left->count += right->count;
    left->gpus += right->gpus;
    left->first = left->block->end[0];
    remove_head(ends, at + 1);
}

/* The block's sum and first end are kept right, which the searches rely on.  An end that is
 * the first of all goes to block 0, whose `first` is set anew. */
void calendar_add(struct calendar *ends, int64_t end_ns, uint32_t id, uint32_t gpus)
{
    uint32_t b, at;
    struct head *head;

    if (ends->blocks == 0)
        insert_head(ends, 0);
    b = find_block(ends, end_ns, id);
    if (ends->heads[b].count == BLOCK_ENDS) {
        split_block(ends, b);
        b = find_block(ends, end_ns, id);
    }
    head = &ends->heads[b];
    at = find_end(head, end_ns, id);
    struct end *end = head->block->end + at;
    assert(at == 0 || end[-1].ns != end_ns || end[-1].id != id);
    assert(b + 1 == ends->blocks || is_after(&head[1].first, end_ns, id));
    memmove(end + 1, end, (head->count - at) * sizeof *end);
    *end = (struct end){end_ns, id, gpus};
    head->first = head->block->end[0];
    head->gpus += gpus;
    head->count++;
    assert(head->count <= BLOCK_ENDS && head->gpus >= gpus);
}

/* Joins to both sides afterwards: a block that shrinks may fit its left
 * neighbour, too. */
bool calendar_drop(struct calendar *ends, int64_t end_ns, uint32_t id)
{
    uint32_t b = find_block(ends, end_ns, id), at;

    if (ends->blocks == 0 ||
        (at = find_end(&ends->heads[b], end_ns, id)) == 0)
        return false;
    struct head *head = &ends->heads[b];
    struct end *end = head->block->end + at - 1;
    if (end->ns != end_ns || end->id != id)
        return false;
    assert(head->count > 0 && head->gpus >= end->gpus);
    head->gpus -= end->gpus;
    memmove(end, end + 1, (head->count - at) * sizeof *end);
    head->count--;
    head->first = head->block->end[0];
    if (head->count == 0) {
        remove_head(ends, b);
        return true;
    }
    join_blocks(ends, b);
    if (b > 0)
        join_blocks(ends, b - 1);
    return true;
}

/* Sums of blocks are skipped whole; within one block the ends are counted.  For example, with
 * ends (10, 2 GPUs), (10, 4) and (30, 8) one asks for 7: 2 and 4 leave 1, which the third end
 * covers, so the answer is 30. */
int64_t calendar_when(const struct calendar *ends, uint64_t gpus)
{
    assert(gpus > 0);
    for (uint32_t b = 0; b < ends->blocks; b++) {
        const struct head *head = &ends->heads[b];

        if (gpus > head->gpus) {
            gpus -= head->gpus;
            continue;
        }
        const struct end *end = head->block->end;
        assert(head->count > 0);
        for (; gpus > end->gpus; end++)
            gpus -= end->gpus;
        return end->ns;
    }
    return CLOCK_NEVER_NS;
}

/* A block is added whole if the next one begins in time; of the last such block single ends
 * are added. */
uint64_t calendar_by(const struct calendar *ends, int64_t time_ns)
{
    uint64_t gpus = 0;
    uint32_t b = 0;

    for (; b + 1 < ends->blocks && ends->heads[b + 1].first.ns <= time_ns; b++)
        gpus += ends->heads[b].gpus;
    for (uint32_t i = 0; b < ends->blocks && i < ends->heads[b].count &&
                         ends->heads[b].block->end[i].ns <= time_ns; i++)
        gpus += ends->heads[b].block->end[i].gpus;
    assert(b <= ends->blocks);
    return gpus;
}
