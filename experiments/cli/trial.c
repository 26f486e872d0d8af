/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trial.c - one trial alone.
 *
 * Trials are numbered from 0 by point, policy and seed, the seed running fastest.
 */
#include "experiments/cli/trial.h"

#include <inttypes.h>

#include "experiments/cli/command.h"
#include "experiments/fleet/fleet.h"
#include "experiments/options/args.h"
#include "experiments/paper/archive.h"
#include "experiments/results/results.h"
#include "experiments/runner/runner.h"
#include "experiments/session/session.h"
#include "experiments/spec/experiment.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/text/folder.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"

#define KEPT_MAX 10u            /* trials that the file names */

/* Returns trial `index` for the runner, without tables (struct runner_plan). */
static struct trial_spec make_spec(void *self, uint32_t index, uint32_t *tables)
{
    *tables = 0;
    return experiment_trial_spec(self, index);
}

/* Is it not the trial that is wanted, or a copy of another seed, which is not run? */
static bool is_other(const struct experiment *experiment, uint32_t wanted, uint32_t index)
{
    return index != wanted || experiment_is_copy(experiment, index);
}

/* Returns the trial in words: its number, point, policy and seed. */
static const char *trial_text(struct arena *arena, const struct experiment *experiment,
                              uint32_t index)
{
    struct experiment_trial t = experiment_trial(experiment, index);

    return text_format(arena, "trial %u: point %s, policy %s, seed %u", index,
                       experiment->point[t.point].label, experiment->policy_name[t.policy],
                       t.seed);
}

/* Prints how the trial ended.  Returns the exit status: 5 if it failed, 70 by a fault of
 * the program. */
static int tell_trial(struct cli *cli, const struct runner_trial *trial)
{
    char end[32];

    if (trial->state == RUNNER_FAILED) {
        int status = command_fail(cli, trial->err);

        return trial->err->kind == ERR_BUG ? status : 5;
    }
    clock_format_s(trial->result->end_ns, end, sizeof end);
    fprintf(cli->out, "done: %" PRIu64 " events, to %s s of simulated time, digest %016" PRIx64
            "\n", trial->result->event_count, end, trial->result->digest);
    return 0;
}

bool cmd_trial_check(const struct args *args, struct err *err)
{
    static const enum arg idle[] = { ARG_OUT, ARG_THREADS, ARG_SHARD, ARG_RESUME, ARG_SLURM };
    struct err_pos nowhere = { NULL, 0, 0 };

    if (args->given[ARG_TRIAL] && fleet_is_one_of_many())
        return err_set(err, ERR_USAGE, nowhere, "--trial runs one trial here, and this is one of "
                       "several ranks");
    for (size_t i = 0; args->given[ARG_TRIAL] && i < sizeof idle / sizeof idle[0]; i++)
        if (args->given[idle[i]])
            return err_set(err, ERR_USAGE, nowhere, "%s has no effect with --trial, which runs "
                           "one trial here and writes nothing", arg_info(idle[i])->name);
    return true;
}

int cmd_trial_run(struct cli *cli, const struct args *args,
                  const struct experiment *experiment)
{
    uint32_t count = experiment_trial_count(experiment), wanted = 0;
    struct runner_trial *trial = runner_trials(cli->arena, count, true);
    struct err err = { 0 };
    const struct runner_plan plan = {
        .count = count, .arena = cli->arena, .threads = 1, .spec = make_spec,
        .self = (void *)(uintptr_t)experiment
    };

    if (!args_number(args, ARG_TRIAL, 0, count - 1, &wanted, &err))
        return command_fail(cli, &err);
    for (uint32_t i = 0; i < count; i++)
        if (is_other(experiment, wanted, i))
            trial[i].state = RUNNER_SKIPPED;
    fprintf(cli->out, "%s\n", trial_text(cli->arena, experiment, wanted));
    fflush(cli->out);
    if (trial[wanted].state == RUNNER_SKIPPED) {
        fputs("a copy of seed 0: nothing is drawn\n", cli->out);
        return 0;
    }
    if (!runner_run(&plan, trial, &err))
        return command_fail(cli, &err);
    return tell_trial(cli, &trial[wanted]);
}

/* ---- what is kept ---- */

/* Writes the first KEPT_MAX trials that failed by a fault of the program, each with the
 * command that runs it again from the results folder. */
static void put_trials(struct cli *cli, const struct session *session,
                       const struct archive_copy *copy, struct out *out)
{
    const struct experiment *experiment = session->experiment;
    const char *seeds = "";
    uint32_t told = 0;

    if (experiment->stop.rule != LOOKS_NONE)    /* numbers are those of the seeds that were run */
        seeds = text_format(cli->arena, " --seeds %u", experiment->seeds);
    for (uint32_t i = 0; i < experiment_trial_count(experiment) && told < KEPT_MAX; i++) {
        const struct runner_trial *trial = &session->trial[i];

        if (trial->state != RUNNER_FAILED || trial->err->kind != ERR_BUG)
            continue;
        out_printf(out, "%s\n  %s\n", trial_text(cli->arena, experiment, i), trial->err->text);
        if (trial->err->hint[0] != '\0')
            out_printf(out, "  %s\n", trial->err->hint);
        out_printf(out, "  cd repro/%s && clustersim run %s%s%s --trial %u\n\n", copy->folder,
                   copy->experiment, copy->options, seeds, i);
        told++;
    }
}

/* Copies into DIR/repro, and writes DIR/repro.txt, which the next run there removes. */
static bool write_repro(struct cli *cli, const struct session *session, struct err *err)
{
    const char *dir = session->experiment->dir;
    struct folder *folder = folder_make(cli->arena, dir, err);
    struct archive_copy copy;
    struct out *out = NULL;
    bool ok = folder != NULL && archive_copy(cli->arena, dir, path_join(cli->arena, dir, "repro"),
                                             &copy, err);

    if (ok)
        out = out_in(cli->arena, folder, REPRO_FILE, err);
    if (out != NULL) {
        out_printf(out, "clustersim %s: trials that failed by a fault of the program.  The inputs "
                   "of the run\nlie in the folder repro beside this file; each command runs one "
                   "of the trials\nagain, from the folder of this file.\n\n",
                   CLUSTERSIM_VERSION);
        put_trials(cli, session, &copy, out);
    }
    ok = out != NULL && out_close(out, err);
    folder_close(folder);
    return ok;
}

void cmd_trial_keep(struct cli *cli, const struct session *session)
{
    struct err err = { 0 };

    if (write_repro(cli, session, &err))
        fprintf(cli->err, "a fault of the program: %s/%s says how to see it again\n",
                session->experiment->dir, REPRO_FILE);
    else
        command_warn(cli, &err);
}
