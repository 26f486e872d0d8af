/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trust.c - the two marks of an interval, and the interval of equal seeds.
 */
#include "experiments/results/trust.h"

#include <math.h>
#include <string.h>

#include "experiments/columns/metric.h"
#include "experiments/results/grid.h"
#include "experiments/results/survivors.h"
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

struct trust_equal trust_equal(const struct metric_info *info, double value, bool difference,
                               double n, double confidence)
{
    double missed = log(1 - confidence), share = -expm1(missed / n);
    double least = difference ? -1 : 0;

    if (info->count)
        return (struct trust_equal){
            .below = difference ? -missed / n : fmin(value, -missed / n),
            .above = -missed / n, .share = share
        };
    return (struct trust_equal){ .below = share * fmax(value - least, 0),
                                 .above = share * fmax(1 - value, 0), .share = share };
}

double trust_equal_p(const struct metric_info *info, double difference, double n)
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

double trust_events(const struct grid *grid, uint32_t point, uint32_t policy,
                    enum metric metric)
{
    double sum = 0;

    if (metric != METRIC_SLO)
        return 0;
    for (uint32_t s = 0; s < grid->seed_count; s++) {
        double share, count;

        if (!grid_present(grid, point, policy, s))
            continue;
        share = grid_value(grid, point, policy, s, METRIC_SLO);
        count = slo_count(grid, point, policy, s);
        if ((share != 0 && share != 1) || !(count >= 0))
            return 0;
        sum += count;
    }
    return sum;
}

bool trust_count_given(const struct grid *grid, uint32_t point, uint32_t policy,
                       enum metric metric)
{
    if (metric == METRIC_JOBS || metric == METRIC_REQUESTS)
        return true;
    return (metric == METRIC_JOBS_DONE || metric == METRIC_STEPS_DONE) &&
           !survivors_lost(survivors_of(grid, point, policy, METRIC_JCT_MEAN));
}

/* Is it a fraction, of its unit? */
static bool is_fraction(const struct metric_info *info)
{
    return strcmp(info->unit, "fraction") == 0;
}

bool trust_is_known(const struct trust_side *a, const struct trust_side *b, enum metric metric)
{
    const struct metric_info *info = metric_info(a->grid->metrics, metric);

    return !(info->count || is_fraction(info)) ||
           (grid_fixed(a->grid, a->point, a->policy) &&
            grid_fixed(b->grid, b->point, b->policy)) ||
           (trust_count_given(a->grid, a->point, a->policy, metric) &&
            trust_count_given(b->grid, b->point, b->policy, metric));
}

/* Is it a fraction between 0 and 1 that is measured, not a share of so many cases?  Seeds do
 * not have such a value alike by chance, so it does not depend on them. */
static bool is_measured(const struct metric_info *info, enum metric metric, double value)
{
    return is_fraction(info) && metric != METRIC_SLO && value > 0 && value < 1;
}

void trust_widen_mean(const struct trust_side *side, enum metric metric, double confidence,
                      struct stats_mean *mean)
{
    struct trust_equal open;
    double events;

    if (mean->count < 2 || mean->low != mean->high || trust_is_known(side, side, metric) ||
        is_measured(metric_info(side->grid->metrics, metric), metric, mean->mean))
        return;
    events = trust_events(side->grid, side->point, side->policy, metric);
    open = trust_equal(metric_info(side->grid->metrics, metric), mean->mean, false,
                       events > 0 ? events : (double)mean->count, confidence);
    mean->low = mean->mean - open.below;
    mean->high = mean->mean + open.above;
}

void trust_widen_delta(const struct trust_side *side, const struct trust_side *base,
                       enum metric metric, double base_mean, double confidence,
                       struct stats_delta *delta)
{
    const struct metric_info *info = metric_info(side->grid->metrics, metric);
    double n = (double)delta->count;
    struct trust_equal open;

    if (delta->count < 2 || delta->low != delta->high || trust_is_known(side, base, metric) ||
        (is_measured(info, metric, base_mean) &&
         is_measured(info, metric, base_mean + delta->mean)))
        return;
    open = trust_equal(info, delta->mean, true, n, confidence);
    delta->low = delta->mean - open.below;
    delta->high = delta->mean + open.above;
    delta->p_value = trust_equal_p(info, delta->mean, n);
    if (isnan(delta->percent))
        return;
    delta->percent_low = delta->percent - 100 * open.below / fabs(base_mean);
    delta->percent_high = delta->percent + 100 * open.above / fabs(base_mean);
}
