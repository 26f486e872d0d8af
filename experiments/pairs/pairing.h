/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pairing.h - sums over pairs of jobs, block by block of time.
 *
 * A pair is one job on both sides.  It counts if it came after the warm-up and was done on
 * both; what does not count is counted by why.
 */
#ifndef EXPERIMENTS_PAIRS_PAIRING_H
#define EXPERIMENTS_PAIRS_PAIRING_H

#include <stddef.h>
#include <stdint.h>

struct arena;
struct trial_jobs;

/* Sums over the pairs of a block, by the time of submission. */
struct block {
    uint64_t number;            /* of the time, from the first submission on */
    double left, right;         /* seconds: completion times of each side */
    double apart, jobs;         /* right less left, seconds; pairs */
};

/* Blocks that have a pair: so memory follows the jobs, not how long they came. */
struct blocks {
    struct block *item;
    size_t count, room;
    size_t *slot, slots;        /* 1 + the item of a number; at most half are in use */
    uint64_t end;               /* behind the largest number */
    double *left, *right, *apart, *jobs;        /* by time: pairs_list_blocks() */
};

/* The pairs of one policy of each side at one point, over all seeds. */
struct pairing {
    struct arena *arena;        /* set by the caller, as the next two are */
    double block_s;             /* jobs submitted within it are one block */
    double warmup_s;            /* jobs that came before are not compared: early */
    struct blocks blocks;
    uint64_t first_jobs;        /* hash of the jobs of the first seed */
    size_t seeds, pairs, faster, slower, early;
    size_t single;              /* trials of a seed that the other side lacks */
    size_t left_alone, right_alone, neither;    /* ended, or there, on one side or on none */
};

/* Pairs the jobs of one trial on both sides.  A seed with other jobs than the first one
 * gets blocks of its own. */
void pairs_add_trial(struct pairing *pairing, const struct trial_jobs *left,
                     const struct trial_jobs *right);
/* Puts the sums into lists in the order of time, by which neighbours are known.  No pair
 * may be added after it. */
void pairs_list_blocks(struct pairing *pairing);

#endif
