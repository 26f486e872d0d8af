/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * experiment.c - an experiment from the command line to its results.
 */
#include "experiments/cli/experiment.h"

#include <string.h>


#include "experiments/cli/shard.h"
#include "experiments/cli/trial.h"
#include "experiments/fleet/fleet.h"
#include "experiments/options/args.h"
#include "experiments/preflight/places.h"
#include "experiments/preflight/table_sizes.h"
#include "experiments/process/system.h"
#include "experiments/sensitivity/border.h"
#include "experiments/sensitivity/sensitivity.h"
#include "experiments/spec/experiment.h"
#include "experiments/train/train.h"
#include "experiments/trials/crashed.h"
#include "experiments/tune/tune.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/paths.h"

/* More than any machine has processors; a slip in -j is found. */
#define THREADS_MAX 1024u

bool cmd_threads(const struct args *args, uint32_t *threads, struct err *err)
{
    uint32_t processors = system_processors();

    *threads = processors > THREADS_MAX ? THREADS_MAX : processors;
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

/* Returns the results folder.  A shard has one of its own, so that shards can run
 * on one disk at once. */
static const char *choose_folder(struct cli *cli, const struct args *args,
                                 const struct experiment *experiment, uint32_t shard,
                                 uint32_t count)
{
    if (count <= 1 || args->given[ARG_OUT])
        return experiment->dir;
    return text_format(cli->arena, "%s.shard-%u-of-%u", experiment->dir, shard + 1,
                       count);
}

/* Reads --audit; *full keeps its value if it was not given. */
static bool read_audit(const struct args *args, bool *full, struct err *err)
{
    const char *value = args->value[ARG_AUDIT];
    struct err_pos nowhere = { NULL, 0, 0 };

    if (!args->given[ARG_AUDIT])
        return true;
    *full = strcmp(value, "full") == 0;
    return *full || strcmp(value, "quick") == 0 ||
           err_set(err, ERR_USAGE, nowhere, "--audit must be quick or full, found '%s'",
                   value);
}

/* With --only, some policies are not there, so the keys that name policies
 * (train, sensitivity, tune) are not checked. */
const struct experiment *cmd_experiment_read(struct cli *cli, const struct args *args,
                                             const char *const *set, size_t set_count,
                                             struct err *err)
{
    const struct experiment_options options = {
        .set = set, .set_count = set_count, .only = args->value[ARG_ONLY],
        /* What they name may not be among some policies only. */
        .check = args->given[ARG_ONLY] ? border_check : cmd_experiment_check
    };

    return cmd_experiment_read_as(cli, args, &options, err);
}

const struct experiment *cmd_experiment_read_as(struct cli *cli, const struct args *args,
                                                const struct experiment_options *some,
                                                struct err *err)
{
    struct experiment_options options = *some;
    uint32_t shard = 0, count = 1;
    const struct experiment *experiment;
    struct experiment *moved;

    options.dir = args->value[ARG_OUT];
    if (!args_number(args, ARG_SEEDS, 1, 1000000, &options.seeds, err) ||
        !args_shard(args, &shard, &count, err))
        return NULL;
    experiment = experiment_read(cli->arena, args->word[0], &options, err);
    if (experiment == NULL)
        return NULL;
    moved = arena_alloc(cli->arena, 1, sizeof *moved);
    *moved = *experiment;
    moved->dir = choose_folder(cli, args, experiment, shard, count);
    return read_audit(args, &moved->option.audit_full, err) ? moved : NULL;
}

/* Returns the command that goes on with the run, with the options that this one was given. */
static const char *name_command(const struct args *args)
{
    bool check = args->argc > 1 && strcmp(args->argv[1], "check") == 0;

    return args->given[ARG_AT] ? "fork" : check ? "check" : "run";
}

/* Says how many trials are kept, and with which command the run goes on.
 * Returns the status. */
static int tell_interrupted(struct cli *cli, const struct session *session,
                            const struct args *args)
{
    fprintf(cli->err, "interrupted: %u of %u trials are finished and kept in "
            "%s/.trials\n`clustersim %s %s --resume` with the same options "
            "goes on\n", session->done, experiment_run_count(session->experiment),
            session->experiment->dir, name_command(args), args->word[0]);
    return err_exit_status(ERR_INTERRUPTED);
}

/* Tells how many trials failed, and the first one; 70 if an audit failed, else 5. */
static int tell_failures(struct cli *cli, const struct session *session)
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
    if (session->passed_over > 0)
        fprintf(cli->err, "note: %u of them were lost in an earlier run and passed over; "
                "without --resume, or\nwithout %s/.trials/%s, they run again\n",
                session->passed_over, session->experiment->dir, CRASHED_FILE);
    if (session->broken && session->grid != NULL)
        cmd_trial_keep(cli, session);
    return session->broken ? err_exit_status(ERR_BUG) : 5;
}

/* False, with err: this process is one of several that were started together,
 * and does not know it is.  Each would run all of the experiment. */
static bool is_alone(struct err *err)
{
    struct err_pos nowhere = { NULL, 0, 0 };

    if (!fleet_is_one_of_many())
        return true;
    err_set(err, ERR_USAGE, nowhere, "this process is one of several ranks, and each of them "
            "would do all of it");
    return err_hint(err, "Let mpirun start `clustersim run`, and run the other commands once.");
}

int cmd_experiment_run(struct cli *cli, const struct args *args,
                       const struct experiment *experiment, struct session *session)
{
    return cmd_experiment_run_ranks(cli, args, experiment, NULL, session);
}

/* Rank 0 prints for all ranks.  With MPI a rank has one thread unless -j says
 * otherwise, since mpirun starts a rank for each core. */
int cmd_experiment_run_ranks(struct cli *cli, const struct args *args,
                             const struct experiment *experiment, struct fleet *fleet,
                             struct session *session)
{
    bool first = fleet == NULL || fleet_rank(fleet) == 0;
    struct session_options options = {
        .shard_count = 1,
        .resume = args->given[ARG_RESUME],
        .progress = first && cli->progress && !args->given[ARG_QUIET],
        .fleet = fleet, .begin_anew = fleet == NULL,
        .command = { args->argc, args->argv },
        .warn = command_warn, .self = cli
    };
    struct err err = { 0 };

    if (fleet == NULL && !is_alone(&err))
        return command_fail(cli, &err);
    if (first)
        (void)places_check(cli->arena, experiment, command_warn, cli);
    if (!cmd_threads(args, &options.threads, &err) ||
        !args_shard(args, &options.shard, &options.shard_count, &err))
        return command_fail(cli, &err);
    if (fleet != NULL && !args->given[ARG_THREADS])
        options.threads = 1;            /* mpirun starts a rank for each core */
    if (options.shard_count > 1)
        options.shard_text = shard_text(cli->arena, args, experiment);
    if (first && !args->given[ARG_QUIET]) {
        struct table_sizes sizes = table_sizes_of(cli->arena, experiment);
        table_sizes_print(cli->err, experiment, &sizes);
    }
    if (!session_run(cli->arena, experiment, &options, session, &err)) {
        if (err.kind == ERR_INTERRUPTED && !first)
            return err_exit_status(err.kind);
        if (err.kind == ERR_INTERRUPTED)
            return tell_interrupted(cli, session, args);
        return command_fail(cli, &err);
    }
    if (!first)                         /* rank 0 tells of all */
        return 0;
    if (session->others_kept)
        fprintf(cli->err, "note: %s/.trials keeps trials of other runs, for "
                "--resume; remove it if they are of no use\n",
                experiment->dir);
    return tell_failures(cli, session);
}
