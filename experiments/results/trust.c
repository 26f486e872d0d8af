/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trust.c - the two marks of an interval, and the interval of equal seeds.
 *
 * A mean that has the same value in all seeds has an interval of width 0, which
 * says more than is known.  Example: no GPU was lost in 10 seeds.  With 95%
 * confidence, an event that comes in 26% of seeds or less may not have shown (1
 * - 0.05^(1/10) = 0.26); of a count, up to 3 / 10 a seed.  bound_of() gives
 * these bounds, and the other functions apply them to means and to paired
 * differences.
 */
#include "experiments/results/trust.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/columns/metric.h"
#include "experiments/results/grid.h"
#include "experiments/results/survivors.h"
#include "experiments/results/without.h"
#include "sim/base/arena.h"
#include "sim/stats/shape.h"
#include "sim/stats/stats.h"
#include "sim/text/paths.h"

double trust_jobs(const struct grid *grid, uint32_t point, uint32_t policy)
{
    struct shape all = { 0, 0, 0, 0 };

    for (uint32_t s = 0; s < grid->seed_count; s++) {
        double jobs, cv, skewness;

        if (!grid_present(grid, point, policy, s))
            continue;
        jobs = grid_value(grid, point, policy, s, METRIC_JOBS_DONE);
        cv = grid_value(grid, point, policy, s, METRIC_RUN_TIME_CV);
        skewness = grid_value(grid, point, policy, s, METRIC_RUN_TIME_SKEWNESS);
        if (jobs >= 0 && cv >= 0 && isfinite(jobs * cv * skewness))
            shape_pool(&all, jobs, cv, skewness);
    }
    return shape_few(&all);
}

bool trust_seeds_few(double skew, double seeds)
{
    return seeds >= TRUST_SEEDS_LEAST && skew > TRUST_SEEDS_MOST;
}

/* Returns "jobs 0.25; seeds 0.71; equal seeds", or the parts of it that are so;
 * "": there is no doubt. */
static const char *doubt_text(struct arena *arena, double jobs, double skew, double seeds,
                              bool cases)
{
    const char *text = jobs > 0 ? text_format(arena, "jobs %.2f", jobs) : "";

    if (trust_seeds_few(skew, seeds))
        text = text_format(arena, "%s%sseeds %.2f", text, *text == 0 ? "" : "; ", skew);
    if (cases)
        text = text_format(arena, "%s%sequal seeds", text, *text == 0 ? "" : "; ");
    return text;
}

const char *trust_text(struct arena *arena, double jobs, const struct stats_mean *mean)
{
    if (mean->count < 2 || !(mean->high > mean->low))
        return "";
    return doubt_text(arena, jobs, mean->skew, (double)mean->count, mean->cases);
}

const char *trust_pairs_text(struct arena *arena, double jobs, const struct stats_delta *delta)
{
    const char *text;

    if (delta->count < 2 || !(delta->high > delta->low))
        return "";
    text = doubt_text(arena, jobs, delta->skew, (double)delta->count, delta->cases);
    if (delta->count >= TRUST_SEEDS_LEAST)
        return text;
    return text_format(arena, "%s%s%zu pairs", text, *text == 0 ? "" : "; ", delta->count);
}

/* By how much a mean may differ from the value that all seeds or cases have. */
struct bound {
    double below, above;        /* from 0 on */
    double share;               /* of seeds or cases that may be otherwise */
};

/* Returns how far a value may move by seeds that were not run, if all `n` had
 * it.  With that confidence, what was never seen in n seeds comes in less than
 * a share of 1 - (1 - confidence)^(1/n) of them.  A count may rise by -log(1 -
 * confidence) / n, and fall by no more than its value. */
static struct bound bound_of(const struct metric_info *info, double value, bool difference,
                             double n, double confidence)
{
    double missed = log(1 - confidence), share = -expm1(missed / n);
    double least = difference ? -1 : 0;

    if (info->count)
        return (struct bound){ .below = difference ? -missed / n : fmin(value, -missed / n),
                               .above = -missed / n, .share = share };
    return (struct bound){ .below = share * fmax(value - least, 0),
                           .above = share * fmax(1 - value, 0), .share = share };
}

/* Returns the two-sided p-value of a difference that is the same in all `n`: below
 * 1 - confidence exactly where bound_of() excludes 0. */
static double p_of_equal(const struct metric_info *info, double difference, double n)
{
    double size = fabs(difference);

    return info->count ? exp(-n * size) : pow(1 + size, -n);
}

/* Returns of how many cases slo_attained_fraction of a trial is a share.
 * Folders of releases before 0.2 tell the number of requests alone. */
static double slo_count(const struct grid *grid, uint32_t point, uint32_t policy, uint32_t seed)
{
    double count = grid_value(grid, point, policy, seed, METRIC_SLO_COUNT);

    return isnan(count) ? grid_value(grid, point, policy, seed, METRIC_REQUESTS_DONE) : count;
}

/* Returns the number of cases, in all seeds that `other` has too, if the
 * fraction is 0 in all of them or 1 in all.  0: it is another metric, or a
 * fraction between, or they were not counted. */
static double count_cases(const struct trust_side *side, const struct trust_side *other,
                          enum metric metric)
{
    const struct grid *grid = side->grid;
    double sum = 0, first = NAN;

    if (metric != METRIC_SLO)
        return 0;
    for (uint32_t s = 0; s < grid->seed_count; s++) {
        double share, count;

        if (!grid_present(grid, side->point, side->policy, s) ||
            !grid_present(other->grid, other->point, other->policy, s))
            continue;
        share = grid_value(grid, side->point, side->policy, s, METRIC_SLO);
        count = slo_count(grid, side->point, side->policy, s);
        first = isnan(first) ? share : first;
        if ((share != 0 && share != 1) || share != first || !(count >= 0))
            return 0;
        sum += count;
    }
    return sum;
}

/* Does the experiment itself fix the value?  So it does for what came, and for
 * what was done where all jobs are done. */
static bool is_given(const struct trust_side *side, enum metric metric)
{
    if (metric == METRIC_JOBS || metric == METRIC_REQUESTS)
        return true;
    return (metric == METRIC_JOBS_DONE || metric == METRIC_STEPS_DONE) &&
           !survivors_lost(survivors_of(side->grid, side->point, side->policy,
                                        METRIC_JCT_MEAN));
}

bool trust_is_share(const struct metric_info *info, enum metric metric)
{
    static const enum metric ratio[] = {
        METRIC_GAP, METRIC_MAKESPAN_GAP, METRIC_QUEUE_FILLING, METRIC_RENT_FORECAST,
        METRIC_HELD_WORK, METRIC_ENVY
    };

    for (size_t i = 0; i < sizeof ratio / sizeof ratio[0]; i++)
        if (metric == ratio[i])
            return false;
    return strcmp(info->unit, "fraction") == 0;
}

/* Returns the range of a metric as an interval: 0 to 1 for shares, 0 or more
 * for counts and times, else unlimited. */
static struct stats_mean range_of(const struct metric_info *info, enum metric metric)
{
    bool known = info->expression == NULL, share = known && trust_is_share(info, metric);
    bool counts = share || (known && (info->count || strcmp(info->unit, "s") == 0));

    return (struct stats_mean){ .low = counts ? 0 : -INFINITY, .high = share ? 1 : INFINITY };
}

/* Cuts an interval to the range of the metric.  No mean lies outside, so the
 * interval errs no more often.  A value that is outside by the last digits of a
 * sum stays within its interval. */
static struct stats_mean cut_mean(const struct metric_info *info, enum metric metric,
                                  struct stats_mean mean)
{
    struct stats_mean range = range_of(info, metric);

    if (isnan(mean.low) || isnan(mean.high))
        return mean;
    mean.low = fmax(mean.low, fmin(mean.mean, range.low));
    mean.high = fmin(mean.high, fmax(mean.mean, range.high));
    return mean;
}

void trust_cut_percent(const struct metric_info *info, enum metric metric,
                       struct stats_delta *delta)
{
    if (range_of(info, metric).low == 0 && !isnan(delta->percent_low))
        delta->percent_low = fmax(delta->percent_low, fmin(delta->percent, -100));
}

/* May other seeds have another value than `value`, which all of these have?
 * Only counts and shares can be alike by chance, and only where something is
 * drawn and what they count can happen. */
static bool is_open(const struct trust_side *side, enum metric metric, double value)
{
    const struct grid *grid = side->grid;
    const struct metric_info *info = metric_info(grid->metrics, metric);
    bool share = trust_is_share(info, metric) && value >= 0 && value <= 1;

    if (!(info->count || share) || grid_fixed(grid, side->point, side->policy) ||
        is_given(side, metric) ||
        (grid->without != NULL &&
         without_all(grid->without[grid_pair(grid, side->point, side->policy)], metric)))
        return false;
    return info->count || value == 0 || value == 1 || metric == METRIC_SLO;
}

/* Returns the number of seeds that both sides have a value of. */
static uint32_t count_seeds(const struct trust_side *a, const struct trust_side *b,
                            enum metric metric)
{
    uint32_t count = 0;

    for (uint32_t s = 0; s < a->grid->seed_count; s++)
        count += isfinite(grid_value(a->grid, a->point, a->policy, s, metric)) &&
                 isfinite(grid_value(b->grid, b->point, b->policy, s, metric));
    return count;
}

/* Returns what open->seeds equal values leave open, and fills *open with what
 * the seeds alone leave.  Where the cases of the seeds are counted, there are
 * more of them than seeds, and the bound is narrower. */
static struct bound find_bound(const struct metric_info *info, double value, bool difference,
                               double cases, double confidence, struct trust_open *open)
{
    struct bound seeds = bound_of(info, value, difference, open->seeds, confidence);

    open->cases = cases > 0;
    open->share = seeds.share;
    open->below = seeds.below;
    open->above = seeds.above;
    return cases > 0 ? bound_of(info, value, difference, cases, confidence) : seeds;
}

struct stats_mean trust_mean(const struct grid *grid, uint32_t point, uint32_t policy,
                             enum metric metric, double confidence, struct trust_open *open)
{
    const struct trust_side side = { grid, point, policy };
    double sure = grid_confidence(grid, confidence);
    struct stats_mean mean = grid_mean(grid, point, policy, metric, sure);
    struct trust_open unused;
    struct bound bound;

    open = open == NULL ? &unused : open;
    *open = (struct trust_open){ 0 };
    if (mean.count == 0 || (mean.count > 1 && mean.low != mean.high) ||
        !is_open(&side, metric, mean.mean))
        return cut_mean(metric_info(grid->metrics, metric), metric, mean);
    open->seeds = mean.count > 1 || grid_alike(grid, point, policy)
        ? count_seeds(&side, &side, metric) : 0;
    if (open->seeds < 2) {
        open->seeds = 0;
        return mean;
    }
    bound = find_bound(metric_info(grid->metrics, metric), mean.mean, false,
                       count_cases(&side, &side, metric), sure, open);
    mean.count = open->seeds;
    mean.cases = open->cases;
    mean.low = mean.mean - bound.below;
    mean.high = mean.mean + bound.above;
    return mean;
}

/* The samples of both sides, seed by seed, and what is computed of them. */
struct paired {
    double *x, *base;           /* NAN where either lacks a value; free() x alone */
    uint32_t n;
    struct stats_delta delta;
    struct stats_mean mean, base_mean;  /* of each side, over the pairs */
};

/* Is the trial of seed `a` the same as that of seed `b`, in every metric? */
static bool are_same(const struct trust_side *side, uint32_t a, uint32_t b)
{
    const struct grid *grid = side->grid;

    for (unsigned m = 0; m < metric_count(grid->metrics); m++) {
        double x = grid_value(grid, side->point, side->policy, a, (enum metric)m);
        double y = grid_value(grid, side->point, side->policy, b, (enum metric)m);

        if (x != y && !(isnan(x) && isnan(y)))
            return false;
    }
    return true;
}

/* Returns the first seed that both sides have, if there are several and all of
 * them are alike on each side; else UINT32_MAX. */
static uint32_t find_alike(const struct trust_side *side, const struct trust_side *base)
{
    uint32_t first = UINT32_MAX, count = 0;

    for (uint32_t s = 0; s < side->grid->seed_count; s++) {
        if (!grid_present(side->grid, side->point, side->policy, s) ||
            !grid_present(base->grid, base->point, base->policy, s))
            continue;
        first = count++ == 0 ? s : first;
        if (!are_same(side, first, s) || !are_same(base, first, s))
            return UINT32_MAX;
    }
    return count > 1 ? first : UINT32_MAX;
}

/* Pairs two sides seed by seed.  A seed without a value on one side counts on
 * neither.  Seeds that are alike on both sides are one pair. */
static struct paired pair_sides(const struct trust_side *side, const struct trust_side *base,
                                enum metric metric, double confidence)
{
    size_t room = (size_t)side->grid->seed_count + 1;
    double *x = arena_resize_own(NULL, 2 * room, sizeof *x), *b = x + room;
    uint32_t n = grid_samples(side->grid, side->point, side->policy, metric, x);
    uint32_t m = grid_samples(base->grid, base->point, base->policy, metric, b);
    struct paired pair = { .x = x, .base = b, .n = n > m ? n : m };

    for (uint32_t s = 0; s < pair.n; s++)
        if (!isfinite(x[s]) || !isfinite(b[s]))
            x[s] = b[s] = NAN;
    uint32_t first = pair.n > 1 ? find_alike(side, base) : UINT32_MAX;

    if (first != UINT32_MAX) {
        x[0] = x[first];
        b[0] = b[first];
        pair.n = 1;
    }
    pair.delta = stats_delta(x, b, pair.n, confidence);
    pair.mean = stats_mean(x, pair.n, confidence);
    pair.base_mean = stats_mean(b, pair.n, confidence);
    return pair;
}

/* Sets the interval and the p-value of a difference that all `n` seeds or cases
 * have alike.  `percent` is the percentage of a difference of 1. */
static void widen(const struct metric_info *info, const struct bound *bound, double n,
                  double percent, struct stats_delta *delta)
{
    delta->low = delta->mean - bound->below;
    delta->high = delta->mean + bound->above;
    delta->p_value = p_of_equal(info, delta->mean, n);
    if (isnan(delta->percent))
        return;
    delta->percent_low = delta->percent - percent * bound->below;
    delta->percent_high = delta->percent + percent * bound->above;
}

/* A difference of which one side is constant: it has `value` in all pairs, and
 * other seeds may have another.  The other side varies. */
struct half {
    const struct metric_info *info;
    const struct paired *pair;
    bool is_base;               /* the baseline is the constant side */
    double value;
    double n;                   /* seeds or cases that have it */
};

/* Sets low and high to all differences that are left by a mean of the constant
 * side within its bound, and a mean of the other side within its interval.
 * Each of the two may err half as often as both together (Bonferroni). Returns
 * the bound of the constant side. */
static struct bound bound_half(const struct half *half, double confidence,
                               struct stats_delta *delta)
{
    double *d = arena_resize_own(NULL, (size_t)half->pair->n + 1, sizeof *d);
    double sure = (1 + confidence) / 2;
    struct bound bound = bound_of(half->info, half->value, false, half->n, sure);
    struct stats_mean mean;

    for (uint32_t s = 0; s < half->pair->n; s++)
        d[s] = half->pair->x[s] - half->pair->base[s];
    mean = stats_mean(d, half->pair->n, sure);
    delta->low = mean.low - (half->is_base ? bound.above : bound.below);
    delta->high = mean.high + (half->is_base ? bound.below : bound.above);
    free(d);
    return bound;
}

/* Returns the p-value: the level at which that interval ends at 0. It is found
 * by bisection on a logarithmic scale, from 1e-14, below which nothing is told
 * apart, to 1. */
static double p_of_half(const struct half *half)
{
    const double LEAST = 1e-14;
    double least = LEAST, most = 1;

    for (unsigned i = 0; i < 50; i++) {
        double p = sqrt(least * most);
        struct stats_delta delta;

        (void)bound_half(half, 1 - p, &delta);
        *(delta.low > 0 || delta.high < 0 ? &most : &least) = p;
    }
    assert(least >= LEAST && most <= 1);
    return most;
}

/* Returns the difference if the constant side had that mean.  It writes `value`
 * into the samples. */
static struct stats_delta delta_if(const struct half *half, double value, double confidence)
{
    const struct paired *pair = half->pair;
    double *constant = half->is_base ? pair->base : pair->x;

    for (uint32_t s = 0; s < pair->n; s++)
        if (!isnan(constant[s]))
            constant[s] = value;
    return stats_delta(pair->x, pair->base, pair->n, confidence);
}

/* Sets the interval, in percent too.  A ratio rises or falls with the mean of
 * the constant side, so it is farthest at an end of the bound.  If the baseline
 * may be 0, the percentage has no upper end. */
static void widen_half(const struct half *half, double confidence, struct stats_delta *delta)
{
    struct bound bound = bound_half(half, confidence, delta);
    double sure = (1 + confidence) / 2;
    struct stats_delta less = delta_if(half, half->value - bound.below, sure);
    struct stats_delta more = delta_if(half, half->value + bound.above, sure);

    (void)delta_if(half, half->value, sure);    /* as it was */
    if (isnan(delta->percent))
        return;
    delta->percent_low = fmin(less.percent_low, more.percent_low);
    delta->percent_high = fmax(less.percent_high, more.percent_high);
    if (!isnan(less.percent))
        return;
    delta->percent_high = INFINITY;
    if (less.low < 0)
        delta->percent_low = -INFINITY;
}

/* If one side alone is constant and open, sets the interval, the p-value and
 * *open. */
static void heed_half(const struct trust_side *side, const struct trust_side *base,
                      enum metric metric, double confidence, const struct paired *pair,
                      struct stats_delta *delta, struct trust_open *open)
{
    bool is_base = pair->base_mean.low == pair->base_mean.high;
    const struct trust_side *same = is_base ? base : side;
    struct half half = {
        metric_info(side->grid->metrics, metric), pair, is_base,
        is_base ? pair->base_mean.mean : pair->mean.mean, (double)delta->count
    };
    double cases = count_cases(same, is_base ? side : base, metric);

    if ((!is_base && pair->mean.low != pair->mean.high) || !is_open(same, metric, half.value))
        return;
    widen_half(&half, confidence, delta);
    *open = (struct trust_open){
        .seeds = (uint32_t)delta->count, .half = true, .cases = cases > 0,
        .share = bound_of(half.info, half.value, false, half.n, (1 + confidence) / 2).share,
        .below = delta->mean - delta->low, .above = delta->high - delta->mean,
        .percent_below = delta->percent - delta->percent_low,
        .percent_above = delta->percent_high - delta->percent
    };
    if (cases > 0) {
        half.n = cases;
        widen_half(&half, confidence, delta);
    }
    delta->p_value = p_of_half(&half);
}

/* If all pairs are equal and one side is open, sets the interval, the p-value
 * and *open. */
static void heed_equal(const struct trust_side *side, const struct trust_side *base,
                       enum metric metric, double confidence, const struct paired *pair,
                       struct stats_delta *delta, struct trust_open *open)
{
    const struct metric_info *info = metric_info(side->grid->metrics, metric);
    double cases = fmin(count_cases(side, base, metric), count_cases(base, side, metric));
    double percent = 100 / fabs(pair->base_mean.mean);
    struct bound bound;

    open->seeds = count_seeds(side, base, metric);
    if (open->seeds < 2 || !(is_open(side, metric, pair->mean.mean) ||
                             is_open(base, metric, pair->base_mean.mean))) {
        open->seeds = 0;
        return;
    }
    bound = find_bound(info, delta->mean, true, cases, confidence, open);
    open->percent_below = percent * open->below;
    open->percent_above = percent * open->above;
    widen(info, &bound, cases > 0 ? cases : open->seeds, percent, delta);
    delta->count = open->seeds;
}

struct stats_delta trust_delta(const struct trust_side *side, const struct trust_side *base,
                               enum metric metric, double confidence, struct trust_open *open)
{
    double sure = fmax(grid_confidence(side->grid, confidence),
                       grid_confidence(base->grid, confidence));
    struct paired pair = pair_sides(side, base, metric, sure);
    struct stats_delta delta = pair.delta;
    struct trust_open unused;

    open = open == NULL ? &unused : open;
    *open = (struct trust_open){ 0 };
    if (delta.count > 1 && delta.low != delta.high)
        heed_half(side, base, metric, sure, &pair, &delta, open);
    else if (delta.count > 0)
        heed_equal(side, base, metric, sure, &pair, &delta, open);
    free(pair.x);
    trust_cut_percent(metric_info(side->grid->metrics, metric), metric, &delta);
    delta.cases = open->cases;
    /* What the rules of both folders for their seeds make of it. */
    delta.p_value = fmax(grid_p_value(side->grid, delta.p_value),
                         grid_p_value(base->grid, delta.p_value));
    return delta;
}
