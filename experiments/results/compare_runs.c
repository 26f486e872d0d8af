/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * compare_runs.c - one results folder against another.
 *
 * They are paired by names of points, policies and seeds.  What only one of them
 * has is counted, and a metric is shown if any of its values moved.
 */
#include "experiments/results/compare.h"

#include <math.h>

#include "experiments/columns/metric.h"
#include "experiments/results/grid.h"
#include "experiments/results/survivors.h"
#include "experiments/results/trust.h"
#include "sim/base/arena.h"
#include "sim/stats/interval.h"
#include "sim/stats/stats.h"
#include "sim/text/sheet.h"

#define CONFIDENCE 0.95

/* Samples of a metric, of one policy in both folders. */
struct compare_pairs {
    double *x, *base;           /* seed_count each */
    uint32_t count;             /* of them, the samples */
};

/* Everything is looked up by name, since the two folders may have other points,
 * policies and seeds, or the same in another order. */
struct grid *compare_align(struct arena *arena, const struct grid *grid,
                           const struct grid *other)
{
    struct grid *out = arena_alloc(arena, 1, sizeof *out);
    unsigned metrics = metric_count(grid->metrics);
    enum metric theirs[METRIC_ROOM];

    for (unsigned m = 0; m < metrics; m++)
        theirs[m] = metric_same(grid->metrics, (enum metric)m, other->metrics);
    *out = *grid;
    grid_set_stop(out, other->stop);
    grid_begin(arena, out);
    for (uint32_t t = 0; t < grid->point_count; t++)
        for (uint32_t p = 0; p < grid->policy_count; p++) {
            uint32_t ot = grid_point(other, grid->point[t]);
            uint32_t op = grid_policy(other, grid->policy[p]);
            bool both = ot != UINT32_MAX && op != UINT32_MAX;
            size_t pair = grid_pair(grid, t, p);

            out->fixed[pair] = both && grid_fixed(other, ot, op);
            out->without[pair] = !both || other->without == NULL
                ? 0 : other->without[grid_pair(other, ot, op)];
            out->failed[pair] = both ? grid_failed(other, ot, op) : 0;
            for (uint32_t s = 0; s < grid->seed_count; s++) {
                uint32_t os = out->fixed[pair] ? 0
                            : grid_seed(other, grid->seed[s]);

                if (!both || os == UINT32_MAX || !grid_present(other, ot, op, os))
                    continue;
                for (unsigned m = 0; m < metrics; m++)
                    grid_set(out, t, p, s, (enum metric)m,
                             theirs[m] == metric_count(other->metrics) ? NAN
                             : grid_value(other, ot, op, os, theirs[m]));
            }
        }
    return out;
}

/* Counts the trials that were run and that `with` has as well; with NULL: all
 * that were run.  Where nothing is drawn, the copies of the first seed are no
 * trials. */
static uint32_t present_count(const struct grid *grid,
                              const struct grid *with)
{
    uint32_t count = 0;

    for (uint32_t t = 0; t < grid->point_count; t++)
        for (uint32_t p = 0; p < grid->policy_count; p++)
            for (uint32_t s = 0; s < grid->seed_count; s++)
                count += (s == 0 || !grid_fixed(grid, t, p)) &&
                         grid_present(grid, t, p, s) &&
                         (with == NULL || grid_present(with, t, p, s));
    return count;
}

struct compare_only compare_count(const struct grid *left,
                                  const struct grid *right)
{
    struct arena *arena = arena_new(1 << 16);
    const struct grid *pair = compare_align(arena, left, right);
    struct compare_only only = { 0, 0, 0 };

    only.both = present_count(left, pair);
    only.left = present_count(left, NULL) - only.both;
    only.right = present_count(right, compare_align(arena, right, left));
    only.right = present_count(right, NULL) - only.right;
    arena_free(arena);
    return only;
}

/* Are both the same number, or both empty? */
static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* Does one of the samples differ?  Empty values are equal to each other. */
static bool moved(const double *a, const double *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!same(a[i], b[i]))
            return true;
    return false;
}

/* Reads the samples of a metric on both sides, only of seeds that both have.
 * Seeds count as one only if they are alike on both sides. */
static void pair_samples(const struct grid *left, const struct grid *pair,
                         uint32_t point, uint32_t policy, enum metric metric,
                         struct compare_pairs *samples)
{
    uint32_t base = grid_samples(left, point, policy, metric, samples->base);
    uint32_t x = grid_samples(pair, point, policy, metric, samples->x);

    samples->count = base > x ? base : x;
    for (uint32_t s = 0; s < left->seed_count; s++)
        if (!grid_present(left, point, policy, s) ||
            !grid_present(pair, point, policy, s))
            samples->base[s] = samples->x[s] = NAN;
}

/* Two runs that are compared, and the samples of the metric at hand. */
struct pairing {
    const struct grid *left, *right;
    const struct grid *pair;    /* the right, in the places of the left */
    struct compare_pairs samples;
    double *p_holm;             /* by compare_row_at() */
};

/* Are the means of both folders over all jobs?  If not, they cannot be
 * compared. */
static bool both_whole(const struct pairing *r, uint32_t point, uint32_t policy,
                       enum metric metric)
{
    return !survivors_lost(survivors_of(r->left, point, policy, metric)) &&
           !survivors_lost(survivors_of(r->pair, point, policy, metric));
}

/* Returns the difference of the right folder to the left one. */
static struct stats_delta change_of(const struct pairing *r, uint32_t point,
                                    uint32_t policy, enum metric metric)
{
    struct trust_side left = { r->left, point, policy }, right = { r->pair, point, policy };

    return trust_delta(&right, &left, metric, CONFIDENCE, NULL);
}

/* Computes Holm's p-values.  As in compare.csv, all points and policies of one
 * metric are one family, also those where nothing moved: leaving them out would
 * make the correction too weak. */
static void correct_changes(struct arena *arena, struct pairing *r)
{
    const struct grid *left = r->left;
    size_t family = (size_t)left->point_count * left->policy_count;

    unsigned metrics = metric_count(left->metrics);

    r->p_holm = arena_alloc(arena, family * metrics + 1, sizeof *r->p_holm);
    for (unsigned m = 0; m < metrics; m++) {
        for (uint32_t t = 0; t < left->point_count; t++)
            for (uint32_t p = 0; p < left->policy_count; p++) {
                double *at = &r->p_holm[compare_row_at(left, t, p, m)];

                *at = both_whole(r, t, p, (enum metric)m)
                    ? change_of(r, t, p, (enum metric)m).p_value : NAN;
            }
        stats_holm(arena, r->p_holm + m * family, family);
    }
}

/* Is the interval of the difference not to be trusted? */
static bool doubted(const struct pairing *r, uint32_t point, uint32_t policy,
                    const struct stats_delta *d)
{
    struct arena *arena = arena_new(1 << 10);
    bool doubt = *trust_pairs_text(arena, fmax(trust_jobs(r->left, point, policy),
                                               trust_jobs(r->pair, point, policy)), d) != 0;

    arena_free(arena);
    return doubt;
}

/* Leaves the seeds alone that have a value on both sides, unless there is none: else the two
 * means would be over other seeds than their change.  Returns how many it took out. */
static uint32_t keep_pairs(struct compare_pairs *samples)
{
    uint32_t pairs = 0, single = 0;

    for (uint32_t s = 0; s < samples->count; s++) {
        pairs += !isnan(samples->x[s]) && !isnan(samples->base[s]);
        single += isnan(samples->x[s]) != isnan(samples->base[s]);
    }
    if (pairs == 0)
        return 0;
    for (uint32_t s = 0; s < samples->count; s++)
        if (isnan(samples->x[s]) || isnan(samples->base[s]))
            samples->x[s] = samples->base[s] = NAN;
    return single;
}

/* A mean, or that there is none. */
static void put_mean(struct sheet *sheet, const double *x, uint32_t count)
{
    double mean = stats_mean(x, count, CONFIDENCE).mean;

    if (isnan(mean))
        sheet_cell(sheet, "none");
    else
        sheet_cell(sheet, "%.6g", mean);
}

/* Writes the last column: how sure the change is, or why nothing is said of
 * that. */
static void sure_text(const struct pairing *r, uint32_t point, uint32_t policy,
                      enum metric metric, const struct stats_delta *d,
                      char *out, size_t bytes)
{
    struct survivors s = survivors_of(r->left, point, policy, metric);
    struct survivors t = survivors_of(r->pair, point, policy, metric);

    char interval[INTERVAL_BYTES];
    bool percent = !isnan(d->percent_low);  /* else the left is 0: nothing is a part of it */

    *out = '\0';
    if (!both_whole(r, point, policy, metric))
        snprintf(out, bytes, "%.0f of %.0f and %.0f of %.0f: not compared",
                 s.done, s.all, t.done, t.all);
    else if (percent || !isnan(d->p_value))
        snprintf(out, bytes, "%s p=%.2g, corrected %.2g%s",
                 interval_text(interval, (struct interval_form){ 3, true, percent ? "%" : "" },
                               percent ? d->percent_low : d->low,
                               percent ? d->percent_high : d->high), d->p_value,
                 r->p_holm[compare_row_at(r->left, point, policy, metric)],
                 doubted(r, point, policy, d) ? " not trusted" : "");
    else if (r->samples.count < r->left->seed_count)
        snprintf(out, bytes, "seeds are alike: no interval");
}

/* Adds the line of a metric that moved to the sheet: before, after, change, and how
 * sure it is. */
static void add_line(struct sheet *sheet, struct pairing *r,
                     uint32_t point, uint32_t policy, enum metric metric)
{
    uint32_t n = r->samples.count, single = keep_pairs(&r->samples);
    struct stats_delta d = change_of(r, point, policy, metric);
    char change[64] = "-", sure[192], left_out[60] = "";

    if (isfinite(d.percent) && both_whole(r, point, policy, metric))
        snprintf(change, sizeof change, "%+.3g%%", d.percent);
    sure_text(r, point, policy, metric, &d, sure, sizeof sure);
    sheet_cell(sheet, "%s", r->left->point[point]);
    sheet_cell(sheet, "%s", r->left->policy[policy]);
    sheet_cell(sheet, "%s", metric_info(r->left->metrics, metric)->name);
    put_mean(sheet, r->samples.base, n);
    put_mean(sheet, r->samples.x, n);
    sheet_cell(sheet, "%s", change);
    if (single > 0)
        snprintf(left_out, sizeof left_out, "; %u seed%s no value on one side", single,
                 single == 1 ? " has" : "s have");
    sheet_cell(sheet, "%s%s", sure, left_out);
}

/* Does the other run lack the metric, or have another expression for it?  This
 * may be so of an experiment's own metrics. */
static bool is_alone(const struct grid *grid, enum metric metric,
                     const struct grid *other)
{
    return metric_same(grid->metrics, metric, other->metrics) ==
           metric_count(other->metrics);
}

/* Names the metrics of the experiment's own that only one of the two runs has, or that
 * have another expression there. */
static void print_alone(FILE *file, const struct grid *left, const struct grid *right)
{
    for (unsigned m = METRIC_COUNT; m < metric_count(left->metrics); m++)
        if (is_alone(left, (enum metric)m, right))
            fprintf(file, "%s is not compared: it is not the same metric in both\n",
                    metric_info(left->metrics, (enum metric)m)->name);
    for (unsigned m = METRIC_COUNT; m < metric_count(right->metrics); m++) {
        const char *name = metric_info(right->metrics, (enum metric)m)->name;

        if (metric_find(left->metrics, name) == metric_count(left->metrics))
            fprintf(file, "%s is not compared: the left has no such metric\n", name);
    }
}

/* Returns the two runs side by side, in the arena, with Holm's p-values; samples are
 * filled pair by pair. */
static struct pairing *pair_runs(struct arena *arena, const struct grid *left,
                                 const struct grid *right)
{
    struct pairing *r = arena_alloc(arena, 1, sizeof *r);

    *r = (struct pairing){
        .left = left, .right = right, .pair = compare_align(arena, left, right),
        .samples = { .x = arena_alloc(arena, left->seed_count + 1, sizeof(double)),
                     .base = arena_alloc(arena, left->seed_count + 1, sizeof(double)) }
    };
    correct_changes(arena, r);
    return r;
}

/* Adds a line of the sheet for a metric that moved. */
typedef void line_fn(struct sheet *sheet, struct pairing *r, uint32_t point,
                     uint32_t policy, enum metric metric);

/* Adds a line of each metric that moved; returns how many.  What one of the two does not
 * have, as a baseline of some columns, has not moved. */
static uint32_t add_moved(struct sheet *sheet, struct pairing *r, line_fn *add)
{
    const struct grid *left = r->left;
    uint32_t lines = 0;

    for (uint32_t t = 0; t < left->point_count; t++)
        for (uint32_t p = 0; p < left->policy_count; p++)
            for (unsigned m = 0; m < metric_count(left->metrics); m++) {
                pair_samples(left, r->pair, t, p, (enum metric)m, &r->samples);
                if (is_alone(left, (enum metric)m, r->right) ||
                    grid_lacks(left, (enum metric)m) ||
                    grid_lacks(r->right, metric_same(left->metrics, (enum metric)m,
                                                     r->right->metrics)) ||
                    !moved(r->samples.x, r->samples.base, left->seed_count))
                    continue;
                lines++;
                add(sheet, r, t, p, (enum metric)m);
            }
    return lines;
}

/* Adds all figures of a metric, each in a column, and the seeds that the means leave out.
 * What is not known, or not to be compared, is empty. */
static void add_figures(struct sheet *sheet, struct pairing *r, uint32_t point,
                        uint32_t policy, enum metric metric)
{
    uint32_t n = r->samples.count;
    struct stats_delta d = change_of(r, point, policy, metric);
    bool whole = both_whole(r, point, policy, metric);
    double none = whole ? 0 : NAN;

    uint32_t single = keep_pairs(&r->samples);
    sheet_cell(sheet, "%s", r->left->point[point]);
    sheet_cell(sheet, "%s", r->left->policy[policy]);
    sheet_cell(sheet, "%s", metric_info(r->left->metrics, metric)->name);
    sheet_real(sheet, stats_mean(r->samples.base, n, CONFIDENCE).mean);
    sheet_real(sheet, stats_mean(r->samples.x, n, CONFIDENCE).mean);
    sheet_real(sheet, d.percent + none);
    sheet_real(sheet, d.percent_low + none);
    sheet_real(sheet, d.percent_high + none);
    sheet_real(sheet, d.p_value + none);
    sheet_real(sheet, r->p_holm[compare_row_at(r->left, point, policy, metric)]);
    sheet_cell(sheet, "%u", single);
}

struct sheet *compare_sheet(struct arena *arena, const struct grid *left,
                            const struct grid *right)
{
    struct sheet *sheet = sheet_new(
        "point:0\tpolicy:0\tmetric:0\tleft:1\tright:1\tchange_percent:1\t"
        "change_ci95_low_percent:1\tchange_ci95_high_percent:1\tp_value:1\tp_holm:1\t"
        "seeds_left_out:1");

    (void)add_moved(sheet, pair_runs(arena, left, right), add_figures);
    return sheet;
}

uint32_t compare_print(FILE *file, const struct grid *left,
                       const struct grid *right)
{
    struct arena *arena = arena_new(1 << 16);
    struct sheet *sheet = sheet_new("point:-24\tpolicy:-14\tmetric:-24\t"
                                    "left:12\tright:12\tchange:10\t"
                                    "95% interval of the change:0");
    uint32_t lines = add_moved(sheet, pair_runs(arena, left, right), add_line);

    if (lines > 0)
        sheet_print(sheet, file, false);
    print_alone(file, left, right);
    sheet_free(sheet);
    arena_free(arena);
    return lines;
}
