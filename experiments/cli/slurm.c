/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * slurm.c - a run that is not run here: it is read and checked, and submitted.
 */
#include "experiments/cli/slurm.h"

#include "experiments/cli/experiment.h"
#include "experiments/fleet/fleet.h"
#include "experiments/plugins/host_file.h"
#include "experiments/slurm/batch.h"
#include "experiments/spec/experiment.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/stats/looks.h"
#include "sim/text/paths.h"

static const struct err_pos nowhere = { NULL, 0, 0 };

bool cmd_slurm_check(const struct args *args, struct err *err)
{
    if (args->given[ARG_SLURM] || !args->given[ARG_DRY_RUN])
        return true;
    err_set(err, ERR_USAGE, nowhere, "--dry-run needs --slurm: it writes the batch "
            "file and submits nothing");
    return err_hint(err, "`clustersim validate %.200s` reads and checks all, and runs nothing.",
                    args->word[0]);
}

/* False, with err, for what jobs of Slurm cannot do: each runs a part of the trials, and none
 * knows all of them before the last one has ended. */
static bool may_submit(const struct args *args, const struct experiment *experiment,
                       struct err *err)
{
    struct err_pos pos = { args->word[0], 0, 0 };

    if (experiment->stop.rule != LOOKS_NONE) {
        err_set(err, ERR_USAGE, pos, "--slurm needs a number of seeds: whether "
                "they suffice (until: %.40s) can only be told from all trials together",
                experiment->stop.text);
        return err_hint(err, "--seeds N gives a number.");
    }
    if (!experiment->tuned)
        return true;
    err_set(err, ERR_USAGE, pos, "the experiment tunes its policies, and jobs of Slurm "
            "cannot tune together");
    return err_hint(err, "`clustersim tune` writes an experiment with what it finds.");
}

/* False, with err, for a rank of MPI and beside --shard: the run would be submitted
 * several times. */
static bool may_ask(const struct args *args, struct err *err)
{
    if (fleet_is_one_of_many())
        return err_set(err, ERR_USAGE, nowhere, "this process is one of several ranks, "
                       "and each of them would submit all of it");
    return !args->given[ARG_SHARD] ||
           err_set(err, ERR_USAGE, nowhere, "--slurm runs all shards: leave out --shard");
}

/* Appends an option with its value, quoted for the shell; NULL appends nothing. */
static const char *add(struct arena *arena, const char *words, const char *option,
                       const char *value)
{
    return value == NULL ? words : text_format(arena, "%s %s %s", words, option,
                                               slurm_quote(arena, value));
}

/* The operand and the options that say which trials there are. */
static const char *words_of(struct arena *arena, const struct args *args)
{
    const char *words = slurm_quote(arena, args->word[0]);

    for (size_t i = 0; i < args->set_count; i++)
        words = add(arena, words, "--set", args->set[i]);
    words = add(arena, words, "--seeds", args->value[ARG_SEEDS]);
    words = add(arena, words, "--only", args->value[ARG_ONLY]);
    words = add(arena, words, "--audit", args->value[ARG_AUDIT]);
    return args->given[ARG_QUIET] ? text_format(arena, "%s -q", words) : words;
}

/* Submits the run and says by which jobs it goes on. */
static int submit(struct cli *cli, const struct args *args, const struct slurm_batch *batch,
                  const char *dir)
{
    const char *job, *merge_job, *said;
    struct err err = { 0 };

    if (!slurm_submit(cli->arena, batch, &job, &merge_job, &said, &err))
        return command_fail(cli, &err);
    if (*said != '\0')
        fprintf(cli->err, "sbatch: %s\n", said);
    if (args->given[ARG_QUIET])
        return 0;
    if (merge_job == NULL)
        fprintf(cli->out, "submitted as job %s: %s\n", job, batch->run);
    else
        fprintf(cli->out, "submitted as job %s, %u shards, and job %s, which puts them "
                "together: %s, %s\n", job, batch->shards, merge_job, batch->run, batch->merge);
    fprintf(cli->out, "results will be in %s; `squeue -j %s` says how far it is\n", dir,
            merge_job == NULL ? job : merge_job);
    return 0;
}

int cmd_slurm_run(struct cli *cli, const struct args *args)
{
    struct err err = { 0 };
    const struct experiment *experiment = !may_ask(args, &err) ? NULL
        : cmd_experiment_read(cli, args, args->set, args->set_count, &err);
    struct slurm_run run = { .options = args->value[ARG_SLURM] };
    struct slurm_batch batch;
    uint32_t threads;

    if (experiment == NULL || !may_submit(args, experiment, &err) ||
        !cmd_threads(args, &threads, &err))
        return command_fail(cli, &err);
    run.name = experiment->name;
    run.dir = experiment->dir;
    run.program = host_file_target(cli->arena);
    run.words = words_of(cli->arena, args);
    run.threads = args->value[ARG_THREADS];
    run.ranks = fleet_has_module(cli->arena);
    if (!slurm_write(cli->arena, &run, &batch, &err))
        return command_fail(cli, &err);
    if (!args->given[ARG_DRY_RUN])
        return submit(cli, args, &batch, experiment->dir);
    fprintf(cli->out, "%s\n", batch.run);
    if (batch.merge != NULL)
        fprintf(cli->out, "%s\n", batch.merge);
    return 0;
}
