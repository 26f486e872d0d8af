/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * limits.c - one sentence for each policy whose limit cut.
 */
#include "experiments/results/limits.h"

#include <stdio.h>

#include "experiments/columns/metric.h"
#include "experiments/results/grid.h"

bool limits_say(const struct grid *grid, uint32_t policy, const char *limits,
                char *out, uint32_t out_bytes)
{
    uint32_t trials = 0, cut = 0;
    double most = 0;

    for (uint32_t t = 0; limits != NULL && t < grid->point_count; t++)
        for (uint32_t s = 0; s < grid->seed_count; s++) {
            if (!grid_present(grid, t, policy, s))
                continue;
            double value = grid_value(grid, t, policy, s, METRIC_LIMITED);
            trials++;
            cut += value > 0;
            most = value > most ? value : most;
        }
    if (cut == 0)
        return false;
    snprintf(out, out_bytes, "%s: its limit (%s) left something out in %u of %u "
             "trials, in up to %.0f decisions of one; raise it to see what that "
             "changes.", grid->policy[policy], limits, cut, trials, most);
    return true;
}
