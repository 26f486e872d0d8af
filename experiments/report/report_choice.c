/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report_choice.c - which policy is the best at each point, what another choice
 * costs, and what the controls say decides.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "experiments/columns/metric.h"
#include "experiments/report/report_parts.h"
#include "experiments/results/compare.h"
#include "experiments/results/grid.h"
#include "experiments/results/survivors.h"
#include "experiments/spec/controls.h"
#include "sim/base/arena.h"
#include "sim/stats/stats.h"
#include "sim/text/paths.h"
#include "sim/text/sheet.h"

#define CONFIDENCE 0.95
#define SMALLEST_PERCENT 0.05   /* what is written with one digit */

/* What a choice is judged by: less is better. */
static const enum metric judged[] = { METRIC_JCT_MEAN, METRIC_COST_PER_JOB };
#define JUDGED COUNT_OF(judged)

/* Returns a difference in percent with its interval; "within 0.05%" if all of
 * it is that small. */
static const char *delta_text(struct arena *arena, const struct stats_delta *d)
{
    if (!isfinite(d->percent))
        return "-";
    if (isinf(d->percent_low) || isinf(d->percent_high))
        return text_format(arena, "%+.1f%%, with no end to its interval", d->percent);
    if (fmax(fabs(d->percent_low), fabs(d->percent_high)) < SMALLEST_PERCENT)
        return text_format(arena, "within %g%%", SMALLEST_PERCENT);
    if (!isfinite(d->percent_low) || !isfinite(d->percent_high))
        return text_format(arena, "%+.1f%%", d->percent);
    return text_format(arena, "%+.1f%% [%+.1f, %+.1f]", d->percent,
                       d->percent_low, d->percent_high);
}

/* Returns the mean of a metric; NAN: there is none, or it is not of all jobs
 * and seeds. */
static double mean_of(const struct report *r, uint32_t point, uint32_t policy,
                      enum metric metric)
{
    const struct grid *grid = r->source.grid;
    struct stats_mean m = grid_mean(grid, point, policy, metric, CONFIDENCE);

    return m.count == 0 || !survivors_whole(grid, point, policy, metric) ? NAN : m.mean;
}

/* Returns the policy of the least mean, or UINT32_MAX: there is none, or all that there are
 * are 0, as costs are where nothing has a price. */
static uint32_t find_best(const struct report *r, uint32_t point,
                          enum metric metric)
{
    uint32_t best = UINT32_MAX;
    double least = INFINITY;
    bool any = false;

    for (uint32_t p = 0; p < r->source.grid->policy_count; p++) {
        double mean = mean_of(r, point, p, metric);

        any = any || fabs(mean) > 0;
        if (mean < least) {
            least = mean;
            best = p;
        }
    }
    return any ? best : UINT32_MAX;
}

/* Returns how much a policy is above the best of a point; NAN: there is no best, or the
 * policy is not compared. */
static struct stats_delta above_best(const struct report *r, uint32_t point,
                                     uint32_t policy, enum metric metric)
{
    uint32_t best = find_best(r, point, metric);

    if (best == UINT32_MAX || isnan(mean_of(r, point, policy, metric)))
        return (struct stats_delta){ .percent = NAN };
    return compare_pair(r->source.grid, point, policy, best, metric);
}

/* ---- the best ---- */

/* Returns the policies whose difference to the best may be chance: the interval
 * holds 0. */
static const char *level_text(const struct report *r, uint32_t point,
                              enum metric metric)
{
    const struct grid *grid = r->source.grid;
    const char *list = "";

    for (uint32_t p = 0; p < grid->policy_count; p++) {
        struct stats_delta d = above_best(r, point, p, metric);

        if (isfinite(d.percent) &&
            (d.percent == 0 || (d.percent_low <= 0 && d.percent_high >= 0)))
            list = text_format(r->arena, "%s%s%s", list, *list ? ", " : "",
                               grid->policy[p]);
    }
    return list;
}

/* Adds the best policy of a point, and those that cannot be told from it. */
static void add_best(const struct report *r, struct sheet *sheet,
                     uint32_t point, enum metric metric)
{
    uint32_t best = find_best(r, point, metric);
    const char *level;

    if (best == UINT32_MAX) {
        sheet_cell(sheet, "-");
        return;
    }
    level = level_text(r, point, metric);
    sheet_cell(sheet, "%s", r->source.grid->policy[best]);
    sheet_class(sheet, "best");
    if (*level)
        sheet_small(sheet, "", "level with it: %s", level);
}

/* The policy with the least mean of each judged metric, point by point, and those that
 * the seeds do not tell from it. */
struct sheet *report_best(const struct report *r, struct err *err)
{
    const struct grid *grid = r->source.grid;
    struct sheet *sheet;

    (void)err;
    if (grid->policy_count < 2)
        return NULL;
    sheet = sheet_new("point:0");
    for (size_t m = 0; m < JUDGED; m++)
        sheet_column(sheet, text_format(r->arena, "least %s",
                                        metric_info(grid->metrics, judged[m])->title), 0);
    for (uint32_t t = 0; t < grid->point_count; t++) {
        sheet_cell(sheet, "%s", grid->point[t]);
        for (size_t m = 0; m < JUDGED; m++)
            add_best(r, sheet, t, judged[m]);
    }
    return sheet;
}

/* ---- what another choice costs ---- */

/* Is the best of a point 0, and the policy above it?  Such a difference has no
 * percentage. */
static bool above_zero(const struct report *r, uint32_t point, uint32_t policy,
                       enum metric metric)
{
    uint32_t best = find_best(r, point, metric);

    return best != UINT32_MAX && mean_of(r, point, best, metric) == 0 &&
           mean_of(r, point, policy, metric) > 0;
}

/* Adds the largest loss that a policy has anywhere against the best of the point.
 * A policy that has no mean at some point is not compared. */
static void add_regret(const struct report *r, struct sheet *sheet,
                       uint32_t policy, enum metric metric)
{
    const struct grid *grid = r->source.grid;
    struct stats_delta most = { .percent = -1 };
    uint32_t at = 0, lost = 0, level = 0, zero = 0;

    for (uint32_t t = 0; t < grid->point_count; t++) {
        struct stats_delta d = above_best(r, t, policy, metric);

        level += find_best(r, t, metric) == UINT32_MAX;
        if (isnan(mean_of(r, t, policy, metric)))
            lost++;
        zero += above_zero(r, t, policy, metric);
        if (d.percent > most.percent) {
            most = d;
            at = t;
        }
    }
    if (lost > 0)
        sheet_cell(sheet, "not compared at %u of %u points", lost,
                   grid->point_count);
    else if (level == grid->point_count)
        sheet_cell(sheet, "-");
    else if (zero > 0)
        sheet_cell(sheet, "above a best of 0 at %u of %u points", zero, grid->point_count);
    else if (most.percent < 0)
        sheet_cell(sheet, "it is the best at every point");
    else
        sheet_cell(sheet, "%s", delta_text(r->arena, &most));
    if (lost == 0 && zero > 0 && most.percent >= 0)
        sheet_small(sheet, "", "elsewhere %s, at %s", delta_text(r->arena, &most),
                    grid->point[at]);
    else if (lost == 0 && most.percent >= 0 && grid->point_count > 1)
        sheet_small(sheet, "", "%s", grid->point[at]);
}

/* For each policy, by how much it is above the best policy where that is most: what a
 * user risks who takes it without knowing the point. */
struct sheet *report_regret(const struct report *r, struct err *err)
{
    const struct grid *grid = r->source.grid;
    struct sheet *sheet;

    (void)err;
    if (grid->policy_count < 2)
        return NULL;
    sheet = sheet_new("choice:0");
    for (size_t m = 0; m < JUDGED; m++)
        sheet_column(sheet, text_format(
            r->arena, "%s above the best, at most",
            metric_info(grid->metrics, judged[m])->title), 0);
    for (uint32_t p = 0; p < grid->policy_count; p++) {
        sheet_cell(sheet, "%s", grid->policy[p]);
        for (size_t m = 0; m < JUDGED; m++)
            add_regret(r, sheet, p, judged[m]);
    }
    return sheet;
}

/* ---- what decides ---- */

/* Controls that are policies of their own, and what the table calls them. */
static const struct {
    const char *name, *title;
} whole[] = {
    { "random", "random order" }, { "colocated", "colocated groups" },
};
#define WHOLE COUNT_OF(whole)

/* Is there a control that is a policy of its own? */
static bool has_whole(const struct report *r)
{
    for (size_t i = 0; i < WHOLE; i++)
        if (grid_policy(r->source.grid, whole[i].name) != UINT32_MAX)
            return true;
    return false;
}

/* Returns the policy with a part off, named POLICY-PART, or UINT32_MAX. */
static uint32_t find_control(const struct report *r, uint32_t policy,
                             const char *part)
{
    const struct grid *grid = r->source.grid;

    return grid_policy(grid, text_format(r->arena, "%s-%s",
                                         grid->policy[policy], part));
}

/* Has any policy, or this one, that part switched off? */
static bool has_control(const struct report *r, uint32_t policy,
                        const char *part)
{
    if (policy != UINT32_MAX)
        return find_control(r, policy, part) != UINT32_MAX;
    for (uint32_t p = 0; p < r->source.grid->policy_count; p++)
        if (find_control(r, p, part) != UINT32_MAX)
            return true;
    return false;
}

/* Has the policy a control with a part off? */
static bool has_controls(const struct report *r, uint32_t policy)
{
    for (unsigned i = 0; controls_part(i) != NULL; i++)
        if (has_control(r, policy, controls_part(i)))
            return true;
    return false;
}

/* Is the policy the control of another one? */
static bool is_control(const struct report *r, uint32_t policy)
{
    for (uint32_t p = 0; p < r->source.grid->policy_count; p++)
        for (unsigned i = 0; controls_part(i) != NULL; i++)
            if (find_control(r, p, controls_part(i)) == policy)
                return true;
    for (size_t i = 0; i < WHOLE; i++)
        if (grid_policy(r->source.grid, whole[i].name) == policy)
            return true;
    return false;
}

/* Returns a policy's difference to the baseline, in words. */
static const char *against_baseline(const struct report *r, uint32_t point,
                                    uint32_t policy, enum metric metric)
{
    struct stats_delta d;

    if (policy == r->source.baseline)
        return "it is the baseline";
    d = compare_pair(r->source.grid, point, policy,
                     r->source.baseline, metric);
    return delta_text(r->arena, &d);
}

/* Adds a cell: the control against the baseline, and below it the policy
 * against the control. */
static void add_control(const struct report *r, struct sheet *sheet,
                        uint32_t point, uint32_t policy, uint32_t control,
                        enum metric metric)
{
    const struct grid *grid = r->source.grid;
    struct stats_delta gain;

    if (control == UINT32_MAX) {
        sheet_cell(sheet, "-");
        return;
    }
    gain = compare_pair(grid, point, policy, control, metric);
    sheet_cell(sheet, "%s", against_baseline(r, point, control, metric));
    sheet_small(sheet, "", "%s against it: %s", grid->policy[policy],
                delta_text(r->arena, &gain));
}

/* Adds a row: a policy against the baseline, and against each control. */
static void add_controls(const struct report *r, struct sheet *sheet,
                         uint32_t point, uint32_t policy, enum metric metric)
{
    const struct grid *grid = r->source.grid;

    sheet_cell(sheet, "%s", grid->policy[policy]);
    sheet_cell(sheet, "%s", metric_info(grid->metrics, metric)->title);
    sheet_cell(sheet, "%s", grid->point[point]);
    sheet_cell(sheet, "%s", against_baseline(r, point, policy, metric));
    for (size_t i = 0; i < WHOLE; i++) {
        uint32_t control = grid_policy(grid, whole[i].name);

        if (control != UINT32_MAX)
            add_control(r, sheet, point, policy, control, metric);
    }
    for (unsigned i = 0; controls_part(i) != NULL; i++)
        if (has_control(r, UINT32_MAX, controls_part(i)))
            add_control(r, sheet, point, policy,
                        find_control(r, policy, controls_part(i)), metric);
}

/* Returns the empty table, with a column for each control that was run. */
static struct sheet *controls_sheet(const struct report *r)
{
    struct sheet *sheet =
        sheet_new("policy:0\tmetric:0\tpoint:0\tagainst the baseline:0");

    for (size_t i = 0; i < WHOLE; i++)
        if (grid_policy(r->source.grid, whole[i].name) != UINT32_MAX)
            sheet_column(sheet, whole[i].title, 0);
    for (unsigned i = 0; controls_part(i) != NULL; i++)
        if (has_control(r, UINT32_MAX, controls_part(i)))
            sheet_column(sheet, controls_part(i), 0);
    return sheet;
}

/* Pairs of policies that differ in one part alone (controls of the experiment): each
 * column is what that part is worth.  No sheet where no policy has a control. */
struct sheet *report_controls(const struct report *r, struct err *err)
{
    const struct grid *grid = r->source.grid;
    struct sheet *sheet = NULL;

    (void)err;
    if (r->source.baseline == UINT32_MAX)
        return NULL;
    for (uint32_t p = 0; p < grid->policy_count; p++) {
        if (is_control(r, p) || (!has_whole(r) && !has_controls(r, p)))
            continue;
        if (sheet == NULL)
            sheet = controls_sheet(r);
        for (size_t m = 0; m < JUDGED; m++)
            for (uint32_t t = 0; t < grid->point_count; t++)
                add_controls(r, sheet, t, p, judged[m]);
    }
    return sheet;
}
