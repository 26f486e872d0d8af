/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plot.c - each figure as NAME.gp, NAME.dat and a picture in DIR/plots.
 *
 * NAME.gp is a head that sets what the figure is about, then the template of
 * plots/ as it stands; style.gp lies beside it.  A figure without data is
 * left out, and DIR/plots/skipped.txt says why.
 *
 * The steps: what is wanted (list.txt), style.gp, then for each figure its head and its data,
 * skipped.txt, and at last gnuplot for each figure that has data.  To add a figure see
 * plots/README.md.
 */
#include "experiments/report/plot.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "experiments/columns/figures.h"
#include "experiments/columns/metric.h"
#include "experiments/report/plot_data.h"
#include "experiments/report/plot_gnuplot.h"
#include "experiments/results/grid.h"
#include "experiments/results/survivors.h"
#include "experiments/run/trial.h"
#include "experiments/spec/point_label.h"
#include "plots/plot_file.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/folder.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"
#include "sim/text/scan.h"

/* What fits beside a bar, under an axis, above a panel. */
#define POLICY_CHARACTERS 36
#define POINT_CHARACTERS 40
#define TITLE_CHARACTERS 60

/* All figures, in the order of figures.def.  with: a figure that brings this
 * one. */
static const struct figure {
    const char *name;
    const char *with;       /* or NULL */
    plot_maker *make;
} figure[] = {
#define FIGURE(NAME, WITH, QUESTION) { #NAME, WITH, plot_make_##NAME },
#include "experiments/columns/figures.def"
#undef FIGURE
};

#define FIGURES (sizeof figure / sizeof figure[0])

/* One drawing of a folder. */
struct drawing {
    struct plot_source source;
    struct arena *arena;
    struct folder *dir;         /* plots/ */
    const char *format;
    const struct paper *paper;  /* NULL: charts of the report */
    bool wanted[FIGURES];
    const char *skip[FIGURES];
};

/* Marks a figure as wanted, and those that it brings with it (figures.def). */
static void want_figure(struct drawing *d, const char *name)
{
    for (unsigned f = 0; f < FIGURES; f++)
        if (strcmp(figure[f].name, name) == 0 ||
            (figure[f].with != NULL && strcmp(figure[f].with, name) == 0))
            d->wanted[f] = true;
}

/* Reads which figures are wanted, a name a line.  Without the list every figure
 * is. */
static bool read_list(struct drawing *d, struct err *err)
{
    const char *path = folder_join(d->arena, d->dir, CHART_LIST);
    enum scan_step step;
    struct scan *scan;
    size_t bytes;
    char *line;

    if (!folder_holds_file(d->dir, CHART_LIST)) {
        for (unsigned f = 0; f < FIGURES; f++)
            d->wanted[f] = true;
        return true;
    }
    scan = scan_open(path, err);
    if (scan == NULL)
        return false;
    while ((step = scan_line(scan, &line, &bytes, err)) == SCAN_LINE)
        want_figure(d, line);
    scan_close(scan);
    return step == SCAN_END;
}

/* Returns a template that the build holds; there is one for each figure. */
static const struct plot_file *find_template(const char *name)
{
    for (unsigned i = 0; i < plot_file_count; i++)
        if (strcmp(plot_file[i].name, name) == 0)
            return &plot_file[i];
    assert(!"a template of plots/ is missing");
    return NULL;
}

/* Puts the style that all charts share beside them, so that a chart can be drawn
 * again by hand. */
static bool copy_style(struct drawing *d, struct err *err)
{
    const struct plot_file *style = find_template("style.gp");
    struct out *out = out_in(d->arena, d->dir, style->name, err);

    if (out == NULL)
        return false;
    out_bytes(out, style->text, style->bytes);
    return out_close_fast(out, err);
}

/* Writes the points in words; their values alone where all have the same keys,
 * which then are point_key (else ''). */
static void write_points(const struct drawing *d, struct out *out)
{
    const struct grid *grid = d->source.grid;
    const char **title = arena_alloc(d->arena, grid->point_count + 1,
                                     sizeof *title);
    const char **value = arena_alloc(d->arena, grid->point_count + 1,
                                     sizeof *value);
    const char *key = NULL, *other;
    bool alike = true;

    for (uint32_t t = 0; t < grid->point_count; t++) {
        title[t] = point_label_words(d->arena, grid->point[t]);
        point_label_split(d->arena, grid->point[t], &other, &value[t]);
        alike = alike && other != NULL && (t == 0 || strcmp(key, other) == 0);
        key = other;
    }
    plot_names(out, "point_title", title, grid->point_count,
               TITLE_CHARACTERS);
    plot_names(out, "point_value", alike ? value : title, grid->point_count,
               POINT_CHARACTERS);
    out_text(out, "point_key = ");
    plot_quote(out, alike ? key : "", 80);
    out_text(out, "\n");
}

/* Writes two facts that captions tell.  lost: some jobs were not done, so that
 * means are of the others.  fixed: nothing is drawn under any policy, so that
 * more seeds add nothing. */
static void write_doubts(const struct grid *grid, struct out *out)
{
    bool lost = false, fixed = true;

    for (uint32_t t = 0; t < grid->point_count; t++) {
        lost = lost || survivors_any(grid, t, METRIC_JCT_MEAN);
        for (uint32_t p = 0; p < grid->policy_count; p++)
            fixed = fixed && grid_fixed(grid, t, p);
    }
    out_printf(out, "lost = %d\nfixed = %d\n", lost, fixed);
}

/* Writes how much room there is: panels side by side (abreast) and in all
 * (most_shown), whether the columns of a page are narrow (stacked), and, of a
 * paper, its measures in points. */
static void write_room(const struct drawing *d, struct out *out)
{
    const struct paper *paper = d->paper;
    bool stacked = paper != NULL && paper->height_pt > paper->width_pt;

    out_printf(out, "abreast = %d\nmost_shown = %d\nstacked = %d\n",
               paper == NULL ? 3 : stacked ? 1 : 2,
               paper == NULL ? 12 : stacked ? 3 : 2, stacked);
    if (paper == NULL) {
        out_text(out, "paper = ''\nif (!exists('width')) width = 1200\n");
        return;
    }
    out_printf(out, "paper = '%s'\ncolumn_pt = %.1f\nmost_pt = %.1f\n"
               "letter_pt = %.1f\nline_pt = %.2f\nletters = '%s'\n"
               "if (!exists('format')) format = 'pdf'\nwidth = %.0f\n",
               paper->name, paper->width_pt, paper->height_pt, paper->letter_pt,
               paper->line_pt, paper->letters,
               paper->width_pt * PAPER_LETTER_PX / paper->letter_pt);
}

/* Writes the assignments that each template reads: names, counts, room. */
static void write_head(const struct drawing *d, const char *name,
                       struct out *out)
{
    const struct grid *grid = d->source.grid;

    out_printf(out, "# Made by clustersim from the tables one folder up. "
               "Draw it again: gnuplot %s.gp\n# Or as gnuplot -e \"format = "
               "'%s'\" %s.gp (%s).\n\nfigure = '%s'\n"
               "experiment = ", name, d->paper == NULL ? "svg" : "tex", name,
               d->paper == NULL ? "png, svg, pdf" : "pdf, tex", name);
    plot_quote(out, d->source.experiment, 60);
    out_text(out, "\n");
    plot_names(out, "policy", grid->policy, grid->policy_count,
               POLICY_CHARACTERS);
    plot_names(out, "point_name", grid->point, grid->point_count,
               POINT_CHARACTERS);
    write_points(d, out);
    out_printf(out, "policies = %u\npoints = %u\nseeds = %u\n",
               grid->policy_count, grid->point_count, grid->seed_count);
    write_doubts(grid, out);
    write_room(d, out);
}

/* Makes the head and the data of one figure.  It has an arena of its own, so what
 * it reads is dropped with it.  A figure without data is no failure: d->skip says
 * why. */
static bool make_figure(struct drawing *d, unsigned f, struct err *err)
{
    const struct plot_file *text = find_template(
        text_format(d->arena, "%s.gp", figure[f].name));
    const char *data = text_format(d->arena, "%s.dat", figure[f].name);
    struct plot_source source = d->source;
    struct plot_sink sink = { NULL, NULL, NULL };
    enum plot_made made = PLOT_FAILED;
    bool ok = false;

    source.arena = arena_new((size_t)1 << 16);
    sink.head = out_in(d->arena, d->dir, text->name, err);
    if (sink.head != NULL)
        sink.data = out_in(d->arena, d->dir, data, err);
    if (sink.data != NULL) {
        write_head(d, figure[f].name, sink.head);
        made = figure[f].make(&source, &sink, err);
    }
    if (made == PLOT_MADE) {
        out_printf(sink.head, "data = '%s'\n\n", data);
        out_bytes(sink.head, text->text, text->bytes);
        ok = out_close_fast(sink.head, err) && out_close_fast(sink.data, err);
    } else if (made == PLOT_SKIPPED) {
        d->skip[f] = arena_text(d->arena, sink.skip);
        ok = true;
    }
    out_abandon(sink.head);
    out_abandon(sink.data);
    if (!ok)
        plot_keep_err(err, source.dir);
    arena_free(source.arena);
    return ok;
}

/* Removes all files of a figure that an earlier run drew. */
static bool remove_figure(struct drawing *d, const char *name,
                          struct err *err)
{
    for (unsigned e = 0; figure_ending(e) != NULL; e++)
        if (!folder_remove(d->arena, d->dir,
                           text_format(d->arena, "%s%s", name,
                                       figure_ending(e)), err))
            return false;
    return true;
}

/* Writes which figures were left out, and why; without any the file is removed. */
static bool write_skipped(struct drawing *d, struct err *err)
{
    struct out *out = NULL;

    for (unsigned f = 0; f < FIGURES; f++) {
        if (d->skip[f] == NULL)
            continue;
        if (out == NULL)
            out = out_in(d->arena, d->dir, CHART_SKIPS, err);
        if (out == NULL)
            return false;
        out_printf(out, "%s: %s\n", figure[f].name, d->skip[f]);
    }
    return out == NULL ? folder_remove(d->arena, d->dir, CHART_SKIPS, err)
                       : out_close_fast(out, err);
}

/* Makes all wanted figures, and removes the others.  The last one, the Gantt chart, is
 * made first.  It chooses its jobs when it has read the phases; then it reads jobs.csv, and
 * the same reading makes the distribution of JCT. */
static bool make_figures(struct drawing *d, struct err *err)
{
    for (unsigned f = FIGURES; f-- > 0;)
        if ((d->wanted[f] && !make_figure(d, f, err)) ||
            ((!d->wanted[f] || d->skip[f] != NULL) &&
             !remove_figure(d, figure[f].name, err)))
            return false;
    return true;
}

/* Is a figure wanted? */
static bool wants(const struct drawing *d, plot_maker *make)
{
    for (unsigned f = 0; f < FIGURES; f++)
        if (figure[f].make == make)
            return d->wanted[f];
    return false;
}

/* Goes into the folder of a paper's charts, in that of the charts; for charts
 * of the report nothing changes. */
static bool enter_paper(struct drawing *d, struct err *err)
{
    struct folder *charts = d->dir;

    if (d->paper == NULL)
        return true;
    d->dir = folder_within(d->arena, charts, d->paper->name, err);
    folder_close(charts);
    return d->dir != NULL;
}

/* Draws the figures that have data; those for a paper twice, the second time for TeX. */
static bool run_gnuplot(struct drawing *d, struct err *err)
{
    const char *name[FIGURES];
    size_t count = 0;

    for (unsigned f = 0; f < FIGURES; f++)
        if (d->wanted[f] && d->skip[f] == NULL)
            name[count++] = figure[f].name;
    if (d->paper == NULL)
        return plot_gnuplot_all(d->arena, d->dir, name, count, d->format, err);
    for (size_t i = 0; i < count; i++)
        if (!plot_gnuplot(d->arena, d->dir, name[i], d->format, err) ||
            !plot_gnuplot_tex(d->arena, d->dir, name[i], err))
            return false;
    return true;
}

/* All scripts and data are written before gnuplot is run for the first time, so
 * that a folder without gnuplot has them all. */
static bool draw_figures(struct drawing *d, const char *results, struct err *err)
{
    struct folder *dir = NULL;

    if (!plot_source_read(d->arena, results, NULL, &d->source, err))
        return false;
    dir = folder_make(d->arena, results, err);
    if (dir != NULL)
        d->dir = folder_within(d->arena, dir, CHART_FOLDER, err);
    folder_close(dir);
    if (d->dir == NULL || !read_list(d, err) || !enter_paper(d, err) ||
        !copy_style(d, err))
        return false;
    d->source.jobs = plot_jobs_new(d->arena, wants(d, plot_make_jct_cdf));
    if (!make_figures(d, err) || !write_skipped(d, err))
        return false;
    return run_gnuplot(d, err);
}

/* Draws, and returns what the drawing held. */
static bool draw(struct drawing *d, const char *dir, struct err *err)
{
    bool ok = draw_figures(d, dir, err);

    folder_close(d->dir);
    if (!ok)
        plot_keep_err(err, dir);
    arena_free(d->arena);
    return ok;
}

bool plot_draw(const char *dir, const char *format, struct err *err)
{
    struct drawing d = { .arena = arena_new((size_t)1 << 16),
                         .format = format };

    assert(strcmp(format, "png") == 0 || strcmp(format, "svg") == 0 ||
           strcmp(format, "pdf") == 0);
    return draw(&d, dir, err);
}

bool plot_draw_paper(const char *dir, const struct paper *paper, struct err *err)
{
    struct drawing d = { .arena = arena_new((size_t)1 << 16), .format = "pdf",
                         .paper = paper };

    assert(paper != NULL);
    return draw(&d, dir, err);
}

bool plot_list_write(struct arena *arena, const struct folder *dir,
                     const char *const *name, size_t count, struct err *err)
{
    struct out *out = out_in(arena, dir, CHART_LIST, err);

    if (out == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        out_printf(out, "%s\n", name[i]);
    return out_close(out, err);
}
