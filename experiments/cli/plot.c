/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plot.c - `clustersim plot`.
 */
#include <string.h>

#include "experiments/cli/command.h"
#include "experiments/columns/figures.h"
#include "experiments/report/plot.h"
#include "experiments/report/report.h"
#include "experiments/results/grid.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/folder.h"
#include "sim/text/paths.h"

static const struct err_pos nowhere = { NULL, 0, 0 };

static bool check_format(const char *format, struct err *err)
{
    if (strcmp(format, "png") == 0 || strcmp(format, "svg") == 0 ||
        strcmp(format, "pdf") == 0)
        return true;
    return err_set(err, ERR_USAGE, nowhere,
                   "--format must be png, svg or pdf, and is '%.40s'", format);
}

/* Finds the style of --paper; NULL and err if there is none of that name. */
static const struct paper *find_paper(const char *name, struct err *err)
{
    const struct paper *paper = paper_find(name);
    const char *names[16], *near;
    unsigned n = 0;

    if (paper != NULL)
        return paper;
    for (; n < 15 && paper_at(n) != NULL; n++)
        names[n] = paper_at(n)->name;
    names[n] = NULL;
    err_set(err, ERR_USAGE, nowhere,
            "--paper must be ieee, acm, usenix or slide, and is '%.40s'", name);
    near = conf_nearest(name, names);
    if (near != NULL)
        err_hint(err, "Did you mean %s?", near);
    return NULL;
}

/* Reads what to draw: a format, or a paper with both of its own. */
static bool read_wish(const struct args *args, const char **format,
                      const struct paper **paper, struct err *err)
{
    *format = args->given[ARG_FORMAT] ? args->value[ARG_FORMAT] : "png";
    *paper = NULL;
    if (!args->given[ARG_PAPER])
        return check_format(*format, err);
    if (args->given[ARG_FORMAT])
        return err_set(err, ERR_USAGE, nowhere, "--format cannot be given with "
                       "--paper: a paper has its figures in PDF and TeX");
    *paper = find_paper(args->value[ARG_PAPER], err);
    return *paper != NULL;
}

/* The lock keeps a run from replacing tables while charts read them. */
static int run_plot(struct cli *cli, const struct args *args)
{
    const char *dir = args->word[0], *format;
    const struct paper *paper;
    struct err err = { 0 };

    if (!read_wish(args, &format, &paper, &err) ||
        !grid_is_there(cli->arena, dir, &err))
        return command_fail(cli, &err);
    struct folder *folder = folder_make(cli->arena, dir, &err);
    bool ok = folder != NULL && folder_lock(folder, &err);

    if (ok && paper != NULL)
        ok = plot_draw_paper(dir, paper, &err);
    else if (ok)
        ok = plot_draw(dir, format, &err) && report_write(dir, NULL, &err);
    folder_close(folder);
    if (!ok)
        return command_fail(cli, &err);
    fprintf(cli->out, "charts: %s/plots%s%s\n", dir, paper != NULL ? "/" : "",
            paper != NULL ? paper->name : "");
    return 0;
}

const struct command command_plot = {
    "plot", "DIR [--format png|svg|pdf] | DIR --paper ieee|acm|usenix|slide",
    "redraw the charts of a results folder",
    "Draws again from the CSV files in DIR; gnuplot must be installed.  Each\n"
    "chart can also be drawn alone: `gnuplot FILE.gp` in DIR/plots.\n\n"
    "--paper draws each chart as wide as a column of text, without a title, and\n"
    "told apart in grey print, into DIR/plots/STYLE: NAME.pdf; NAME-tex.tex, to\n"
    "be put into a document (\\input) with its own letters; NAME-caption.tex.\n",
    ARG_BIT(ARG_FORMAT) | ARG_BIT(ARG_PAPER), 1, 1, run_plot
};
