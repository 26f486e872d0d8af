/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * steps.c - numbers of free GPUs over time, in blocks.
 */
#include "sim/containers/steps.h"

#include <assert.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/base/clock.h"

#define FEW (STEP_BLOCK / 2)    /* two blocks that hold no more become one */
#define CHANGES_MAX 16u         /* bounds get wider by them, then are made anew */

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

void steps_init(struct steps *steps, struct arena *arena)
{
    assert(arena != NULL);
    *steps = (struct steps) { .arena = arena };
}

/* ---- blocks ---- */

/* Puts an empty block at a place of the list. */
static struct step_block *add_block(struct steps *steps, uint32_t at)
{
    struct step_block *block = steps->spares > 0
        ? steps->spare[--steps->spares]
        : arena_alloc(steps->arena, 1, sizeof *block);

    assert(at <= steps->count);
    ARENA_REACH(steps->arena, steps->list, steps->room, steps->count);
    memmove(&steps->list[at + 1], &steps->list[at],
            (steps->count - at) * sizeof *steps->list);
    steps->list[at] = (struct step_blocks) { .block = block };
    ARENA_REACH(steps->arena, steps->time_ns, steps->time_room, steps->count);
    memmove(&steps->time_ns[at + 1], &steps->time_ns[at],
            (steps->count - at) * sizeof *steps->time_ns);
    steps->count++;
    block->count = 0;
    return block;
}

/* Takes a block out of the list and keeps it as a spare; the time of each block stands
 * beside it. */
static void drop_block(struct steps *steps, uint32_t at)
{
    assert(at < steps->count);
    ARENA_ADD(steps->arena, steps->spare, steps->spares, steps->spare_room,
              steps->list[at].block);
    steps->count--;
    memmove(&steps->list[at], &steps->list[at + 1],
            (steps->count - at) * sizeof *steps->list);
    memmove(&steps->time_ns[at], &steps->time_ns[at + 1],
            (steps->count - at) * sizeof *steps->time_ns);
}

/* Computes the bounds of a block from its steps. */
static void note_bounds(struct steps *steps, uint32_t at)
{
    struct step_blocks *entry = &steps->list[at];
    const struct step_block *block = entry->block;
    int64_t least = block->free[0], most = least;

    assert(block->count > 0);
    for (uint32_t i = 1; i < block->count; i++) {
        least = smaller(least, block->free[i]);
        most = larger(most, block->free[i]);
    }
    entry->least = least + entry->add;
    entry->most = most + entry->add;
    entry->changes = 0;
    assert(entry->least <= entry->most);
}

/* Copies the steps of one block from i on behind those of another. */
static void move_steps(struct step_block *to, struct step_block *from, uint32_t i)
{
    uint32_t count = from->count - i;

    assert(i <= from->count && to->count + count <= STEP_BLOCK);
    memcpy(&to->time_ns[to->count], &from->time_ns[i], count * sizeof *to->time_ns);
    memcpy(&to->free[to->count], &from->free[i], count * sizeof *to->free);
    to->count += count;
    from->count = i;
}

/* The second half of a full block becomes a block of its own. */
static void split_block(struct steps *steps, uint32_t at)
{
    struct step_block *rest = add_block(steps, at + 1);
    struct step_blocks *entry = &steps->list[at];

    assert(entry->block->count == STEP_BLOCK);
    move_steps(rest, entry->block, STEP_BLOCK / 2);
    assert(entry->block->time_ns[STEP_BLOCK / 2 - 1] < rest->time_ns[0]);
    steps->time_ns[at + 1] = rest->time_ns[0];
    entry[1].add = entry->add;
    note_bounds(steps, at);
    note_bounds(steps, at + 1);
}

/* A block and the next one become one, if they hold few. */
static void join_blocks(struct steps *steps, uint32_t at)
{
    if (at + 1 >= steps->count)
        return;
    struct step_blocks *entry = &steps->list[at], *next = &entry[1];
    if (entry->block->count + next->block->count > FEW)
        return;
    for (uint32_t i = 0; i < next->block->count; i++)
        next->block->free[i] += next->add - entry->add;
    move_steps(entry->block, next->block, 0);
    entry->least = smaller(entry->least, next->least);
    entry->most = larger(entry->most, next->most);
    drop_block(steps, at + 1);
}

/* Drops the steps [i, i + count) of a block, and the block if it gets empty. */
static void drop_steps(struct steps *steps, uint32_t at, uint32_t i, uint32_t count)
{
    struct step_block *block = steps->list[at].block;
    uint32_t rest = block->count - i - count;

    assert(i + count <= block->count);
    memmove(&block->time_ns[i], &block->time_ns[i + count],
            rest * sizeof *block->time_ns);
    memmove(&block->free[i], &block->free[i + count], rest * sizeof *block->free);
    block->count -= count;
    if (block->count == 0) {
        drop_block(steps, at);
        return;
    }
    steps->time_ns[at] = block->time_ns[0];
    if (block->count <= FEW / 2)
        join_blocks(steps, at);
}

void steps_clear(struct steps *steps, int64_t from_ns, int64_t free)
{
    while (steps->count > 0)
        drop_block(steps, steps->count - 1);
    struct step_block *block = add_block(steps, 0);

    block->count = 1;
    block->time_ns[0] = from_ns;
    block->free[0] = free;
    steps->time_ns[0] = from_ns;
    note_bounds(steps, 0);
    assert(steps->count == 1);
}

/* ---- where a time is ---- */

/* Returns the last of `count` rising times that is no later than one; else 0.
 * No branch depends on a comparison: the processor could not predict it. */
static uint32_t find_time(const int64_t *time_ns, uint32_t count, int64_t at_ns)
{
    uint32_t found = 0;

    assert(count > 0);
    while (count > 1) {
        uint32_t half = count / 2;
        found += time_ns[found + half] <= at_ns ? half : 0;
        count -= half;
    }
    return found;
}

struct step_at steps_find(const struct steps *steps, int64_t time_ns)
{
    uint32_t at = find_time(steps->time_ns, steps->count, time_ns);
    const struct step_block *block = steps->list[at].block;

    assert(block->count > 0);
    return (struct step_at) { at, find_time(block->time_ns, block->count, time_ns) };
}

/* Returns the end of the part of a block that is before `to`. */
static uint32_t end_in(const struct steps *steps, uint32_t at, struct step_at to)
{
    assert(at <= to.at);
    return at == to.at ? to.i : steps->list[at].block->count;
}

bool steps_seek(const struct steps *steps, struct step_at *step, struct step_at to,
                int64_t low, int64_t high, bool within)
{
    assert(low <= high && step->at <= to.at);
    for (; step->at < steps->count && step->at <= to.at; step->at++, step->i = 0) {
        const struct step_blocks *entry = &steps->list[step->at];
        bool none = entry->most < low || entry->least >= high;
        bool all = entry->least >= low && entry->most < high;
        if (within ? none : all)
            continue;
        uint32_t end = end_in(steps, step->at, to);
        for (uint32_t i = step->i; i < end; i++) {
            int64_t free = entry->block->free[i] + entry->add;
            if ((free >= low && free < high) != within)
                continue;
            step->i = i;
            return true;
        }
    }
    return false;
}

/* ---- changes ---- */

/* Splits the block of a step that is to be followed by another one. */
static void make_room(struct steps *steps, struct step_at *step, struct step_at *keep)
{
    uint32_t half = STEP_BLOCK / 2, at = step->at;

    split_block(steps, at);
    if (step->i >= half)
        *step = (struct step_at) { at + 1, step->i - half };
    if (keep != NULL && keep->at == at && keep->i >= half)
        *keep = (struct step_at) { at + 1, keep->i - half };
}

/* steps_cut() after a step, the last one at the time or before it. */
static struct step_at cut_step(struct steps *steps, int64_t time_ns, struct step_at step,
                               struct step_at *keep)
{
    if (step_time_ns(steps, step) == time_ns)
        return step;
    assert(step_time_ns(steps, step) < time_ns);
    if (steps->list[step.at].block->count == STEP_BLOCK)
        make_room(steps, &step, keep);
    struct step_block *block = steps->list[step.at].block;
    uint32_t i = ++step.i, rest = block->count - i;
    assert(block->count < STEP_BLOCK && i <= block->count);
    memmove(&block->time_ns[i + 1], &block->time_ns[i], rest * sizeof *block->time_ns);
    memmove(&block->free[i + 1], &block->free[i], rest * sizeof *block->free);
    block->time_ns[i] = time_ns;
    block->free[i] = block->free[i - 1];
    block->count++;
    return step;
}

struct step_at steps_cut(struct steps *steps, int64_t time_ns)
{
    if (time_ns == CLOCK_NEVER_NS)
        return steps_end(steps);
    return cut_step(steps, time_ns, steps_find(steps, time_ns), NULL);
}

struct step_at steps_cut_after(struct steps *steps, int64_t time_ns,
                               struct step_at *earlier)
{
    struct step_at step = *earlier;
    const struct step_block *block = steps->list[step.at].block;

    if (time_ns == CLOCK_NEVER_NS)
        return steps_end(steps);
    if (step.at + 1 < steps->count && steps->time_ns[step.at + 1] <= time_ns)
        step = steps_find(steps, time_ns);
    else
        step.i += find_time(&block->time_ns[step.i], block->count - step.i, time_ns);
    return cut_step(steps, time_ns, step, earlier);
}

void steps_join(struct steps *steps, struct step_at step)
{
    struct step_at before = { step.at, step.i - 1 };

    assert(step.at <= steps->count);
    if (step.at == steps->count || (step.at == 0 && step.i == 0))
        return;
    if (step.i == 0)
        before = (struct step_at) { step.at - 1,
                                    steps->list[step.at - 1].block->count - 1 };
    if (step_free(steps, step) == step_free(steps, before))
        drop_steps(steps, step.at, step.i, 1);
}

void steps_forget(struct steps *steps, int64_t now_ns)
{
    assert(steps->count > 0);
    while (steps->count > 1 && steps->time_ns[1] <= now_ns)
        drop_block(steps, 0);
    struct step_block *block = steps->list[0].block;
    uint32_t over = find_time(block->time_ns, block->count, now_ns);
    block->time_ns[over] = larger(block->time_ns[over], now_ns);
    drop_steps(steps, 0, 0, over);
    assert(steps->time_ns[0] >= now_ns);
}

void steps_bound(const struct steps *steps, struct step_at from, struct step_at to,
                 int64_t *least, int64_t *most)
{
    assert(from.at < steps->count && from.at <= to.at);
    *least = *most = step_free(steps, from);
    for (uint32_t at = from.at, i = from.i; at < steps->count && at <= to.at;
         at++, i = 0) {
        const struct step_blocks *entry = &steps->list[at];
        uint32_t end = end_in(steps, at, to);
        if (i == 0 && end == entry->block->count) {
            *least = smaller(*least, entry->least);
            *most = larger(*most, entry->most);
            continue;
        }
        for (; i < end; i++) {
            *least = smaller(*least, entry->block->free[i] + entry->add);
            *most = larger(*most, entry->block->free[i] + entry->add);
        }
    }
    assert(*least <= *most);
}

int64_t steps_least(const struct steps *steps, struct step_at from, int64_t end_ns)
{
    int64_t least = step_free(steps, from);

    assert(from.at < steps->count);
    for (uint32_t at = from.at, i = from.i; at < steps->count; at++, i = 0) {
        const struct step_blocks *entry = &steps->list[at];
        const struct step_block *block = entry->block;
        if (i == 0 && block->time_ns[0] >= end_ns)
            break;
        if (entry->least >= least)
            continue;
        for (; i < block->count && block->time_ns[i] < end_ns; i++)
            least = smaller(least, block->free[i] + entry->add);
    }
    return least;
}

void steps_add(struct steps *steps, struct step_at from, struct step_at to,
               int64_t add)
{
    assert(from.at < steps->count && from.at <= to.at);
    for (uint32_t at = from.at, i = from.i; at < steps->count && at <= to.at;
         at++, i = 0) {
        struct step_blocks *entry = &steps->list[at];
        uint32_t end = end_in(steps, at, to);
        if (i == 0 && end == entry->block->count) {
            entry->add += add;
            entry->least += add;
            entry->most += add;
            continue;
        }
        if (i == end)
            continue;
        for (; i < end; i++)
            entry->block->free[i] += add;
        entry->least += smaller(add, 0);
        entry->most += larger(add, 0);
        if (++entry->changes == CHANGES_MAX)
            note_bounds(steps, at);
    }
}
