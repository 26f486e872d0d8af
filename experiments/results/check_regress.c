/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * check_regress.c - is a run worse than the one before?
 *
 * Trials are deterministic, so two versions of the program are compared trial by
 * trial, and any value that got worse by more than the tolerance is a regression;
 * no statistics is needed.  Other jobs fail as well, and then no metric is compared: figures
 * over other jobs are neither better nor worse.
 */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "experiments/columns/metric.h"
#include "experiments/preflight/fingerprints.h"
#include "experiments/results/check.h"
#include "experiments/results/compare.h"
#include "experiments/results/grid.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/paths.h"

#define WORSE_TOLD 8u       /* metrics of one verdict; others are counted */

/* A run, and the baseline that it is compared with. */
struct regression {
    const struct grid *before, *now;    /* now: by the axes of before */
    const struct grid *run;             /* now, by its own axes */
    const struct metric_set *metrics;   /* of the run now */
    double tolerance;           /* a part of the value before; 0: any difference
                                   counts */
    const struct check_left *left;
};

/* What nine digits may be off, as a part of the value (1.00000000 by half of its last one). */
#define DIGITS_OFF 5e-9

/* Did a metric get worse by more than the tolerance?  `better` is 1 where more
 * is better, -1 where less is, and 0 where neither is.  A value that is gone is
 * worse; a value that there was not before is not compared.  Tables have nine
 * digits, so what just keeps a tolerance may seem to exceed it by their last
 * one. */
static bool worse(double before, double now, int better, double tolerance)
{
    double off = tolerance > 0 ? DIGITS_OFF * (fabs(before) + fabs(now)) : 0;

    if (better == 0 || isnan(before))
        return false;
    if (isnan(now))
        return true;
    return (before - now) * better > tolerance * fabs(before) + off;
}

/* Returns how many seeds to compare: one, where nothing is drawn on either
 * side. */
static uint32_t seeds_of(const struct regression *r, uint32_t point,
                         uint32_t policy)
{
    return grid_fixed(r->before, point, policy) &&
           grid_fixed(r->now, point, policy) ? 1 : r->before->seed_count;
}

/* Returns the fewest digits that tell two values apart, at least the nine of a
 * table. */
static int digits_apart(double a, double b)
{
    char left[32], right[32];
    int digits = 8;

    do {
        digits++;
        snprintf(left, sizeof left, "%.*g", digits, a);
        snprintf(right, sizeof right, "%.*g", digits, b);
    } while (digits < 17 && strcmp(left, right) == 0);
    return digits;
}

/* Is it a metric that the run now does not have, or has of another expression? */
static bool is_gone(const struct regression *r, enum metric metric)
{
    return metric_same(r->before->metrics, metric, r->metrics) ==
           metric_count(r->metrics);
}

/* Returns which way of a metric of the baseline is better, as the run now says: a slip in
 * `better` may be mended since.  0: neither, or it is gone. */
static int better_of(const struct regression *r, enum metric metric)
{
    return is_gone(r, metric) ? 0 : metric_info(r->metrics, metric_same(
        r->before->metrics, metric, r->metrics))->better;
}

/* Returns how a metric got worse, with its first seed as an example; NULL: it
 * did not. */
static const char *worse_text(struct arena *arena,
                              const struct regression *r, uint32_t point,
                              uint32_t policy, enum metric metric)
{
    const struct grid *before = r->before, *now = r->now;
    const struct metric_info *info = metric_info(before->metrics, metric);
    uint32_t count = 0, first = 0, seeds = seeds_of(r, point, policy);
    int better = better_of(r, metric);
    double a, b;

    for (uint32_t s = seeds; s-- > 0;) {
        if (!grid_present(before, point, policy, s) ||
            !grid_present(now, point, policy, s))
            continue;
        if (worse(grid_value(before, point, policy, s, metric),
                  grid_value(now, point, policy, s, metric), better, r->tolerance)) {
            count++;
            first = s;
        }
    }
    if (count == 0)
        return NULL;
    a = grid_value(before, point, policy, first, metric);
    b = grid_value(now, point, policy, first, metric);
    if (isnan(b))
        return text_format(arena, "%s worse in %u of %u seeds (seed %u: %.9g -> no value)",
                           info->name, count, seeds, before->seed[first], a);
    return text_format(arena, "%s worse in %u of %u seeds (seed %u: %.*g -> "
                       "%.*g)", info->name, count, seeds, before->seed[first],
                       digits_apart(a, b), a, digits_apart(a, b), b);
}

/* Adds a reason.  The verdict becomes the more serious of the two; all reasons
 * are kept. */
static void add_reason(struct arena *arena, struct check_item *item,
                       enum check_verdict verdict, const char *text)
{
    if (item->verdict == CHECK_HOLDS || verdict == CHECK_FAILS)
        item->verdict = verdict;
    item->reason = item->reason == NULL ? text
        : text_format(arena, "%s; %s", item->reason, text);
}

/* Is the name in a list that ends with NULL?  NULL is an empty list. */
static bool is_among(const char *const *list, const char *name)
{
    for (; list != NULL && *list != NULL; list++)
        if (strcmp(*list, name) == 0)
            return true;
    return false;
}

/* Counts the trials of a policy at a point that the baseline has and the run
 * has not: they failed, a flag left them out, or they are gone.  Adds the
 * reason.  Returns how many trials the baseline has there. */
static uint32_t count_gone(struct arena *arena, const struct regression *r,
                       uint32_t point, uint32_t policy,
                       struct check_item *item)
{
    const struct grid *before = r->before, *now = r->now;
    bool fixed = grid_fixed(before, point, policy);
    uint32_t gone = 0, there = 0;
    const char *why;

    for (uint32_t s = 0; s < (fixed ? 1 : before->seed_count); s++) {
        there += grid_present(before, point, policy, s);
        gone += grid_present(before, point, policy, s) &&
                !grid_present(now, point, policy, s);
    }
    if (gone == 0)
        return there;
    why = text_format(arena, "%u of %u trials of the baseline ", gone, there);
    if (grid_failed(now, point, policy) > 0)
        add_reason(arena, item, CHECK_TRIAL_FAILED,
                   text_format(arena, "%sfailed", why));
    else if (r->left != NULL &&
             (is_among(r->left->policy, before->policy[policy]) ||
              (r->left->seeds && gone < there)))
        add_reason(arena, item, CHECK_NOT_JUDGED,
                   text_format(arena, "%swere left out", why));
    else
        add_reason(arena, item, CHECK_FAILS,
                   text_format(arena, "%sare gone", why));
    return there;
}

/* Returns why the jobs are not those of the baseline: their number, or the
 * fingerprint of the first of them.  NULL: nothing says so. */
static const char *find_other_jobs(struct arena *arena, const struct regression *r,
                                   uint32_t point, uint32_t policy)
{
    for (uint32_t s = 0; s < seeds_of(r, point, policy); s++) {
        if (!grid_present(r->before, point, policy, s) ||
            !grid_present(r->now, point, policy, s))
            continue;
        double before = grid_value(r->before, point, policy, s, METRIC_JOBS);
        double now = grid_value(r->now, point, policy, s, METRIC_JOBS);

        if (isnan(before) || isnan(now) || before == now)
            continue;
        return text_format(
            arena, "the workload differs: %.0f job%s in seed %u, and "
            "%.0f in the baseline", now, now == 1 ? "" : "s",
            r->before->seed[s], before);
    }
    if (fingerprints_differ(r->before->jobs, r->run->jobs, r->before->point[point], point))
        return "the workload differs: its jobs are not those of the baseline "
               "(`seed`, the workload or how jobs are drawn has changed); "
               "--update-baseline stores a new one";
    return NULL;
}

/* Is a metric compared in some trial: can it get worse, and has it a value in the baseline? */
static bool is_compared(const struct regression *r, uint32_t point, uint32_t policy,
                        enum metric metric)
{
    if (better_of(r, metric) == 0)
        return false;
    for (uint32_t s = 0; s < seeds_of(r, point, policy); s++)
        if (grid_present(r->before, point, policy, s) && grid_present(r->now, point, policy, s) &&
            !isnan(grid_value(r->before, point, policy, s, metric)))
            return true;
    return false;
}

/* Returns how many metrics are compared there. */
static unsigned count_compared(const struct regression *r, uint32_t point, uint32_t policy)
{
    unsigned count = 0;

    for (unsigned m = 0; m < metric_count(r->before->metrics); m++)
        count += is_compared(r, point, policy, (enum metric)m);
    return count;
}

bool check_can_regress(const struct grid *before, const char *dir, struct err *err)
{
    struct err_pos pos = { dir, 0, 0 };
    bool any = false;

    if (before->seed_count == 0)
        return err_set(err, ERR_SCHEMA, pos, "summary.csv has no row: there is no "
                       "trial to compare with");
    if (grid_lacks(before, METRIC_JOBS))
        return err_set(err, ERR_SCHEMA, pos, "summary.csv has no column jobs, which tells "
                       "another workload");
    for (unsigned m = 0; m < metric_count(before->metrics); m++)
        any = any || (metric_info(before->metrics, (enum metric)m)->better != 0 &&
                      !grid_lacks(before, (enum metric)m));
    return any || err_set(err, ERR_SCHEMA, pos, "summary.csv has no metric that can get "
                          "worse: nothing would be compared");
}

/* Adds which metrics of the baseline are not compared: those of the experiment's own that
 * are gone, or have another expression, and a column that nobody knows.  Whether they got
 * worse is not judged. */
static void note_gone(struct arena *arena, const struct regression *r,
                      struct check_item *item)
{
    for (unsigned m = METRIC_COUNT; m < metric_count(r->before->metrics); m++) {
        const char *name = metric_info(r->before->metrics, (enum metric)m)->name;
        bool there = metric_find(r->metrics, name) < metric_count(r->metrics);

        if (is_gone(r, (enum metric)m))
            add_reason(arena, item, CHECK_NOT_JUDGED, text_format(
                arena, "%s is not compared: %s", name,
                there ? "the baseline has another expression"
                      : "it is in the baseline alone"));
    }
    if (r->before->stray != NULL)
        add_reason(arena, item, CHECK_NOT_JUDGED, text_format(
            arena, "%.60s is not compared: this program has no such metric, and the baseline "
            "no metrics.csv that says what it is", r->before->stray));
}

/* Adds that the jobs may be others: their fingerprint is not known, and as many jobs may be
 * other ones. */
static void note_unknown_jobs(struct arena *arena, const struct regression *r, uint32_t point,
                              struct check_item *item)
{
    const char *label = r->before->point[point];
    bool before = fingerprints_know(r->before->jobs, label, point);

    if (before && fingerprints_know(r->run->jobs, label, point))
        return;
    add_reason(arena, item, CHECK_NOT_JUDGED, text_format(
        arena, "whether its jobs are those of the baseline is not known: %s neither jobs.json "
        "nor a provenance.json that tells them", before ? "the run has" : "the baseline has"));
}

/* Says what was compared, if nothing is wrong; nothing is no success. */
static void tell_compared(struct arena *arena, const struct regression *r, uint32_t point,
                          uint32_t policy, uint32_t trials, struct check_item *item)
{
    unsigned metrics = count_compared(r, point, policy);

    if (item->reason != NULL)
        return;
    if (metrics == 0)
        add_reason(arena, item, CHECK_NOT_JUDGED, trials == 0
                       ? "the baseline has no trial of it"
                       : "the baseline has no value that could get worse");
    else
        item->reason = text_format(arena, "nothing worse in %u trial%s, %u metric%s", trials,
                                   trials == 1 ? "" : "s", metrics, metrics == 1 ? "" : "s");
}

/* Compares each metric.  The first WORSE_TOLD that got worse are named, and
 * others are counted. */
static void compare_metrics(struct arena *arena, const struct regression *r, uint32_t point,
                            uint32_t policy, struct check_item *item)
{
    const struct grid *before = r->before;
    uint32_t worse = 0;

    for (unsigned m = 0; m < metric_count(before->metrics); m++) {
        const char *text = worse_text(arena, r, point, policy,
                                      (enum metric)m);

        if (text != NULL && worse++ < WORSE_TOLD)
            add_reason(arena, item, CHECK_FAILS, text);
    }
    if (worse > WORSE_TOLD)
        add_reason(arena, item, CHECK_FAILS, text_format(
            arena, "%u more metrics worse, which `clustersim compare` shows",
            worse - WORSE_TOLD));
}

/* Judges one policy at one point against the baseline: trials that are gone,
 * other jobs, and the metrics, but these only if the jobs are the same. */
static void regress(struct arena *arena, const struct regression *r,
                    uint32_t point, uint32_t policy, struct check_item *item)
{
    const struct grid *before = r->before;
    const char *other = find_other_jobs(arena, r, point, policy);
    uint32_t there;

    *item = (struct check_item){
        .name = text_format(arena, "no regression of %s (%s)",
                            before->policy[policy], before->point[point]),
        .policy = before->policy[policy], .point = before->point[point],
        .verdict = CHECK_HOLDS
    };
    there = count_gone(arena, r, point, policy, item);
    if (other != NULL)
        add_reason(arena, item, CHECK_FAILS, other);
    else
        compare_metrics(arena, r, point, policy, item);
    tell_compared(arena, r, point, policy, there, item);
    if (other == NULL && count_compared(r, point, policy) > 0)
        note_unknown_jobs(arena, r, point, item);
    note_gone(arena, r, item);
}

struct check_list check_regressions(struct arena *arena,
                                    const struct grid *before,
                                    const struct grid *now, double tolerance,
                                    const struct check_left *left)
{
    struct regression r = { before, compare_align(arena, before, now), now,
                            now->metrics, tolerance, left };
    struct check_item *item = arena_alloc(
        arena, (size_t)before->point_count * before->policy_count + 1,
        sizeof *item);
    struct check_list list = { .item = item };

    assert(tolerance >= 0);
    for (uint32_t t = 0; t < before->point_count; t++)
        for (uint32_t p = 0; p < before->policy_count; p++) {
            struct check_item *to = &item[list.count];

            regress(arena, &r, t, p, to);
            check_count(&list, to->verdict);
        }
    return list;
}
