/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report_figures.c - the charts of a results folder in the report.
 *
 * A chart stands there as gnuplot drew it.  Where page.js is able to draw it
 * anew, to hover and zoom, its numbers stand beside it as hidden text: the files
 * NAME.gp and NAME.dat that gnuplot has drawn, and nothing made twice.
 */
#include "experiments/report/report_parts.h"

#include <assert.h>
#include <string.h>

#include "experiments/columns/figures.h"
#include "experiments/report/report_html.h"
#include "plots/plot_file.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"
#include "sim/text/scan.h"

#define NUMBERS_MAX ((size_t)600 << 10)         /* bytes of one chart in the page */

/* The charts that page.js draws (`looks` there). */
static const char *const closer[] = { "jct_cdf", "timeline", "sweep", "gantt" };

/* Can the page draw that chart anew? */
static bool is_closer(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(closer); i++)
        if (strcmp(closer[i], name) == 0)
            return true;
    return false;
}

/* Returns a file of the folder, with the bytes it has; NULL: it is not there, or has
 * more than `most`.  The text belongs to the report's arena. */
static const char *file_text(const struct report *r, const char *name, size_t most)
{
    const char *path = path_join(r->arena, r->source.dir, name);
    FILE *file = path_is_file(path) ? fopen(path, "rb") : NULL;
    char *text = file == NULL ? NULL : arena_alloc(r->arena, most + 2, 1);
    size_t bytes = file == NULL ? 0 : fread(text, 1, most + 1, file);

    if (file != NULL)
        fclose(file);
    assert(bytes <= most + 1);
    return bytes > most || text == NULL ? NULL : text;
}

/* Writes a text that the reader does not see, line by line, since
 * out_html_text() makes blanks of the ends of lines. */
static void put_hidden(const struct report *r, const char *class, const char *text)
{
    out_printf(r->out, "<pre hidden class=\"%s\">", class);
    while (*text != '\0') {
        size_t bytes = strcspn(text, "\n");

        out_html_text(r->out, text_format(r->arena, "%.*s", (int)bytes, text));
        out_text(r->out, "\n");
        text += bytes + (text[bytes] == '\n');
    }
    out_text(r->out, "</pre>");
}

/* Returns style.gp, in which alone the colours of policies stand. */
static const char *style_text(void)
{
    unsigned i = 0;

    while (strcmp(plot_file[i].name, "style.gp") != 0)
        i++;
    return plot_file[i].text;
}

/* Writes the picture as gnuplot drew it, PNG if there is one, else SVG. */
static void put_picture(const struct report *r, const char *name, const char *question)
{
    const char *picture = text_format(r->arena, "plots/%s.png", name);
    const char *type = "image/png";

    if (!path_is_file(path_join(r->arena, r->source.dir, picture))) {
        picture = text_format(r->arena, "plots/%s.svg", name);
        type = "image/svg+xml";
    }
    html_image(r->out, path_join(r->arena, r->source.dir, picture), type, question);
    out_printf(r->out, "<figcaption>%s Drawn from <a href=\"plots/%s.dat\">"
               "%s.dat</a> by <a href=\"plots/%s.gp\">%s.gp</a>."
               "</figcaption>", question, name, name, name, name);
}

/* Did the run draw that chart? */
static bool is_drawn(const struct report *r, const char *name)
{
    static const char *const format[] = { "png", "svg" };

    for (size_t i = 0; i < COUNT_OF(format); i++)
        if (path_is_file(path_join(r->arena, r->source.dir,
                                   text_format(r->arena, "plots/%s.%s", name, format[i]))))
            return true;
    return false;
}

/* Writes a chart: its picture, and its numbers if the page can draw it anew and
 * they are not too many. */
static void put_figure(const struct report *r, const char *name, const char *question)
{
    const char *script = NULL, *numbers = NULL;

    if (!is_drawn(r, name))
        return;
    if (is_closer(name)) {
        script = file_text(r, text_format(r->arena, "plots/%s.gp", name), NUMBERS_MAX);
        numbers = file_text(r, text_format(r->arena, "plots/%s.dat", name), NUMBERS_MAX);
    }
    if (script == NULL || numbers == NULL) {
        out_text(r->out, "<figure>");
        put_picture(r, name, question);
    } else {
        out_printf(r->out, "<figure data-figure=\"%s\">", name);
        put_picture(r, name, question);
        put_hidden(r, "gp", script);
        put_hidden(r, "dat", numbers);
    }
    out_text(r->out, "</figure>\n");
}

/* Says which figures were left out, and why. */
static void put_skipped(const struct report *r)
{
    const char *skipped = path_join(r->arena, r->source.dir, "plots/skipped.txt");
    struct err ignored = { 0 };
    struct scan *scan = path_is_file(skipped) ? scan_open(skipped, &ignored) : NULL;
    size_t bytes;
    char *line;

    while (scan != NULL && scan_line(scan, &line, &bytes, &ignored) == SCAN_LINE) {
        out_text(r->out, "<p class=\"none\">Not drawn: ");
        out_html_text(r->out, line);
        out_text(r->out, ".</p>\n");
    }
    scan_close(scan);
}

void report_figures(const struct report *r)
{
    put_hidden(r, "style", style_text());
    for (unsigned i = 0; figure_name(i) != NULL; i++)
        put_figure(r, figure_name(i), figure_question(i));
    put_skipped(r);
}
