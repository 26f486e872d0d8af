/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report_answer.c - the answer in words: of each claim how many of its checks
 * hold, then its figures.  Without expectations: each policy against the
 * baseline.
 *
 * Every sentence is put together from checks.csv or summary.csv.  Before them, where an
 * experiment has options: which to take, and the options side by side.
 */
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "experiments/columns/metric.h"
#include "experiments/decide/decide.h"
#include "experiments/report/check_rows.h"
#include "experiments/report/report_html.h"
#include "experiments/report/report_parts.h"
#include "experiments/results/compare.h"
#include "experiments/results/grid.h"
#include "sim/stats/stats.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"
#include "sim/text/sheet.h"

#define FIGURES_SHOWN 4         /* of one question; above, the least and most */

/* Returns what charts call a metric, or its name if they do not show it. */
static const char *find_title(const struct report *r, const char *name)
{
    const struct metric_set *set = r->source.grid->metrics;
    enum metric metric = metric_find(set, name);

    return metric == metric_count(set) || metric_info(set, metric)->title == NULL
               ? name : metric_info(set, metric)->title;
}

/* ---- of expectations ---- */

/* Are two verdicts of one claim? */
static bool same_claim(const struct check_row *a, const struct check_row *b)
{
    return strcmp(a->claim, b->claim) == 0;
}

/* Do both ask one question, but for the point and the limits? */
static bool same_question(const struct check_row *a, const struct check_row *b)
{
    return same_claim(a, b) && strcmp(a->metric, b->metric) == 0 &&
           strcmp(a->policy, b->policy) == 0 &&
           strcmp(a->versus, b->versus) == 0 &&
           strcmp(a->versus_point, b->versus_point) == 0;
}

/* same_claim() or same_question(). */
typedef bool same_rows(const struct check_row *a, const struct check_row *b);

/* Is no row before the i-th like it? */
static bool is_first(const struct check_rows *rows, size_t i, same_rows *same)
{
    for (size_t k = 0; k < i; k++)
        if (same(&rows->row[k], &rows->row[i]))
            return false;
    return true;
}

/* The checks of a claim, by their verdict. */
struct tally_of_checks {
    unsigned all, held, failed, open;
    unsigned left;              /* not judged, or of a trial that failed */
};

/* Counts the verdicts of a claim: held, failed, undecided, and those that are none. */
static struct tally_of_checks count_checks(const struct check_rows *rows,
                                           const struct check_row *claim)
{
    struct tally_of_checks n = { 0, 0, 0, 0, 0 };

    for (size_t i = 0; i < rows->count; i++) {
        if (!same_claim(&rows->row[i], claim))
            continue;
        n.all++;
        if (strcmp(rows->row[i].verdict, "holds") == 0)
            n.held++;
        else if (strcmp(rows->row[i].verdict, "does not hold") == 0)
            n.failed++;
        else if (strcmp(rows->row[i].verdict, "undecided") == 0)
            n.open++;
        else
            n.left++;
    }
    return n;
}

/* Writes "A3 holds in part: 5 of 9 checks hold; 2 do not; 2 are undecided."
 * for a claim. */
static void write_headline(const struct report *r, const struct check_row *claim)
{
    struct tally_of_checks n = count_checks(&r->checks, claim);
    const char *verdict =
        n.held == n.all ? "holds"
        : n.held > 0 ? "holds in part"
        : n.failed > 0 ? "does not hold" : "is not decided";

    out_text(r->out, "<p class=\"answer\">");
    out_html_text(r->out, *claim->claim ? claim->claim : "What is expected");
    out_printf(r->out, " %s", verdict);
    if (n.all > 1)
        out_printf(r->out, ": %u of %u checks %s", n.held, n.all,
                   n.held == 1 ? "holds" : "hold");
    if (n.all > 1 && n.failed > 0)
        out_printf(r->out, "; %u %s not", n.failed,
                   n.failed == 1 ? "does" : "do");
    if (n.all > 1 && n.open > 0)
        out_printf(r->out, "; %u %s undecided", n.open,
                   n.open == 1 ? "is" : "are");
    if (n.all > 1 && n.left > 0)
        out_printf(r->out, "; %u could not be judged", n.left);
    out_text(r->out, ".</p>\n");
}

/* Returns the number of a point; UINT32_MAX: it is not in the summary. */
static uint32_t find_point(const struct report *r, const char *label)
{
    return grid_point(r->source.grid, label);
}

/* Writes a number as a link to the seeds that it was made of. */
static void write_link(const struct report *r, uint32_t point, const char *text)
{
    if (point == UINT32_MAX)
        out_html_text(r->out, text);
    else {
        out_printf(r->out, "<a href=\"#seeds-%u\">", point);
        out_html_text(r->out, text);
        out_text(r->out, "</a>");
    }
}

/* Returns "+1.2%": a difference in percent shows its sign, any other value does
 * not. */
static const char *signed_text(const struct report *r,
                               const struct check_row *row, double value)
{
    const char *text = check_row_number(&r->source, row, value);

    return row->percent && value > 0 ? text_format(r->arena, "+%s", text)
                                     : text;
}

/* Says why a check is undecided. */
static void write_reason(const struct report *r, const struct check_row *row)
{
    if (strcmp(row->verdict, "undecided") != 0)
        return;
    if (check_row_has_interval(row))
        out_text(r->out, ": the interval lies on both sides of what is expected");
    else if (*row->reason) {
        out_text(r->out, ": ");
        out_html_text(r->out, row->reason);
    }
}

/* Writes "-2.8% [-11.2%, -0.6%] at arrival.rate=2/h (undecided: why)" for a
 * row. */
static void write_figure(const struct report *r, const struct check_row *row)
{
    if (check_row_is_lost(row) || isnan(row->value))
        out_text(r->out, "not compared");
    else
        write_link(r, find_point(r, row->point), signed_text(r, row, row->value));
    if (check_row_has_interval(row))
        out_printf(r->out, " [%s, %s]",
                   isnan(row->low) ? "no end" : signed_text(r, row, row->low),
                   isnan(row->high) ? "no end" : signed_text(r, row, row->high));
    if (r->source.grid->point_count > 1) {
        out_text(r->out, " at ");
        out_html_text(r->out, row->point);
    }
    out_printf(r->out, " (%s", row->verdict);
    write_reason(r, row);
    out_text(r->out, ")");
}

/* Returns the row of a question with the largest sign * value; NULL: none is known. */
static const struct check_row *next_by_value(const struct check_rows *rows,
                                             const struct check_row *question,
                                             double sign)
{
    const struct check_row *best = NULL;

    for (size_t i = 0; i < rows->count; i++) {
        const struct check_row *row = &rows->row[i];

        if (same_question(row, question) && !check_row_is_lost(row) &&
            isfinite(row->value) &&
            (best == NULL || sign * row->value > sign * best->value))
            best = row;
    }
    return best;
}

/* Returns at how many points a question is asked. */
static size_t count_rows(const struct check_rows *rows,
                         const struct check_row *question)
{
    size_t count = 0;

    for (size_t i = 0; i < rows->count; i++)
        count += same_question(&rows->row[i], question);
    return count;
}

/* Writes the least and the most figure of a question that is asked at many
 * points. */
static void write_range(const struct report *r, const struct check_row *question,
                        size_t count)
{
    const struct check_row *least = next_by_value(&r->checks, question, -1),
                           *most = next_by_value(&r->checks, question, 1);

    out_printf(r->out, "%zu checks", count);
    if (least == NULL)
        return;
    out_text(r->out, ", from ");
    write_figure(r, least);
    out_text(r->out, " to ");
    write_figure(r, most);
}

/* Writes the figures of a question, point by point. */
static void write_rows(const struct report *r, const struct check_row *question)
{
    const char *before = "";

    for (size_t i = 0; i < r->checks.count; i++)
        if (same_question(&r->checks.row[i], question)) {
            out_text(r->out, before);
            write_figure(r, &r->checks.row[i]);
            before = "; ";
        }
}

/* Returns the limits, if all rows of the question have the same. */
static const char *common_limits(const struct report *r,
                                 const struct check_row *question)
{
    const char *limits = check_row_limits(&r->source, question);

    for (size_t i = 0; i < r->checks.count; i++)
        if (same_question(&r->checks.row[i], question) &&
            strcmp(check_row_limits(&r->source, &r->checks.row[i]), limits) != 0)
            return "see the table";
    return limits;
}

/* Writes an item of the list: metric, policy, what it is compared with, figures
 * and limits. */
static void write_question(const struct report *r,
                           const struct check_row *question)
{
    size_t count = count_rows(&r->checks, question);
    const char *versus = *question->versus ? question->versus
                                           : question->versus_point;

    out_text(r->out, "<li>");
    html_element(r->out, "strong", text_format(r->arena, "%s, %s",
        find_title(r, question->metric), question->policy));
    if (*versus) {
        out_text(r->out, " against ");
        html_element(r->out, "strong", versus);
    }
    out_text(r->out, ": ");
    if (count > FIGURES_SHOWN)
        write_range(r, question, count);
    else
        write_rows(r, question);
    out_text(r->out, ". Expected: ");
    out_html_text(r->out, common_limits(r, question));
    out_text(r->out, ".</li>\n");
}

/* Claims in the order of checks.csv, and their questions below them. */
static void write_claims(const struct report *r)
{
    const struct check_rows *rows = &r->checks;

    for (size_t i = 0; i < rows->count; i++) {
        if (!is_first(rows, i, same_claim))
            continue;
        write_headline(r, &rows->row[i]);
        out_text(r->out, "<ul>\n");
        for (size_t k = i; k < rows->count; k++)
            if (same_claim(&rows->row[k], &rows->row[i]) &&
                is_first(rows, k, same_question))
                write_question(r, &rows->row[k]);
        out_text(r->out, "</ul>\n");
    }
}

/* ---- without them ---- */

/* Returns the difference of a policy to the baseline at a point. */
static struct stats_delta compare_with_baseline(const struct report *r,
                                                uint32_t point, uint32_t policy,
                                                enum metric metric)
{
    return compare_pair(r->source.grid, point, policy,
                        r->source.baseline, metric);
}

/* Writes "-34.0% [-40.1%, -28.0%] at base"; false: there is nothing to compare,
 * and nothing was written. */
static bool write_delta(const struct report *r, uint32_t point, uint32_t policy,
                        enum metric metric, const char *before)
{
    struct stats_delta d = compare_with_baseline(r, point, policy, metric);

    if (!isfinite(d.percent))
        return false;
    out_text(r->out, before);
    write_link(r, point, text_format(r->arena, "%+.1f%%", d.percent));
    if (isfinite(d.percent_low) && isfinite(d.percent_high))
        out_printf(r->out, " [%+.1f%%, %+.1f%%]", d.percent_low,
                   d.percent_high);
    else if (isinf(d.percent_low) || isinf(d.percent_high))
        out_text(r->out, " (its interval has no end)");
    if (r->source.grid->point_count > 1) {
        out_text(r->out, " at ");
        out_html_text(r->out, r->source.grid->point[point]);
    }
    return true;
}

/* Can the policy be compared with the baseline at some point? */
static bool is_compared(const struct report *r, uint32_t policy,
                        enum metric metric)
{
    for (uint32_t t = 0; t < r->source.grid->point_count; t++)
        if (isfinite(compare_with_baseline(r, t, policy, metric).percent))
            return true;
    return false;
}

/* Writes a policy's differences to the baseline, at FIGURES_SHOWN points.  False: there is
 * none. */
static bool put_policy(const struct report *r, uint32_t policy,
                       enum metric metric)
{
    const struct grid *grid = r->source.grid;
    uint32_t shown = 0;

    if (policy == r->source.baseline || !is_compared(r, policy, metric))
        return false;
    out_text(r->out, "<li>");
    html_element(r->out, "strong", grid->policy[policy]);
    out_text(r->out, ": ");
    for (uint32_t t = 0; t < grid->point_count && shown < FIGURES_SHOWN; t++)
        shown += write_delta(r, t, policy, metric, shown > 0 ? "; " : "");
    out_text(r->out, grid->point_count > FIGURES_SHOWN
                         ? "; more points below.</li>\n" : ".</li>\n");
    return true;
}

/* Writes the answer where nothing was expected: each policy against the baseline,
 * by time and by cost. */
static void put_baseline(const struct report *r)
{
    static const enum metric metrics[] = { METRIC_JCT_MEAN,
                                           METRIC_COST_PER_JOB };
    const struct grid *grid = r->source.grid;

    for (size_t m = 0; m < COUNT_OF(metrics); m++) {
        out_text(r->out, "<p class=\"answer\">");
        out_html_text(r->out, text_format(
            r->arena, "%s against %s", metric_info(grid->metrics, metrics[m])->title,
            grid->policy[r->source.baseline]));
        out_text(r->out, "</p>\n<ul>\n");
        bool any = false;
        for (uint32_t p = 0; p < grid->policy_count; p++)
            any = put_policy(r, p, metrics[m]) || any;
        out_text(r->out, any ? "</ul>\n" : "<li>Not compared: it is 0, has no value, or is not "
                                           "over all jobs.</li>\n</ul>\n");
    }
}

/* Four cases: expectations; a baseline; several policies without a baseline;
 * one policy. */
void report_answer(const struct report *r)
{
    if (r->checks.count > 0)
        write_claims(r);
    else if (r->source.baseline != UINT32_MAX &&
             r->source.grid->policy_count > 1)
        put_baseline(r);
    else if (r->source.grid->policy_count > 1)
        out_text(r->out, "<p class=\"none\">Nothing is compared with a baseline: there is no "
                 "compare.csv, which names it, and nothing is expected. The policies stand side "
                 "by side below.</p>\n");
    else
        out_text(r->out, "<p class=\"none\">Nothing is compared: the "
                 "experiment has one policy and expects nothing.</p>\n");
}

/* ---- options ---- */

/* Writes what to do in bold, and the rest of the sentence below it. */
static void put_sentence(const struct report *r, const struct decide_point *at)
{
    out_text(r->out, "<p class=\"answer\">");
    out_html_text(r->out, text_format(r->arena, "%.*s", (int)at->headline, at->sentence));
    out_text(r->out, "</p>\n");
    if (at->sentence[at->headline] != '\0')
        html_element(r->out, "p", at->sentence + at->headline);
}

void report_options(const struct report *r)
{
    const struct grid *grid = r->source.grid;

    for (uint32_t t = 0; t < grid->point_count; t++) {
        struct sheet *sheet = decide_sheet(r->arena, r->decision, t, true);

        if (grid->point_count > 1)
            html_element(r->out, "h3", grid->point[t]);
        put_sentence(r, &r->decision->point[t]);
        sheet_html(sheet, 1, r->out);
        sheet_free(sheet);
    }
    out_text(r->out, "<p class=\"pale\">");
    out_html_text(r->out, decide_legend(r->arena, r->decision));
    out_text(r->out, "</p>\n");
}
