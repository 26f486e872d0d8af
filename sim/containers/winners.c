/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * winners.c - a tournament tree; see winners.h.
 */
#include "sim/containers/winners.h"

#include <assert.h>

#include "sim/base/arena.h"

#define NONE UINT32_MAX

/* The number of leaves is rounded up to a power of two, so that the children of match i are 2i
 * and 2i + 1 at each level. */
void winners_init(struct winners *winners, struct arena *arena, uint32_t count)
{
    assert(count > 0 && count < UINT32_MAX / 4);
    *winners = (struct winners) { .count = count, .leaves = 1 };
    while (winners->leaves < count)
        winners->leaves *= 2;
    winners->score = arena_alloc(arena, count, sizeof *winners->score);
    winners->match = arena_alloc(arena, 2 * (size_t)winners->leaves,
                                 sizeof *winners->match);
    for (uint32_t i = 0; i < 2 * winners->leaves; i++)
        winners->match[i] = NONE;
}

/* Returns the winner of two, of which the left one has the lower number.  NONE loses to
 * everybody; of equal scores the left one wins. */
static uint32_t play(const struct winners *winners, uint32_t left, uint32_t right)
{
    assert(left == NONE || right == NONE || left < right);
    if (left == NONE || right == NONE)
        return left == NONE ? right : left;
    return winners->score[right] > winners->score[left] ? right : left;
}

/* Plays the matches of an item again.  Where another one wins as before, nothing changes
 * above. */
static void play_again(struct winners *winners, uint32_t item)
{
    uint32_t *match = winners->match;

    assert(item < winners->count);
    for (uint32_t i = (winners->leaves + item) / 2; i > 0; i /= 2) {
        uint32_t winner = play(winners, match[2 * i], match[2 * i + 1]);
        if (winner == match[i] && winner != item)
            return;
        match[i] = winner;
    }
}

void winners_put(struct winners *winners, uint32_t item, int32_t score)
{
    assert(item < winners->count);
    winners->score[item] = score;
    winners->match[winners->leaves + item] = item;
    play_again(winners, item);
}

void winners_drop(struct winners *winners, uint32_t item)
{
    assert(item < winners->count);
    winners->match[winners->leaves + item] = NONE;
    play_again(winners, item);
}

uint32_t winners_first(const struct winners *winners)
{
    assert(winners->leaves >= winners->count);
    return winners->match[1];
}
