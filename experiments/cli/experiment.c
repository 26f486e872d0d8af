/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * experiment.c - an experiment from the command line to its results.
 */
#include "experiments/cli/experiment.h"

#include "experiments/cli/search.h"
#include "experiments/probe/probe.h"

#include <unistd.h>

#include "experiments/options/args.h"
#include "experiments/sensitivity/border.h"
#include "experiments/sensitivity/sensitivity.h"
#include "experiments/spec/experiment.h"
#include "experiments/spec/places.h"
#include "experiments/spec/table_sizes.h"
#include "experiments/train/train.h"
#include "experiments/tune/tune.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/paths.h"

#define THREADS_MAX 1024u

bool cmd_threads(const struct args *args, uint32_t *threads, struct err *err)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);

    *threads = processors < 1 ? 1
             : processors > (long)THREADS_MAX ? THREADS_MAX
             : (uint32_t)processors;
    return args_number(args, ARG_THREADS, 1, THREADS_MAX, threads, err);
}

bool cmd_experiment_check(struct arena *arena, const struct experiment *experiment,
                          struct err *err)
{
    return train_check(arena, experiment, err) &&
           border_check(arena, experiment, err) &&
           sensitivity_check(arena, experiment, err) &&
           tune_check(arena, experiment, err);
}

/* A shard has a folder of its own. */
static const char *folder(struct cli *cli, const struct args *args,
                          const struct experiment *experiment, uint32_t shard,
                          uint32_t count)
{
    if (count <= 1 || args->given[ARG_OUT])
        return experiment->dir;
    return text_format(cli->arena, "%s.shard-%u-of-%u", experiment->dir, shard + 1,
                       count);
}

/* The words of --set, and behind them what was found. */
static const char *const *add_found(struct arena *arena, const struct args *args,
                                    const struct tune_found *found, uint32_t found_count,
                                    size_t *count)
{
    size_t room = args->set_count;
    const char **word;

    for (uint32_t i = 0; i < found_count; i++)
        room += found[i].setting_count;
    word = arena_alloc(arena, room + 1, sizeof *word);
    for (*count = 0; *count < args->set_count; (*count)++)
        word[*count] = args->set[*count];
    for (uint32_t i = 0; i < found_count; i++)
        for (uint32_t k = 0; k < found[i].setting_count; k++)
            word[(*count)++] = text_format(arena, "%s=%s", found[i].setting[k].key,
                                           found[i].setting[k].text);
    return word;
}

/* `tuned: true`: tunes, and reads the experiment again with what was found. */
static const struct experiment *read_tuned(struct cli *cli, const struct args *args,
                                           struct experiment_options *options,
                                           struct err *err)
{
    FILE *log = args->given[ARG_QUIET] ? NULL : cli->err;
    const struct tune_options how = { .only = args->value[ARG_ONLY], .log = log };
    const struct tune_found *found;
    struct search_command search;
    uint32_t count;

    if (!search_begin(cli, args, &search, err))
        return NULL;
    found = tune_run(cli->arena, search.probe, &how, &count, err);
    if (found != NULL && log != NULL)
        tune_print(probe_experiment(search.probe), found, count, log);
    if (found != NULL && !tune_write(cli->arena, search.probe, found, count,
                                     search.results.dir, err))
        found = NULL;
    search_close(&search, found != NULL, err);
    if (found == NULL)
        return NULL;
    options->set = add_found(cli->arena, args, found, count, &options->set_count);
    return experiment_read(cli->arena, args->word[0], options, err);
}

const struct experiment *cmd_experiment_read(struct cli *cli, const struct args *args,
                                             struct err *err)
{
    struct experiment_options options = {
        .set = args->set, .set_count = args->set_count,
        .only = args->value[ARG_ONLY], .dir = args->value[ARG_OUT],
        /* What they name may not be among some policies only. */
        .check = args->given[ARG_ONLY] ? border_check : cmd_experiment_check
    };
    uint32_t shard = 0, count = 1;
    const struct experiment *experiment;
    struct experiment *moved;

    if (!args_number(args, ARG_SEEDS, 1, 1000000, &options.seeds, err) ||
        !args_shard(args, &shard, &count, err))
        return NULL;
    experiment = experiment_read(cli->arena, args->word[0], &options, err);
    if (experiment != NULL && experiment->tuned)
        experiment = read_tuned(cli, args, &options, err);
    if (experiment == NULL)
        return NULL;
    moved = arena_alloc(cli->arena, 1, sizeof *moved);
    *moved = *experiment;
    moved->dir = folder(cli, args, experiment, shard, count);
    return moved;
}

static int interrupted(struct cli *cli, const struct session *session,
                       const char *path)
{
    fprintf(cli->err, "interrupted: %u of %u trials are finished and kept in "
            "%s/.trials\n`clustersim run %s --resume` with the same options "
            "goes on\n", session->done, experiment_run_count(session->experiment),
            session->experiment->dir, path);
    return err_exit_status(ERR_INTERRUPTED);
}

static int failures(struct cli *cli, const struct session *session)
{
    if (session->failed == 0)
        return 0;
    fprintf(cli->err, "%u of %u trials failed", session->failed,
            experiment_run_count(session->experiment));
    if (session->grid != NULL)
        fprintf(cli->err, "; %s/failures.csv lists them",
                session->experiment->dir);
    fputs("; the first:\n", cli->err);
    (void)command_fail(cli, session->first_failure);
    return session->broken ? err_exit_status(ERR_BUG) : 5;
}

int cmd_experiment_run(struct cli *cli, const struct args *args,
                       const struct experiment *experiment, struct session *session)
{
    struct session_options options = {
        .shard_count = 1,
        .resume = args->given[ARG_RESUME],
        .progress = cli->progress && !args->given[ARG_QUIET],
        .command = { args->argc, args->argv },
        .warn = command_warn, .self = cli
    };
    struct err err = { 0 };

    (void)places_check(cli->arena, experiment, command_warn, cli);
    if (!cmd_threads(args, &options.threads, &err) ||
        !args_shard(args, &options.shard, &options.shard_count, &err))
        return command_fail(cli, &err);
    if (!args->given[ARG_QUIET]) {
        struct table_sizes sizes = table_sizes_of(cli->arena, experiment);
        table_sizes_print(cli->err, experiment, &sizes);
    }
    if (!session_run(cli->arena, experiment, &options, session, &err)) {
        if (err.kind == ERR_INTERRUPTED)
            return interrupted(cli, session, args->word[0]);
        return command_fail(cli, &err);
    }
    if (session->others_kept)
        fprintf(cli->err, "note: %s/.trials keeps trials of other runs, for "
                "--resume; remove it if they are of no use\n",
                experiment->dir);
    return failures(cli, session);
}
