/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cite.c - `clustersim cite`.
 */
#include "experiments/cli/command.h"
#include "experiments/paper/cite.h"
#include "experiments/spec/experiment.h"
#include "sim/base/err.h"
#include "sim/text/paths.h"

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
    cite_print_own(cli->arena, cli->out);
    if (what != NULL && !cite_print_folder(cli->arena, cli->out, what, &err))
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
