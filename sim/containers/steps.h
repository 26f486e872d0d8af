/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * steps.h - how many GPUs a plan has free over time: numbers that hold from one
 * time to the next.
 *
 * The steps lie by time in blocks of up to STEP_BLOCK.  A list of the blocks
 * knows the first time of each, the least and the most of its numbers, and what
 * is to be added to all of them.  So a change of a long time is one addition a
 * block, and a look for a change is one comparison a block.
 *
 * Invariant: steps rise in time; no block is empty.
 */
#ifndef SIM_CONTAINERS_STEPS_H
#define SIM_CONTAINERS_STEPS_H

#include <stdbool.h>
#include <stdint.h>

struct arena;

#define STEP_BLOCK 64u

struct step_block {
    uint32_t count;
    int64_t time_ns[STEP_BLOCK];
    int64_t free[STEP_BLOCK];   /* less what the list adds */
};

struct step_blocks {
    int64_t least, most;        /* bounds of its numbers, with what is added */
    int64_t add;
    struct step_block *block;
    uint32_t changes;           /* since the bounds were made */
};

struct steps {
    struct arena *arena;
    struct step_blocks *list;
    int64_t *time_ns;           /* the first of each block */
    uint32_t count, room, time_room;
    struct step_block **spare;  /* emptied, to be used again */
    uint32_t spares, spare_room;
};

/* A step: the i-th of a block.  Block `count` stands for the end.  It holds until
 * steps are cut, joined or forgotten. */
struct step_at {
    uint32_t at, i;
};

/* _init: no steps yet.  Memory comes from the arena.  _clear: one step, in which
 * `free` GPUs are free from from_ns on. */
void steps_init(struct steps *steps, struct arena *arena);
void steps_clear(struct steps *steps, int64_t from_ns, int64_t free);
/* Returns the last step at a time or before it, else the first step. */
struct step_at steps_find(const struct steps *steps, int64_t time_ns);
/* Returns the step that begins at a time, which is no sooner than the first one
 * (CLOCK_NEVER_NS: the end).  If there is none, it is made with the number of the step
 * before.  _after: the time is later than that of *earlier, which is kept valid. */
struct step_at steps_cut(struct steps *steps, int64_t time_ns);
struct step_at steps_cut_after(struct steps *steps, int64_t time_ns,
                               struct step_at *earlier);
/* Drops a step that is as free as the one before it.  Earlier steps still hold. */
void steps_join(struct steps *steps, struct step_at step);
/* Steps that end by then are dropped; the first begins no sooner. */
void steps_forget(struct steps *steps, int64_t now_ns);
/* Stores bounds of what is free in the steps [from, to), which may be wider than the
 * numbers are. */
void steps_bound(const struct steps *steps, struct step_at from, struct step_at to,
                 int64_t *least, int64_t *most);
/* Returns the least number of a step and of those after it that begin before a time. */
int64_t steps_least(const struct steps *steps, struct step_at from, int64_t end_ns);
/* Adds a number, which may be negative, to the steps [from, to). */
void steps_add(struct steps *steps, struct step_at from, struct step_at to,
               int64_t add);
/* Moves `step` to the first step from there on, before `to`, whose number is in
 * [low, high), or is not (`within` false); false: there is none. */
bool steps_seek(const struct steps *steps, struct step_at *step, struct step_at to,
                int64_t low, int64_t high, bool within);

static inline struct step_at steps_end(const struct steps *steps)
{
    return (struct step_at) { steps->count, 0 };
}

static inline int64_t step_time_ns(const struct steps *steps, struct step_at step)
{
    return steps->list[step.at].block->time_ns[step.i];
}

static inline int64_t step_free(const struct steps *steps, struct step_at step)
{
    return steps->list[step.at].block->free[step.i] + steps->list[step.at].add;
}

#endif
