/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * merge.c - `clustersim merge`.
 */
#include <string.h>

#include "experiments/cli/command.h"
#include "experiments/cli/experiment.h"
#include "experiments/cli/shard.h"
#include "experiments/cli/tuned.h"
#include "experiments/results/results.h"
#include "experiments/runner/runner.h"
#include "experiments/spec/experiment.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"

/* One run of the command. */
struct merging {
    struct cli *cli;
    struct shard *shard;        /* [count], one for each folder */
    uint32_t count;             /* of shards */
    struct args args;           /* of the run that puts them together */
    const struct experiment *experiment;    /* as all shards have it */
};

/* Reads what each folder says of itself.  False, with err: a folder is no
 * shard, or of another experiment than the first. */
static bool read_shards(struct merging *m, const struct args *args, struct err *err)
{
    m->count = (uint32_t)args->word_count;
    m->shard = arena_alloc(m->cli->arena, m->count, sizeof *m->shard);
    for (uint32_t i = 0; i < m->count; i++) {
        struct err_pos pos = { args->word[i], 0, 0 };

        if (!shard_read(m->cli->arena, args->word[i], &m->shard[i], err))
            return false;
        if (m->shard[i].hash == m->shard[0].hash)
            continue;
        err_set(err, ERR_IO, pos, "is a shard of another experiment than %.200s: inputs, "
                "options or the program file differ", m->shard[0].dir);
        return err_hint(err, "Merge the shards of one experiment; run this one again with "
                        "the options of the others.");
    }
    return true;
}

/* Makes the options of the run that puts the shards together: those of the
 * shards, but for all trials. */
static void set_args(struct merging *m, const struct args *args)
{
    const struct shard *shard = &m->shard[0];
    const char **word = arena_alloc(m->cli->arena, 1, sizeof *word);

    m->args = *args;
    word[0] = shard->file;
    m->args.word = word;
    m->args.word_count = 1;
    m->args.set = shard->set;
    m->args.set_count = shard->set_count;
    m->args.given[ARG_SEEDS] = shard->seeds != NULL;
    m->args.value[ARG_SEEDS] = shard->seeds;
    m->args.given[ARG_ONLY] = shard->only != NULL;
    m->args.value[ARG_ONLY] = shard->only;
    m->args.given[ARG_RESUME] = true;
}

/* Is the experiment still that of the shards?  The hash covers its files, its
 * options and the program. */
static bool same_experiment(const struct merging *m, struct err *err)
{
    struct err_pos pos = { m->shard[0].file, 0, 0 };

    if (shard_hash(m->experiment) == m->shard[0].hash)
        return true;
    err_set(err, ERR_IO, pos, "is no longer the experiment of the shards: this file, a "
            "file that it names, or the program has changed");
    return err_hint(err, "Merge with the program and the files of the shards, or run them "
                    "again.");
}

/* Brings the logs of all shards together, and marks the trials that they hold
 * as done. */
static bool take_logs(const struct merging *m, struct runner_trial *trial, struct err *err)
{
    struct arena *arena = m->cli->arena;
    struct results results;
    bool ok = results_open(arena, m->experiment->dir, &results, err);

    if (!ok)
        return false;
    for (uint32_t i = 0; ok && i < m->count; i++)
        ok = results_take_logs(arena, &results, m->shard[i].dir, err);
    if (ok)
        results_recall(&results, m->experiment, trial);
    results_close(&results);
    return ok;
}

/* Trials of a shard: those that are there, and all that it has. */
struct share {
    uint32_t found, all;
};

/* Counts the trials of each of `shards` shards.  Trial n belongs to shard n
 * modulo their number, without copies. */
static struct share *count_shares(const struct merging *m, const struct runner_trial *trial,
                                  uint32_t shards)
{
    struct share *share = arena_alloc(m->cli->arena, shards, sizeof *share);
    uint32_t number = 0;

    for (uint32_t i = 0; i < experiment_trial_count(m->experiment); i++)
        if (!experiment_is_copy(m->experiment, i)) {
            share[number % shards].all++;
            share[number % shards].found += trial[i].state == RUNNER_DONE;
            number++;
        }
    return share;
}

/* Returns the folder of a shard; NULL: it was not given. */
static const char *dir_of(const struct merging *m, uint32_t index)
{
    for (uint32_t i = 0; i < m->count; i++)
        if (m->shard[i].index == index)
            return m->shard[i].dir;
    return NULL;
}

/* Were all shards cut into the same number?  Only then can be told what each
 * lacks. */
static bool equal_counts(const struct merging *m)
{
    for (uint32_t i = 1; i < m->count; i++)
        if (m->shard[i].count != m->shard[0].count)
            return false;
    return true;
}

/* Says which trials are missing, and how to go on.  Returns the status. */
static int tell_missing(const struct merging *m, const struct runner_trial *trial,
                        struct share of_all)
{
    FILE *to = m->cli->err;
    uint32_t shards = equal_counts(m) ? m->shard[0].count : 0;
    const struct share *share = shards == 0 ? NULL : count_shares(m, trial, shards);

    fprintf(to, "%u of %u trials are there:\n", of_all.found, of_all.all);
    for (uint32_t i = 0; i < shards; i++) {
        const char *dir = dir_of(m, i);

        if (share[i].found < share[i].all)
            fprintf(to, "  shard %u/%u has %u of %u%s%s\n", i + 1, shards, share[i].found,
                    share[i].all, dir == NULL ? ": it is not among the folders" : " in ",
                    dir == NULL ? "" : dir);
    }
    fprintf(to, "a shard goes on with --resume, then merge again; or run the others here, "
            "with the\noptions of the shards but --shard: clustersim run %s -o %s --resume\n",
            m->shard[0].file, m->experiment->dir);
    return 5;
}

/* Takes the trials of all shards into one folder and makes its tables.  Nothing
 * runs again; status 5 if trials are missing, with how to get them. */
static int merge(struct cli *cli, const struct args *args)
{
    struct err_pos nowhere = { NULL, 0, 0 };
    struct merging m = { .cli = cli };
    struct session session = { 0 };
    struct runner_trial *trial;
    struct err err = { 0 };
    struct share of_all;
    int status;

    if (!args->given[ARG_OUT]) {
        err_set(&err, ERR_USAGE, nowhere, "merge needs -o DIR, where results go");
        return command_fail(cli, &err);
    }
    if (!read_shards(&m, args, &err))
        return command_fail(cli, &err);
    set_args(&m, args);
    m.experiment = cmd_tuned_read(cli, &m.args, &err);
    if (m.experiment == NULL || !same_experiment(&m, &err))
        return command_fail(cli, &err);
    trial = runner_trials(cli->arena, experiment_trial_count(m.experiment), false);
    if (!take_logs(&m, trial, &err))
        return command_fail(cli, &err);
    of_all = *count_shares(&m, trial, 1);
    if (of_all.found < of_all.all)
        return tell_missing(&m, trial, of_all);
    status = cmd_experiment_run(cli, &m.args, m.experiment, &session);
    if (!args->given[ARG_QUIET] && session.grid != NULL)
        cmd_results_print(cli, &session);
    return status;
}

const struct command command_merge = {
    "merge", "DIR... -o DIR [-q]", "put shards of an experiment together",
    "Takes the finished trials of all DIR, folders of `run --shard I/N`, and\n"
    "writes the results as one run would, byte for byte.  The shards stay as\n"
    "they are, but for one into which it merges.  The experiment's file and the\n"
    "program must be those of the shards.\n\n"
    "If trials are missing, it says of which shards, keeps what is there for\n"
    "--resume and ends with status 5.  A trial that failed in its shard is\n"
    "missing, too: run again, it fails again, and failures.csv lists it.\n"
    "Shards of different experiments are refused.\n",
    ARG_BIT(ARG_OUT) | ARG_BIT(ARG_QUIET), 1, 100000, merge
};
