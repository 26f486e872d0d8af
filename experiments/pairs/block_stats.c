/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * block_stats.c - bootstrap-t of a ratio, and the signed-rank test.
 *
 * The standard error of a ratio r = sum(x) / sum(y) over k blocks is that of
 * its residuals x - r y (Cochran, Sampling Techniques, 3rd ed., 6.4).  The
 * interval is the bootstrap-t (Efron & Tibshirani 1993, 12.5): the quantiles
 * of (r* - r) / se* take the place of Student's, so that a few days that weigh
 * much skew it as they should.  The signed-rank test is Wilcoxon's (1945) with
 * mean ranks for ties; its distribution is counted, not approximated, as long
 * as that is cheap.
 */
#include "experiments/pairs/block_stats.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "sim/base/arena.h"
#include "sim/base/rng.h"
#include "sim/stats/stats.h"

#define DRAWS 9999u
#define EXACT_MAX 200u

struct ratio {
    double value, error;        /* error: its standard error */
};

/* Block i counts times[i] times, or once. */
static struct ratio ratio_of(const double *sum, const double *by,
                             const uint32_t *times, size_t blocks)
{
    double x = 0, y = 0, squares = 0, k = (double)blocks;
    struct ratio r;

    for (size_t i = 0; i < blocks; i++) {
        x += (times == NULL ? 1 : times[i]) * sum[i];
        y += (times == NULL ? 1 : times[i]) * by[i];
    }
    r.value = x / y;
    for (size_t i = 0; i < blocks; i++) {
        double rest = sum[i] - r.value * by[i];

        squares += (times == NULL ? 1 : times[i]) * rest * rest;
    }
    r.error = sqrt(k / (k - 1) * squares) / fabs(y);
    return r;
}

/* How many errors the drawn ratio lies off. */
static double errors_off(struct ratio drawn, double value)
{
    double off = drawn.value - value;

    if (!isfinite(drawn.value) || !(drawn.error > 0))
        return off < 0 ? -INFINITY : off > 0 ? INFINITY : 0;
    return off / drawn.error;
}

struct block_ratio block_ratio(struct arena *arena, const double *sum,
                               const double *by, size_t blocks,
                               uint64_t stream)
{
    struct block_ratio out = { NAN, NAN, NAN };
    uint32_t *times;
    struct rng rng;
    struct ratio all;
    double *off;

    if (blocks == 0)
        return out;
    all = ratio_of(sum, by, NULL, blocks);
    out.value = all.value;
    if (blocks < BLOCKS_LEAST || !isfinite(all.value))
        return out;
    off = arena_alloc(arena, DRAWS, sizeof *off);
    times = arena_alloc(arena, blocks, sizeof *times);
    rng_init(&rng, 1, "blocks", stream);
    for (uint32_t d = 0; d < DRAWS; d++) {
        for (size_t i = 0; i < blocks; i++)
            times[i] = 0;
        for (size_t i = 0; i < blocks; i++)
            times[rng_below(&rng, blocks)]++;
        off[d] = errors_off(ratio_of(sum, by, times, blocks), all.value);
    }
    qsort(off, DRAWS, sizeof *off, stats_order);
    if (all.error > 0) {
        out.low = all.value - off[(DRAWS + 1) / 40 * 39 - 1] * all.error;
        out.high = all.value - off[(DRAWS + 1) / 40 - 1] * all.error;
    } else {
        out.low = out.high = all.value;
    }
    return out;
}

/* ---- signed ranks ---- */

/* For qsort(): the number nearer to 0 first. */
static int by_distance(const void *a, const void *b)
{
    double x = fabs(*(const double *)a), y = fabs(*(const double *)b);

    return (x > y) - (x < y);
}

/* Twice the mean ranks of values in order of their distance from 0. */
static void rank_twice(const double *value, size_t count, uint32_t *rank)
{
    for (size_t i = 0, j; i < count; i = j) {
        for (j = i; j < count && fabs(value[j]) <= fabs(value[i]);)
            j++;
        for (size_t k = i; k < j; k++)
            rank[k] = (uint32_t)(i + 1 + j);
    }
}

/* The chance of a sum of ranks of at most `sum` if each has either sign. */
static double chance_exact(struct arena *arena, const uint32_t *rank,
                           size_t count, uint64_t sum)
{
    size_t most = count * (count + 1), reached = 0;
    double *chance = arena_alloc(arena, most + 1, sizeof *chance), total = 0;

    chance[0] = 1;
    for (size_t i = 0; i < count; i++) {
        reached += rank[i];
        for (size_t s = reached + 1; s-- > 0;)
            chance[s] = 0.5 * chance[s] +
                        (s >= rank[i] ? 0.5 * chance[s - rank[i]] : 0);
    }
    for (size_t s = 0; s <= sum && s <= most; s++)
        total += chance[s];
    return total;
}

/* The p-value by the normal distribution, with half a rank for continuity. */
static double chance_normal(const uint32_t *rank, size_t count, uint64_t sum)
{
    double mean = 0, squares = 0;

    for (size_t i = 0; i < count; i++) {
        mean += rank[i] / 2.0;
        squares += (double)rank[i] * rank[i] / 4;
    }
    return gsl_cdf_ugaussian_P(((double)sum + 1 - mean) / sqrt(squares));
}

double block_signed_rank(struct arena *arena, const double *value,
                         size_t blocks)
{
    double *kept = arena_alloc(arena, blocks + 1, sizeof *kept), p;
    uint32_t *rank = arena_alloc(arena, blocks + 1, sizeof *rank);
    uint64_t above = 0, below = 0, less;
    size_t count = 0;

    for (size_t i = 0; i < blocks; i++)
        if (fabs(value[i]) > 0)
            kept[count++] = value[i];
    if (count == 0)
        return blocks == 0 ? NAN : 1;
    qsort(kept, count, sizeof *kept, by_distance);
    rank_twice(kept, count, rank);
    for (size_t i = 0; i < count; i++)
        *(kept[i] > 0 ? &above : &below) += rank[i];
    less = above < below ? above : below;
    p = 2 * (count <= EXACT_MAX ? chance_exact(arena, rank, count, less)
                                : chance_normal(rank, count, less));
    return p < 1 ? p : 1;
}

double block_neighbours(const double *value, size_t blocks)
{
    double mean = 0, squares = 0, products = 0;

    for (size_t i = 0; i < blocks; i++)
        mean += value[i] / (double)blocks;
    for (size_t i = 0; i < blocks; i++) {
        squares += (value[i] - mean) * (value[i] - mean);
        if (i > 0)
            products += (value[i] - mean) * (value[i - 1] - mean);
    }
    return squares > 0 ? products / squares : NAN;
}
