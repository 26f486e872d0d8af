/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trust.c - the two marks of an interval, and the interval of equal seeds.
 */
#include "experiments/results/trust.h"

#include <math.h>

#include "experiments/columns/metric.h"
#include "experiments/results/grid.h"
#include "experiments/results/survivors.h"
#include "sim/base/arena.h"
#include "sim/stats/shape.h"
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

double trust_events(const struct grid *grid, uint32_t point, uint32_t policy,
                    enum metric metric)
{
    double sum = 0;

    if (metric != METRIC_SLO)
        return 0;
    for (uint32_t s = 0; s < grid->seed_count; s++) {
        double share, requests;

        if (!grid_present(grid, point, policy, s))
            continue;
        share = grid_value(grid, point, policy, s, METRIC_SLO);
        requests = grid_value(grid, point, policy, s, METRIC_REQUESTS_DONE);
        if ((share != 0 && share != 1) || !(requests > 0))
            return 0;
        sum += requests;
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
