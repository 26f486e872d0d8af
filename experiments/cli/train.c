/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * train.c - `clustersim train`.
 */
#include "experiments/cli/command.h"
#include "experiments/cli/experiment.h"
#include "experiments/spec/experiment.h"
#include "experiments/train/train.h"
#include "sim/base/err.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"

/* False, with err: the weights could not be written.  Training takes long, so this is asked
 * before it begins. */
static bool check_writable(struct cli *cli, const char *path, struct err *err)
{
    struct out *probe = out_open(cli->arena, path, err);

    out_abandon(probe);
    return probe != NULL;
}

/* Tells what is kept, and how to go on; returns the status. */
static int tell_interrupted(struct cli *cli, const char *path)
{
    const char *state = text_format(cli->arena, "%s.state", path);

    if (path_is_file(state))
        fprintf(cli->err, "interrupted: finished generations are kept in %s; the same "
                "command with --resume goes on\n", state);
    else
        fputs("interrupted: no generation was finished, and nothing is kept\n", cli->err);
    return err_exit_status(ERR_INTERRUPTED);
}

/* Trains the weights of a policy, and writes them where -o says. */
static int run_train(struct cli *cli, const struct args *args)
{
    struct experiment_options experiment_options = {
        .set = args->set, .set_count = args->set_count
    };
    struct train_options options = {
        .set = args->set, .set_count = args->set_count,
        .progress = cli->progress && !args->given[ARG_QUIET],
        .path = args->value[ARG_OUT], .out = cli->out,
        .resume = args->given[ARG_RESUME],
        .log = args->given[ARG_QUIET] ? NULL : cli->err
    };
    struct err_pos nowhere = { NULL, 0, 0 };
    struct err err = { 0 };
    const struct experiment *experiment;

    if (!args->given[ARG_OUT]) {
        err_set(&err, ERR_USAGE, nowhere, "train needs -o WEIGHTS.yaml");
        return command_fail(cli, &err);
    }
    if (path_same(args->value[ARG_OUT], args->word[0])) {
        err_set(&err, ERR_USAGE, nowhere, "%.80s would be overwritten: give -o another name",
                args->word[0]);
        return command_fail(cli, &err);
    }
    if (!cmd_threads(args, &options.threads, &err))
        return command_fail(cli, &err);
    experiment = experiment_read(cli->arena, args->word[0], &experiment_options, &err);
    if (experiment != NULL && check_writable(cli, options.path, &err) &&
        train_run(cli->arena, experiment, &options, &err))
        return 0;
    return err.kind == ERR_INTERRUPTED ? tell_interrupted(cli, options.path)
                                       : command_fail(cli, &err);
}

const struct command command_train = {
    "train", "EXPERIMENT.yaml -o WEIGHTS.yaml [-j N] [--set KEY=VALUE]... "
    "[--resume] [-q]",
    "train a learned policy in the simulator",
    "The key `train:` of the experiment says which policy learns, which\n"
    "metric it makes better, and on which seeds; `clustersim explain train`\n"
    "shows its keys.  The weights are judged on seeds that training did not\n"
    "see, and the file is the same, byte for byte, each time.  A training that\n"
    "was interrupted goes on with --resume from WEIGHTS.yaml.state.\n",
    ARG_BIT(ARG_OUT) | ARG_BIT(ARG_THREADS) | ARG_BIT(ARG_SET) |
        ARG_BIT(ARG_RESUME) | ARG_BIT(ARG_QUIET), 1, 1, run_train
};
