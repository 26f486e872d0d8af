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

/* Returns the larger of two numbers. */
static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Returns the smaller of two numbers. */
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

/* A block and the next one become one, if they hold few.  Both blocks have an `add` of their
 * own; numbers of the second one are stored anew relative to that of the first. */
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
 * No branch depends on a comparison: the processor could not predict it.  For example, of the
 * times 0, 10, 20 and the time 15 it returns 1. */
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

/* Returns the last step of a block at a time or before it, else its first step. */
static struct step_at find_in(const struct steps *steps, uint32_t at, int64_t time_ns)
{
    const struct step_block *block = steps->list[at].block;

    assert(block->count > 0);
    return (struct step_at) { at, find_time(block->time_ns, block->count, time_ns) };
}

/* Is a time in a block? */
static bool is_in(const struct steps *steps, uint32_t at, int64_t time_ns)
{
    assert(steps->count > 0);
    return at < steps->count && steps->time_ns[at] <= time_ns &&
           (at + 1 == steps->count || time_ns < steps->time_ns[at + 1]);
}

struct step_at steps_find(struct steps *steps, int64_t time_ns)
{
    if (!is_in(steps, steps->near, time_ns))
        steps->near = find_time(steps->time_ns, steps->count, time_ns);
    return find_in(steps, steps->near, time_ns);
}

/* Moves `step` to the first step from there on that has `free` or more (`enough`), or fewer; to the
 * end, if there is none.  Whole blocks are passed over by their bounds: with `enough`, one
 * whose most is below; without it, one whose least is not below.  Bounds may be wider than
 * what the block has, so that a block may be searched in vain, but none is missed. */
static inline void seek(const struct steps *steps, struct step_at *step, int64_t free, bool enough)
{
    for (; step->at < steps->count; step->at++, step->i = 0) {
        const struct step_blocks *entry = &steps->list[step->at];
        const struct step_block *block = entry->block;
        int64_t in_block = free - entry->add;
        if (enough ? entry->most < free : entry->least >= free)
            continue;
        for (; step->i < block->count; step->i++)
            if ((block->free[step->i] >= in_block) == enough)
                return;
    }
}

bool steps_stretch(const struct steps *steps, struct step_at *step, int64_t free,
                   struct stretch *out)
{
    seek(steps, step, free, true);
    if (step->at == steps->count)
        return false;
    out->start_ns = steps_since(steps, *step, free);
    seek(steps, step, free, false);
    out->end_ns = step->at < steps->count ? step_time_ns(steps, *step) : CLOCK_NEVER_NS;
    assert(out->start_ns < out->end_ns);
    return true;
}

/* Goes back from the step.  If the block's least is enough, the whole block is. */
int64_t steps_since(const struct steps *steps, struct step_at step, int64_t free)
{
    assert(step_free(steps, step) >= free);
    for (uint32_t at = step.at, i = step.i + 1;; at--, i = steps->list[at].block->count) {
        const struct step_blocks *entry = &steps->list[at];
        const struct step_block *block = entry->block;
        int64_t in_block = free - entry->add;
        if (entry->least < free)
            for (; i > 0; i--)
                if (block->free[i - 1] < in_block)
                    return i < block->count ? block->time_ns[i] : steps->time_ns[at + 1];
        if (at == 0)
            return steps->time_ns[0];
    }
}

int64_t steps_until(const struct steps *steps, struct step_at step, int64_t free)
{
    assert(step_free(steps, step) < free);
    seek(steps, &step, free, true);
    return step.at < steps->count ? step_time_ns(steps, step) : CLOCK_NEVER_NS;
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

/* steps_cut() after a step, the last one at the time or before it.  The new step has the
 * number of the one before it, so that nothing is changed but the place at which a number may
 * change.  `keep` may be NULL; else it is an earlier step that still holds afterwards. */
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

/* Returns the step that begins at a time, later than that of *earlier, which is kept valid; it
 * is made if there is none. */
static struct step_at cut_after(struct steps *steps, int64_t time_ns, struct step_at *earlier)
{
    assert(step_time_ns(steps, *earlier) < time_ns);
    if (time_ns == CLOCK_NEVER_NS)
        return (struct step_at) { steps->count, 0 };
    return cut_step(steps, time_ns, steps_find(steps, time_ns), earlier);
}

/* Drops a step that is as free as the one before it.  Earlier steps still hold.  The step
 * after the end (step.at == count) and the first step have nothing to be joined. */
static void join_step(struct steps *steps, struct step_at step)
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

/* Returns the end of the part of a block that is before `to`. */
static uint32_t end_in(const struct steps *steps, uint32_t at, struct step_at to)
{
    assert(at <= to.at);
    return at == to.at ? to.i : steps->list[at].block->count;
}

/* Stores bounds of what is free in the steps [from, to). */
static void bound_steps(const struct steps *steps, struct step_at from, struct step_at to,
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

/* Notes that a number was added to some steps of a block.  The bounds become wider, not exact:
 * the least may have been in another step.  After CHANGES_MAX of them they are computed again
 * in O(STEP_BLOCK). */
static void note_change(struct steps *steps, uint32_t at, int64_t add)
{
    struct step_blocks *entry = &steps->list[at];

    assert(at < steps->count && add != 0);
    entry->least += smaller(add, 0);
    entry->most += larger(add, 0);
    if (++entry->changes == CHANGES_MAX)
        note_bounds(steps, at);
}

/* Adds a number to the steps [from, to).  A block that is changed whole costs one addition. */
static void add_to_steps(struct steps *steps, struct step_at from, struct step_at to, int64_t add)
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
        note_change(steps, at, add);
    }
}

/* Moves steps of a block to another place of it. */
static void shift_steps(struct step_block *block, uint32_t to, uint32_t from, uint32_t count)
{
    assert(to + count <= STEP_BLOCK && from + count <= STEP_BLOCK);
    if (to == from)
        return;
    memmove(&block->time_ns[to], &block->time_ns[from], count * sizeof *block->time_ns);
    memmove(&block->free[to], &block->free[from], count * sizeof *block->free);
}

/* A change within a block: of the steps [first, last], of which the first may begin before it,
 * and the last may end after it. */
struct inner {
    uint32_t first, last;       /* in the block */
    bool cuts_first, cuts_last; /* a step must be made at the start; at the end */
};

/* Finds the steps of a change that begins in a step.  False: it is not within the block, or
 * the block may not hold what becomes of it, or its first step may go. */
static bool find_inner(const struct steps *steps, struct step_at from, int64_t start_ns,
                       int64_t end_ns, struct inner *inner)
{
    const struct step_block *block = steps->list[from.at].block;
    bool last = from.at + 1 == steps->count;

    if (block->count + 2 > STEP_BLOCK ||
        (last ? end_ns == CLOCK_NEVER_NS : end_ns >= steps->time_ns[from.at + 1]))
        return false;
    uint32_t end = from.i + find_time(&block->time_ns[from.i], block->count - from.i, end_ns);
    inner->first = from.i;
    inner->cuts_first = block->time_ns[from.i] < start_ns;
    inner->cuts_last = block->time_ns[end] < end_ns;
    inner->last = inner->cuts_last ? end : end - 1;
    assert(inner->first <= inner->last && inner->last < block->count);
    return from.i > 0 || inner->cuts_first;
}

/* Adds a number to some steps of a block, and stores bounds of what they had. */
static void add_inner(struct step_block *block, uint32_t i, uint32_t end, int64_t add,
                      struct step_change *change)
{
    assert(i <= end && add != 0);
    for (; i < end; i++) {
        change->least = smaller(change->least, block->free[i]);
        change->most = larger(change->most, block->free[i]);
        block->free[i] += add;
    }
}

/* Makes a change within a block.  A step is made where an end of the change has none, and is
 * dropped where it becomes equal to the one before.  For example, the steps (0: 8), (10: 4)
 * and a change of -4 in [5, 10): a step is made at 5 with 4, and the step at 10, which has 4
 * too, is dropped. */
static struct step_change change_inner(struct steps *steps, uint32_t at, struct inner inner,
                                       int64_t start_ns, int64_t end_ns, int64_t add)
{
    struct step_block *block = steps->list[at].block;
    uint32_t first = inner.first, rest = inner.last - first, next = inner.last + 1;
    int64_t before = block->free[first], after = block->free[inner.last];
    bool drops_first = !inner.cuts_first && before + add == block->free[first - 1];
    bool drops_next = !inner.cuts_last && after + add == block->free[next];
    uint32_t begin = first + inner.cuts_first, rest_to = begin + !drops_first;
    uint32_t end = rest_to + rest, tail = next + drops_next, tail_to = end + inner.cuts_last;
    struct step_change change = { { at, begin - drops_first }, before, before };

    if (tail_to > tail)
        shift_steps(block, tail_to, tail, block->count - tail);
    shift_steps(block, rest_to, first + 1, rest);
    if (tail_to < tail)
        shift_steps(block, tail_to, tail, block->count - tail);
    block->count += tail_to - tail;
    if (inner.cuts_first) {
        block->time_ns[begin] = start_ns;
        block->free[begin] = before;
    }
    if (inner.cuts_last) {
        block->time_ns[end] = end_ns;
        block->free[end] = after;
    }
    assert(begin <= end && block->count > 0 && block->count <= STEP_BLOCK);
    add_inner(block, begin, end, add, &change);
    change.least += steps->list[at].add;
    change.most += steps->list[at].add;
    note_change(steps, at, add);
    if (block->count <= FEW / 2)
        join_blocks(steps, at);
    return change;
}

struct step_change steps_change(struct steps *steps, int64_t start_ns, int64_t end_ns,
                                int64_t add)
{
    struct step_at from = steps_find(steps, start_ns);
    struct step_change change;
    struct inner inner;

    assert(start_ns < end_ns && add != 0 && step_time_ns(steps, from) <= start_ns);
    if (find_inner(steps, from, start_ns, end_ns, &inner))
        return change_inner(steps, from.at, inner, start_ns, end_ns, add);
    from = cut_step(steps, start_ns, from, NULL);
    struct step_at to = cut_after(steps, end_ns, &from);
    bound_steps(steps, from, to, &change.least, &change.most);
    add_to_steps(steps, from, to, add);
    join_step(steps, to);
    join_step(steps, from);
    change.from = steps_find(steps, start_ns);
    assert(change.least <= change.most);
    return change;
}

/* The step in which now_ns lies stays, and begins at now_ns. */
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

/* Blocks whose least is no less than what was found are passed over. */
int64_t steps_least(const struct steps *steps, int64_t start_ns, int64_t end_ns)
{
    uint32_t block_at = find_time(steps->time_ns, steps->count, start_ns);
    struct step_at from = find_in(steps, block_at, start_ns);
    int64_t least = step_free(steps, from);

    assert(start_ns < end_ns);
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

