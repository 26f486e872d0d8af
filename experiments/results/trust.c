/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trust.c - the two marks of an interval, and the interval of equal seeds.
 */
#include "experiments/results/trust.h"

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

const char *trust_text(struct arena *arena, double jobs, double skew,
                       double seeds)
{
    bool few = trust_seeds_few(skew, seeds);

    if (seeds < 2 || (!(jobs > 0) && !few))
        return "";
    if (!few)
        return text_format(arena, "jobs %.2f", jobs);
    if (!(jobs > 0))
        return text_format(arena, "seeds %.2f", skew);
    return text_format(arena, "jobs %.2f; seeds %.2f", jobs, skew);
}

const char *trust_pairs_text(struct arena *arena, double jobs, double skew,
                             double pairs)
{
    const char *text = trust_text(arena, jobs, skew, pairs);

    if (pairs < 2 || pairs >= TRUST_SEEDS_LEAST)
        return text;
    return text_format(arena, "%s%s%.0f pairs", text, *text == 0 ? "" : "; ",
                       pairs);
}

/* By how much a mean may differ from the value that all `n` seeds or cases have. */
struct bound {
    double below, above;        /* from 0 on */
    double share;               /* of seeds or cases that may be otherwise */
};

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

/* Of how many is slo_attained_fraction of a trial a share?  Folders of releases before 0.2
 * tell it of requests alone. */
static double slo_count(const struct grid *grid, uint32_t point, uint32_t policy, uint32_t seed)
{
    double count = grid_value(grid, point, policy, seed, METRIC_SLO_COUNT);

    return isnan(count) ? grid_value(grid, point, policy, seed, METRIC_REQUESTS_DONE) : count;
}

/* Returns of how many cases in all seeds the fraction is all, or none; 0 of another metric,
 * of a fraction between, and where they were not counted. */
static double count_cases(const struct trust_side *side, enum metric metric)
{
    const struct grid *grid = side->grid;
    double sum = 0, first = NAN;

    if (metric != METRIC_SLO)
        return 0;
    for (uint32_t s = 0; s < grid->seed_count; s++) {
        double share, count;

        if (!grid_present(grid, side->point, side->policy, s))
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

/* Does the experiment say how many it is: what came, and of a count of what was done, where
 * all jobs are done? */
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

/* May other seeds have another value than `value`, which all of these have? */
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

/* What `seeds` equal values of a mean, or of a difference, leave open. */
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
        return mean;
    open->seeds = mean.count > 1 || grid_alike(grid, point, policy)
        ? count_seeds(&side, &side, metric) : 0;
    if (open->seeds < 2) {
        open->seeds = 0;
        return mean;
    }
    bound = find_bound(metric_info(grid->metrics, metric), mean.mean, false,
                       count_cases(&side, metric), sure, open);
    mean.count = open->seeds;
    mean.low = mean.mean - bound.below;
    mean.high = mean.mean + bound.above;
    return mean;
}

/* The samples of both sides, and what is made of them. */
struct paired {
    struct stats_delta delta;
    double mean, base_mean;     /* of each side, over the pairs */
};

/* Pairs seed by seed.  Pairs are alike only where both sides are. */
static struct paired pair_sides(const struct trust_side *side, const struct trust_side *base,
                                enum metric metric, double confidence)
{
    size_t room = (size_t)side->grid->seed_count + 1;
    double *x = arena_resize_own(NULL, 2 * room, sizeof *x), *b = x + room;
    uint32_t n = grid_samples(side->grid, side->point, side->policy, metric, x);
    uint32_t m = grid_samples(base->grid, base->point, base->policy, metric, b);
    struct paired pair;

    n = n > m ? n : m;
    pair.delta = stats_delta(x, b, n, confidence);
    for (uint32_t s = 0; s < n; s++)
        if (!isfinite(x[s]) || !isfinite(b[s]))
            x[s] = b[s] = NAN;
    pair.mean = stats_mean(x, n, confidence).mean;
    pair.base_mean = stats_mean(b, n, confidence).mean;
    free(x);
    return pair;
}

/* Sets the interval and p-value of a difference that all `n` seeds or cases have alike. */
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

/* Sets the p-value to what the rules of both folders for their seeds make of it. */
static struct stats_delta correct_p(const struct trust_side *side,
                                    const struct trust_side *base, struct stats_delta delta)
{
    delta.p_value = fmax(grid_p_value(side->grid, delta.p_value),
                         grid_p_value(base->grid, delta.p_value));
    return delta;
}

struct stats_delta trust_delta(const struct trust_side *side, const struct trust_side *base,
                               enum metric metric, double confidence, struct trust_open *open)
{
    const struct metric_info *info = metric_info(side->grid->metrics, metric);
    double sure = fmax(grid_confidence(side->grid, confidence),
                       grid_confidence(base->grid, confidence));
    struct paired pair = pair_sides(side, base, metric, sure);
    struct stats_delta *delta = &pair.delta;
    struct trust_open unused;

    open = open == NULL ? &unused : open;
    *open = (struct trust_open){ 0 };
    if (delta->count == 0 || (delta->count > 1 && delta->low != delta->high) ||
        !(is_open(side, metric, pair.mean) || is_open(base, metric, pair.base_mean)))
        return correct_p(side, base, *delta);
    open->seeds = delta->count > 1 || (grid_alike(side->grid, side->point, side->policy) &&
                                       grid_alike(base->grid, base->point, base->policy))
        ? count_seeds(side, base, metric) : 0;
    if (open->seeds < 2) {
        open->seeds = 0;
        return correct_p(side, base, *delta);
    }
    double cases = fmin(count_cases(side, metric), count_cases(base, metric));
    open->percent = 100 / fabs(pair.base_mean);
    struct bound bound = find_bound(info, delta->mean, true, cases, sure, open);
    widen(info, &bound, cases > 0 ? cases : open->seeds, open->percent, delta);
    delta->count = open->seeds;
    return correct_p(side, base, *delta);
}
