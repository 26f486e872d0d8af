/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stop.c - the two rules for stopping.
 */
#include "experiments/results/stop.h"

#include <math.h>

#include "experiments/columns/metric.h"
#include "experiments/results/check.h"
#include "experiments/results/grid.h"
#include "experiments/results/survivors.h"
#include "experiments/results/trust.h"
#include "experiments/spec/experiment.h"
#include "sim/base/arena.h"
#include "sim/stats/stats.h"
#include "sim/text/paths.h"

/* Returns how many trials failed. */
static uint32_t failed_trials(const struct grid *grid)
{
    uint32_t count = 0;

    for (uint32_t t = 0; t < grid->point_count; t++)
        for (uint32_t p = 0; p < grid->policy_count; p++)
            count += grid_failed(grid, t, p);
    return count;
}

/* ---- a width ---- */

/* The widest of all intervals that a rule `until: ±2%` speaks of. */
struct widths {
    const struct experiment *experiment;
    const struct grid *grid;
    bool paired;                /* differences to the baseline, or means */
    uint32_t count, left_out;   /* left out: some jobs were lost, or the mean is 0 or none */
    uint32_t fixed, equal;      /* nothing is drawn: known exactly; drawn, and all alike */
    double widest;              /* in percent */
    uint32_t point, policy;     /* of the widest */
    enum metric metric;
};

/* Is the mean, or that of the baseline, not over all jobs?  Then it has no
 * interval. */
static bool lost(const struct widths *w, uint32_t point, uint32_t policy,
                 enum metric metric)
{
    return survivors_lost(survivors_of(w->grid, point, policy, metric)) ||
           (w->paired && survivors_lost(survivors_of(
                             w->grid, point, w->experiment->baseline, metric)));
}

/* Returns the longer side of the interval in percent of the mean that it is
 * relative to; NAN: there is none. */
static double width_of(const struct widths *w, uint32_t point, uint32_t policy,
                       enum metric metric)
{
    struct trust_side side = { w->grid, point, policy };
    struct trust_side first = { w->grid, point, w->experiment->baseline };

    if (!w->paired) {
        struct stats_mean mean = trust_mean(w->grid, point, policy, metric, 0.95, NULL);

        return 100 * fmax(mean.high - mean.mean, mean.mean - mean.low) /
               fabs(mean.mean);
    }
    struct stats_delta d = trust_delta(&side, &first, metric, 0.95, NULL);
    return fmax(d.percent_high - d.percent, d.percent - d.percent_low);
}

/* Looks at one interval, and keeps it if it is the widest so far.  Seeds that
 * are all alike count as one sample, which more seeds would repeat, so they are
 * passed over. */
static void measure(struct widths *w, uint32_t point, uint32_t policy,
                    enum metric metric)
{
    const struct grid *grid = w->grid;
    double width;

    if (grid_alike(grid, point, policy) &&
        (!w->paired || grid_alike(grid, point, w->experiment->baseline))) {
        bool fixed = grid_fixed(grid, point, policy) &&
                     (!w->paired || grid_fixed(grid, point, w->experiment->baseline));

        w->fixed += fixed;
        w->equal += !fixed;
        return;                 /* one sample, that more seeds repeat */
    }
    width = lost(w, point, policy, metric) ? NAN
                                           : width_of(w, point, policy, metric);
    if (isnan(width)) {
        w->left_out++;
        return;
    }
    if (w->count++ > 0 && width <= w->widest)
        return;
    w->widest = width;
    w->point = point;
    w->policy = policy;
    w->metric = metric;
}

/* Looks at all intervals that the rule speaks of. */
static void measure_all(struct widths *w)
{
    const struct experiment_stop *stop = &w->experiment->stop;

    for (uint32_t m = 0; m < stop->metric_count; m++)
        for (uint32_t t = 0; t < w->grid->point_count; t++)
            for (uint32_t p = 0; p < w->grid->policy_count; p++)
                if (!w->paired || p != w->experiment->baseline)
                    measure(w, t, p, stop->metric[m]);
}

/* Returns why nothing has an interval. */
static const char *none_text(struct arena *arena, const struct widths *w)
{
    if (w->left_out > 0)
        return text_format(arena, "%u without a mean over all jobs, or with one of 0",
                           w->left_out);
    return w->equal > 0 ? "all seeds gave equal results" : "nothing is drawn";
}

/* Says how well everything is known, and what is known least. */
static const char *widest_text(struct arena *arena, const struct widths *w)
{
    const char *what = w->paired ? text_format(
        arena, "differences to %s", w->grid->policy[w->experiment->baseline])
        : "means";

    if (w->count == 0)
        return text_format(arena, "none of the %s has an interval: %s", what,
                           none_text(arena, w));
    return text_format(
        arena, "%s %s are known to %s; the least known, %s of %s%s%s%s, to "
        "%.3g%%%s", w->widest <= w->experiment->stop.percent ? "all" : "not all",
        what, w->experiment->stop.text, metric_info(w->grid->metrics, w->metric)->name,
        w->grid->policy[w->policy], w->grid->point_count > 1 ? " (" : "",
        w->grid->point_count > 1 ? w->grid->point[w->point] : "",
        w->grid->point_count > 1 ? ")" : "", w->widest,
        w->left_out == 0 ? "" : text_format(
            arena, "; left out: %u without a mean over all jobs, or with one of 0",
            w->left_out));
}

/* Sets *reached: is every interval as narrow as the rule asks?  Returns true if
 * more seeds would not help, because it is so, or because there is no interval.
 * Where nothing is drawn, values are known without an interval. */
static bool is_narrow(struct arena *arena, const struct experiment *experiment,
                      const struct grid *grid, bool *reached, const char **why)
{
    struct widths w = {
        .experiment = experiment, .grid = grid,
        .paired = experiment->baseline != UINT32_MAX && grid->policy_count > 1
    };

    measure_all(&w);
    *why = widest_text(arena, &w);
    *reached = w.count > 0 ? w.widest <= experiment->stop.percent
                           : w.left_out == 0 && w.equal == 0;
    return w.count == 0 || *reached;
}

/* ---- a verdict ---- */

/* Is the expectation undecided, and for a reason that more seeds may remove? */
static bool is_open(const struct check_item *item)
{
    return item->verdict == CHECK_UNDECIDED && item->compared &&
           !isnan(item->value);
}

/* Sets *reached: is no expectation undecided?  Returns true if there is none
 * that more seeds could decide. */
static bool is_decided(struct arena *arena, const struct experiment *experiment,
                       const struct grid *grid, bool *reached, const char **why)
{
    struct check_list list = check_expects(arena, grid, experiment->expect,
                                           experiment->expect_count);
    uint32_t open = 0;

    for (uint32_t i = 0; i < list.count; i++)
        open += is_open(&list.item[i]);
    *reached = list.undecided == 0;
    *why = *reached ? "no expectation is undecided"
         : open == 0 ? text_format(arena, "%u of %u expectations are undecided, and no seeds "
                                   "can decide them", list.undecided, list.count)
         : text_format(arena, "%u of %u expectations are undecided", open,
                       list.count);
    return open == 0;
}

/* A failed trial stops the run: no rule is judged by what is left. */
bool stop_judge(struct arena *arena, struct experiment *experiment,
                const struct grid *grid)
{
    struct experiment_stop *stop = &experiment->stop;
    uint32_t failed = failed_trials(grid);
    bool all = experiment->seeds >= stop->at_most, enough = true;
    const char *why;

    if (failed > 0) {
        stop->reached = false;
        why = text_format(arena, "%u trial%s failed", failed,
                          failed == 1 ? "" : "s");
    } else {
        enough = stop->rule == LOOKS_WIDTH
            ? is_narrow(arena, experiment, grid, &stop->reached, &why)
            : is_decided(arena, experiment, grid, &stop->reached, &why);
    }
    stop->why = all
        ? text_format(arena, "stopped at the most, %u seeds: %s",
                      experiment->seeds, why)
        : text_format(arena, "stopped at %u of at most %u seeds: %s",
                      experiment->seeds, stop->at_most, why);
    return all || failed > 0 || enough;
}
