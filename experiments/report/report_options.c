/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report_options.c - which option to take, and the options side by side: the first thing
 * that the page of a design review says.
 */
#include "experiments/decide/decide.h"
#include "experiments/report/report_html.h"
#include "experiments/report/report_parts.h"
#include "experiments/results/grid.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"
#include "sim/text/sheet.h"

/* What to do in bold, and the rest of the sentence below it. */
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
