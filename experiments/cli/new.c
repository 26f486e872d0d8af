/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * new.c - `clustersim new`: files to begin with.
 *
 * Without an operand it makes a first experiment from answers (experiments/start).
 * The skeleton is a whole policy that compiles and runs, with a comment at each
 * place that a first change would touch (experiments/plugins/skeleton.h).
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "experiments/cli/command.h"
#include "experiments/plugins/skeleton.h"
#include "experiments/start/start.h"
#include "policies/registry/registry.h"
#include "sim/base/err.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"

static const struct err_pos nowhere = { NULL, 0, 0 };

/* False, with err: it is no name of a policy, or a built-in policy has it and
 * would hide the one of the file. */
static bool check_name(const char *name, struct err *err)
{
    if (name[0] < 'a' || name[0] > 'z' ||
        name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-")] != '\0')
        return err_set(err, ERR_USAGE, nowhere, "the name of a policy must be small "
                       "letters, digits and -, a letter first, and is '%.60s'", name);
    if (registry_find(name) == NULL)
        return true;
    err_set(err, ERR_USAGE, nowhere, "there is a built-in policy named %.40s", name);
    return err_hint(err, "`clustersim explain %.40s` says what it does.", name);
}

/* Writes the skeleton.  A file that is there is never overwritten. */
static bool write_skeleton(struct cli *cli, const char *name, const char *path,
                           struct err *err)
{
    struct err_pos pos = { path, 0, 0 };
    struct out *out;

    if (path_is_file(path) || path_is_folder(path)) {
        err_set(err, ERR_IO, pos, "is there already, and is not overwritten");
        return err_hint(err, "-o names another file.");
    }
    out = out_open(cli->arena, path, err);
    if (out == NULL)
        return false;
    out_text(out, skeleton_text(cli->arena, name));
    return out_close(out, err);
}

/* Writes the skeleton of a policy. */
static int new_policy(struct cli *cli, const struct args *args)
{
    struct err err = { 0 };
    const char *name = args->word[1], *path = args->value[ARG_OUT];

    if (path == NULL)
        path = text_format(cli->arena, "%s.c", name);
    if (!check_name(name, &err) || !write_skeleton(cli, name, path, &err))
        return command_fail(cli, &err);
    fprintf(cli->out, "%s: a policy that starts the largest task first\n"
            "use it as policies: [fcfs, ./%s]; `clustersim explain ./%s` shows its "
            "keys\n", path, path, path);
    return 0;
}

/* The option that answers a question. */
static const enum arg answer_of[START_COUNT] = {
    [START_COMPARE] = ARG_COMPARE, [START_GPUS] = ARG_NEW_GPUS,
    [START_JOBS] = ARG_NEW_JOBS, [START_LOAD] = ARG_LOAD,
    [START_POLICIES] = ARG_POLICIES,
};

/* Does an option answer one of the questions?  Then none is asked. */
static bool any_answer(const struct args *args)
{
    for (int q = 0; q < START_COUNT; q++)
        if (args->given[answer_of[q]])
            return true;
    return false;
}

/* Sets err: no question can be asked without a terminal.  Returns false. */
static bool tell_options(struct err *err)
{
    err_set(err, ERR_USAGE, nowhere, "no question can be asked: input or output "
            "is no terminal, and no option answers one");
    return err_hint(err, "Give one or more of --compare, --gpus, --jobs, --load, --policies; "
                    "for the others defaults are taken.");
}

/* Takes the answers of the options. */
static bool set_answers(struct start *start, const struct args *args, struct err *err)
{
    for (int q = 0; q < START_COUNT; q++)
        if (args->given[answer_of[q]] &&
            !start_set(start, (enum start_question)q, args->value[answer_of[q]], err))
            return false;
    return true;
}

/* Makes a first experiment from options, or from answers on a terminal.  Nothing is
 * written before all is checked. */
static int new_experiment(struct cli *cli, const struct args *args)
{
    struct err err = { 0 };
    const char *path = args->given[ARG_OUT] ? args->value[ARG_OUT] : "first.yaml";
    bool asks = !any_answer(args);
    struct start *start;

    if (asks && !(isatty(STDIN_FILENO) && isatty(fileno(cli->out)))) {
        tell_options(&err);
        return command_fail(cli, &err);
    }
    start = start_open(cli->arena, path, args->value[ARG_COLUMNS], &err);
    if (start == NULL || !set_answers(start, args, &err))
        return command_fail(cli, &err);
    if (asks && !start_ask(start, stdin, cli->out)) {
        fputs("\nthe input ended: nothing is written\n", cli->err);
        return err_exit_status(ERR_USAGE);
    }
    if (!start_make(start, &err) || !start_write(start, cli->out, &err))
        return command_fail(cli, &err);
    return 0;
}

/* Chooses between an experiment and a policy. */
static int new_file(struct cli *cli, const struct args *args)
{
    struct err err = { 0 };
    bool policy = args->word_count > 0 && strcmp(args->word[0], "policy") == 0;

    if (args->word_count == 0)
        return new_experiment(cli, args);
    if (!policy) {
        err_set(&err, ERR_USAGE, nowhere, "new makes an experiment or a policy, "
                "found '%.40s'", args->word[0]);
        err_hint(&err, "Write: clustersim new, or clustersim new policy NAME");
    } else if (args->word_count == 1)
        err_set(&err, ERR_USAGE, nowhere, "new policy needs a name");
    else if (any_answer(args))
        err_set(&err, ERR_USAGE, nowhere, "new policy takes no other option than -o");
    return err.kind != ERR_NONE ? command_fail(cli, &err) : new_policy(cli, args);
}

const struct command command_new = {
    "new", "[-o FILE.yaml] [--gpus TYPE:COUNT,..] [--jobs RECIPE,..] ...\n"
    "       clustersim new policy NAME [-o FILE.c]",
    "write a first experiment, or a policy to begin with",
    "Writes an experiment (first.yaml), its cluster and its jobs, with comments,\n"
    "checked and ready to run.  On a terminal and without options it asks five\n"
    "questions.  Each option answers one of them; defaults answer the others.\n"
    "A recipe gets the largest of its models that fits the GPUs.  No file is\n"
    "overwritten.\n\n"
    "`new policy NAME` writes NAME.c, a whole policy in C that an experiment uses\n"
    "by its path, `policies: [fcfs, ./NAME.c]`.  It is compiled when it is first\n"
    "used.  The manual: experiments/plugins/README.md, policies/README.md.\n",
    ARG_BIT(ARG_OUT) | ARG_BIT(ARG_COMPARE) | ARG_BIT(ARG_NEW_GPUS) |
        ARG_BIT(ARG_NEW_JOBS) | ARG_BIT(ARG_LOAD) | ARG_BIT(ARG_POLICIES) |
        ARG_BIT(ARG_COLUMNS), 0, 2, new_file
};
