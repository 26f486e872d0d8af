/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * decide.c - conditions, the best mean, what is level with it, and risk.
 *
 * A condition is judged as an expectation is (results/check.h): it is kept if the whole 95%
 * interval of the mean lies inside the limits.  Two options differ if the interval of
 * their paired difference leaves out 0 and the p-value, corrected by Holm for all pairs of
 * options at all points, is below 5%.  Where nothing is drawn, the values alone decide.
 *
 * Example: today costs 6,640 USD on the mean of 20 seeds, lend 5,695 and spot
 * 5,716.  All keep the conditions.  lend has the best mean, and its interval
 * against today leaves out 0: it is taken.  spot is level with it if the
 * interval of their difference contains 0.
 */
#include "experiments/decide/decide.h"

#include <assert.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

#include "experiments/columns/metric.h"
#include "experiments/decide/sentence.h"
#include "experiments/results/check.h"
#include "experiments/results/compare.h"
#include "experiments/results/grid.h"
#include "experiments/results/survivors.h"
#include "experiments/results/trust.h"
#include "experiments/spec/experiment.h"
#include "sim/base/arena.h"
#include "sim/text/paths.h"

#define CONFIDENCE 0.95

const char *decide_verdict_name(enum decide_verdict verdict)
{
    static const char *const name[DECIDE_VERDICT_COUNT] = {
        "take", "best mean", "level", "worse", "dropped", "undecided"
    };

    assert((unsigned)verdict < DECIDE_VERDICT_COUNT);
    return name[verdict];
}

/* The state of a decision while it is made. */
struct deciding {
    struct arena *arena;
    const struct grid *grid;    /* the values by point, policy and seed */
    const struct experiment_decide *spec;   /* what is to be decided, and by what */
    struct decision *decision;  /* what comes of it */
    double *p_holm;             /* by point and pair of options: pair_at() */
    /* By option and condition: an item for each point. */
    const struct check_item **kept;
    double better;              /* +1: more of the metric is better, -1: less */
};

/* Returns an option at a point. */
static struct decide_option *option_at(const struct deciding *d, uint32_t point, uint32_t i)
{
    return &d->decision->point[point].option[i];
}

/* Returns the place of a pair in p_holm.  The order of i and k does not matter: a
 * pair has one p-value.  Places of i == k are never used, and stay NAN. */
static size_t pair_at(const struct deciding *d, uint32_t point, uint32_t i, uint32_t k)
{
    uint32_t n = d->spec->choice_count;

    return ((size_t)point * n + (i < k ? i : k)) * n + (i < k ? k : i);
}

/* Returns option i against option k: their difference, paired by seed. */
static struct stats_delta compare_options(const struct deciding *d, uint32_t point,
                                          uint32_t i, uint32_t k)
{
    struct stats_delta none = { .mean = NAN, .low = NAN, .high = NAN, .percent = NAN,
                                .percent_low = NAN, .percent_high = NAN,
                                .p_value = NAN, .skew = NAN };
    uint32_t a = option_at(d, point, i)->policy, b = option_at(d, point, k)->policy;
    struct stats_delta delta;

    if (i == k || a == UINT32_MAX || b == UINT32_MAX)
        return none;
    delta = compare_pair(d->grid, point, a, b, d->spec->metric);
    return delta.count == 0 ? none : delta;
}

/* Fills p_holm.  All pairs of options at all points are one family, as each of
 * them is looked at. */
static void correct_pairs(struct deciding *d)
{
    uint32_t n = d->spec->choice_count;
    size_t count = (size_t)d->grid->point_count * n * n;

    d->p_holm = arena_alloc(d->arena, count + 1, sizeof *d->p_holm);
    for (size_t at = 0; at < count; at++)
        d->p_holm[at] = NAN;
    for (uint32_t t = 0; t < d->grid->point_count; t++)
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t k = i + 1; k < n; k++)
                d->p_holm[pair_at(d, t, i, k)] = compare_options(d, t, k, i).p_value;
    stats_holm(d->arena, d->p_holm, count);
}

/* ---- samples ---- */

/* Returns the values of the seeds, and sets *count to how many are samples: 1 where all
 * are alike. */
static double *find_samples(struct arena *arena, const struct grid *grid, uint32_t point,
                            uint32_t policy, enum metric metric, uint32_t *count)
{
    double *x = arena_alloc(arena, grid->seed_count + 1, sizeof *x);

    *count = grid_samples(grid, point, policy, metric, x);
    return x;
}

/* Returns whether trials of this cell failed, so that those that are left are
 * no fair sample. */
static bool is_lost(const struct grid *grid, uint32_t point, uint32_t policy,
                    enum metric metric)
{
    return survivors_lost(survivors_of(grid, point, policy, metric));
}

/* ---- risk ---- */

/* Returns how many of the seeds are bad, with the exact interval of Clopper and
 * Pearson (Biometrika 26, 1934) for the share.  It is chosen since it holds for few
 * seeds and for shares of 0 and 1, where the normal interval has no width.  Without
 * a drawing, or without seeds, there is no interval (NAN). */
static struct decide_risk make_risk(uint32_t bad, uint32_t seeds, bool drawn)
{
    struct decide_risk risk = { bad, seeds, NAN, NAN };
    double tail = (1 - CONFIDENCE) / 2;

    if (seeds == 0 || !drawn)
        return risk;
    risk.low = bad == 0 ? 0 : gsl_cdf_beta_Pinv(tail, bad, seeds - bad + 1.0);
    risk.high = bad == seeds ? 1 : gsl_cdf_beta_Qinv(tail, bad + 1.0, seeds - bad);
    return risk;
}

/* Returns whether the seeds differ by chance: not where the trial is the same
 * for each seed by its nature, nor where all values turned out equal. */
static bool is_drawn(const struct grid *grid, uint32_t point, uint32_t policy)
{
    return !grid_fixed(grid, point, policy) &&
           !(grid->seed_count > 1 && grid_alike(grid, point, policy));
}

/* Returns whether a value is outside the limits.  The limits themselves are
 * kept. */
static bool breaks(const struct experiment_keep *keep, double value)
{
    return value < keep->low || value > keep->high;
}

/* Here each seed counts for one condition alone; find_risk() asks for all of
 * them. */
struct decide_risk decide_keep_risk(struct arena *arena, const struct decision *decision,
                                    uint32_t point, uint32_t option, uint32_t keep)
{
    const struct experiment_keep *k = &decision->spec->keep[keep];
    uint32_t policy = decision->point[point].option[option].policy, n, bad = 0, seeds = 0;

    if (policy == UINT32_MAX)
        return make_risk(0, 0, false);
    double *x = find_samples(arena, decision->grid, point, policy, k->metric, &n);
    for (uint32_t s = 0; s < n; s++) {
        seeds += isfinite(x[s]);
        bad += isfinite(x[s]) && breaks(k, x[s]);
    }
    return make_risk(bad, seeds, is_drawn(decision->grid, point, policy));
}

/* Is the option worse than the first in that seed?  *known: both have a value. */
static bool is_worse(const struct deciding *d, uint32_t point, uint32_t policy,
                     uint32_t first, uint32_t seed, bool *known)
{
    double x = grid_value(d->grid, point, policy, seed, d->spec->metric);
    double base = grid_value(d->grid, point, first, seed, d->spec->metric);

    *known = isfinite(x) && isfinite(base);
    return *known && d->better * (x - base) < 0;
}

/* Returns in how many seeds the option is worse than the first, or breaks a
 * condition.  Seeds in which a value that counts is missing are left out. */
static struct decide_risk find_risk(const struct deciding *d, uint32_t point, uint32_t i)
{
    uint32_t policy = option_at(d, point, i)->policy, bad = 0, seeds = 0;
    uint32_t first = option_at(d, point, 0)->policy;
    bool drawn, lost;

    if (policy == UINT32_MAX || first == UINT32_MAX)
        return make_risk(0, 0, false);
    drawn = is_drawn(d->grid, point, policy) || is_drawn(d->grid, point, first);
    lost = is_lost(d->grid, point, policy, d->spec->metric) ||
           is_lost(d->grid, point, first, d->spec->metric);
    for (uint32_t s = 0; !lost && s < (drawn ? d->grid->seed_count : 1); s++) {
        bool known, worse = is_worse(d, point, policy, first, s, &known);

        for (uint32_t k = 0; k < d->spec->keep_count; k++) {
            double x = grid_value(d->grid, point, policy, s, d->spec->keep[k].metric);

            known = known && isfinite(x);
            worse = worse || breaks(&d->spec->keep[k], x);
        }
        seeds += known;
        bad += known && worse;
    }
    return make_risk(bad, seeds, drawn);
}

/* Sets the worst value and the quantile, which is the value of a seed: the best
 * one that leaves no more than its share of seeds worse.  Example: at 90% of 20
 * seeds it is the 18th from the best. */
static void find_tail(const struct deciding *d, uint32_t point, struct decide_option *o)
{
    uint32_t n, count = 0;
    double *x = find_samples(d->arena, d->grid, point, o->policy, d->spec->metric, &n);
    uint32_t at;

    for (uint32_t s = 0; s < n; s++)
        if (isfinite(x[s]))
            x[count++] = -d->better * x[s];     /* the larger, the worse */
    o->tail = o->worst = NAN;
    if (count == 0)
        return;
    qsort(x, count, sizeof *x, stats_order);
    at = (uint32_t)ceil(d->spec->quantile * count - 1e-9);
    o->tail = -d->better * x[at > 0 ? at - 1 : 0];
    o->worst = -d->better * x[count - 1];
}

/* ---- conditions ---- */

/* Judges each condition on each option, at all points at once. */
static void judge_conditions(struct deciding *d)
{
    uint32_t keeps = d->spec->keep_count;

    d->kept = arena_alloc(d->arena, (size_t)d->spec->choice_count * keeps + 1,
                          sizeof *d->kept);
    for (uint32_t i = 0; i < d->spec->choice_count; i++)
        for (uint32_t k = 0; k < keeps; k++) {
            const struct experiment_keep *keep = &d->spec->keep[k];
            struct experiment_expect *expect = arena_alloc(d->arena, 1, sizeof *expect);

            *expect = (struct experiment_expect){
                .metric = keep->metric, .policy = d->spec->choice[i].name,
                .low = keep->low, .high = keep->high, .confidence = CONFIDENCE
            };
            struct check_list list = check_expects(d->arena, d->grid, expect, 1);

            assert(list.count == d->grid->point_count);
            d->kept[(size_t)i * keeps + k] = list.item;
        }
}

/* Does the item say that the condition is kept or broken?  Neither is known of one drawn
 * seed; nor is it kept where the value is over the jobs alone that were done. */
static bool is_known(const struct deciding *d, uint32_t point, uint32_t policy,
                     const struct check_item *item)
{
    if (d->grid->seed_count == 1 && !grid_fixed(d->grid, point, policy))
        return false;
    return item->verdict == CHECK_FAILS ||
           (item->verdict == CHECK_HOLDS && item->lost == NULL);
}

/* Sets the verdict to DROPPED or UNDECIDED if the option does not surely keep the
 * condition; a condition that is broken goes before one that is not decided. */
static void judge_keep(const struct deciding *d, uint32_t point, uint32_t i, uint32_t k)
{
    struct decide_option *o = option_at(d, point, i);
    const struct check_item *item =
        &d->kept[(size_t)i * d->spec->keep_count + k][point];
    bool known = is_known(d, point, o->policy, item);

    if ((known && item->verdict == CHECK_HOLDS) || o->verdict == DECIDE_DROPPED)
        return;                             /* the first broken one is told */
    o->verdict = known && item->verdict == CHECK_FAILS ? DECIDE_DROPPED : DECIDE_UNDECIDED;
    o->why = text_format(d->arena, "%s: %s",
                         decide_keep_text(d->arena, d->grid->metrics, d->spec, k),
                         isfinite(item->low) && item->lost == NULL
                             ? decide_interval_text(d->arena, item->info, item->value,
                                                    item->low, item->high)
                             : item->reason);
}

/* Does the option leave jobs that the first one does, beyond chance?  Where the first leaves
 * none, any job is one too many. */
static bool does_less(const struct deciding *d, uint32_t point, uint32_t i,
                      struct survivors *own, struct survivors *first)
{
    struct stats_delta delta;

    if (i == 0 || !decide_work_differs(d->decision, point, i, own, first) ||
        own->done * first->all >= first->done * own->all)
        return false;
    if (!survivors_lost(*first))
        return true;
    delta = compare_pair(d->grid, point, option_at(d, point, i)->policy,
                         option_at(d, point, 0)->policy, METRIC_JOBS_DONE);
    return isnan(delta.high) ? delta.mean < 0 : delta.high < 0;
}

/* Fills an option at a point, all but its place among the others. */
static void measure_option(const struct deciding *d, uint32_t point, uint32_t i)
{
    struct decide_option *o = option_at(d, point, i);
    struct survivors own, first;
    uint32_t failed;

    o->verdict = DECIDE_LEVEL;
    o->delta = o->above = compare_options(d, point, i, i);
    o->p_holm = o->above_p_holm = o->tail = o->worst = NAN;
    o->risk = find_risk(d, point, i);
    if (o->policy == UINT32_MAX) {
        o->verdict = DECIDE_UNDECIDED;
        o->why = "it was not run";
        return;
    }
    o->mean = trust_mean(d->grid, point, o->policy, d->spec->metric, CONFIDENCE, NULL);
    find_tail(d, point, o);
    o->delta = compare_options(d, point, i, 0);
    o->p_holm = i == 0 ? NAN : d->p_holm[pair_at(d, point, 0, i)];
    for (uint32_t k = 0; k < d->spec->keep_count; k++)
        judge_keep(d, point, i, k);
    failed = grid_failed(d->grid, point, o->policy);
    /* A condition that is broken says more than a trial that failed. */
    if (o->verdict == DECIDE_DROPPED)
        return;
    if (failed > 0 || o->mean.count == 0) {
        o->verdict = DECIDE_UNDECIDED;
        o->why = failed > 0 ? text_format(d->arena, "%u of its trials failed", failed)
                            : "no trial has the value that decides";
    } else if (is_lost(d->grid, point, o->policy, d->spec->metric)) {
        o->verdict = DECIDE_UNDECIDED;
        o->why = "the value that decides is not over all jobs, and is not compared";
    } else if (does_less(d, point, i, &own, &first)) {
        o->verdict = DECIDE_UNDECIDED;
        o->why = text_format(d->arena, "it did %.0f of %.0f jobs, and %s %.0f of %.0f; "
                             "jobs_done in `keep` says how many are enough", own.done,
                             own.all, d->spec->choice[0].name, first.done, first.all);
    }
}

/* ---- the best ---- */

/* Returns the best mean of the options that keep the conditions; of equal ones the
 * first. */
static uint32_t find_best(const struct deciding *d, uint32_t point)
{
    uint32_t best = UINT32_MAX;

    for (uint32_t i = 0; i < d->spec->choice_count; i++) {
        const struct decide_option *o = option_at(d, point, i);

        if (o->verdict == DECIDE_LEVEL &&
            (best == UINT32_MAX ||
             d->better * (o->mean.mean - option_at(d, point, best)->mean.mean) > 0))
            best = i;
    }
    return best;
}

/* Is option i worse than the best beyond chance? */
static bool is_surely_worse(const struct deciding *d, uint32_t point, uint32_t i)
{
    const struct decide_option *o = option_at(d, point, i);
    const struct decide_option *best =
        option_at(d, point, d->decision->point[point].best);
    const struct stats_delta *a = &o->above;

    if (a->count == 0 || isnan(a->mean) || !(d->better * a->mean < 0))
        return false;
    if (!is_drawn(d->grid, point, o->policy) && !is_drawn(d->grid, point, best->policy))
        return true;
    return (a->low > 0 || a->high < 0) && o->above_p_holm < 1 - CONFIDENCE;
}

/* Sets the verdicts beside the best one, and says whether any of them leaves the decision
 * open: the first is level with it, or one of which the conditions are undecided may be
 * better. */
static bool rank_others(const struct deciding *d, uint32_t point)
{
    uint32_t best = d->decision->point[point].best;
    bool open = false, level = false;

    for (uint32_t i = 0; i < d->spec->choice_count; i++) {
        struct decide_option *o = option_at(d, point, i);
        bool worse;

        if (i == best || o->policy == UINT32_MAX)
            continue;
        o->above = compare_options(d, point, i, best);
        o->above_p_holm = d->p_holm[pair_at(d, point, i, best)];
        worse = is_surely_worse(d, point, i);
        if (o->verdict == DECIDE_LEVEL && worse)
            o->verdict = DECIDE_WORSE;
        level = level || (o->verdict == DECIDE_LEVEL && (i == 0 || best == 0));
        open = open || (o->verdict == DECIDE_UNDECIDED && !worse);
    }
    return open || level || option_at(d, point, 0)->policy == UINT32_MAX;
}

/* Decides one point.  Open is what more seeds could change: a condition that is
 * undecided, or an option level with the first one.  So `taken` and `kept` are said
 * only where the interval supports them; the best mean of an open point is marked
 * as that, no more. */
static void decide_one(const struct deciding *d, uint32_t point)
{
    struct decide_point *at = &d->decision->point[point];
    bool open = false;

    for (uint32_t i = 0; i < d->spec->choice_count; i++) {
        measure_option(d, point, i);
        open = open || option_at(d, point, i)->verdict == DECIDE_UNDECIDED;
    }
    at->best = find_best(d, point);
    if (at->best == UINT32_MAX) {
        at->outcome = open ? DECIDE_IS_OPEN : DECIDE_IS_NONE;
        return;
    }
    at->outcome = rank_others(d, point) ? DECIDE_IS_OPEN
                  : at->best == 0 ? DECIDE_IS_KEPT : DECIDE_IS_TAKEN;
    at->option[at->best].verdict =
        at->outcome == DECIDE_IS_OPEN ? DECIDE_BEST : DECIDE_TAKE;
}

/* Finds the options among the policies of the grid.  One that did not run has
 * policy UINT32_MAX, and counts nowhere.  False: none of them ran. */
static bool find_options(const struct deciding *d)
{
    bool any = false;

    for (uint32_t t = 0; t < d->grid->point_count; t++) {
        struct decide_point *at = &d->decision->point[t];

        at->label = d->grid->point[t];
        at->option = arena_alloc(d->arena, d->spec->choice_count, sizeof *at->option);
        for (uint32_t i = 0; i < d->spec->choice_count; i++) {
            at->option[i].policy = grid_policy(d->grid, d->spec->choice[i].name);
            any = any || at->option[i].policy != UINT32_MAX;
        }
    }
    return any;
}

const struct decision *decide_make(struct arena *arena, const struct grid *grid,
                                   const struct experiment_decide *spec)
{
    struct decision *decision = arena_alloc(arena, 1, sizeof *decision);
    struct deciding d = {
        .arena = arena, .grid = grid, .spec = spec, .decision = decision,
        .better = metric_info(grid->metrics, spec->metric)->better
    };

    if (spec->choice_count == 0 || d.better == 0)
        return NULL;
    *decision = (struct decision){
        spec, grid, arena_alloc(arena, grid->point_count + 1, sizeof *decision->point)
    };
    if (!find_options(&d))
        return NULL;
    correct_pairs(&d);
    judge_conditions(&d);
    for (uint32_t t = 0; t < grid->point_count; t++)
        decide_one(&d, t);
    for (uint32_t t = 0; t < grid->point_count; t++)
        decision->point[t].sentence =
            decide_sentence(arena, decision, t, &decision->point[t].headline);
    return decision;
}

struct check_list decide_checks(struct arena *arena, const struct decision *decision)
{
    static const enum check_verdict verdict[] = {
        [DECIDE_IS_TAKEN] = CHECK_HOLDS, [DECIDE_IS_KEPT] = CHECK_HOLDS,
        [DECIDE_IS_NONE] = CHECK_FAILS, [DECIDE_IS_OPEN] = CHECK_UNDECIDED
    };
    uint32_t points = decision->grid->point_count;
    struct check_item *item = arena_alloc(arena, points + 1, sizeof *item);
    struct check_list list = { .item = item };

    for (uint32_t t = 0; t < points; t++) {
        const struct decide_point *at = &decision->point[t];

        item[t] = (struct check_item){
            .name = points == 1 ? "options: one of them can be taken"
                : text_format(arena, "options: one of them can be taken (%s)", at->label),
            .reason = at->sentence, .verdict = verdict[at->outcome], .point = at->label
        };
        check_count(&list, item[t].verdict);
    }
    return list;
}
