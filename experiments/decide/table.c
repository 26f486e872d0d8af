/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * table.c - the options of a point side by side.
 *
 * Rows are options, columns are metrics: those that decide, those of conditions,
 * and some that a design review asks of anyway.  One sheet serves the terminal,
 * Markdown and the page.
 */
#include <math.h>
#include <string.h>

#include "experiments/columns/metric.h"
#include "experiments/decide/decide.h"
#include "experiments/decide/mean_text.h"
#include "experiments/decide/sentence.h"
#include "experiments/decide/shown.h"
#include "experiments/results/compare.h"
#include "experiments/results/grid.h"
#include "experiments/results/summary_table.h"
#include "experiments/results/survivors.h"
#include "experiments/results/trust.h"
#include "experiments/spec/experiment.h"
#include "sim/base/arena.h"
#include "sim/stats/stats.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"
#include "sim/text/sheet.h"

#define CONFIDENCE 0.95

/* ---- which metrics ---- */

/* Returns whether a metric is in a list. */
static bool is_among(const enum metric *list, uint32_t count, enum metric metric)
{
    for (uint32_t i = 0; i < count; i++)
        if (list[i] == metric)
            return true;
    return false;
}

/* Returns whether any value is there that says something.  Where nothing was
 * promised, all promises are kept, and the share of 1 says nothing. */
static bool has_values(const struct decision *decision, enum metric metric)
{
    const struct grid *grid = decision->grid;

    for (uint32_t t = 0; t < grid->point_count; t++)
        for (uint32_t i = 0; i < decision->spec->choice_count; i++)
            for (uint32_t s = 0; s < grid->seed_count; s++) {
                uint32_t policy = decision->point[t].option[i].policy;
                double x = policy == UINT32_MAX ? NAN
                         : grid_value(grid, t, policy, s, metric);

                if (isfinite(x) && (metric != METRIC_SLO || x != 1))
                    return true;
            }
    return false;
}

/* What decides, the conditions, and then what a design review asks of anyway. */
const enum metric *decide_shown(struct arena *arena, const struct decision *decision,
                                uint32_t *count)
{
    static const enum metric always[] = { METRIC_COST, METRIC_JCT_MEAN, METRIC_SLO };
    const struct experiment_decide *spec = decision->spec;
    enum metric *list = arena_alloc(arena, spec->keep_count + 4, sizeof *list);

    *count = 0;
    list[(*count)++] = spec->metric;
    for (uint32_t k = 0; k < spec->keep_count; k++)
        if (!is_among(list, *count, spec->keep[k].metric))
            list[(*count)++] = spec->keep[k].metric;
    for (size_t i = 0; i < sizeof always / sizeof always[0]; i++)
        if (!is_among(list, *count, always[i]) && has_values(decision, always[i]))
            list[(*count)++] = always[i];
    return list;
}

/* An option that was not run has a mean without samples. */
struct stats_mean decide_mean(const struct decision *decision,
                              uint32_t point, uint32_t option, enum metric metric)
{
    uint32_t policy = decision->point[point].option[option].policy;

    if (policy == UINT32_MAX)
        return (struct stats_mean){ .mean = NAN, .low = NAN, .high = NAN, .skew = NAN };
    return trust_mean(decision->grid, point, policy, metric, CONFIDENCE, NULL);
}

/* The first option has no difference to itself. */
struct stats_delta decide_delta(const struct decision *decision,
                                uint32_t point, uint32_t option, enum metric metric)
{
    const struct decide_option *o = decision->point[point].option;
    struct stats_delta none = { .mean = NAN, .low = NAN, .high = NAN, .percent = NAN,
                                .percent_low = NAN, .percent_high = NAN };

    if (option == 0 || o[option].policy == UINT32_MAX || o[0].policy == UINT32_MAX)
        return none;
    struct stats_delta d = compare_pair(decision->grid, point, o[option].policy,
                                        o[0].policy, metric);
    return d.count == 0 ? none : d;
}

/* ---- cells ---- */

/* One metric of one option: its mean, and below it the difference to the first. */
static void add_mean(struct arena *arena, struct sheet *sheet,
                     const struct decision *decision, uint32_t point, uint32_t i,
                     enum metric metric, struct summary_unit unit)
{
    const struct decide_option *o = &decision->point[point].option[i];
    const struct metric_info *info = metric_info(decision->grid->metrics, metric);
    struct stats_mean m = decide_mean(decision, point, i, metric);
    struct stats_delta d = decide_delta(decision, point, i, metric);
    char text[MEAN_TEXT_BYTES + SURVIVORS_BYTES] = "-";
    const char *class = "";

    if (o->policy != UINT32_MAX) {
        mean_text(text, m, unit,
                  *trust_text(arena, trust_jobs(decision->grid, point, o->policy), &m) == 0);
        survivors_text(survivors_of(decision->grid, point, o->policy, metric),
                       text + strlen(text));
    }
    sheet_cell(sheet, "%s", text);
    if (d.count == 0)
        return;
    if (d.low > 0 || d.high < 0)
        class = info->better * d.mean > 0 ? "better" : info->better == 0 ? "" : "worse";
    sheet_small(sheet, class, "%s", decide_delta_text(arena, info, &d));
}

/* Returns a risk as "3 of 20 [3%, 38%]"; where nothing is drawn it is "always"
 * or "never". */
static const char *risk_text(struct arena *arena, const struct decide_risk *r)
{
    if (r->seeds == 0)
        return "-";
    if (isnan(r->low))
        return r->bad > 0 ? "always" : "never";
    return text_format(arena, "%u of %u [%.0f%%, %.0f%%]", r->bad, r->seeds, 100 * r->low,
                       100 * r->high);
}

/* Returns the text with places behind dots where a browser may break a key. */
static const char *break_keys(struct arena *arena, const char *text)
{
    static const char space[] = "\u200b";      /* of no width */
    size_t dots = 0, used = 0;
    char *out;

    for (const char *p = text; *p != '\0'; p++)
        dots += *p == '.';
    out = arena_alloc(arena, strlen(text) + dots * (sizeof space - 1) + 1, 1);
    for (const char *p = text; *p != '\0'; p++) {
        out[used++] = *p;
        if (*p != '.')
            continue;
        memcpy(out + used, space, sizeof space - 1);
        used += sizeof space - 1;
    }
    return out;
}

/* Writes the name of an option, and below it the policy and its keys. */
static void add_name(struct arena *arena, struct sheet *sheet,
                     const struct experiment_choice *choice)
{
    const char *set = choice->set;
    size_t bytes = strlen(set);

    sheet_cell(sheet, "%s", choice->name);
    if (bytes > 2 && set[0] == '{')         /* without the braces of the map */
        set = text_format(arena, ": %.*s", (int)bytes - 2, set + 1);
    sheet_small(sheet, "", "%s%s", choice->policy, break_keys(arena, set));
}

/* Returns the largest mean of the options, for a unit that fits all of a column.
 * NAN of an option without values loses each comparison; 0: no option has one. */
static double largest_mean(const struct decision *decision,
                           uint32_t point, enum metric metric)
{
    double largest = 0;

    for (uint32_t i = 0; i < decision->spec->choice_count; i++) {
        double mean = decide_mean(decision, point, i, metric).mean;

        largest = mean > largest ? mean : largest;
    }
    return largest;
}

/* The titles; a metric that decides or is a condition says so. */
static struct sheet *open_sheet(struct arena *arena, const struct decision *decision,
                                const enum metric *shown, uint32_t count, bool page)
{
    const struct experiment_decide *spec = decision->spec;
    const struct metric_set *set = decision->grid->metrics;
    int better = metric_info(set, spec->metric)->better;
    struct sheet *sheet = sheet_new("option:0\tverdict:0");

    sheet_gap(sheet, 2);
    for (uint32_t m = 0; m < count; m++) {
        const struct metric_info *info = metric_info(set, shown[m]);

        sheet_column(sheet, text_format(arena, "%s%s", decide_title(info),
                                        strcmp(info->unit, "USD") == 0 ? ", USD" : ""), 1);
        if (m == 0 && !page)
            sheet_column(sheet, text_format(arena, "against %s", spec->choice[0].name), 1);
    }
    sheet_column(sheet, "risk", 1);
    sheet_column(sheet, text_format(arena, "%.10g%% of seeds at %s", 100 * spec->quantile,
                                    better < 0 ? "most" : "least"), 1);
    if (!page)
        sheet_column(sheet, "worst seed", 1);
    return sheet;
}

/* Adds the row of an option.  A page has no columns for the difference that decides and
 * for the worst seed: they stand small below other cells. */
static void add_option(struct arena *arena, struct sheet *sheet,
                       const struct decision *decision, uint32_t point, uint32_t i,
                       const enum metric *shown, uint32_t count, bool page)
{
    const struct decide_option *o = &decision->point[point].option[i];
    const struct metric_info *info =
        metric_info(decision->grid->metrics, decision->spec->metric);
    struct summary_unit unit = { "", 1 }, first = unit;
    char text[MEAN_TEXT_BYTES];

    add_name(arena, sheet, &decision->spec->choice[i]);
    sheet_cell(sheet, "%s", decide_verdict_name(o->verdict));
    sheet_class(sheet, o->verdict == DECIDE_TAKE ? "best" : "");
    for (uint32_t m = 0; m < count; m++) {
        unit = summary_unit(metric_info(decision->grid->metrics, shown[m]),
                         largest_mean(decision, point, shown[m]));
        add_mean(arena, sheet, decision, point, i, shown[m], unit);
        if (m > 0)
            continue;
        first = unit;
        if (!page)
            sheet_cell(sheet, "%s", decide_delta_text(arena, info, &o->delta));
    }
    sheet_cell(sheet, "%s", risk_text(arena, &o->risk));
    value_text(text, o->tail, first);
    sheet_cell(sheet, "%s", text);
    value_text(text, o->worst, first);
    if (page)
        sheet_small(sheet, "", "worst %s", text);
    else
        sheet_cell(sheet, "%s", text);
}

/* Options that were not run have no row. */
struct sheet *decide_sheet(struct arena *arena, const struct decision *decision,
                           uint32_t point, bool page)
{
    uint32_t count;
    const enum metric *shown = decide_shown(arena, decision, &count);
    struct sheet *sheet = open_sheet(arena, decision, shown, count, page);

    for (uint32_t i = 0; i < decision->spec->choice_count; i++)
        if (decision->point[point].option[i].policy != UINT32_MAX)
            add_option(arena, sheet, decision, point, i, shown, count, page);
    return sheet;
}

/* ---- the whole ---- */

/* It says how to read the columns, with the figures of this decision. */
const char *decide_legend(struct arena *arena, const struct decision *decision)
{
    const struct experiment_decide *spec = decision->spec;
    const struct grid *grid = decision->grid;
    const struct metric_info *info = metric_info(grid->metrics, spec->metric);
    bool few = grid->seed_count * (1 - spec->quantile) < 1;

    return text_format(
        arena, "Risk: the seeds in which an option %shas a worse %s than %s, and the 95%% "
        "interval of their share. %.10g%% of seeds at %s: that share of the seeds has this "
        "value or a better one%s. "
        "[low, high]: 95%% intervals, differences paired by seed; level: the interval of the "
        "difference to the best contains 0, or its p-value, corrected for all pairs, is 5%% "
        "or more.",
        spec->keep_count > 0 ? "breaks a condition or " : "", decide_title(info),
        spec->choice[0].name, 100 * spec->quantile, info->better < 0 ? "most" : "least",
        few ? "; of these few seeds it is the worst one" : "");
}

/* Breaks a text into lines that a terminal holds. */
static void print_wrapped(FILE *file, const char *text)
{
    size_t column = 0;

    for (const char *at = text; *at != '\0';) {
        size_t bytes = strcspn(at, " ");

        if (column > 0 && column + 1 + bytes > 96) {
            fputc('\n', file);
            column = 0;
        }
        fprintf(file, "%s%.*s", column > 0 ? " " : "", (int)bytes, at);
        column += bytes + (column > 0);
        at += bytes;
        at += strspn(at, " ");
    }
    fputc('\n', file);
}

/* Each point has its sentence, then its table. */
void decide_print(FILE *file, const struct decision *decision, bool bold)
{
    struct arena *arena = arena_new(1 << 14);
    uint32_t points = decision->grid->point_count;

    fputs("options\n", file);
    for (uint32_t t = 0; t < points; t++) {
        struct sheet *sheet = decide_sheet(arena, decision, t, false);

        if (points > 1)
            fprintf(file, "%s%s\n", t > 0 ? "\n" : "", decision->point[t].label);
        print_wrapped(file, decision->point[t].sentence);
        sheet_print(sheet, file, bold);
        sheet_free(sheet);
    }
    print_wrapped(file, decide_legend(arena, decision));
    arena_free(arena);
}

void decide_markdown(struct out *out, const struct decision *decision)
{
    struct arena *arena = arena_new(1 << 14);
    uint32_t points = decision->grid->point_count;

    out_text(out, "### Options\n");
    for (uint32_t t = 0; t < points; t++) {
        struct sheet *sheet = decide_sheet(arena, decision, t, false);

        if (points > 1)
            out_printf(out, "\n**%s**\n", decision->point[t].label);
        out_printf(out, "\n%s\n\n", decision->point[t].sentence);
        sheet_markdown(sheet, out);
        sheet_free(sheet);
    }
    out_printf(out, "\n%s\n", decide_legend(arena, decision));
    arena_free(arena);
}
