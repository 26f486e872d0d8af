/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * new.c - `clustersim new`: a file to begin with.
 *
 * The skeleton is a whole policy that compiles and runs, with a comment at each
 * place that a first change would touch (experiments/plugins/skeleton.h).
 */
#include <string.h>

#include "experiments/cli/command.h"
#include "experiments/plugins/skeleton.h"
#include "policies/registry/registry.h"
#include "sim/base/err.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"

static const struct err_pos nowhere = { NULL, 0, 0 };

/* A built-in name would hide the file's policy. */
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

/* Never over a file that is there. */
static bool write_skeleton(struct cli *cli, const char *name, const char *path,
                           struct err *err)
{
    struct err_pos pos = { path, 0, 0 };
    struct out *out;

    if (path_is_file(path) || path_is_folder(path)) {
        err_set(err, ERR_IO, pos, "is there already, and is not written over");
        return err_hint(err, "-o names another file.");
    }
    out = out_open(cli->arena, path, err);
    if (out == NULL)
        return false;
    out_text(out, skeleton_text(cli->arena, name));
    return out_close(out, err);
}

static int new_file(struct cli *cli, const struct args *args)
{
    struct err err = { 0 };
    const char *name = args->word[1], *path = args->value[ARG_OUT];

    if (strcmp(args->word[0], "policy") != 0) {
        err_set(&err, ERR_USAGE, nowhere, "new makes a policy, and no '%.40s'",
                args->word[0]);
        err_hint(&err, "Write: clustersim new policy NAME");
        return command_fail(cli, &err);
    }
    if (path == NULL)
        path = text_format(cli->arena, "%s.c", name);
    if (!check_name(name, &err) || !write_skeleton(cli, name, path, &err))
        return command_fail(cli, &err);
    fprintf(cli->out, "%s: a policy that starts the largest task first\n"
            "use it as policies: [fcfs, ./%s]; `clustersim explain ./%s` shows its "
            "keys\n", path, path, path);
    return 0;
}

const struct command command_new = {
    "new", "policy NAME [-o FILE.c]",
    "write a commented policy to begin with",
    "Writes NAME.c, a whole policy in C that an experiment uses by its path,\n"
    "`policies: [fcfs, ./NAME.c]`.  It is compiled when it is first used.\n"
    "The manual: experiments/plugins/README.md, policies/README.md.\n",
    ARG_BIT(ARG_OUT), 2, 2, new_file
};
