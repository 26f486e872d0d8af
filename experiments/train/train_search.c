/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * train_search.c - two ways to search weights: the cross-entropy method and
 * evolution strategies.
 *
 * Cross-entropy: vectors are drawn from independent normals, which move to the
 * mean and the spread of the elite (Rubinstein, Methodology and Computing in
 * Applied Probability 1, 1999; Szita and Lorincz, Neural Computation 18, 2006:
 * noise that keeps the spread from collapsing).
 *
 * Evolution: pairs of vectors on both sides of the mean; the mean moves along
 * each pair's direction by the difference of their ranks (Wierstra et al., JMLR
 * 15, 2014; Salimans et al., arXiv 1703.03864).  A pair that scores alike moves
 * nothing, so where advice changes no decision the mean does not drift by it.
 */
#include <assert.h>
#include <math.h>

#include "experiments/spec/experiment.h"
#include "experiments/train/training.h"
#include "sim/base/arena.h"
#include "sim/base/rng.h"

/* Orders by score, least first, those last that could not be run.  Where a generation
 * races, one that came further goes first: it was better where both were.  The index
 * decides between equals, so that a generation has one order on all machines. */
static bool goes_first(const struct candidate *a, const struct candidate *b)
{
    if (isfinite(a->score) && isfinite(b->score) && a->cells != b->cells)
        return a->cells > b->cells;
    if (a->score != b->score)
        return a->score < b->score;
    return a->index < b->index;
}

/* Insertion sort: a generation is small. */
static void sort_batch(struct candidate *batch, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        struct candidate c = batch[i];
        uint32_t j = i;

        for (; j > 0 && goes_first(&c, &batch[j - 1]); j--)
            batch[j] = batch[j - 1];
        batch[j] = c;
    }
}

/* ---- cross-entropy ---- */

/* Moves the mean and the spread to those of the best vectors.  Vectors that could not be run are
 * left out.
 * If only one could be run of a larger elite, it tells nothing of the spread, and nothing moves.
 * For example, weights 1, 2 and 3 of an elite of 3 have the mean 2 and the spread 0.82. */
static void move_to_elite(struct training *t, const struct candidate *batch)
{
    uint32_t elite = 0;

    while (elite < (uint32_t)t->keys.elite && isfinite(batch[elite].score))
        elite++;
    if (elite < 2 && elite < (uint32_t)t->keys.elite)
        return;
    for (uint32_t w = 0; w < t->keys.weight_count; w++) {
        double mean = 0, square = 0;

        for (uint32_t i = 0; i < elite; i++)
            mean += batch[i].weight[w];
        mean /= elite;
        for (uint32_t i = 0; i < elite; i++)
            square += (batch[i].weight[w] - mean) *
                      (batch[i].weight[w] - mean);
        t->mean[w] = mean;
        t->spread[w] = fmax(sqrt(square / elite), t->keys.spread_min);
    }
}

/* The first one is the mean itself, so that a generation never loses the weights
 * learned so far. */
static void draw_normal(struct training *t, struct candidate *batch)
{
    uint32_t count = (uint32_t)t->keys.population;
    double *weight = arena_alloc(t->arena, t->keys.weight_count,
                                 sizeof *weight);

    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t w = 0; w < t->keys.weight_count; w++)
            weight[w] = i == 0 ? t->mean[w]
                      : rng_normal(&t->rng, t->mean[w], t->spread[w]);
        batch[i] = train_candidate(t, weight, i);
    }
}

/* ---- evolution ---- */

/* Candidates 2k and 2k + 1 lie on both sides of the mean.  The stream is of the generation
 * alone, so that nothing of the generator must be kept for --resume. */
static void draw_pairs(struct training *t, struct candidate *batch)
{
    uint32_t weights = t->keys.weight_count;
    double *plus = arena_alloc(t->arena, weights, sizeof *plus);
    double *minus = arena_alloc(t->arena, weights, sizeof *minus);
    struct rng rng;

    rng_init(&rng, t->experiment->seed, "train", 1 + t->generation);
    for (uint32_t i = 0; i < (uint32_t)t->keys.population; i += 2) {
        for (uint32_t w = 0; w < weights; w++) {
            double step = rng_normal(&rng, 0, t->spread[w]);

            plus[w] = t->mean[w] + step;
            minus[w] = t->mean[w] - step;
        }
        batch[i] = train_candidate(t, plus, i);
        batch[i + 1] = train_candidate(t, minus, i + 1);
    }
}

/* Returns the rank of a candidate by its score: 0 for the best, 1 for the worst.
 * Candidates with equal scores have the middle of their ranks.  O(population). */
static double rank_of(const struct training *t, const struct candidate *batch,
                      uint32_t i)
{
    uint32_t count = (uint32_t)t->keys.population, below = 0, alike = 0;

    for (uint32_t k = 0; k < count; k++) {
        below += batch[k].score < batch[i].score;
        alike += k != i && batch[k].score == batch[i].score;
    }
    return (below + alike / 2.0) / (count - 1);
}

/* Moves the mean along each pair by the difference of its ranks, -1 to 1.  Ranks in
 * place of scores: one vector that leaves jobs undone scores 1000 and more, and
 * would decide alone.  For example, a pair of which one is the best and the other the worst
 * moves the mean by rate / pairs of the way between them. */
static void move_along_pairs(struct training *t, const struct candidate *batch)
{
    uint32_t pairs = (uint32_t)t->keys.population / 2;

    assert(pairs > 0);
    for (uint32_t i = 0; i < pairs; i++) {
        const struct candidate *plus = &batch[(size_t)2 * i], *minus = plus + 1;
        double gain = rank_of(t, batch, 2 * i + 1) - rank_of(t, batch, 2 * i);

        for (uint32_t w = 0; w < t->keys.weight_count; w++)
            t->mean[w] += t->keys.rate * gain / pairs *
                          (plus->weight[w] - minus->weight[w]);
    }
}

/* ---- either ---- */

void train_draw(struct training *t, struct candidate *batch)
{
    if (t->keys.method == TRAIN_EVOLUTION)
        draw_pairs(t, batch);
    else
        draw_normal(t, batch);
}

void train_move(struct training *t, struct candidate *batch)
{
    if (t->keys.method == TRAIN_EVOLUTION)
        move_along_pairs(t, batch);
    sort_batch(batch, (uint32_t)t->keys.population);
    if (t->keys.method == TRAIN_CROSS_ENTROPY)
        move_to_elite(t, batch);
}
