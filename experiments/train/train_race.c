/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * train_race.c - a generation that races: successive halving (race.h), by which the worse
 * vectors meet few of the cells.
 *
 * At each round all that are left meet the same cells.  These come in another order for
 * each generation, so that the first rounds do not always decide by the same ones; one
 * seed meets all points before the next one does, so that points have equal parts in each
 * round, as far as they go.  Candidate 0 is the mean, which is never dropped.
 */
#include <assert.h>

#include "experiments/runner/race.h"
#include "experiments/spec/experiment.h"
#include "experiments/train/training.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/base/rng.h"

/* A race that is under way. */
struct heat {
    struct training *t;         /* its cells, reference and keys */
    struct candidate *batch;    /* the vectors of this generation */
    /* In the order of the race: the cells, what the initial weights did there, and what
     * the candidates did on those that they had. */
    struct train_cell *cell;
    struct outcome reference, o;
    uint32_t had;               /* cells of the rounds before */
};

/* Fisher and Yates: all orders are equally probable. */
static void shuffle(struct rng *rng, uint32_t *list, uint32_t count)
{
    for (uint32_t i = count; i > 1; i--) {
        uint32_t k = (uint32_t)rng_below(rng, i), last = list[i - 1];

        list[i - 1] = list[k];
        list[k] = last;
    }
}

/* Cells that were drawn come as they were drawn.  All others are the seeds of one point,
 * then those of the next one (train_all_cells()).  Returns, for each place in the race, the
 * number of the cell. */
static uint32_t *draw_order(const struct training *t)
{
    uint32_t count = t->cell_count, seeds = t->keys.cells > 0 ? 1 : (uint32_t)t->keys.seeds.count;
    uint32_t points = count / seeds;
    uint32_t *order = arena_alloc(t->arena, count, sizeof *order);
    uint32_t *seed = arena_alloc(t->arena, seeds, sizeof *seed);
    uint32_t *point = arena_alloc(t->arena, points, sizeof *point);
    struct rng rng;

    rng_init(&rng, t->experiment->seed, "train race", t->generation);
    for (uint32_t i = 0; i < seeds; i++)
        seed[i] = i;
    for (uint32_t i = 0; i < points; i++)
        point[i] = i;
    shuffle(&rng, seed, seeds);
    for (uint32_t s = 0; s < seeds; s++) {
        if (t->keys.cells == 0)
            shuffle(&rng, point, points);
        for (uint32_t p = 0; p < points; p++)
            order[s * points + p] = point[p] * seeds + seed[s];
    }
    return order;
}

/* Returns a race of the generation in which nothing was run yet, in the training's
 * arena. */
static struct heat begin_heat(struct training *t, struct candidate *batch)
{
    uint32_t count = t->cell_count, *order = draw_order(t);
    struct heat h = {
        .t = t, .batch = batch,
        .cell = arena_alloc(t->arena, count, sizeof *h.cell),
        .reference = train_outcome(t->arena, 1, count),
        .o = train_outcome(t->arena, (uint32_t)t->keys.population, count)
    };

    for (uint32_t k = 0; k < count; k++) {
        h.cell[k] = t->cell[order[k]];
        train_copy_outcome(&h.reference, k, &t->reference, order[k]);
    }
    return h;
}

/* The callback of the race: runs the cells of this round, and scores over these and those
 * of the rounds before. */
static bool score_round(void *self, const uint32_t *candidate, uint32_t count,
                        uint32_t cells, double *score, struct err *err)
{
    struct heat *h = self;
    struct training *t = h->t;
    uint32_t more = cells - h->had;
    struct candidate *left = arena_alloc(t->arena, count, sizeof *left);
    struct outcome o;

    for (uint32_t i = 0; i < count; i++)
        left[i] = h->batch[candidate[i]];
    if (!train_run_batch(t, left, count, h->cell + h->had, more, &o, err))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        struct candidate *c = &h->batch[candidate[i]];

        for (uint32_t k = 0; k < more; k++)
            train_copy_outcome(&h->o, candidate[i] * t->cell_count + h->had + k, &o,
                               i * more + k);
        c->score = score[i] = train_score(t, &h->o, candidate[i], &h->reference, cells);
        c->cells = cells;
    }
    h->had = cells;
    return true;
}

bool train_race(struct training *t, struct candidate *batch, struct err *err)
{
    struct heat h = begin_heat(t, batch);
    struct race race = {
        .candidates = (uint32_t)t->keys.population, .seeds = t->cell_count,
        .keep = t->keys.elite > 2 ? (uint32_t)t->keys.elite : 2, .score = score_round,
        .self = &h
    };
    uint32_t best, spent;

    return race_run(&race, &best, &spent, err);
}
