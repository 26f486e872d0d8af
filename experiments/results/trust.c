/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trust.c - the two marks of an interval.
 */
#include "experiments/results/trust.h"

#include <math.h>

#include "experiments/columns/metric.h"
#include "experiments/results/grid.h"
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
