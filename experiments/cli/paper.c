/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * paper.c - what is made of a folder of results for people and papers: `clustersim plot`,
 * `table`, `cite`, `archive` and `reproduce`.
 */
#include <string.h>

#include "experiments/cli/command.h"
#include "experiments/columns/figures.h"
#include "experiments/paper/archive.h"
#include "experiments/paper/cite.h"
#include "experiments/paper/table.h"
#include "experiments/report/plot.h"
#include "experiments/report/report.h"
#include "experiments/results/grid.h"
#include "experiments/spec/experiment.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/folder.h"
#include "sim/text/paths.h"

static const struct err_pos nowhere = { NULL, 0, 0 };

/* Is it a format that charts can have?  False, with err. */
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

/* Reads what is to be drawn: a format, or the style of --paper, which has
 * formats of its own. */
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

/* Draws the charts again.  The folder is locked, so that no run replaces its
 * tables meanwhile. */
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

/* Reads --format of table, text by default; false, with err. */
static bool read_form(const struct args *args, enum table_form *form, struct err *err)
{
    const char *name = args->given[ARG_TABLE_FORM] ? args->value[ARG_TABLE_FORM] : "text";

    for (*form = 0; *form < TABLE_FORMS; (*form)++)
        if (strcmp(name, table_form_name(*form)) == 0)
            return true;
    return err_set(err, ERR_USAGE, nowhere,
                   "--format must be text, latex, markdown or csv, and is '%.40s'", name);
}

/* Prints the means and intervals of chosen metrics as a table for a paper. */
static int run_table(struct cli *cli, const struct args *args)
{
    struct table_wish wish = { .dir = args->word[0], .metrics = args->value[ARG_METRICS] };
    struct err err = { 0 };

    if (!read_form(args, &wish.form, &err) ||
        !grid_is_there(cli->arena, wish.dir, &err) ||
        !table_print(cli->arena, &wish, cli->out, &err))
        return command_fail(cli, &err);
    return 0;
}

const struct command command_table = {
    "table", "DIR [--format text|latex|markdown|csv] [--metrics NAME,..]",
    "the policies of a results folder as a table of a paper",
    "For each point and policy the mean of each metric over the seeds and the\n"
    "longer side of its 95% interval, with units in the heading, the best in\n"
    "bold, and daggers where it differs from the baseline: paired by seed, p\n"
    "corrected by Holm (over all of a metric).  A caption says what they mean.\n"
    "LaTeX needs the package booktabs; names are escaped.\n",
    ARG_BIT(ARG_TABLE_FORM) | ARG_BIT(ARG_METRICS), 1, 1, run_table
};

/* Prints BibTeX of this program, and of what an experiment or a folder used. */
static int run_cite(struct cli *cli, const struct args *args)
{
    const char *what = args->word_count > 0 ? args->word[0] : NULL;
    const struct experiment_options options = { 0 };
    const struct experiment *experiment;
    struct err err = { 0 };

    if (what != NULL && !path_is_folder(what)) {
        experiment = experiment_read(cli->arena, what, &options, &err);
        if (experiment == NULL)
            return command_fail(cli, &err);
        cite_print_own(cli->arena, cli->out);
        cite_print_experiment(cli->out, experiment);
        return 0;
    }
    if (what == NULL)
        cite_print_own(cli->arena, cli->out);
    else if (!cite_print_folder(cli->arena, cli->out, what, &err))
        return command_fail(cli, &err);
    return 0;
}

const struct command command_cite = {
    "cite", "[EXPERIMENT.yaml|DIR]",
    "BibTeX of clustersim, and of the works behind an experiment",
    "Prints the entry of clustersim itself; of an experiment, or of the folder\n"
    "of its results, also those of its policies, its traces, the laws that it\n"
    "uses and its statistics.  A policy without an entry follows no work that\n"
    "clustersim knows.\n",
    0, 0, 1, run_cite
};

/* Packs a folder with all that its run read, to be reproduced elsewhere. */
static int run_archive(struct cli *cli, const struct args *args)
{
    const char *out = args->value[ARG_OUT];
    struct err err = { 0 };
    size_t n = args->given[ARG_OUT] ? strlen(out) : 0;

    if (n < 9 || strcmp(out + n - 8, ".tar.zst") != 0) {
        err_set(&err, ERR_USAGE, nowhere, "archive needs -o NAME.tar.zst%s%.60s",
                n > 0 ? ", and has " : "", n > 0 ? out : "");
        return command_fail(cli, &err);
    }
    if (!grid_is_there(cli->arena, args->word[0], &err) ||
        !archive_make(cli->arena, args->word[0], out, &err))
        return command_fail(cli, &err);
    fprintf(cli->out, "archive: %s\n", out);
    return 0;
}

/* The exit status is as that of `check`: 1 if a table differs. */
static int run_reproduce(struct cli *cli, const struct args *args)
{
    struct archive_told told;
    struct err err = { 0 };

    if (!archive_reproduce(cli->arena, args->word[0], cli->out, &told, &err))
        return command_fail(cli, &err);
    if (told.different == 0)
        fprintf(cli->out, "%u files (tables and audit.json) are the same, to the byte\n",
                told.files);
    else
        fprintf(cli->out, "%u of %u files (tables and audit.json) differ\n", told.different,
                told.files);
    return told.different == 0 ? 0 : 1;
}

const struct command command_archive = {
    "archive", "DIR -o NAME.tar.zst",
    "a run as one file: inputs, options, results, charts",
    "Packs the folder of results DIR, every input that it was made from (files\n"
    "that files name, traces, weights, sources of policies), the options of the\n"
    "run, and version and hash of the program.  Run it in the folder in which\n"
    "the experiment was run.  An input that has changed since, or that a file\n"
    "names by its whole path, is an error.  The same files give the same bytes.\n",
    ARG_BIT(ARG_OUT), 1, 1, run_archive
};

const struct command command_reproduce = {
    "reproduce", "NAME.tar.zst",
    "run an archive again, and compare its results to the byte",
    "Unpacks into a folder of its own below $TMPDIR or /tmp, runs the experiment\n"
    "with this program and compares every table, and audit.json, which has the\n"
    "digest of all events.  Of a file that differs it prints file:line and both\n"
    "lines; the exit status is then 1.  Names that leave the folder, links and\n"
    "absurd sizes are refused.\n\n"
    "An archive may hold policies, which are compiled and run: reproduce only\n"
    "archives of people whom you trust as you would trust a program of theirs.\n",
    0, 1, 1, run_reproduce
};
