/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * paper.c - what a paper needs: `clustersim table`, `cite`, `archive` and `reproduce`.
 */
#include <string.h>

#include "experiments/cli/command.h"
#include "experiments/paper/archive.h"
#include "experiments/paper/cite.h"
#include "experiments/paper/table.h"
#include "experiments/results/grid.h"
#include "experiments/spec/experiment.h"
#include "sim/base/err.h"
#include "sim/text/paths.h"

static const struct err_pos nowhere = { NULL, 0, 0 };

static bool read_form(const struct args *args, enum table_form *form, struct err *err)
{
    const char *name = args->given[ARG_TABLE_FORM] ? args->value[ARG_TABLE_FORM] : "text";

    for (*form = 0; *form < TABLE_FORMS; (*form)++)
        if (strcmp(name, table_form_name(*form)) == 0)
            return true;
    return err_set(err, ERR_USAGE, nowhere,
                   "--format must be text, latex, markdown or csv, and is '%.40s'", name);
}

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

/* The exit status of `check`: 1 where a table differs. */
static int run_reproduce(struct cli *cli, const struct args *args)
{
    struct archive_told told;
    struct err err = { 0 };

    if (!archive_reproduce(cli->arena, args->word[0], cli->out, &told, &err))
        return command_fail(cli, &err);
    if (told.different == 0)
        fprintf(cli->out, "%u tables are the same, to the byte\n", told.tables);
    else
        fprintf(cli->out, "%u of %u tables differ\n", told.different, told.tables);
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
    "run an archive again, and compare its tables to the byte",
    "Unpacks into a folder of its own below $TMPDIR or /tmp, runs the experiment\n"
    "with this program and compares every table.  Of a table that differs it\n"
    "prints file:line and both lines; the exit status is then 1.  Names that\n"
    "leave the folder, links and absurd sizes are refused.\n\n"
    "An archive may hold policies, which are compiled and run: reproduce only\n"
    "archives of people whom you trust as you would trust a program of theirs.\n",
    0, 1, 1, run_reproduce
};
