/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * survivors.c - sums of two counts over the seeds.
 */
#include "experiments/results/survivors.h"

#include <math.h>
#include <stdio.h>

#include "experiments/columns/metric.h"
#include "experiments/results/grid.h"

/* Sums two metrics over the seeds: how many are done, and how many there are.
 * Seeds that are all alike are one sample, so they count once.  Seeds without
 * the values (no services, or a table of an older version) are left out. */
static struct survivors sum_over(const struct grid *grid, uint32_t point,
                                 uint32_t policy, enum metric done_of,
                                 enum metric all_of)
{
    struct survivors sum = { 0, 0 };
    bool alike = grid_alike(grid, point, policy);   /* then they count as one */

    for (uint32_t s = 0; s < grid->seed_count; s++) {
        double done, all;

        if (!grid_present(grid, point, policy, s))
            continue;
        done = grid_value(grid, point, policy, s, done_of);
        all = grid_value(grid, point, policy, s, all_of);
        if (isnan(done) || isnan(all))
            continue;           /* no services, or of an older version */
        sum.done += done;
        sum.all += all;
        if (alike)
            break;
    }
    return sum;
}

/* A metric may be over both jobs and requests: then its jobs are told if one was lost, else its
 * requests. */
struct survivors survivors_of(const struct grid *grid, uint32_t point,
                              uint32_t policy, enum metric metric)
{
    enum metric_of of = metric_info(grid->metrics, metric)->of;
    struct survivors sum = { 0, 0 };

    if (of == METRIC_OF_JOBS_DONE || of == METRIC_OF_BOTH_DONE)
        sum = sum_over(grid, point, policy, METRIC_JOBS_DONE, METRIC_JOBS);
    if (of == METRIC_OF_REQUESTS_DONE ||
        (of == METRIC_OF_BOTH_DONE && !survivors_lost(sum)))
        sum = sum_over(grid, point, policy, METRIC_REQUESTS_DONE, METRIC_REQUESTS);
    return sum;
}

/* Has a seed a value of the metric under any policy of the point? */
static bool any_has(const struct grid *grid, uint32_t point, uint32_t seed, enum metric metric)
{
    for (uint32_t p = 0; p < grid->policy_count; p++)
        if (!isnan(grid_value(grid, point, p, seed, metric)))
            return true;
    return false;
}

struct survivors survivors_seeds(const struct grid *grid, uint32_t point,
                                 uint32_t policy, enum metric metric)
{
    struct survivors sum = { 0, 0 };

    for (uint32_t s = 0; s < grid->seed_count; s++)
        sum.done += !isnan(grid_value(grid, point, policy, s, metric));
    sum.all = sum.done;
    if (sum.done == 0 || sum.done == grid->seed_count)
        return sum;             /* others need no look */
    sum.all = 0;
    for (uint32_t s = 0; s < grid->seed_count; s++)
        sum.all += any_has(grid, point, s, metric);
    return sum;
}

bool survivors_whole(const struct grid *grid, uint32_t point, uint32_t policy,
                     enum metric metric)
{
    return !survivors_lost(survivors_of(grid, point, policy, metric)) &&
           !survivors_lost(survivors_seeds(grid, point, policy, metric));
}

void survivors_seeds_text(struct survivors s, char *out)
{
    out[0] = '\0';
    if (survivors_lost(s))
        snprintf(out, SURVIVORS_BYTES, " (%.0f of %.0f seeds)", s.done, s.all);
}

/* Returns of how many seeds the point has a trial under any policy. */
static uint32_t seeds_run(const struct grid *grid, uint32_t point)
{
    uint32_t count = 0;

    for (uint32_t s = 0; s < grid->seed_count; s++) {
        bool any = false;

        for (uint32_t p = 0; p < grid->policy_count; p++)
            any = any || grid_present(grid, point, p, s) || grid_fixed(grid, point, p);
        count += any;
    }
    return count;
}

void survivors_run_text(const struct grid *grid, uint32_t first, uint32_t end, char *out)
{
    uint32_t least = grid->seed_count, most = 0;

    for (uint32_t t = first; t < end; t++) {
        uint32_t count = seeds_run(grid, t);

        least = count < least ? count : least;
        most = count > most ? count : most;
    }
    if (least >= grid->seed_count)
        snprintf(out, SURVIVORS_BYTES, "%u", grid->seed_count);
    else if (least == most)
        snprintf(out, SURVIVORS_BYTES, "%u of %u", least, grid->seed_count);
    else
        snprintf(out, SURVIVORS_BYTES, "%u to %u of %u", least, most, grid->seed_count);
}

void survivors_text(struct survivors s, char *out)
{
    out[0] = '\0';
    if (survivors_lost(s))
        snprintf(out, SURVIVORS_BYTES, " (%.0f of %.0f)", s.done, s.all);
}

bool survivors_any(const struct grid *grid, uint32_t point,
                   enum metric metric)
{
    for (uint32_t p = 0; p < grid->policy_count; p++)
        if (survivors_lost(survivors_of(grid, point, p, metric)))
            return true;
    return false;
}

bool survivors_restricted(const struct grid *grid, uint32_t point)
{
    for (uint32_t p = 0; p < grid->policy_count; p++)
        if (grid_run_count(grid, point, p) > 0 &&
            grid_mean(grid, point, p, METRIC_JCT_RESTRICTED, 0.95).count == 0)
            return false;
    return true;
}
