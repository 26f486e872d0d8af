/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * border.c - `clustersim border`.
 */
#include "experiments/sensitivity/border.h"

#include "experiments/cli/command.h"
#include "experiments/cli/search.h"
#include "sim/base/err.h"

/* The folder's lock is held from search_begin() to search_end(). */
static int run_border(struct cli *cli, const struct args *args)
{
    bool quiet = args->given[ARG_QUIET];
    struct search_command search;
    struct err err = { 0 };
    uint32_t unknown = 0;

    if (!search_begin(cli, args, &search, &err))
        return command_fail(cli, &err);
    const struct border_options options = {
        .dir = search.results.dir, .out = quiet ? NULL : cli->out,
        .log = quiet ? NULL : cli->err
    };
    bool ok = border_run(cli->arena, search.probe, &options, &unknown, &err);
    return search_end(&search, ok, unknown, &err);
}

const struct command command_border = {
    "border", "EXPERIMENT.yaml [-o DIR] [-j N] [--set KEY=VALUE]... [--seeds N]\n"
    "       [-q]",
    "find where verdicts turn",
    "The key `border:` of the experiment names claims, and for each a key and a\n"
    "range; `clustersim explain border` shows what it says.  The verdict is judged\n"
    "at both ends and between, and the place where it turns is bisected.  Prints a\n"
    "sentence for each border, writes border.csv into the results folder and makes\n"
    "its report again, if there is one.\n\n"
    "Ctrl-C keeps the finished trials in DIR/.trials; the same command goes on.\n"
    "The status is 5 if a border is not known because trials failed.\n",
    SEARCH_ARGS, 1, 1, run_border
};
