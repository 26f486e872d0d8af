/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * check.c - judging expectations.
 *
 * An expectation speaks of two sides (a policy and what it is compared with, or a
 * policy alone) at a point.  It is judged in this order: was all of it run, did a
 * trial fail, are there enough seeds, and then, does the interval lie within the
 * limits.
 *
 * Example: "jct_mean_s of easy vs fcfs at most -10%", and easy is 12% shorter
 * with an interval of [-16%, -8%]. The interval crosses the limit, so the
 * verdict is undecided: more seeds may decide it.  With [-16%, -11%] it holds;
 * with [-8%, -3%] it does not.
 */
#include "experiments/results/check.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "experiments/columns/metric.h"
#include "experiments/results/grid.h"
#include "experiments/results/survivors.h"
#include "experiments/results/trust.h"
#include "experiments/spec/point_label.h"
#include "sim/base/arena.h"
#include "sim/stats/stats.h"
#include "sim/text/paths.h"

const char *check_verdict_name(enum check_verdict verdict)
{
    static const char *const name[CHECK_VERDICT_COUNT] = {
        "holds", "does not hold", "undecided", "not judged", "failed trial"
    };

    assert((unsigned)verdict < CHECK_VERDICT_COUNT);
    return name[verdict];
}

uint32_t check_bad(const struct check_list *list)
{
    return list->failed + list->undecided + list->trial_failed +
           (list->not_judged_passes ? 0 : list->not_judged);
}

/* In words. */

/* Returns the unit behind a figure: "%", " s", " USD", or "" for others, whose
 * name tells the unit. */
static const char *unit_text(const struct experiment_expect *e,
                             const struct metric_info *info)
{
    const char *unit = info->unit;

    if (e->percent)
        return "%";
    return strcmp(unit, "s") == 0 ? " s" : strcmp(unit, "USD") == 0 ? " USD"
                                         : "";
}

/* Returns the limits in words, as "at most 5%", "at least 0.9" or "between 1 s
 * and 2 s". */
static const char *limit_text(struct arena *arena,
                              const struct experiment_expect *e,
                              const struct metric_info *info)
{
    const char *unit = unit_text(e, info);

    if (isinf(e->low))
        return text_format(arena, "at most %.10g%s", e->high, unit);
    if (isinf(e->high))
        return text_format(arena, "at least %.10g%s", e->low, unit);
    return text_format(arena, "between %.10g%s and %.10g%s", e->low, unit,
                       e->high, unit);
}

/* The expectation in words, as "C1: jct_mean_s of easy vs fcfs at most -10%
 * (rate=4/h)".  The point is left out if there is only one. */
static const char *expect_name(struct arena *arena,
                               const struct experiment_expect *e,
                               const struct metric_info *info,
                               const char *point, bool one_point)
{
    const char *what = info->name;

    return text_format(arena, "%s%s%s of %s%s%s%s%s %s%s%s%s",
                       e->claim == NULL ? "" : e->claim,
                       e->claim == NULL ? "" : ": ", what, e->policy,
                       e->versus == NULL ? "" : " vs ",
                       e->versus == NULL ? "" : e->versus,
                       e->versus_point == NULL ? "" : " vs ",
                       e->versus_point == NULL ? "" : e->versus_point,
                       limit_text(arena, e, info), one_point ? "" : " (",
                       one_point ? "" : point, one_point ? "" : ")");
}

/* Returns the figures of a verdict in words: the value, its interval, the
 * number of seeds, and what the mean is not over or not to be trusted for.
 * Without an interval it says why there is none.  The cases go from the least
 * that is known to the most. */
static const char *figures(struct arena *arena, const struct check_item *item)
{
    const struct experiment_expect *e = item->expect;
    const char *unit = unit_text(e, item->info);
    const char *lost = "";

    if (item->lost != NULL && !item->compared)
        return text_format(arena, "not compared: it is over %s%s", item->lost,
                           e->metric == METRIC_COST_PER_JOB
                               ? "; cost_usd is of the whole run"
                           : item->info->of == METRIC_OF_JOBS_DONE &&
                             item->info->expression == NULL && item->restricted
                               ? "; jct_restricted_mean_s is over all jobs"
                               : "");
    if (item->lost != NULL)
        lost = text_format(arena, "; over %s alone", item->lost);
    if (item->seeds == 0)
        return "no trial has the value";
    if (isnan(item->value))
        return text_format(arena, "the mean of %s is 0: nothing is a percentage of it%s",
                           e->versus == NULL ? e->versus_point : e->versus, lost);
    if (isnan(item->low))
        return text_format(arena, "%.10g%s; %s%s", item->value, unit,
                           item->fixed ? "deterministic, seeds add nothing: "
                           "the value alone is judged" :
                           item->alike ? "all seeds are alike and count as "
                           "one: the value alone is judged"
                           : item->seeds_run > 1 ? text_format(
                               arena, "one seed of %u has the value, so no interval",
                               item->seeds_run)
                           : "one seed, so no interval", lost);
    if (isinf(item->low) || isinf(item->high))
        return text_format(arena, "%.5g%s, and no end to its %.4g%% interval: "
                           "over %u seeds the mean of %s may be 0%s",
                           item->value, unit, 100 * e->confidence,
                           item->seeds, e->versus == NULL ? e->versus_point
                                                          : e->versus, lost);
    return text_format(arena, "%.5g%s, %.4g%% interval [%.5g%s, %.5g%s], "
                       "%u %sseeds%s%s%s%s", item->value, unit,
                       100 * e->confidence, item->low, unit, item->high, unit,
                       item->seeds, item->equal ? "equal " : "", lost,
                       item->verdict == CHECK_UNDECIDED ? ": it straddles the limit"
                       : item->each_seed ? ": a limit that asks for none, or for all, is "
                                           "judged by these seeds alone" : "",
                       *item->doubt == 0 ? "" : "; not trusted: ", item->doubt);
}

/* Notes if the mean is over some jobs or requests alone, on one side or on
 * both.  Such a mean is judged by itself, but not compared with another side,
 * which may have lost others.  versus.all is 0 where nothing is compared. */
static void note_lost(struct arena *arena, struct survivors of,
                      struct survivors versus, struct check_item *item)
{
    const char *what = item->info->of == METRIC_OF_JOBS_DONE ? "jobs"
                     : item->info->of == METRIC_OF_REQUESTS_DONE ? "requests"
                     : "jobs or requests";
    bool either = survivors_lost(of) || survivors_lost(versus);

    item->compared = !either || versus.all == 0;
    if (either && versus.all > 0)
        item->lost = text_format(arena, "%.0f of %.0f and %.0f of %.0f %s",
                                 of.done, of.all, versus.done, versus.all,
                                 what);
    else if (either)
        item->lost = text_format(arena, "%.0f of %.0f %s", of.done, of.all,
                                 what);
}

/* An interval that lies whole within the limits holds; one that lies whole
 * outside fails; any other is undecided. */
static enum check_verdict within(const struct experiment_expect *e, double low, double high)
{
    if (low >= e->low && high <= e->high)
        return CHECK_HOLDS;
    return high < e->low || low > e->high ? CHECK_FAILS : CHECK_UNDECIDED;
}

/* Judges the figures of an item.  A value without an interval is judged by
 * itself, except where only one of several drawn seeds has it.  A limit that
 * asks for none or all is judged by the value, too (asks_for_end). */
static enum check_verdict judge(const struct experiment_expect *e,
                                const struct check_item *item)
{
    bool alone = isnan(item->low) || item->each_seed;
    double low = alone ? item->value : item->low;
    double high = alone ? item->value : item->high;

    if (item->seeds == 0 || isnan(item->value) || !item->compared)
        return CHECK_UNDECIDED;
    if (isnan(item->low) && item->seeds_run > 1 && !item->alike && !item->fixed)
        return CHECK_UNDECIDED;     /* one of them alone has the value */
    return within(e, low, high);
}

/* Returns the point that `point` is compared with: itself if the expectation
 * names none.  UINT32_MAX: there is none, or it is the point itself.  *missing
 * is its label if it was not run, else NULL. */
static uint32_t other_point(struct arena *arena, const struct grid *grid, uint32_t point,
                            const struct experiment_expect *e, const char **missing)
{
    const char *label;
    uint32_t other;

    *missing = NULL;
    if (e->versus_point == NULL)
        return point;
    label = point_label_with(arena, grid->point[point], e->versus_point);
    other = label == NULL ? UINT32_MAX : grid_point(grid, label);
    if (other == UINT32_MAX)
        *missing = label;
    return other == point && e->versus == NULL ? UINT32_MAX : other;
}

/* The two sides that an expectation speaks of at a point.  If it compares
 * nothing, the other side is the same as the first. */
struct speaks {
    uint32_t point, policy, other_point, other;
    const char *missing;        /* the other point, if it was not run; or NULL */
    bool compares;
};

/* Returns the two sides that an expectation speaks of at a point. */
static struct speaks speaks_of(struct arena *arena, const struct grid *grid,
                               uint32_t point, const struct experiment_expect *e)
{
    const char *missing;
    uint32_t other = other_point(arena, grid, point, e, &missing);

    return (struct speaks){
        .point = point, .policy = grid_policy(grid, e->policy),
        .other_point = other, .missing = missing,
        .other = grid_policy(grid, e->versus == NULL ? e->policy : e->versus),
        .compares = e->versus != NULL || e->versus_point != NULL
    };
}

/* Is nothing drawn on either side?  Then one trial says all, and no number of
 * seeds is needed. */
static bool is_fixed(const struct grid *grid, const struct speaks *at)
{
    return grid_fixed(grid, at->point, at->policy) &&
           grid_fixed(grid, at->other_point, at->other);
}

/* Notes if a mean is not over all jobs on one of the sides, and if the mean to
 * the horizon, which is over all, exists on both. */
static void note_sides(struct arena *arena, const struct grid *grid,
                       const struct speaks *at, struct check_item *item)
{
    struct survivors none = { 0, 0 };
    enum metric metric = item->expect->metric;

    item->restricted =
        grid_mean(grid, at->point, at->policy, METRIC_JCT_RESTRICTED, 0.95).count > 0 &&
        grid_mean(grid, at->other_point, at->other, METRIC_JCT_RESTRICTED, 0.95).count > 0;
    note_lost(arena, survivors_of(grid, at->point, at->policy, metric),
              at->compares ? survivors_of(grid, at->other_point, at->other,
                                          metric) : none, item);
}

/* Returns the number of seeds that both sides have. */
static uint32_t trials_at(const struct grid *grid, const struct speaks *at)
{
    uint32_t count = 0;

    for (uint32_t s = 0; s < grid->seed_count; s++)
        count += grid_present(grid, at->point, at->policy, s) &&
                 grid_present(grid, at->other_point, at->other, s);
    return count;
}

/* Does the limit ask for the end of what is possible: no event at all, or a
 * share of 1? No interval of a mean can confirm that, and one seed that differs
 * refutes it.  So the seeds that were run are judged as they are. */
static bool asks_for_end(const struct speaks *at, const struct check_item *item)
{
    const struct experiment_expect *e = item->expect;
    bool share = trust_is_share(item->info, e->metric);

    if (at->compares || item->info->expression != NULL || !(item->info->count || share))
        return false;
    return e->high == 0 || (share && e->low == 1);
}

/* Returns a text if the interval counts the cases of equal seeds as if they
 * were independent, and if the verdict would be undecided with the wider
 * interval that the seeds alone leave.  Else "". */
static const char *doubt_equal(struct arena *arena, const struct check_item *item,
                               const struct trust_open *open)
{
    if (!open->cases || item->each_seed || isnan(item->value) ||
        within(item->expect, item->value - open->below,
               item->value + open->above) != CHECK_UNDECIDED)
        return "";
    return text_format(arena, "all %u seeds %sare equal, and %.2g%% of others may differ",
                       open->seeds, open->half ? "of one side " : "", 100 * open->share);
}

/* Sets the value and the interval of an expectation that compares nothing. */
static void measure_mean(struct arena *arena, const struct grid *grid, const struct speaks *at,
                         struct check_item *item)
{
    const struct experiment_expect *e = item->expect;
    struct trust_open open;
    struct stats_mean mean = trust_mean(grid, at->point, at->policy, e->metric,
                                        e->confidence, &open);

    item->value = mean.mean;
    item->low = mean.low;
    item->high = mean.high;
    item->seeds = (uint32_t)mean.count;
    item->equal = open.seeds > 0;
    item->each_seed = asks_for_end(at, item);
    item->doubt = item->equal ? doubt_equal(arena, item, &open)
        : trust_text(arena, trust_jobs(grid, at->point, at->policy), &mean);
}

/* Sets the paired difference of the two sides and its interval; in percent if
 * the limit is. */
static void measure_delta(struct arena *arena, const struct grid *grid,
                          const struct speaks *at, struct check_item *item)
{
    const struct experiment_expect *e = item->expect;
    struct trust_side a = { grid, at->point, at->policy };
    struct trust_side b = { grid, at->other_point, at->other };
    struct trust_open open;
    struct stats_delta d = trust_delta(&a, &b, e->metric, e->confidence, &open);

    item->value = e->percent ? d.percent : d.mean;
    item->low = e->percent ? d.percent_low : d.low;
    item->high = e->percent ? d.percent_high : d.high;
    item->seeds = (uint32_t)d.count;
    item->equal = open.seeds > 0 && !open.half && !isnan(item->value);
    if (e->percent) {
        open.below = open.percent_below;
        open.above = open.percent_above;
    }
    item->doubt = doubt_equal(arena, item, &open);
    d.cases = false;            /* only where the verdict turns on it */
    if (*item->doubt == 0 && !item->equal)
        item->doubt = trust_pairs_text(arena, fmax(trust_jobs(grid, at->point, at->policy),
                                                   trust_jobs(grid, at->other_point, at->other)),
                                       &d);
}

/* Sets the value, its interval, and what must be known of both: over which
 * jobs, and if seeds are alike. */
static void measure(struct arena *arena, const struct grid *grid,
                    const struct speaks *at, struct check_item *item)
{
    note_sides(arena, grid, at, item);
    item->alike = grid_alike(grid, at->point, at->policy) &&
                  grid_alike(grid, at->other_point, at->other);
    item->fixed = is_fixed(grid, at);
    item->seeds_run = grid->seed_count;
    (at->compares ? measure_delta : measure_mean)(arena, grid, at, item);
}

/* Ends the judgement for a reason that is not in the figures. */
static void leave(struct check_item *item, enum check_verdict verdict,
                  const char *reason)
{
    item->verdict = verdict;
    item->reason = reason;
}

/* Are both policies there, and did none of their trials fail?  If not, the item
 * gets its verdict here. */
static bool is_whole(struct arena *arena, const struct grid *grid,
                     const struct speaks *at, struct check_item *item)
{
    const struct experiment_expect *e = item->expect;
    uint32_t failed;

    if (at->policy == UINT32_MAX || at->other == UINT32_MAX) {
        leave(item, CHECK_NOT_JUDGED, text_format(
            arena, "%s was not run",
            at->policy == UINT32_MAX ? e->policy : e->versus));
        return false;
    }
    failed = grid_failed(grid, at->point, at->policy);
    if (at->compares)
        failed += grid_failed(grid, at->other_point, at->other);
    if (failed == 0)
        return true;
    leave(item, CHECK_TRIAL_FAILED, text_format(
        arena, "%u trial%s that it speaks of failed", failed,
        failed == 1 ? "" : "s"));
    return false;
}

/* Were enough seeds run?  A flag (`--seeds`) or an incomplete folder may leave
 * too few.  If not, the item gets its verdict here.  Where nothing is drawn,
 * one trial suffices. */
static bool suffices(struct arena *arena, const struct grid *grid,
                     const struct speaks *at, struct check_item *item)
{
    const struct experiment_expect *e = item->expect;
    uint32_t trials = trials_at(grid, at);

    if (item->fixed)
        return true;
    if (trials < e->trials_min)
        leave(item, CHECK_NOT_JUDGED, text_format(
            arena, "%u of %u seeds are there", trials, e->trials_min));
    else if (item->seeds < e->seeds_min)
        leave(item, CHECK_NOT_JUDGED, text_format(
            arena, "%u sample%s, and %u are needed: fewer seeds were run than "
            "the experiment has", item->seeds, item->seeds == 1 ? "" : "s",
            e->seeds_min));
    else
        return true;
    return false;
}

/* Judges one expectation at one point, in the order that the top of the file
 * says. */
static void judge_item(struct arena *arena, const struct grid *grid,
                       const struct speaks *at, struct check_item *item)
{
    if (!is_whole(arena, grid, at, item))
        return;
    measure(arena, grid, at, item);
    if (!suffices(arena, grid, at, item))
        return;
    item->verdict = judge(item->expect, item);
    item->reason = figures(arena, item);
}

void check_count(struct check_list *list, enum check_verdict verdict)
{
    list->count++;
    list->held += verdict == CHECK_HOLDS;
    list->failed += verdict == CHECK_FAILS;
    list->undecided += verdict == CHECK_UNDECIDED;
    list->not_judged += verdict == CHECK_NOT_JUDGED;
    list->trial_failed += verdict == CHECK_TRIAL_FAILED;
}

/* Returns an expectation that is not judged yet. */
static struct check_item item_of(struct arena *arena, const struct grid *grid,
                                 const struct experiment_expect *e,
                                 const char *point)
{
    const struct metric_info *info = metric_info(grid->metrics, e->metric);

    return (struct check_item){
        .info = info,
        .name = expect_name(arena, e, info, point,
                            grid->point_count == 1 &&
                            strcmp(point, grid->point[0]) == 0),
        .policy = e->policy,
        .expect = e, .metric = info->name, .point = point,
        .value = NAN, .low = NAN, .high = NAN
    };
}

/* Judges an expectation at each point that it speaks of, into item[0...].
 * Returns how many items it filled: at least one, since an expectation that
 * speaks of no point is not judged, but named. */
static uint32_t judge_expect(struct arena *arena, const struct grid *grid,
                             const struct experiment_expect *e,
                             struct check_item *item)
{
    uint32_t count = 0;

    for (uint32_t p = 0; p < grid->point_count; p++) {
        struct speaks at = speaks_of(arena, grid, p, e);

        if ((e->point != NULL &&
             !point_label_has(grid->point[p], e->point)) ||
            (at.other_point == UINT32_MAX && at.missing == NULL))
            continue;
        item[count] = item_of(arena, grid, e, grid->point[p]);
        if (at.missing != NULL)
            leave(&item[count++], CHECK_NOT_JUDGED,
                  text_format(arena, "there is no point %s", at.missing));
        else
            judge_item(arena, grid, &at, &item[count++]);
    }
    if (count > 0)
        return count;
    item[0] = item_of(arena, grid, e, e->point == NULL ? "" : e->point);
    leave(&item[0], CHECK_NOT_JUDGED, "no point that it speaks of was run");
    return 1;
}

struct check_list check_expects(struct arena *arena, const struct grid *grid,
                                const struct experiment_expect *expect,
                                uint32_t count)
{
    struct check_item *item = arena_alloc(
        arena, (size_t)count * (grid->point_count + 1) + 1, sizeof *item);
    struct check_list list = { .item = item };

    for (uint32_t i = 0; i < count; i++) {
        uint32_t first = list.count;
        uint32_t more = judge_expect(arena, grid, &expect[i], &item[first]);

        for (uint32_t k = 0; k < more; k++)
            check_count(&list, item[first + k].verdict);
    }
    return list;
}
