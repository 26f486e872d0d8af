/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tune.c - `clustersim tune`.
 */
#include "experiments/tune/tune.h"

#include "experiments/cli/command.h"
#include "experiments/cli/search.h"
#include "experiments/probe/probe.h"
#include "sim/base/err.h"

/* What was found is printed even if it cannot be written. */
static int run_tune(struct cli *cli, const struct args *args)
{
    bool quiet = args->given[ARG_QUIET];
    const struct tune_options options = {
        .only = args->value[ARG_ONLY], .log = quiet ? NULL : cli->err
    };
    const struct tune_found *found;
    struct search_command search;
    struct err err = { 0 };
    uint32_t count;

    if (!search_begin(cli, args, &search, &err))
        return command_fail(cli, &err);
    found = !tune_try(cli->arena, search.probe, &err) ? NULL
          : tune_run(cli->arena, search.probe, &options, &count, &err);
    if (found != NULL && !quiet)
        tune_print(probe_experiment(search.probe), found, count, cli->out);
    bool ok = found != NULL && tune_write(cli->arena, search.probe, found, count,
                                          search.results.dir, &err);
    return search_end(&search, ok, 0, &err);
}

const struct command command_tune = {
    "tune", "EXPERIMENT.yaml [-o DIR] [-j N] [--set KEY=VALUE]... [--only POLICY,..]\n"
    "       [-q]",
    "find the best keys of each policy",
    "The key `tune:` of the experiment says which metric, which keys may vary, and\n"
    "how many trials each policy gets; `clustersim explain tune` shows its keys.\n"
    "The best candidate is judged on seeds that neither the search nor the\n"
    "experiment has.  What was found is written to DIR/tuned.yaml as entries of\n"
    "`policies:`; an entry that nothing beats stays as it is.\n\n"
    "Ctrl-C keeps the finished trials in DIR/.trials; the same command goes on.\n"
    "Started several times at once, it shares the search.\n",
    (SEARCH_ARGS & ~ARG_BIT(ARG_SEEDS)) | ARG_BIT(ARG_ONLY), 1, 1, run_tune
};
