/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bench.c - `clustersim bench`: becomes the program that measures this one.
 *
 * clustersim-bench (tests/bench) stands beside clustersim, where it is built
 * and where it is installed.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "experiments/cli/command.h"
#include "experiments/process/self.h"
#include "sim/base/err.h"

#define BENCH_NAME "clustersim-bench"

/* Writes the path of the program in the folder of this one; false: it is not
 * known, or has no room. */
static bool find_bench(char *path, size_t room)
{
    char *slash;

    if (!self_path(path, room))
        return false;
    slash = strrchr(path, '/');
    if (slash == NULL || slash + 1 + sizeof BENCH_NAME > path + room)
        return false;
    memcpy(slash + 1, BENCH_NAME, sizeof BENCH_NAME);
    return true;
}

int command_become_bench(struct cli *cli, char **argv)
{
    const struct err_pos nowhere = { NULL, 0, 0 };
    struct err err = { 0 };
    char path[4096];

    assert(argv != NULL && argv[0] != NULL);
    if (find_bench(path, sizeof path))
        execv(path, argv);
    else
        memcpy(path, BENCH_NAME, sizeof BENCH_NAME);
    err_set(&err, ERR_IO, nowhere, "cannot run '%s': %s", path,
            strerror(errno));
    err_hint(&err, "`make bench` builds it and runs it.");
    return command_fail(cli, &err);
}

/* Only stands in the table of commands, for help: cli.c calls
 * command_become_bench() before it reads options, since those of the other
 * program are not known here. */
static int run_bench(struct cli *cli, const struct args *args)
{
    return command_become_bench(cli, (char **)args->argv + 1);
}

const struct command command_bench = {
    "bench", "", "the engine's own speed on this machine",
    "Prints beside each figure the bound measured in the same run.\n",
    0, 0, 16, run_bench
};
