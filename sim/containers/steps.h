/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * steps.h - how many GPUs a plan has free over time: numbers that hold from one
 * time to the next.
 *
 * The steps lie by time in blocks of up to STEP_BLOCK.  A list of the blocks
 * knows the first time of each, the least and the most of its numbers, and what
 * is to be added to all of them.  So a change of a long time is one addition a
 * block, and a look for a change is one comparison a block.  Most changes lie within
 * a block.
 *
 * Invariant: steps rise in time; no two neighbours have the same number; no block is
 * empty.
 */
#ifndef SIM_CONTAINERS_STEPS_H
#define SIM_CONTAINERS_STEPS_H

#include <stdbool.h>
#include <stdint.h>

struct arena;

#define STEP_BLOCK 64u

/* Neighbouring steps: step i holds from time_ns[i] until the time of the next step. */
struct step_block {
    uint32_t count;             /* 1 to STEP_BLOCK */
    int64_t time_ns[STEP_BLOCK]; /* rising */
    int64_t free[STEP_BLOCK];   /* less what the list adds */
};

/* What the list knows of one block. */
struct step_blocks {
    int64_t least, most;        /* bounds of its numbers, with what is added */
    int64_t add;                /* to each number of the block */
    struct step_block *block;
    uint32_t changes;           /* of parts of it, since the bounds were made */
};

struct steps {
    struct arena *arena;
    struct step_blocks *list;
    int64_t *time_ns;           /* the first of each block */
    uint32_t count, room, time_room; /* blocks; entries that `list` and `time_ns` have room for */
    uint32_t near;              /* a block that was asked for lately */
    struct step_block **spare;  /* emptied, to be used again */
    uint32_t spares, spare_room;
};

/* A step: the i-th of a block.  Block `count` stands for the end.  It holds until
 * steps are changed or forgotten. */
struct step_at {
    uint32_t at, i;             /* the block, and the step within it */
};

/* _init: no steps yet.  Memory comes from the arena.  _clear: one step, in which
 * `free` GPUs are free from from_ns on. */
void steps_init(struct steps *steps, struct arena *arena);
void steps_clear(struct steps *steps, int64_t from_ns, int64_t free);
/* Returns the last step at a time or before it, else the first step. */
struct step_at steps_find(struct steps *steps, int64_t time_ns);

/* What a change met: the step in which it begins, and the least and the most of its numbers
 * before it, or wider bounds. */
struct step_change {
    struct step_at from;        /* valid after the change */
    int64_t least, most;
};
/* Adds a number, which is not 0, to what is free in [start_ns, end_ns), which is not empty and
 * begins no sooner than the first step.  CLOCK_NEVER_NS: it does not end. */
struct step_change steps_change(struct steps *steps, int64_t start_ns, int64_t end_ns,
                                int64_t add);
/* Steps that end by then are dropped; the first begins no sooner. */
void steps_forget(struct steps *steps, int64_t now_ns);
/* Returns the least number in [start_ns, end_ns), which is not empty. */
int64_t steps_least(const struct steps *steps, int64_t start_ns, int64_t end_ns);

/* A stretch of time in which a number is free, without a break. */
struct stretch {
    int64_t start_ns, end_ns;   /* CLOCK_NEVER_NS: it does not end */
};
/* Finds the stretch of a step that has `free`, or else the first one after it, and moves
 * `step` to its end.  False: there is none. */
bool steps_stretch(const struct steps *steps, struct step_at *step, int64_t free,
                   struct stretch *out);
/* Returns since when `free` are free without a break until a step, which has them. */
int64_t steps_since(const struct steps *steps, struct step_at step, int64_t free);
/* Returns when `free` are free for the first time after a step that has fewer. */
int64_t steps_until(const struct steps *steps, struct step_at step, int64_t free);

/* Returns when a step begins; it must not be the end. */
static inline int64_t step_time_ns(const struct steps *steps, struct step_at step)
{
    return steps->list[step.at].block->time_ns[step.i];
}

/* Returns what is free in a step; it must not be the end. */
static inline int64_t step_free(const struct steps *steps, struct step_at step)
{
    return steps->list[step.at].block->free[step.i] + steps->list[step.at].add;
}

#endif
