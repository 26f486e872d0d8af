/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pairing.c - pairs jobs by name, and files each pair under the block of its submission.
 *
 * Jobs of one cluster are not independent: one that runs long delays those
 * behind it.  So it is not jobs that are samples, but blocks of time: all that
 * was submitted within a day, say.  Seeds that hold the very same jobs as the first
 * one share its blocks; of seeds with other jobs each has blocks of its own.
 */
#include "experiments/pairs/pairing.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/pairs/jobs_read.h"
#include "sim/base/arena.h"
#include "sim/text/hash.h"

/* Names and submissions: two seeds with equal hashes hold the same jobs. */
static uint64_t hash_jobs(const struct trial_jobs *t)
{
    uint64_t hash = HASH_START, bits;

    for (size_t i = 0; i < t->count; i++) {
        memcpy(&bits, &t->job[i].submit_s, sizeof bits);
        hash = hash_u64(hash_text(hash, t->job[i].name), bits);
    }
    return hash;
}

/* Returns the slot of a block, or the free one where it belongs. */
static size_t *slot_of(const struct blocks *b, uint64_t number)
{
    size_t at = (size_t)hash_u64(HASH_START, number) & (b->slots - 1);

    while (b->slot[at] != 0 && b->item[b->slot[at] - 1].number != number)
        at = (at + 1) & (b->slots - 1);
    return &b->slot[at];
}

/* Returns the block of that number, made at its first pair. */
static struct block *reach_block(struct pairing *p, uint64_t number)
{
    struct blocks *b = &p->blocks;
    size_t *slot;

    if (2 * b->count >= b->slots) {
        b->slots = b->slots == 0 ? 64 : 2 * b->slots;
        b->slot = arena_alloc(p->arena, b->slots, sizeof *b->slot);
        for (size_t i = 0; i < b->count; i++)
            *slot_of(b, b->item[i].number) = i + 1;
    }
    slot = slot_of(b, number);
    if (*slot == 0) {
        ARENA_ADD(p->arena, b->item, b->count, b->room, (struct block){ .number = number });
        *slot = b->count;
        b->end = number >= b->end ? number + 1 : b->end;
    }
    return &b->item[*slot - 1];
}

/* Counts a job that did not end on both sides: it has no difference. */
static void add_lost(struct pairing *p, bool left, bool right)
{
    p->left_alone += left && !right;
    p->right_alone += right && !left;
    p->neither += !left && !right;
}

/* A job that came in the warm-up, or did not end on both sides, is no pair. */
static void add_pair(struct pairing *p, const struct job_row *left,
                     const struct job_row *right, uint64_t number)
{
    struct block *block;

    if (left->submit_s < p->warmup_s) {
        p->early++;
        return;
    }
    if (isnan(left->jct_s) || isnan(right->jct_s)) {
        add_lost(p, !isnan(left->jct_s), !isnan(right->jct_s));
        return;
    }
    block = reach_block(p, number);
    p->pairs++;
    p->faster += right->jct_s < left->jct_s;
    p->slower += right->jct_s > left->jct_s;
    block->left += left->jct_s;
    block->right += right->jct_s;
    block->apart += right->jct_s - left->jct_s;
    block->jobs++;
}

/* Counts a job that the other side has not got. */
static void add_single(struct pairing *p, const struct job_row *job, bool left)
{
    if (job->submit_s < p->warmup_s)
        p->early++;
    else
        add_lost(p, left && !isnan(job->jct_s), !left && !isnan(job->jct_s));
}

/* Returns when the first job of a trial came that did not come before `from_s`, where the
 * first block begins; INFINITY without any. */
static double first_submit_s(const struct trial_jobs *t, double from_s)
{
    double first = INFINITY;

    for (size_t i = 0; i < t->count; i++)
        if (t->job[i].submit_s >= from_s)
            first = fmin(first, t->job[i].submit_s);
    return first;
}

/* Merges both lists, which are sorted by name. */
void pairs_add_trial(struct pairing *p, const struct trial_jobs *left,
                     const struct trial_jobs *right)
{
    uint64_t hash = hash_jobs(left);
    double from_s = first_submit_s(left, p->warmup_s);
    uint64_t base = p->seeds > 0 && hash != p->first_jobs ? p->blocks.end : 0;
    size_t i = 0, j = 0;

    assert(p->block_s > 0);
    if (p->seeds++ == 0)
        p->first_jobs = hash;
    while (i < left->count && j < right->count) {
        const struct job_row *a = &left->job[i], *b = &right->job[j];
        int order = strcmp(a->name, b->name);

        if (order == 0)
            add_pair(p, a, b, base + (uint64_t)(fmax(a->submit_s - from_s, 0) /
                                                p->block_s));
        else
            add_single(p, order < 0 ? a : b, order < 0);
        i += order <= 0;
        j += order >= 0;
    }
    for (; i < left->count; i++)
        add_single(p, &left->job[i], true);
    for (; j < right->count; j++)
        add_single(p, &right->job[j], false);
}

/* For qsort(): by number, which no two share. */
static int compare_blocks(const void *a, const void *b)
{
    uint64_t x = ((const struct block *)a)->number, y = ((const struct block *)b)->number;

    return (x > y) - (x < y);
}

void pairs_list_blocks(struct pairing *p)
{
    struct blocks *b = &p->blocks;

    if (b->count > 0)
        qsort(b->item, b->count, sizeof *b->item, compare_blocks);
    b->left = arena_alloc(p->arena, b->count + 1, sizeof *b->left);
    b->right = arena_alloc(p->arena, b->count + 1, sizeof *b->right);
    b->apart = arena_alloc(p->arena, b->count + 1, sizeof *b->apart);
    b->jobs = arena_alloc(p->arena, b->count + 1, sizeof *b->jobs);
    for (size_t i = 0; i < b->count; i++) {
        b->left[i] = b->item[i].left;
        b->right[i] = b->item[i].right;
        b->apart[i] = b->item[i].apart;
        b->jobs[i] = b->item[i].jobs;
    }
}
