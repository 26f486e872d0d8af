/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sensitivity.c - `clustersim sensitivity` and `clustersim border`: what would turn a
 * verdict, and where it turns.
 */
#include "experiments/sensitivity/sensitivity.h"

#include "experiments/advise/advice_check.h"
#include "experiments/advise/advice_turns.h"
#include "experiments/cli/command.h"
#include "experiments/cli/search.h"
#include "experiments/sensitivity/border.h"
#include "sim/base/err.h"

/* Varies the inputs of a question to `advise`. It has no trials: each value
 * gives one answer.  Returns the status. */
static int vary_advice(struct cli *cli, const struct args *args)
{
    struct advice_check_options options = { .set = args->set,
                                            .set_count = args->set_count };
    struct err_pos nowhere = { NULL, 0, 0 };
    struct err err = { 0 };

    if (args->given[ARG_SEEDS]) {
        err_set(&err, ERR_USAGE, nowhere, "%s is a question to advise, which has no "
                "seeds", args->word[0]);
        return command_fail(cli, &err);
    }
    return advice_turns_run(cli->arena, args->word[0], args->value[ARG_OUT], &options,
                            args->given[ARG_QUIET] ? NULL : cli->out, &err)
               ? 0 : command_fail(cli, &err);
}

/* Varies the inputs of an experiment or of a question, and says which of them turn
 * a verdict. */
static int run_sensitivity(struct cli *cli, const struct args *args)
{
    bool quiet = args->given[ARG_QUIET];
    struct search_command search;
    struct err err = { 0 };
    uint32_t unknown = 0;

    if (advice_check_is(cli->arena, args->word[0]))
        return vary_advice(cli, args);
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
    "again, if there is one.  A question to `advise` has no seeds: its answers are\n"
    "judged at each value, one input at a time.\n\n"
    "Ctrl-C keeps the finished trials in DIR/.trials; the same command goes on.\n"
    "The status is 5 if something is not known because trials failed.\n",
    SEARCH_ARGS, 1, 1, run_sensitivity
};

/* ---- border ---- */

/* Looks for the places where verdicts turn.  The folder is shared with other
 * searches from search_begin() to search_end(). */
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
