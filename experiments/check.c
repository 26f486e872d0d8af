/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * check.c - judging expectations and looking for regressions.
 */
#include "experiments/check.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "experiments/compare.h"
#include "experiments/grid.h"
#include "experiments/paths.h"
#include "experiments/point_label.h"
#include "experiments/stats.h"
#include "experiments/survivors.h"
#include "sim/arena.h"

const char *check_verdict_name(enum check_verdict verdict)
{
    static const char *const name[] = { "holds", "does not hold",
                                        "undecided" };

    assert((unsigned)verdict < 3);
    return name[verdict];
}

/* In words. */

static const char *unit_text(const struct study_expect *e)
{
    const char *unit = metric_info(e->metric)->unit;

    if (e->percent)
        return "%";
    return strcmp(unit, "s") == 0 ? " s" : strcmp(unit, "USD") == 0 ? " USD"
                                         : "";
}

static const char *limit_text(struct arena *arena,
                              const struct study_expect *e)
{
    const char *unit = unit_text(e);

    if (isinf(e->low))
        return text_format(arena, "at most %.10g%s", e->high, unit);
    if (isinf(e->high))
        return text_format(arena, "at least %.10g%s", e->low, unit);
    return text_format(arena, "between %.10g%s and %.10g%s", e->low, unit,
                       e->high, unit);
}

static const char *expect_name(struct arena *arena,
                               const struct study_expect *e,
                               const char *point, bool one_point)
{
    const char *what = metric_info(e->metric)->name;

    return text_format(arena, "%s%s%s of %s%s%s%s%s %s%s%s%s",
                       e->claim == NULL ? "" : e->claim,
                       e->claim == NULL ? "" : ": ", what, e->policy,
                       e->versus == NULL ? "" : " vs ",
                       e->versus == NULL ? "" : e->versus,
                       e->versus_point == NULL ? "" : " vs ",
                       e->versus_point == NULL ? "" : e->versus_point,
                       limit_text(arena, e), one_point ? "" : " (",
                       one_point ? "" : point, one_point ? "" : ")");
}

static const char *figures(struct arena *arena, const struct check_item *item)
{
    const struct study_expect *e = item->expect;
    const char *unit = unit_text(e);

    const char *lost = "";

    if (item->lost != NULL && !item->compared)
        return text_format(arena, "not compared: it is over %s%s", item->lost,
                           metric_of(e->metric) == METRIC_OF_JOBS_DONE
                               ? "; jct_restricted_mean_s is over all jobs"
                               : "");
    if (item->lost != NULL)
        lost = text_format(arena, "; over %s alone", item->lost);
    if (item->seeds == 0)
        return "no trial has the value";
    if (isnan(item->low))
        return text_format(arena, "%.10g%s; one seed, so no interval%s",
                           item->value, unit, lost);
    return text_format(arena, "%.5g%s, %.4g%% interval [%.5g%s, %.5g%s], "
                       "%u seeds%s%s", item->value, unit, 100 * e->confidence,
                       item->low, unit, item->high, unit, item->seeds, lost,
                       item->verdict == CHECK_UNDECIDED
                           ? ": it straddles the limit" : "");
}

/* Is the mean over some alone, and may it be compared then? */
static void note_lost(struct arena *arena, struct survivors of,
                      struct survivors versus, struct check_item *item)
{
    bool jobs = metric_of(item->expect->metric) == METRIC_OF_JOBS_DONE;
    const char *what = jobs ? "jobs" : "requests";
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

static enum check_verdict judge(const struct study_expect *e,
                                const struct check_item *item)
{
    double low = isnan(item->low) ? item->value : item->low;
    double high = isnan(item->high) ? item->value : item->high;

    if (item->seeds == 0 || isnan(item->value) || !item->compared)
        return CHECK_UNDECIDED;
    if (low >= e->low && high <= e->high)
        return CHECK_HOLDS;
    if (high < e->low || low > e->high)
        return CHECK_FAILS;
    return CHECK_UNDECIDED;
}

/* The point that it is compared with; UINT32_MAX: none, or itself. */
static uint32_t other_point(struct arena *arena, const struct grid *grid,
                            uint32_t point, const struct study_expect *e)
{
    const char *label;
    uint32_t other;

    if (e->versus_point == NULL)
        return point;
    label = point_label_with(arena, grid->point[point], e->versus_point);
    other = label == NULL ? UINT32_MAX : grid_point(grid, label);
    return other == point && e->versus == NULL ? UINT32_MAX : other;
}

static void measure(struct arena *arena, const struct grid *grid,
                    uint32_t point, const struct study_expect *e,
                    struct check_item *item)
{
    const char *versus = e->versus == NULL ? e->policy : e->versus;
    uint32_t n = grid->seed_count;
    double *x = arena_alloc(arena, n + 1, sizeof *x);
    double *base = arena_alloc(arena, n + 1, sizeof *base);
    struct stats_delta d;
    struct stats_mean m;

    grid_samples(grid, point, grid_policy(grid, e->policy), e->metric, x);
    struct survivors of = survivors_of(grid, point,
                                       grid_policy(grid, e->policy),
                                       e->metric);
    if (e->versus == NULL && e->versus_point == NULL) {
        note_lost(arena, of, (struct survivors) { 0, 0 }, item);
        m = stats_mean(x, n, e->confidence);
        item->value = m.mean;
        item->low = m.low;
        item->high = m.high;
        item->seeds = (uint32_t)m.count;
        return;
    }
    uint32_t other = other_point(arena, grid, point, e);
    grid_samples(grid, other, grid_policy(grid, versus), e->metric, base);
    note_lost(arena, of,
              survivors_of(grid, other, grid_policy(grid, versus), e->metric),
              item);
    d = stats_delta(x, base, n, e->confidence);
    item->value = e->percent ? d.percent : d.mean;
    item->low = e->percent ? d.percent_low : d.low;
    item->high = e->percent ? d.percent_high : d.high;
    item->seeds = (uint32_t)d.count;
}

static void count_verdict(struct check_list *list, enum check_verdict verdict)
{
    list->count++;
    list->held += verdict == CHECK_HOLDS;
    list->failed += verdict == CHECK_FAILS;
    list->undecided += verdict == CHECK_UNDECIDED;
}

struct check_list check_expects(struct arena *arena, const struct grid *grid,
                                const struct study_expect *expect,
                                uint32_t count)
{
    struct check_item *item = arena_alloc(
        arena, (size_t)count * grid->point_count + 1, sizeof *item);
    struct check_list list = { item, 0, 0, 0, 0 };

    for (uint32_t i = 0; i < count; i++) {
        const struct study_expect *e = &expect[i];

        if (grid_policy(grid, e->policy) == UINT32_MAX ||
            (e->versus != NULL &&
             grid_policy(grid, e->versus) == UINT32_MAX))
            continue;
        for (uint32_t p = 0; p < grid->point_count; p++) {
            struct check_item *to = &item[list.count];

            if ((e->point != NULL &&
                 !point_label_has(grid->point[p], e->point)) ||
                other_point(arena, grid, p, e) == UINT32_MAX)
                continue;
            to->expect = e;
            to->metric = metric_info(e->metric)->name;
            to->point = grid->point[p];
            measure(arena, grid, p, e, to);
            to->verdict = judge(e, to);
            to->name = expect_name(arena, e, grid->point[p],
                                   grid->point_count == 1);
            to->reason = figures(arena, to);
            count_verdict(&list, to->verdict);
        }
    }
    return list;
}

/* Regressions. */

static bool worse(double before, double now, int better, double tolerance)
{
    if (better == 0 || isnan(before))
        return false;
    if (isnan(now))
        return true;
    return (before - now) * better > tolerance * fabs(before);
}

/* "jct_mean_s 120 -> 130 (+8.33%, 3 of 20 seeds)", or NULL: not worse. */
static const char *worse_text(struct arena *arena, const struct grid *before,
                              const struct grid *now, uint32_t point,
                              uint32_t policy, enum metric metric,
                              double tolerance)
{
    const struct metric_info *info = metric_info(metric);
    uint32_t count = 0, first = 0;
    double a, b;

    for (uint32_t s = before->seed_count; s-- > 0;) {
        if (!grid_present(before, point, policy, s) ||
            !grid_present(now, point, policy, s))
            continue;
        if (worse(grid_value(before, point, policy, s, metric),
                  grid_value(now, point, policy, s, metric), info->better,
                  tolerance)) {
            count++;
            first = s;
        }
    }
    if (count == 0)
        return NULL;
    a = grid_value(before, point, policy, first, metric);
    b = grid_value(now, point, policy, first, metric);
    return text_format(arena, "%s worse in %u of %u seeds (seed %u: %.9g -> "
                       "%.9g)", info->name, count, before->seed_count,
                       before->seed[first], a, b);
}

static void add_reason(struct arena *arena, struct check_item *item,
                       const char *text)
{
    item->verdict = CHECK_FAILS;
    item->reason = item->reason == NULL ? text
        : text_format(arena, "%s; %s", item->reason, text);
}

static void regress(struct arena *arena, const struct grid *before,
                    const struct grid *now, uint32_t point, uint32_t policy,
                    double tolerance, struct check_item *item)
{
    uint32_t gone = 0, there = 0;

    item->name = text_format(arena, "no regression of %s (%s)",
                             before->policy[policy], before->point[point]);
    item->point = before->point[point];
    item->verdict = CHECK_HOLDS;
    for (uint32_t s = 0; s < before->seed_count; s++) {
        there += grid_present(before, point, policy, s);
        gone += grid_present(before, point, policy, s) &&
                !grid_present(now, point, policy, s);
    }
    if (gone > 0)
        add_reason(arena, item, text_format(
            arena, "%u of %u trials of the baseline are gone", gone, there));
    for (unsigned m = 0; m < METRIC_COUNT; m++) {
        const char *text = worse_text(arena, before, now, point, policy,
                                      (enum metric)m, tolerance);

        if (text != NULL)
            add_reason(arena, item, text);
    }
    if (item->reason == NULL)
        item->reason = text_format(arena, "nothing worse in %u trials",
                                   there);
}

struct check_list check_regressions(struct arena *arena,
                                    const struct grid *before,
                                    const struct grid *now, double tolerance)
{
    const struct grid *pair = compare_align(arena, before, now);
    struct check_item *item = arena_alloc(
        arena, (size_t)before->point_count * before->policy_count + 1,
        sizeof *item);
    struct check_list list = { item, 0, 0, 0, 0 };

    assert(tolerance >= 0);
    for (uint32_t t = 0; t < before->point_count; t++)
        for (uint32_t p = 0; p < before->policy_count; p++) {
            struct check_item *to = &item[list.count];

            regress(arena, before, pair, t, p, tolerance, to);
            count_verdict(&list, to->verdict);
        }
    return list;
}
