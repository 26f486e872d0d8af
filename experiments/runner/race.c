/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * race.c - see the header.
 *
 * A pull is one trial of one candidate.  The caller's budget is in pulls;
 * race_most() inverts the cost of a race, so that a race is never begun that
 * cannot be ended.
 */
#include "experiments/runner/race.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "sim/base/arena.h"

struct racer {
    uint32_t candidate;         /* its number in the race */
    double score;               /* smaller is better; INFINITY: it is out */
};

/* Returns the seeds that each candidate has had after the round that follows `had`
 * seeds: twice as many, at most `seeds`. */
static uint32_t next_seeds(uint32_t had, uint32_t seeds)
{
    uint32_t next = had == 0 ? RACE_FIRST_SEEDS : 2 * had;

    return next < seeds ? next : seeds;
}

/* Returns the pulls that a race of n candidates costs at most: after each round
 * half are left, and perhaps the entry as it is beside them. */
static uint64_t cost_of(uint64_t n, uint32_t seeds)
{
    uint64_t cost = 0;

    for (uint32_t had = 0; had < seeds && n > 1;) {
        uint32_t next = next_seeds(had, seeds);

        cost += n * (next - had);
        had = next;
        n = n > 2 ? (n + 1) / 2 + 1 : n;
    }
    return cost;
}

/* Counts up: n is some hundred, and cost_of() grows with n. */
uint32_t race_most(uint32_t pulls, uint32_t seeds)
{
    uint32_t most = 1;

    while (cost_of(most + 1, seeds) <= pulls)
        most++;
    return most;
}

/* The better first; the entry as it is and earlier candidates before equal ones. */
static int compare_racers(const void *a, const void *b)
{
    const struct racer *left = a, *right = b;

    if (left->score != right->score)
        return left->score < right->score ? -1 : 1;
    return left->candidate < right->candidate ? -1
                                              : left->candidate > right->candidate;
}

/* Sorts the candidates that are still in the race and keeps the better half.
 * Candidate 0, the entry as it is written, stays beside that half: so the winner has
 * always been compared with it.  No other without a score stays. */
static uint32_t halve(struct racer *racer, uint32_t count, uint32_t keep)
{
    uint32_t half = (count + 1) / 2, left = 0;
    bool origin = false;

    if (half < keep)
        half = keep < count ? keep : count;
    qsort(racer, count, sizeof *racer, compare_racers);
    while (left < half && isfinite(racer[left].score))
        origin |= racer[left++].candidate == 0;
    for (uint32_t i = left; !origin && i < count; i++)
        if (racer[i].candidate == 0) {
            racer[left++] = racer[i];
            origin = true;
        }
    return left;
}

/* Scores the candidates that are left on all seeds up to `seeds`; the earlier
 * seeds are known to the probe and cost nothing. */
static bool run_round(const struct race *race, struct racer *racer, uint32_t count,
                      uint32_t seeds, struct arena *arena, struct err *err)
{
    uint32_t *candidate = arena_alloc(arena, count + 1, sizeof *candidate);
    double *score = arena_alloc(arena, count + 1, sizeof *score);

    for (uint32_t i = 0; i < count; i++)
        candidate[i] = racer[i].candidate;
    if (!race->score(race->self, candidate, count, seeds, score, err))
        return false;
    for (uint32_t i = 0; i < count; i++)
        racer[i].score = score[i];
    return true;
}

/* Ends when one candidate is left or all seeds were run. */
bool race_run(const struct race *race, uint32_t *best, uint32_t *spent, struct err *err)
{
    struct arena *arena = arena_new(0);
    struct racer *racer = arena_alloc(arena, race->candidates + 1, sizeof *racer);
    uint32_t left = race->candidates, seeds = 0;
    bool ok = true;

    assert(race->candidates > 0);
    *spent = 0;
    for (uint32_t i = 0; i < left; i++)
        racer[i].candidate = i;
    while (ok && left > 1 && seeds < race->seeds) {
        uint32_t next = next_seeds(seeds, race->seeds);

        *spent += (next - seeds) * left;
        seeds = next;
        ok = run_round(race, racer, left, seeds, arena, err);
        if (ok)
            left = halve(racer, left, race->keep);
    }
    *best = racer[0].candidate;     /* sorted, unless there is but one */
    arena_free(arena);
    return ok;
}
