/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * survivors.c - sums of two counts over the seeds.
 */
#include "experiments/results/survivors.h"

#include <math.h>
#include <stdio.h>

#include "experiments/columns/metric.h"
#include "experiments/results/grid.h"

struct survivors survivors_of(const struct grid *grid, uint32_t point,
                              uint32_t policy, enum metric metric)
{
    enum metric_of of = metric_info(metric)->of;
    struct survivors sum = { 0, 0 };

    bool alike;

    if (of == METRIC_OF_ALL)
        return sum;
    alike = grid_alike(grid, point, policy);    /* then they count as one */
    for (uint32_t s = 0; s < grid->seed_count; s++) {
        bool jobs = of == METRIC_OF_JOBS_DONE;
        double done, all;

        if (!grid_present(grid, point, policy, s))
            continue;
        done = grid_value(grid, point, policy, s,
                          jobs ? METRIC_JOBS_DONE : METRIC_REQUESTS_DONE);
        all = grid_value(grid, point, policy, s,
                         jobs ? METRIC_JOBS : METRIC_REQUESTS);
        if (isnan(done) || isnan(all))
            continue;           /* no services, or of an older version */
        sum.done += done;
        sum.all += all;
        if (alike)
            break;
    }
    return sum;
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
