/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * table.c - a sheet of means, and the sentences that explain its marks.
 *
 * A column has one unit for all points.  A caption tells only of marks that occur.
 */
#include "experiments/paper/table.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "experiments/columns/metric.h"
#include "experiments/report/plot_data.h"
#include "experiments/results/grid.h"
#include "experiments/results/summary_table.h"
#include "experiments/results/survivors.h"
#include "experiments/spec/point_label.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"
#include "sim/text/sheet.h"

#define METRICS_MOST 64
/* A column of a page has room for the names and this many metrics. */
#define NARROW_METRICS 3
/* Intervals below are written with an exponent. */
#define DECIMALS_MOST 6

struct column {
    enum metric metric;
    struct summary_column *at;      /* by point */
    struct summary_unit unit;   /* one for all points */
};

/* A table that is being made.  The flags say which marks occur, so that the caption tells of
 * these alone. */
struct making {
    struct arena *arena;
    const struct table_wish *wish; /* what the caller asked for */
    struct plot_source source;
    struct summary_column *jobs;    /* jobs done, by point */
    struct column column[METRICS_MOST];
    size_t columns;             /* of `column` */
    bool intervals, marks, strong, bold, doubts, lost, few;   /* occur */
};

const char *table_form_name(enum table_form form)
{
    static const char *const name[TABLE_FORMS] = { "text", "latex", "markdown", "csv" };

    assert((unsigned)form < TABLE_FORMS);
    return name[form];
}

/* Sets the error of a metric that the experiment does not have, with the nearest
 * name.  Returns false. */
static bool refuse_metric(const struct making *m, const char *name, struct err *err)
{
    const struct metric_set *set = m->source.grid->metrics;
    struct err_pos nowhere = { NULL, 0, 0 };
    const char *names[METRIC_ROOM + 1], *near;
    unsigned n = metric_count(set);

    for (unsigned i = 0; i < n; i++)
        names[i] = metric_info(set, (enum metric)i)->name;
    names[n] = NULL;
    near = conf_nearest(name, names);
    err_set(err, ERR_USAGE, nowhere, "--metrics: there is no metric '%.60s'", name);
    if (near != NULL)
        err_hint(err, "Did you mean %s?", near);
    else
        err_hint(err, "`clustersim list metrics` lists them.");
    return false;
}

/* Reads the names of the wish, or takes the metrics of the first point's table. */
static bool choose_metrics(struct making *m, struct err *err)
{
    const struct grid *grid = m->source.grid;
    struct err_pos nowhere = { NULL, 0, 0 };
    enum metric known[SUMMARY_METRICS_MOST];
    char *name = m->wish->metrics == NULL ? NULL
               : arena_text(m->arena, m->wish->metrics), *end;

    if (name == NULL) {
        m->columns = summary_metrics(grid, 0, known);
        for (size_t c = 0; c < m->columns; c++)
            m->column[c].metric = known[c];
        return true;
    }
    for (bool more = true; more; name = end + 1) {
        enum metric metric;

        end = name + strcspn(name, ",");
        more = *end == ',';
        *end = '\0';
        metric = metric_find(grid->metrics, name);
        if (metric == metric_count(grid->metrics))
            return refuse_metric(m, name, err);
        if (m->columns == METRICS_MOST)
            return err_set(err, ERR_USAGE, nowhere, "--metrics names more than %d",
                           METRICS_MOST);
        m->column[m->columns++].metric = metric;
    }
    return true;
}

/* Computes all cells, and for each column the unit that suits its largest value. */
static void fill_columns(struct making *m)
{
    const struct grid *grid = m->source.grid;
    uint32_t points = grid->point_count;

    m->jobs = arena_alloc(m->arena, points, sizeof *m->jobs);
    for (uint32_t t = 0; t < points; t++)
        summary_fill(m->arena, grid, t, METRIC_JOBS_DONE, &m->jobs[t], &m->jobs[t]);
    for (size_t c = 0; c < m->columns; c++) {
        struct column *column = &m->column[c];
        double largest = 0;

        column->at = arena_alloc(m->arena, points, sizeof *column->at);
        for (uint32_t t = 0; t < points; t++) {
            summary_fill(m->arena, grid, t, column->metric, &m->jobs[t], &column->at[t]);
            largest = fmax(largest, column->at[t].largest);
        }
        column->unit = summary_unit(metric_info(grid->metrics, column->metric), largest);
    }
}

/* A name says its unit at its end, "jct_p99_s", which may not be that of the cells.  For
 * example, jct_p99_s becomes jct_p99. */
static const char *name_of(const struct making *m, const struct metric_info *info)
{
    size_t bytes = strlen(info->name), tail = strlen(info->unit) + 1;
    bool told = tail > 1 && bytes > tail && info->name[bytes - tail] == '_' &&
                strcmp(info->name + bytes - tail + 1, info->unit) == 0;

    return text_format(m->arena, "%.*s", (int)(told ? bytes - tail : bytes), info->name);
}

/* "JCT, mean (h)": the unit is that of the cells. */
static const char *title_of(const struct making *m, const struct column *column)
{
    const struct metric_info *info = metric_info(m->source.grid->metrics, column->metric);
    const char *name = info->title == NULL ? name_of(m, info) : info->title;
    const char *unit = column->unit.name + (column->unit.name[0] == ' ');

    if (unit[0] == '\0')
        unit = info->unit;
    if (strcmp(unit, "count") == 0 || strcmp(unit, "1") == 0)
        return name;
    return text_format(m->arena, "%s (%s)", name, unit);
}

/* Holm's p-value of the difference to the baseline; NAN: none is known.  NAN for the baseline
 * itself, and where there is none. */
static double p_value_of(const struct making *m, uint32_t point, uint32_t policy,
                         enum metric metric)
{
    const struct plot_source *source = &m->source;

    if (source->delta == NULL || source->baseline == UINT32_MAX ||
        policy == source->baseline)
        return NAN;
    return plot_delta_of(source, point, policy, metric)->p_holm;
}

/* A small value is written as 1.2e-08, and not as a 0. */
static void put_number(char *out, double value, int digits)
{
    if (value != 0 && fabs(value) < 1e-3)
        snprintf(out, SUMMARY_NUMBER_BYTES, "%.*g", digits, value);
    else
        summary_number(out, value, digits);
}

/* Writes a mean and the half of its interval: two digits of the half, or all that stand
 * before its point, and of the mean as many decimals.  half: NAN where there is none, then
 * `out_half` is "".  For example, 109.37 and 12.4 become "109" and "12"; 0.01234 and 0.00056
 * become "0.01234" and "0.00056". */
static void format_pair(double mean, double half, char *out_mean, char *out_half)
{
    int digits = half > 0 ? 1 - (int)floor(log10(half)) : 0;

    out_half[0] = '\0';
    if (!isfinite(half) || !(half > 0) || digits > DECIMALS_MOST || fabs(mean) >= 1e12) {
        put_number(out_mean, mean, 4);
        if (isfinite(half))
            put_number(out_half, half, 2);
        return;
    }
    digits = digits < 0 ? 0 : digits;
    snprintf(out_mean, SUMMARY_NUMBER_BYTES, "%.*f", digits, mean);
    snprintf(out_half, SUMMARY_NUMBER_BYTES, "%.*f", digits, half);
}

/* "109 ± 12†", and what is noted for the caption.  Plain text has no bold: its best mean has
 * a star, as at the end of a run. */
static void add_value(struct making *m, struct sheet *sheet, const struct column *column,
                      uint32_t point, uint32_t policy)
{
    const struct summary_column *at = &column->at[point];
    struct stats_mean mean = at->mean[policy];
    double p = p_value_of(m, point, policy, column->metric);
    const struct grid *grid = m->source.grid;
    char value[SUMMARY_NUMBER_BYTES], half[SUMMARY_NUMBER_BYTES];
    char lost[SURVIVORS_BYTES], few[SURVIVORS_BYTES];
    bool interval = isfinite(mean.low) && mean.count > 0;
    bool doubt = interval && mean.high > mean.low && !at->trusted[policy];
    bool starred = at->best[policy] && m->wish->form == TABLE_TEXT;

    if (mean.count == 0) {
        sheet_cell(sheet, "-");
        return;
    }
    survivors_text(survivors_of(grid, point, policy, column->metric), lost);
    survivors_seeds_text(survivors_seeds(grid, point, policy, column->metric), few);
    format_pair(mean.mean / column->unit.size,
                interval ? summary_half(mean) / column->unit.size : NAN, value, half);
    sheet_cell(sheet, "%s%s%s%s%s%s%s%s", starred ? "*" : "", value, interval ? " \u00b1 " : "",
               interval ? half : "", doubt ? "?" : "",
               p < 0.01 ? "\u2021" : p < 0.05 ? "\u2020" : "", lost, few);
    if (at->best[policy])
        sheet_class(sheet, "best");
    m->intervals = m->intervals || interval;
    m->marks = m->marks || p < 0.05;
    m->strong = m->strong || p < 0.01;
    m->bold = m->bold || at->best[policy];
    m->doubts = m->doubts || doubt;
    m->lost = m->lost || lost[0] != '\0';
    m->few = m->few || few[0] != '\0';
}

/* Returns a row for each point and policy, for the caller to free.  The point stands in
 * its first row alone, but in CSV in all. */
static struct sheet *make_sheet(struct making *m)
{
    const struct grid *grid = m->source.grid;
    bool points = grid->point_count > 1;
    struct sheet *sheet = sheet_new(NULL);

    sheet_gap(sheet, 2);
    if (points)
        sheet_column(sheet, "point", 0);
    sheet_column(sheet, "policy", 0);
    for (size_t c = 0; c < m->columns; c++)
        sheet_column(sheet, title_of(m, &m->column[c]), 1);
    for (uint32_t t = 0; t < grid->point_count; t++)
        for (uint32_t p = 0; p < grid->policy_count; p++) {
            bool told = p > 0 && m->wish->form != TABLE_CSV;

            if (points)
                sheet_cell(sheet, "%s", told ? ""
                           : point_label_words(m->arena, grid->point[t]));
            sheet_cell(sheet, "%s", grid->policy[p]);
            for (size_t c = 0; c < m->columns; c++)
                add_value(m, sheet, &m->column[c], t, p);
        }
    return sheet;
}

/* Sentences on seeds, intervals and marks. */
static const char *caption_of(const struct making *m)
{
    const struct grid *grid = m->source.grid;
    const char *base = m->source.baseline == UINT32_MAX ? ""
                     : grid->policy[m->source.baseline];
    char seeds[SURVIVORS_BYTES];

    survivors_run_text(grid, 0, grid->point_count, seeds);
    const char *text = text_format(m->arena, "%s: means over %s seed%s", m->source.experiment,
                                   seeds, grid->seed_count == 1 ? "" : "s");

    text = text_format(m->arena, "%s%s.%s", text, m->intervals
                       ? " \u00b1 the longer side of the 95% interval" : "",
                       m->bold ? text_format(m->arena, " %s: the best mean of a column, among "
                                             "those that did the most jobs.",
                                             m->wish->form == TABLE_TEXT ? "*" : "Bold") : "");
    if (m->marks)
        text = text_format(m->arena, "%s \u2020: it differs from the baseline %s, p < 0.05%s; "
                           "paired by seed, and corrected by Holm for all comparisons of "
                           "a metric.", text, base, m->strong ? ", \u2021: p < 0.01" : "");
    else if (base[0] != '\0' && m->intervals)
        text = text_format(m->arena, "%s None differs from the baseline %s at p < 0.05, "
                           "paired by seed and corrected by Holm.", text, base);
    if (m->doubts)
        text = text_format(m->arena, "%s ?: few jobs or seeds decide the mean, or equal "
                           "seeds do not show what is rare, and its interval cannot be "
                           "trusted.", text);
    if (m->lost)
        text = text_format(m->arena, "%s (n of m): a mean over the jobs that were done.",
                           text);
    if (m->few)
        text = text_format(m->arena, "%s (n of m seeds): other trials failed, or have no such "
                           "value.", text);
    return text;
}

/* Writes a float; a table of more than NARROW_METRICS metrics takes both columns of a
 * page.  The label has no character that means something to TeX. */
static void write_latex(const struct making *m, const struct sheet *sheet, struct out *out)
{
    const char *kind = m->columns > NARROW_METRICS ? "table*" : "table";

    out_printf(out, "%% Needs \\usepackage{booktabs}.\n\\begin{%s}[t]\n\\centering\n"
               "\\caption{", kind);
    out_latex_text(out, caption_of(m));
    out_text(out, "}\n\\label{tab:");
    for (const char *c = m->source.experiment; *c != '\0'; c++)
        out_bytes(out, strchr("\\{}%#~^&$ _", *c) == NULL ? c : "-", 1);
    out_text(out, "}\n\\footnotesize\\setlength{\\tabcolsep}{4pt}\n");
    sheet_latex(sheet, out);
    out_printf(out, "\\end{%s}\n", kind);
}

bool table_print(struct arena *arena, const struct table_wish *wish, FILE *file,
                 struct err *err)
{
    struct making m = { .arena = arena, .wish = wish };
    struct sheet *sheet;
    struct out *out;

    if (!plot_source_read(arena, wish->dir, NULL, &m.source, err) || !choose_metrics(&m, err))
        return false;
    fill_columns(&m);
    sheet = make_sheet(&m);
    if (wish->form == TABLE_TEXT)
        sheet_print(sheet, file, false);
    out = out_stream(arena, "the answer", file);
    if (wish->form == TABLE_LATEX)
        write_latex(&m, sheet, out);
    else if (wish->form == TABLE_CSV)
        sheet_csv(sheet, out);
    else if (wish->form == TABLE_MARKDOWN)
        sheet_markdown(sheet, out);
    if (wish->form == TABLE_TEXT || wish->form == TABLE_MARKDOWN)
        out_printf(out, "\n%s\n", caption_of(&m));
    sheet_free(sheet);
    return out_close(out, err);
}
