/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * growth.c - tests over the seeds, and their words.
 */
#include "experiments/results/growth.h"

#include <math.h>
#include <stdlib.h>

#include "experiments/columns/metric.h"
#include "experiments/results/grid.h"
#include "sim/base/arena.h"
#include "sim/stats/stats.h"
#include "sim/text/paths.h"

#define TWO_SIDES 0.90          /* whose lower side is wrong in 5% */
#define POINTS_NAMED 3u

/* Returns the mean of a metric over the seeds if it is above 0 by the test;
 * NAN: it is not, or there are too few seeds. */
static double above_0(const struct grid *grid, uint32_t point, uint32_t policy,
                      enum metric metric)
{
    struct stats_mean m = grid_mean(grid, point, policy, metric, TWO_SIDES);

    return m.count >= GROWTH_SEEDS_LEAST && m.low > 0 ? m.mean : NAN;
}

bool growth_known(const struct grid *grid, uint32_t point, uint32_t policy)
{
    return grid_mean(grid, point, policy, METRIC_QUEUE_GROWTH, TWO_SIDES).count >=
           GROWTH_SEEDS_LEAST;
}

bool growth_told(const struct grid *grid, uint32_t point, uint32_t policy)
{
    return above_0(grid, point, policy, METRIC_QUEUE_GROWTH) > 0;
}

/* Returns " at a, b, c and 2 more points", the points of the set; "" for an
 * experiment with one point. */
static const char *points_text(struct arena *arena, const struct grid *grid,
                               const bool *in)
{
    const char *text = " at ";
    uint32_t count = 0;

    if (grid->point_count == 1)
        return "";
    for (uint32_t t = 0; t < grid->point_count; t++)
        if (in[t] && count++ < POINTS_NAMED)
            text = text_format(arena, "%s%s%s", text, count > 1 ? ", " : "",
                               grid->point[t]);
    return count <= POINTS_NAMED ? text
         : text_format(arena, "%s and %u more points", text,
                       count - POINTS_NAMED);
}

const char *growth_text(struct arena *arena, const struct grid *grid,
                        uint32_t policy)
{
    bool *in = arena_alloc(arena, grid->point_count + 1, sizeof *in), any = false;

    for (uint32_t t = 0; t < grid->point_count; t++) {
        in[t] = growth_told(grid, t, policy);
        any = any || in[t];
    }
    return !any ? NULL : text_format(
        arena, "the queue grows under %s%s: mean times say how long jobs came",
        grid->policy[policy], points_text(arena, grid, in));
}

/* Returns the median over the seeds.  Seeds without a value are taken for
 * larger than all others; NAN: the median is such a seed. */
static double median(struct arena *arena, const struct grid *grid,
                     uint32_t point, uint32_t policy, enum metric metric)
{
    double *x = arena_alloc(arena, grid->seed_count + 1, sizeof *x);
    uint32_t n = grid->seed_count;

    for (uint32_t s = 0; s < n; s++) {
        double value = grid_value(grid, point, policy, s, metric);

        x[s] = isnan(value) ? INFINITY : value;
    }
    qsort(x, n, sizeof *x, stats_order);
    return isinf(x[n / 2]) ? NAN : x[n / 2];
}

const char *growth_warmup_text(struct arena *arena, const struct grid *grid,
                               uint32_t policy)
{
    bool *in = arena_alloc(arena, grid->point_count + 1, sizeof *in);
    double most = 0, filling = 0;
    bool any = false, none = false;

    for (uint32_t t = 0; t < grid->point_count; t++) {
        double more = above_0(grid, t, policy, METRIC_QUEUE_FILLING), from;

        if (!(more > 0) || growth_told(grid, t, policy))
            continue;
        in[t] = any = true;
        from = median(arena, grid, t, policy, METRIC_STEADY_AFTER);
        none = none || isnan(from);
        most = fmax(most, from);        /* NAN is passed over */
        filling = fmax(filling, more);
    }
    if (!any)
        return NULL;
    return text_format(
        arena, "under %s%s the system was still filling (by up to %.0f%% from the "
        "first quarter to the last), so mean times are too short: %s",
        grid->policy[policy], points_text(arena, grid, in), 100 * filling,
        none ? "MSER-5 finds no steady state in the run" : text_format(
            arena, "MSER-5 finds a steady state from %.3g h on, take that as "
            "`warmup`, or more if it is that already", most / 3600));
}
