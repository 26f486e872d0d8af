/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sensitivity.c - `clustersim sensitivity`.
 */
#include "experiments/sensitivity/sensitivity.h"

#include "experiments/cli/command.h"
#include "experiments/cli/search.h"
#include "sim/base/err.h"

static int sensitivity(struct cli *cli, const struct args *args)
{
    bool quiet = args->given[ARG_QUIET];
    struct search_command search;
    struct err err = { 0 };
    uint32_t unknown = 0;

    if (!search_begin(cli, args, &search, &err))
        return command_fail(cli, &err);
    const struct sensitivity_options options = {
        .dir = search.results.dir, .out = quiet ? NULL : cli->out,
        .log = quiet ? NULL : cli->err
    };
    bool ok = sensitivity_run(cli->arena, search.probe, &options, &unknown, &err);
    return search_end(&search, ok, unknown, &err);
}

const struct command command_sensitivity = {
    "sensitivity", "EXPERIMENT.yaml [-o DIR] [-j N] [--set KEY=VALUE]...\n"
    "       [--seeds N] [-q]",
    "find which inputs verdicts turn on",
    "The key `sensitivity:` of the experiment names a claim, and keys with plausible\n"
    "ranges; `clustersim explain sensitivity` shows its keys.  All inputs are ranked\n"
    "by elementary effects (Morris), the first few get Sobol's indices, and each is\n"
    "varied alone to see whether it turns the verdict.  Prints a table and a\n"
    "sentence, writes sensitivity.csv into the results folder and makes its report\n"
    "again, if there is one.\n\n"
    "Ctrl-C keeps the finished trials in DIR/.trials; the same command goes on.\n"
    "The status is 5 if something is not known because trials failed.\n",
    SEARCH_ARGS, 1, 1, sensitivity
};
