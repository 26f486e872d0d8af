/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report_tables.c - means, differences and causes of one point, as HTML.
 *
 * Every sentence is put together from the numbers of summary.csv; none knows
 * a policy by its name.
 */
#include "experiments/report/report_tables.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "experiments/columns/metric.h"
#include "experiments/report/plot_data.h"
#include "experiments/report/report_html.h"
#include "experiments/results/grid.h"
#include "experiments/results/survivors.h"
#include "experiments/results/trust.h"
#include "experiments/run/trial.h"
#include "sim/base/arena.h"
#include "sim/stats/interval.h"
#include "sim/stats/stats.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"
#include "sim/text/sheet.h"

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))
#define SMALLEST_SHARE 0.005    /* of GPU time that a sentence names */

/* Means and the longer sides of their intervals. */

static const struct {
    enum metric metric;
    const char *title;
    bool may_lack;              /* only shown where is_known() */
} shown[] = {
    { METRIC_JOBS_DONE, "jobs done", false },
    { METRIC_COST, "cost, USD", false },
    { METRIC_COST_PER_JOB, "USD per job", false },
    { METRIC_GPU_ALLOCATED, "GPUs leased, %", false },
    { METRIC_GPU_UTILIZATION, "GPU utilization, %", false },
    { METRIC_HELD_MFU, "useful FLOPs of what was held, %", true },
    { METRIC_PFLOP_USD, "useful PFLOP per USD held", true },
    { METRIC_HELD_WORK, "useful GPU time of what was held, %", true },
    { METRIC_GPU_BUBBLE, "GPU bubble, %", false },
    { METRIC_GPU_TAIL, "GPU tail, %", false },
    { METRIC_GPU_SWITCH, "GPU switching, %", false },
    { METRIC_GPU_IDLE_QUEUED, "GPU free, asks wait, %", false },
    { METRIC_GPU_IDLE_EMPTY, "GPU free, nothing waits, %", false },
    { METRIC_JCT_MEAN, "JCT mean", false },
    { METRIC_JCT_RESTRICTED, "JCT mean to the horizon", true },
    { METRIC_COST_LAST_END, "cost to the last end, USD", true },
    { METRIC_JCT_P95, "JCT p95", false },
    { METRIC_WAIT_MEAN, "wait mean", false },
    { METRIC_GAP, "JCT above its bound, %", true },
    { METRIC_MAKESPAN, "makespan", false },
    { METRIC_ENERGY, "energy, kWh", false },
};

/* How a row of means is written. */
struct row {
    struct plot_unit unit;      /* of a time */
    double factor, best;        /* best: NAN if none is better */
    int decimals;
};

/* Returns how a row of means is written: unit, decimals, and which mean is the
 * best.  Means that are not over all jobs and seeds are never the best. */
static struct row row_of(const struct plot_source *source, uint32_t point,
                         enum metric metric)
{
    const struct metric_info *info = metric_info(source->grid->metrics, metric);
    int better = info->better;
    struct row row = { { "", 1 }, 1, NAN, 0 };
    double largest = 0;
    bool differ = false;

    for (uint32_t p = 0; p < source->grid->policy_count; p++) {
        double mean = plot_mean(source, point, p, metric).mean;

        if (!isfinite(mean))
            continue;
        largest = fmax(largest, fabs(mean));
        if (!survivors_whole(source->grid, point, p, metric))
            continue;
        differ = differ || (!isnan(row.best) && mean != row.best);
        if (isnan(row.best) || mean * better > row.best * better)
            row.best = mean;
    }
    if (better == 0 || !differ)
        row.best = NAN;
    if (strcmp(info->unit, "fraction") == 0)
        row.factor = 100;
    if (strcmp(info->unit, "s") == 0) {
        row.unit = plot_time_unit(largest);
        row.factor = 1 / row.unit.seconds;
    }
    row.decimals = html_decimals(largest * row.factor,
                                 row.factor == 100 ? 3 : 4);
    return row;
}

/* Adds "11.00 ± 12.71", and a tick if it is the best. */
static void add_mean(struct sheet *sheet, struct stats_mean m,
                     const struct row *row, bool best)
{
    char mean[HTML_NUMBER_BYTES], half[HTML_NUMBER_BYTES];
    bool ends = m.count > 0 && isfinite(m.high);

    html_number(mean, m.count > 0 ? m.mean * row->factor : NAN,
                row->decimals);
    html_number(half, fmax(m.high - m.mean, m.mean - m.low) * row->factor,
                row->decimals);
    sheet_cell(sheet, "%s%s%s%s", mean, ends ? " \u00b1 " : "",
               ends ? half : "", best ? " \u2713" : "");
    sheet_class(sheet, best ? "best" : "");
}

/* Adds, below a mean, why its interval cannot be trusted, if so. */
static void add_doubt(struct sheet *sheet, const struct plot_source *source,
                      uint32_t point, uint32_t policy, struct stats_mean m)
{
    const char *doubt = trust_text(source->arena, trust_jobs(source->grid, point, policy), &m);

    if (*doubt != 0)
        sheet_small(sheet, "", "not trusted: %s", doubt);
}

/* Adds, below a mean, the paired difference to the baseline, coloured if its
 * interval lies on one side of 0. */
static void add_delta(struct sheet *sheet, const struct plot_delta *d,
                      int better)
{
    bool sure = d->low > 0 || d->high < 0;      /* NAN: it has no such end */
    char interval[INTERVAL_BYTES + 2] = "", p[64] = "", ends[INTERVAL_BYTES];

    if (!isfinite(d->percent))
        return;
    if (isfinite(d->low) || isfinite(d->high))
        snprintf(interval, sizeof interval, " %s ",
                 interval_text(ends, (struct interval_form){ 1, false, "" }, d->low, d->high));
    else if (isfinite(d->p_value))
        strcpy(interval, ", with no end to its interval; ");
    if (isfinite(d->p_value) && d->p_value < 1e-6)
        strcpy(p, "p < 1e-6");
    else if (isfinite(d->p_value))
        snprintf(p, sizeof p, "p = %.2g (Holm %.2g)", d->p_value, d->p_holm);
    sheet_small(sheet, !sure || better == 0 ? ""
                : d->percent * better > 0 ? "better" : "worse",
                "%+.1f%%%s%s", d->percent, interval, p);
}

/* Returns an empty table with a column for each policy. */
static struct sheet *policies_sheet(const struct grid *grid, const char *first)
{
    struct sheet *sheet = sheet_new(NULL);

    sheet_column(sheet, first, 0);
    for (uint32_t p = 0; p < grid->policy_count; p++)
        sheet_column(sheet, grid->policy[p], 1);
    return sheet;
}

/* Writes a table and frees it. */
static void put_sheet(struct out *out, struct sheet *sheet)
{
    sheet_html(sheet, 1, out);
    sheet_free(sheet);
}

/* Adds the row of a metric: means, intervals, doubts, and differences to the
 * baseline. */
static void add_means(struct sheet *sheet, const struct plot_source *source,
                      uint32_t point, enum metric metric, const char *title)
{
    struct row row = row_of(source, point, metric);

    sheet_cell(sheet, "%s%s%s", title,
               row.unit.name[0] ? ", " : "", row.unit.name);
    for (uint32_t p = 0; p < source->grid->policy_count; p++) {
        struct stats_mean m = plot_mean(source, point, p, metric);
        struct survivors of = survivors_of(source->grid, point, p, metric);
        struct survivors few = survivors_seeds(source->grid, point, p, metric);

        add_mean(sheet, m, &row, m.count > 0 && m.mean == row.best &&
                                 survivors_whole(source->grid, point, p, metric));
        add_doubt(sheet, source, point, p, m);
        if (survivors_lost(of))
            sheet_small(sheet, "", "%.0f of %.0f", of.done, of.all);
        if (survivors_lost(few))
            sheet_small(sheet, "", "%.0f of %.0f seeds", few.done, few.all);
        if (source->delta != NULL && p != source->baseline)
            add_delta(sheet, plot_delta_of(source, point, p, metric),
                      metric_info(source->grid->metrics, metric)->better);
    }
}

/* Has any policy a value?  Two metrics repeat another one where no job was
 * lost: false. */
static bool is_known(const struct plot_source *source, uint32_t point,
                     enum metric metric)
{
    if ((metric == METRIC_JCT_RESTRICTED || metric == METRIC_COST_LAST_END) &&
        !survivors_any(source->grid, point, METRIC_JCT_MEAN))
        return false;
    for (uint32_t p = 0; p < source->grid->policy_count; p++)
        if (isfinite(plot_mean(source, point, p, metric).mean))
            return true;
    return false;
}

/* Explains what a mean over a part of the jobs is worth, where there is such a
 * mean. */
static void lost_note(struct out *out, const struct plot_source *source,
                      uint32_t point)
{
    if (survivors_any(source->grid, point, METRIC_JCT_MEAN))
        out_text(out, "<p class=\"pale\">\u201c368 of 405\u201d: a mean over "
                 "the jobs that were done, of all seeds, here and in the "
                 "charts.  Those that were not may be the longest, so it is not compared");
    if (survivors_any(source->grid, point, METRIC_JCT_MEAN))
        out_text(out, survivors_restricted(source->grid, point)
                     ? "; the mean to the horizon is over all jobs.</p>\n" : ".</p>\n");
    if (survivors_any(source->grid, point, METRIC_SERVICE_LATENCY))
        out_text(out, "<p class=\"pale\">Not all requests were answered: "
                 "latencies are of those that were.</p>\n");
}

/* Returns the title of one's own metric with its unit; times get their unit
 * later (row_of()). */
static const char *own_title(const struct plot_source *source, enum metric metric)
{
    const struct metric_info *info = metric_info(source->grid->metrics, metric);

    if (strcmp(info->unit, "s") == 0 || strcmp(info->unit, "1") == 0)
        return info->title;
    return text_format(source->arena, "%s, %s", info->title,
                       strcmp(info->unit, "fraction") == 0 ? "%" : info->unit);
}

/* Writes the table of means of a point. */
static void means_table(struct out *out, const struct plot_source *source,
                        uint32_t point)
{
    struct sheet *sheet = policies_sheet(source->grid, "metric");

    for (size_t m = 0; m < COUNT_OF(shown); m++)
        if (!shown[m].may_lack || is_known(source, point, shown[m].metric))
            add_means(sheet, source, point, shown[m].metric, shown[m].title);
    for (unsigned m = METRIC_COUNT; m < metric_count(source->grid->metrics); m++)
        add_means(sheet, source, point, (enum metric)m,
                  own_title(source, (enum metric)m));
    put_sheet(out, sheet);
    if (source->delta != NULL)
        out_text(out, "<p class=\"pale\">\u00b1: the longer side of the 95% "
                 "interval.  Holm: p corrected for all comparisons of the "
                 "metric, of each point and policy.</p>\n");
    lost_note(out, source, point);
}

/* Causes. */

#define CAUSES 8
static const struct {
    enum metric metric;
    const char *title, *words;
} cause[CAUSES] = {
    { METRIC_GPU_BUSY, "busy", "busy" },
    { METRIC_GPU_TAIL, "tail",
      "tail (generating, the other responses are done)" },
    { METRIC_GPU_SWITCH, "switch", "switches (loading, starting, saving)" },
    { METRIC_GPU_BUBBLE, "bubble",
      "bubble (leased, waiting for another phase or a link)" },
    { METRIC_GPU_IDLE_QUEUED, "idle, asks wait",
      "idle although asks wait" },
    { METRIC_GPU_IDLE_EMPTY, "idle, nothing waits",
      "idle because nothing waits" },
    { METRIC_GPU_DOWN, "out of service", "out of service" },
    { METRIC_GPU_RENT, "rented, not usable",
      "of rented nodes that are starting or under notice" },
};

/* The parts of GPU time under one policy, from 0 to 1. */
struct shares {
    double share[CAUSES], leased, really;
};

/* Returns the parts of GPU time by cause, under one policy. */
static struct shares shares_of(const struct plot_source *source,
                               uint32_t point, uint32_t policy)
{
    struct shares s;

    for (size_t c = 0; c < CAUSES; c++)
        s.share[c] = plot_mean(source, point, policy, cause[c].metric).mean;
    s.leased = plot_mean(source, point, policy, METRIC_GPU_ALLOCATED).mean;
    s.really = plot_mean(source, point, policy, METRIC_GPU_UTILIZATION).mean;
    return s;
}

/* Is there GPU time of that cause under any policy? */
static bool occurs(const struct plot_source *source, uint32_t point, enum metric metric)
{
    for (uint32_t p = 0; p < source->grid->policy_count; p++)
        if (plot_mean(source, point, p, metric).mean > 0)
            return true;
    return false;
}

/* Writes the table of GPU time by cause; its rows add up to all of it.  Few experiments
 * rent nodes, so that row stands only where it is needed. */
static void cause_table(struct out *out, const struct plot_source *source,
                        uint32_t point)
{
    const struct grid *grid = source->grid;
    struct sheet *sheet = policies_sheet(grid, "cause");

    for (size_t c = 0; c < CAUSES; c++) {
        const struct row percent = { { "", 1 }, 100, NAN, 1 };

        if (cause[c].metric == METRIC_GPU_RENT &&
            !occurs(source, point, METRIC_GPU_RENT))
            continue;
        sheet_cell(sheet, "%s", cause[c].title);
        for (uint32_t p = 0; p < grid->policy_count; p++)
            add_mean(sheet, plot_mean(source, point, p, cause[c].metric),
                     &percent, false);
    }
    out_text(out, "<h4>GPU time by cause, percent of all GPU time</h4>\n");
    put_sheet(out, sheet);
}

/* Returns the largest of the values that are not named yet, and names it;
 * CAUSES: none is as large as `least`. */
static size_t next_largest(const double *value, bool *named, double least)
{
    size_t best = CAUSES;

    for (size_t c = 1; c < CAUSES; c++)     /* busy is told apart */
        if (!named[c] && fabs(value[c]) >= least &&
            (best == CAUSES || fabs(value[c]) > fabs(value[best])))
            best = c;
    if (best < CAUSES)
        named[best] = true;
    return best;
}

/* Says how much of the GPU time is leased and computing, and what the rest is, the
 * largest part first. */
static void losses_sentence(struct out *out, const struct shares *s)
{
    bool named[CAUSES] = { false }, first = true;
    size_t c;

    out_printf(out, " leases %.0f%% of all GPU time; %.0f%% is computing "
               "(GPU utilization %.0f%%).",
               100 * s->leased, 100 * s->share[0], 100 * s->really);
    while ((c = next_largest(s->share, named, SMALLEST_SHARE)) < CAUSES) {
        out_printf(out, "%s%.*f%% is %s", first ? " Besides, " : ", ",
                   s->share[c] < 0.0095, 100 * s->share[c], cause[c].words);
        first = false;
    }
    out_text(out, first ? "" : ".");
}

/* Says which three parts differ most from the baseline. */
static void moved_sentence(struct out *out, const struct shares *s,
                           const struct shares *base, const char *baseline)
{
    bool named[CAUSES] = { false }, first = true;
    double moved[CAUSES];
    size_t c;

    for (size_t i = 0; i < CAUSES; i++)
        moved[i] = s->share[i] - base->share[i];
    for (unsigned i = 0; i < 3; i++) {
        c = next_largest(moved, named, SMALLEST_SHARE);
        if (c == CAUSES)
            break;
        out_text(out, first ? " Against " : ", ");
        if (first) {
            out_html_text(out, baseline);
            out_text(out, ": ");
        }
        out_printf(out, "%s %+.1f points", cause[c].title, 100 * moved[c]);
        first = false;
    }
    if (!first)
        out_printf(out, "; computing %+.1f points.", 100 * moved[0]);
}

/* Writes these sentences for each policy. */
static void reasons(struct out *out, const struct plot_source *source,
                    uint32_t point)
{
    const struct grid *grid = source->grid;
    bool compared = source->baseline != UINT32_MAX;
    struct shares base = { { 0 }, 0, 0 };

    if (compared)
        base = shares_of(source, point, source->baseline);
    out_text(out, "<ul>\n");
    for (uint32_t p = 0; p < grid->policy_count; p++) {
        struct shares s = shares_of(source, point, p);

        if (!isfinite(s.share[0]))
            continue;
        out_text(out, "<li>");
        html_element(out, "strong", grid->policy[p]);
        losses_sentence(out, &s);
        if (compared && p != source->baseline && isfinite(base.share[0]))
            moved_sentence(out, &s, &base, grid->policy[source->baseline]);
        out_text(out, "</li>\n");
    }
    out_text(out, "</ul>\n");
}

/* Means, where GPU time went, and in sentences why, of one point. */
void report_point(struct out *out, const struct plot_source *source,
                  uint32_t point)
{
    html_element(out, "h3", source->grid->point[point]);
    out_text(out, "\n");
    means_table(out, source, point);
    cause_table(out, source, point);
    reasons(out, source, point);
}
